import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A socket to a sandbox that sends whatever it is told, byte by byte. */
export function rawSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined); // a server may cut us off: the answers say what it said before
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Everything that the server sends until it ends the connection, or has sent `answers` answers. */
export function answersOn(socket: Socket, answers = Infinity): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = (): void => resolve(text);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.split(/HTTP\/1\.1 \d{3} [^\r]*\r\n(?:[^\r]+\r\n)*\r\n\{[^\r]*\}(?=HTTP|$)/).length > answers)
        done();
    });
    socket.on('close', done);
  });
}

/** A request as it travels. */
export const rawRequest = (
  line: string,
  headers: Record<string, string>,
  body: string | Buffer = '',
): Buffer =>
  Buffer.concat([
    Buffer.from(
      `${line} HTTP/1.1\r\nHost: localhost\r\n${Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
      'latin1',
    ),
    Buffer.from(body),
  ]);
