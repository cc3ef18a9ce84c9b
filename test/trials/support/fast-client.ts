import { Agent, request } from 'node:http';
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
  send(method: string, path: string, token: string, body?: string, signal?: AbortSignal): Promise<Answered> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${token}`, ...type };
    return new Promise((resolve) => {
      const failed = (): void => resolve({ status: 0, headers: new Headers(), text: '' });
      const sent = request(this.#url + path, { agent: this.#agent, method, headers, signal });
      sent.on('error', failed).on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', failed).on('end', () => {
          const lines = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
          resolve({ status: response.statusCode!, headers: new Headers(lines as [string, string][]), text });
        });
      });
      sent.end(body);
    });
  }

  pay(key: string, change: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Answered> {
    return this.send('POST', '/payout/initiate', key, JSON.stringify({ ...PAYOUT, ...change }), signal);
  }

  close(): void {
    this.#agent.destroy();
  }
}
