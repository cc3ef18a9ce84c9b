import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify';
import { Refusal } from '../contract/errors.ts';
import { isEncoded } from './json-body.ts';

const BYTES_AT_ONCE = 1024 * 1024;

type LetOthersRun = () => Promise<void>;

/** Puts the chunks of a body together, some at a time: memory for a large one is new, and each page of it costs. */
async function joined(
  chunks: readonly Buffer[],
  length: number,
  letOthersRun: LetOthersRun,
): Promise<Buffer> {
  const body = Buffer.allocUnsafe(length);
  let [at, turnAt] = [0, BYTES_AT_ONCE];
  for (const chunk of chunks) {
    at += chunk.copy(body, at);
    if (at < turnAt) continue;
    turnAt = at + BYTES_AT_ONCE;
    await letOthersRun();
  }
  return body;
}

/** @throws what Fastify itself refuses a body with */
function gathered(request: FastifyRequest, limit: number): Promise<readonly Buffer[]> {
  const { raw } = request;
  const promised = Number(request.headers['content-length']);
  return new Promise((resolve, reject) => {
    if (promised > limit) return reject(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    const chunks: Buffer[] = [];
    let length = 0;
    raw.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) return void chunks.push(chunk);
      raw.removeAllListeners('data');
      reject(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    });
    raw.on('end', () => resolve(chunks));
    raw.on('error', (error) => reject(Object.assign(error, { statusCode: 400 })));
  });
}

/**
 * Takes JSON bodies as their bytes, and leaves it to the route to read them: one of 100,000 payouts, read at once, would hold up
 * all others for seconds.
 */
export function takeWholeBodies(
  app: Pick<FastifyInstance, 'removeAllContentTypeParsers' | 'addContentTypeParser'>,
  letOthersRun: LetOthersRun,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest): Promise<Buffer> => {
    if (isEncoded(request.headers)) {
      throw new Refusal('UNSUPPORTED_MEDIA_TYPE', {
        message: 'The request body must be JSON in plain UTF-8',
      });
    }
    const chunks = await gathered(request, request.routeOptions.bodyLimit);
    const length = chunks.reduce((total, chunk) => total + chunk.length, 0);
    return joined(chunks, length, letOthersRun);
  });
}
