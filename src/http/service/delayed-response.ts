import type { Socket } from 'node:net';
import type { WallClock } from '../../log/wall-clock.ts';
import type { WorldHandle } from '../../log/world-log.ts';

/** How a wait ended: its time came, the client left, the world was reset, or the world (or the sandbox) has ended. */
export type HeldUntil = 'due' | 'left' | 'reset' | 'ended';

/**
 * Holds an answer back. Nothing of it is kept once it is over: no timer, no listener, no place in the world.
 *
 * @param ms wall time; null for as long as the client stays
 */
export const heldBack = (
  ms: number | null,
  socket: Socket,
  world: WorldHandle,
  wallClock: WallClock,
): Promise<HeldUntil> =>
  new Promise((resolve) => {
    let cancelAlarm = (): void => undefined;
    let letGo = (): void => undefined;
    const over = (how: HeldUntil) => (): void => {
      cancelAlarm();
      letGo();
      socket.off('close', left);
      resolve(how);
    };
    const left = over('left');
    if (socket.destroyed) return left();
    socket.setMaxListeners(0); // one for each answer held on it, and requests may be sent before their turn
    socket.on('close', left);
    if (ms !== null) cancelAlarm = wallClock.schedule(wallClock.nowMs() + ms, over('due'));
    letGo = world.held.hold(() => over(world.held.isForGood ? 'ended' : 'reset')());
  });
