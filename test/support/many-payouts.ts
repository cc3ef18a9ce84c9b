import { answersOn, payRequest, rawSocket } from './http/raw-socket.ts';

const MOST_AHEAD = 100; // of their responses, on one connection

interface Sender {
  readonly url: string;
  readonly apiKey: string;
}

/**
 * Makes many payouts in a world, one after the other, a hundred sent ahead on one connection: a tenth of the time of `fetch`.
 *
 * @param changeOf what is different about the payout with this number; its reference is `order-NUMBER` unless it says so
 */
export async function payMany(
  { url, apiKey }: Sender,
  count: number,
  changeOf: (nth: number) => object = () => ({}),
): Promise<void> {
  for (let from = 0; from < count; from += MOST_AHEAD) {
    const group = Array.from({ length: Math.min(MOST_AHEAD, count - from) }, (_, nth) => from + nth);
    const socket = rawSocket(url);
    const answers = answersOn(socket, group.length);
    for (const nth of group)
      socket.write(payRequest(apiKey, { client_ref_id: `order-${nth}`, amount: 1, ...changeOf(nth) }));
    const accepted = (await answers).split('HTTP/1.1 200').length - 1;
    socket.destroy();
    if (accepted < group.length)
      throw new Error(`${group.length - accepted} of ${group.length} were not accepted`);
  }
}
