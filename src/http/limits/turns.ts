import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const LATEST = Symbol('the latest answer of the control API on a connection');

/**
 * Runs what makes an answer once the one before it on its connection has gone out: many long ones that are asked for at once
 * are then made one by one, as they are read. Where the connection ends first, it never runs.
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
