import { Agent, ClientRequest, OutgoingMessage, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, type RequestOptions } from 'node:https';
import { Socket, type SocketConstructorOpts, type TcpSocketConnectOpts } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import type { HttpResponse, ResponseHeaders, Send } from './control-client.ts';

/**
 * Node's own class of requests. Tests replace `fetch`, `http.request` and `http.ClientRequest`, with nock and msw among others; what they put
 * there is a proxy or a subclass of it.
 */
function ownClientRequest(): typeof ClientRequest {
  let { prototype } = ClientRequest;
  let above: unknown;
  while ((above = Object.getPrototypeOf(prototype)) !== OutgoingMessage.prototype)
    prototype = above as typeof prototype;
  return prototype.constructor as typeof ClientRequest;
}

const Request = ownClientRequest();

/** Agents that nobody configures: the global ones may lead to a proxy. */
const agents: Readonly<Record<string, Agent>> = {
  'http:': Object.assign(new Agent({ keepAlive: true }), {
    createConnection: (options: SocketConstructorOpts & TcpSocketConnectOpts) =>
      new Socket(options).connect(options),
  }),
  'https:': new TlsAgent({ keepAlive: true }),
};

/** Where a certificate proves nothing: whoever listens there could also do so without one. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

function headersOf({ headers }: IncomingMessage): ResponseHeaders {
  const values = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')] as const);
  const all = new Map(values);
  return {
    get: (name) => all.get(name.toLowerCase()) ?? null,
    has: (name) => all.has(name.toLowerCase()),
    [Symbol.iterator]: () => all.entries(),
  };
}

/** Sends a request by a client of its own, which nothing intercepts that a test replaces. */
export const sendOverHttp: Send = (address, { method, headers, body, signal }) =>
  new Promise<HttpResponse>((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const url = new URL(address);
    const options: RequestOptions = {
      ...urlToHttpOptions(url),
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      agent: agents[url.protocol],
      rejectUnauthorized: !LOOPBACK.test(url.hostname),
    };
    const request = new Request(options);
    let received: IncomingMessage | undefined;
    const leave = (): void => void (received ?? request).destroy(signal!.reason as Error);
    signal?.addEventListener('abort', leave);
    request.once('close', () => signal?.removeEventListener('abort', leave));
    request.on('error', reject);
    request.once('response', (response) => {
      received = response;
      const { statusCode: status = 0 } = response;
      const cancel = (): void => void response.destroy();
      resolve({ url: address, status, headers: headersOf(response), body: response, cancel });
    });
    request.end(body);
  });
