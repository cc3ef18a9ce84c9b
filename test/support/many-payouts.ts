import { connect } from 'node:net';
import { answersIn } from './http-answers.ts';
import { rawRequest } from './raw-socket.ts';
import { PAYOUT } from './sandbox.ts';

/**
 * Makes many payouts in a world. They are pipelined on one connection, which takes a tenth of the time of `fetch`.
 *
 * @param changeOf the fields that differ in the payout with this number; its reference is `order-NUMBER` by default
 */
export async function payMany(
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  count: number,
  changeOf: (nth: number) => object = () => ({}),
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
    const body = JSON.stringify({ ...PAYOUT, client_ref_id: `order-${nth}`, amount: 1, ...changeOf(nth) });
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      connection: nth === count - 1 ? 'close' : 'keep-alive',
    };
    socket.write(rawRequest('POST /payout/initiate', headers, body));
  }
  await ended;
  const made = answersIn(Buffer.concat(chunks)).filter(({ status }) => status === 200);
  if (made.length < count) throw new Error(`${count - made.length} of ${count} payouts were not made`);
}
