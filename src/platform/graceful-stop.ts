import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const CHECK_EVERY_MS = 20;
/**
 * How many checks requests under way may last before their connections are cut: 800 ms. Checks are counted instead of time,
 * since a process that was paused as it stopped has not had that time to answer.
 */
const GRACE_CHECKS = 40;

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
    let checks = 0;
    const check = setInterval(() => {
      closeIdle(); // a keep-alive connection whose last request ends while we stop would delay the stop until it times out
      if ((checks += 1) >= GRACE_CHECKS) server.closeAllConnections();
    }, CHECK_EVERY_MS);
    try {
      await close();
      await Promise.all([...open].map((socket) => once(socket, 'close'))); // requests that were cut still write their log lines
    } finally {
      clearInterval(check);
    }
  };
}
