import { Agent, request, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { onTestFinished } from 'vitest';
import { PAYOUT } from '../sandbox.ts';

/** What a client returned: a response that it considers complete, or the code of its error. */
export type Outcome =
  | { readonly status: number; readonly headers: Headers; readonly text: string }
  | { readonly error: string };

/** An HTTP client that programs use. */
export interface HttpClient {
  readonly name: string;
  /** Sends one initiate. @param leave closes the connection from the client's side */
  initiate(
    url: string,
    apiKey: string,
    change?: Record<string, unknown>,
    leave?: AbortSignal,
  ): Promise<Outcome>;
}

const initiateOf = (apiKey: string, change: Record<string, unknown>, leave: AbortSignal | undefined) => ({
  method: 'POST',
  headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  body: JSON.stringify({ ...PAYOUT, ...change }),
  ...(leave === undefined ? {} : { signal: leave }),
});

/** The code of an error or of its cause; its name if neither has one. */
function codeOf(error: unknown): string {
  const { code, name, cause } = error as { code?: unknown; name: string; cause?: unknown };
  if (name === 'HTTPParserError') return name; // not every version of Node gives it llhttp's code
  if (typeof code === 'string') return code;
  return cause instanceof Error ? codeOf(cause) : name;
}

/** undici, as `fetch` of Node. */
const fetchClient: HttpClient = {
  name: 'fetch',
  async initiate(url, apiKey, change = {}, leave) {
    try {
      const response = await fetch(`${url}/payout/initiate`, initiateOf(apiKey, change, leave));
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      return { error: codeOf(error) };
    }
  },
};

const headersOf = (headers: IncomingHttpHeaders): Headers =>
  new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]));

/** Sends a request with `node:http`, and reads its whole response. */
export const sendBy = (url: string, options: RequestOptions, body?: string): Promise<Outcome> =>
  new Promise((resolve) => {
    const failed = (error: Error): void => resolve({ error: codeOf(error) });
    const sent = request(url, options);
    sent.on('error', failed).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', failed);
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: headersOf(response.headers), text });
      });
    });
    sent.end(body);
  });

/** `node:http`, on which axios, got and others are built. */
const nodeClient = (keepAlive: boolean): HttpClient => ({
  name: keepAlive ? 'node:http with keep-alive' : 'node:http',
  initiate(url, apiKey, change = {}, leave) {
    const { body, ...options } = initiateOf(apiKey, change, leave);
    const agent = new Agent({ keepAlive });
    onTestFinished(() => agent.destroy());
    return sendBy(`${url}/payout/initiate`, { ...options, agent }, body);
  },
});

export const HTTP_CLIENTS: readonly HttpClient[] = [fetchClient, nodeClient(false), nodeClient(true)];
