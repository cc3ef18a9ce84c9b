import { connect } from 'node:net';
import { answersIn } from './http/http-responses.ts';
import { payRequest } from './http/raw-socket.ts';

interface Sender {
  readonly url: string;
  readonly apiKey: string;
}

/**
 * Makes many payouts in a world, one after the other, all sent ahead on one connection: a tenth of the time of `fetch`.
 *
 * @param changeOf what is different about the payout with this number; its reference is `order-NUMBER` unless it says so
 */
export async function payMany(
  { url, apiKey }: Sender,
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
    const change = { client_ref_id: `order-${nth}`, amount: 1, ...changeOf(nth) };
    socket.write(payRequest(apiKey, change, { connection: nth === count - 1 ? 'close' : 'keep-alive' }));
  }
  await ended;
  const accepted = answersIn(Buffer.concat(chunks)).filter(({ status }) => status === 200);
  if (accepted.length < count) throw new Error(`${count - accepted.length} of ${count} were not accepted`);
}
