import { once } from 'node:events';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { onTestFinished } from 'vitest';
import { PAYOUT } from '../sandbox.ts';

/** A raw socket to a sandbox, for requests that HTTP clients would not send. */
export function rawSocket(url: string): Socket {
  const { hostname: host, port, protocol } = new URL(url);
  const at = { host, port: Number(port) };
  // with TLS 1.3, libuv shows a reset that comes together with the tickets of a session as an end
  const socket =
    protocol === 'https:'
      ? connectTls({ ...at, rejectUnauthorized: false, maxVersion: 'TLSv1.2' })
      : connect(at);
  socket.on('error', () => undefined); // the server may reset the connection; tests look at the responses before that
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Lets a server listen until the test ends. @returns its address */
export async function listening(server: Server): Promise<string> {
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A response with a JSON object, in one piece or as one chunk. */
const ANSWER =
  /HTTP\/1\.1 \d{3} [^\r]*\r\n(?:[^\r]+\r\n)*\r\n(?:\{[^\r]*\}|[0-9a-f]+\r\n\{[^\r]*\}\r\n0\r\n\r\n)(?=HTTP|$)/;

/** Everything that the server sends until it closes the connection, or has sent `answers` JSON responses. */
export function answersOn(socket: Socket, answers = Infinity): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = (): void => resolve(text);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.split(ANSWER).length > answers) done();
    });
    socket.on('close', done);
  });
}

/** The bytes of a request. */
export function rawRequest(
  line: string,
  headers: Record<string, string>,
  body: string | Buffer = '',
): Buffer {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
  const head = [`${line} HTTP/1.1`, ...lines, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
}

/** The bytes of an initiate, which differs from `PAYOUT` in `change`. */
export function payRequest(
  apiKey: string,
  change: object = {},
  headers: Record<string, string> = {},
): Buffer {
  const body = JSON.stringify({ ...PAYOUT, ...change });
  const own = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
  return rawRequest('POST /payout/initiate', { ...own, ...headers }, body);
}
