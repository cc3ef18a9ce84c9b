import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const LATEST = Symbol('the latest response of the control API on a connection');

/**
 * Calls `run` once the previous response of the control API on the same connection has gone out. So a client that pipelines
 * many requests for long answers makes the sandbox hold one of them, not all. When the connection ends first, `run` is never
 * called.
 */
export function inTurn(
  socket: Socket & { [LATEST]?: ServerResponse },
  response: ServerResponse,
  run: () => void,
): void {
  const before = socket[LATEST];
  socket[LATEST] = response;
  if (before === undefined || before.writableFinished) run();
  else {
    before.once('close', () => {
      if (!socket.destroyed) run();
    });
  }
}
