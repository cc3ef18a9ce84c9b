import { connect } from 'node:net';
import { answersIn } from './http/http-responses.ts';
import { rawRequest } from './http/raw-socket.ts';
import { PAYOUT } from './sandbox.ts';

interface Sender {
  readonly url: string;
  readonly apiKey: string;
}

/** Sends many requests ahead on one connection, which takes a tenth of the time of `fetch`. Each must get a 200. */
async function sendAhead(
  { url, apiKey }: Sender,
  count: number,
  line: string,
  bodyOf: (nth: number) => string,
): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  const ended = new Promise((resolve, reject) => {
    socket
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', resolve)
      .once('error', reject);
  });
  for (let nth = 0; nth < count; nth += 1) {
    const body = bodyOf(nth);
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(body !== '' && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      }),
      connection: nth === count - 1 ? 'close' : 'keep-alive',
    };
    socket.write(rawRequest(line, headers, body));
  }
  await ended;
  const accepted = answersIn(Buffer.concat(chunks)).filter(({ status }) => status === 200);
  if (accepted.length < count) throw new Error(`${count - accepted.length} of ${count} were not accepted`);
}

/**
 * Makes many payouts in a world, one after the other.
 *
 * @param changeOf what is different about the payout with this number; its reference is `order-NUMBER` unless it says so
 */
export const payMany = (
  sender: Sender,
  count: number,
  changeOf: (nth: number) => object = () => ({}),
): Promise<void> =>
  sendAhead(sender, count, 'POST /payout/initiate', (nth) =>
    JSON.stringify({ ...PAYOUT, client_ref_id: `order-${nth}`, amount: 1, ...changeOf(nth) }),
  );

/** Reads the balance of a world many times, one after the other. */
export const readMany = (sender: Sender, count: number): Promise<void> =>
  sendAhead(sender, count, 'GET /client/fetchbalance', () => '');
