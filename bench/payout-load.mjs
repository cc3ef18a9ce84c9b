// Initiates payouts over real sockets as fast as they are answered: requests are sent several at once on each of a few
// connections, so that the sandbox, and not whoever asks, is what is measured.
import { once } from 'node:events';
import { connect } from 'node:net';

const CONNECTIONS = 8;
const AT_ONCE = 8;
const NAMES = ['Asha Rao', 'Vikram Singh', 'Meera Nair', 'Farhan Qureshi', 'Lakshmi Iyer', 'Joseph Mathew'];

/** A payout whose reference, account and name are its own, as those of real ones are. */
function bodyOf(reference, nth) {
  return JSON.stringify({
    client_ref_id: reference,
    beneficiary_name: `${NAMES[nth % NAMES.length]} ${nth}`,
    beneficiary_account: String(100_000_000_000 + nth),
    beneficiary_ifsc: `SBIN0${String(nth % 1_000_000).padStart(6, '0')}`,
    amount: 1,
    transfer_mode: 'IMPS',
    remarks: 'salary',
  });
}

function requestOf(apiKey, reference, nth) {
  const body = bodyOf(reference, nth);
  return `POST /payout/initiate HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** Sends what `take` gives until it gives no more; each response must be a 200. */
async function drive(socket, take) {
  let open = 0;
  let text = '';
  const fill = () => {
    let requests = '';
    for (let next; open < AT_ONCE && (next = take()) !== null; open += 1) requests += next;
    if (requests !== '') socket.write(requests, 'latin1');
    return open > 0;
  };
  if (!fill()) return;
  for await (const piece of socket) {
    text += piece;
    for (let head; (head = text.indexOf('\r\n\r\n')) !== -1;) {
      if (!text.startsWith('HTTP/1.1 200')) throw new Error(text);
      const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))[1]);
      if (text.length < head + 4 + length) break;
      text = text.slice(head + 4 + length);
      open -= 1;
    }
    if (!fill()) return;
  }
  throw new Error('the connection was closed');
}

export class PayoutLoad {
  #target;
  #sent = 0;

  constructor(url) {
    const { hostname, port } = new URL(url);
    this.#target = { host: hostname, port: Number(port) };
  }

  /**
   * Makes `count` payouts, in the worlds of these keys in turn. The connections are new each time, since the sandbox closes
   * those that are idle.
   *
   * @returns how many a second
   */
  async pay(keys, count) {
    const endAt = this.#sent + count;
    const take = () => {
      if (this.#sent === endAt) return null;
      const nth = this.#sent;
      this.#sent += 1;
      return requestOf(keys[nth % keys.length], `order-${nth}`, nth);
    };
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => this.#connect()));
    const startMs = performance.now();
    await Promise.all(sockets.map((socket) => drive(socket, take)));
    const perSecond = (count / (performance.now() - startMs)) * 1000;
    for (const socket of sockets) socket.destroy();
    return perSecond;
  }

  async #connect() {
    const socket = connect(this.#target).setEncoding('latin1').setNoDelay(true);
    await once(socket, 'connect');
    return socket;
  }
}
