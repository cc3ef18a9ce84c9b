import { Agent, request } from 'node:http';
import { PAYOUT } from '../../support/sandbox.ts';

/** A response; status 0 where the connection broke instead. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const BROKEN: Answered = { status: 0, headers: {}, text: '' };

/** A client for load: a pool of keep-alive connections, with no more features than the trials need. */
export class FastClient {
  readonly #agent: Agent;
  readonly #host: string;
  readonly #port: string;

  constructor(url: string) {
    ({ hostname: this.#host, port: this.#port } = new URL(url));
    this.#agent = new Agent({ keepAlive: true, scheduling: 'fifo' });
  }

  /** Sends one request, and reads its whole response. */
  send(method: string, path: string, token: string, body?: string, signal?: AbortSignal): Promise<Answered> {
    return new Promise((resolve) => {
      const broken = (): void => resolve(BROKEN);
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      };
      const asked = request(
        { agent: this.#agent, host: this.#host, port: this.#port, method, path, headers, signal },
        (response) => {
          const chunks: Buffer[] = [];
          response
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('end', () =>
              resolve({
                status: response.statusCode!,
                headers: response.headers,
                text: Buffer.concat(chunks).toString(),
              }),
            )
            .on('error', broken);
        },
      );
      asked.on('error', broken).end(body);
    });
  }

  pay(key: string, change: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Answered> {
    return this.send('POST', '/payout/initiate', key, JSON.stringify({ ...PAYOUT, ...change }), signal);
  }

  close(): void {
    this.#agent.destroy();
  }
}
