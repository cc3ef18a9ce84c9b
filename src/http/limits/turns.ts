import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The latest response of the control API on each connection. */
const latest = new WeakMap<Socket, ServerResponse>();

/**
 * Calls `run` once the previous response of the control API on the same connection has gone out. So a client that pipelines
 * many requests for long answers makes the sandbox hold one of them, not all. When the connection ends first, `run` is never
 * called.
 */
export function inTurn(socket: Socket, response: ServerResponse, run: () => void): void {
  const before = latest.get(socket);
  latest.set(socket, response);
  if (before === undefined || before.writableFinished) return run();
  before.once('close', () => {
    if (!socket.destroyed) run();
  });
}
