import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How long requests under way may take when the server stops, before their connections are cut. */
const GRACE_MS = 800;
const IDLE_CHECK_MS = 20;

/** Makes a function that stops a server within a second: requests under way are answered, idle connections are closed. */
export function gracefulStop(server: Server, close: () => Promise<unknown>): () => Promise<void> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  const closeIdle = (): void => {
    server.closeIdleConnections();
    // Node considers a connection busy that has not sent anything yet, such as the spare one of a browser
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };

  return async () => {
    // a keep-alive connection whose last request ends while we stop would delay the stop until it times out
    const idleCheck = setInterval(closeIdle, IDLE_CHECK_MS);
    const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    try {
      await close();
      await Promise.all([...open].map((socket) => once(socket, 'close'))); // requests that were cut still write their log lines
    } finally {
      clearInterval(idleCheck);
      clearTimeout(cut);
    }
  };
}
