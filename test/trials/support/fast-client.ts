import { Agent } from 'node:http';
import { sendBy } from '../../support/http/http-clients.ts';
import { PAYOUT } from '../../support/sandbox.ts';

/** A response; status 0 where the connection broke instead. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A client for load: a pool of keep-alive connections. */
export class FastClient {
  readonly #agent = new Agent({ keepAlive: true, scheduling: 'fifo' });
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Sends one request, and reads its whole response. */
  async send(
    method: string,
    path: string,
    token: string,
    body?: string,
    signal?: AbortSignal,
  ): Promise<Answered> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${token}`, ...type };
    const options = { agent: this.#agent, method, headers, signal };
    const outcome = await sendBy(this.#url + path, options, body);
    return 'error' in outcome ? { status: 0, headers: new Headers(), text: '' } : outcome;
  }

  pay(key: string, change: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Answered> {
    return this.send('POST', '/payout/initiate', key, JSON.stringify({ ...PAYOUT, ...change }), signal);
  }

  close(): void {
    this.#agent.destroy();
  }
}
