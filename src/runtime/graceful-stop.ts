import type { Server } from 'node:http';

/** How long requests under way may take when the server stops, before their connections are cut. */
const GRACE_MS = 800;
const IDLE_CHECK_MS = 20;

/**
 * Closes a server within a second: requests under way are answered, idle connections end at once.
 *
 * @param close stops listening and resolves when the last connection has ended
 */
export async function stopGracefully(server: Server, close: () => Promise<unknown>): Promise<void> {
  // a keep-alive connection whose last request ends while we stop would hold us up until it times out
  const closeIdle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  try {
    await close();
  } finally {
    clearInterval(closeIdle);
    clearTimeout(cut);
  }
}
