import type { Room, Stamp } from '../world/commands.ts';
import { nextDueMsOf } from '../world/ledger.ts';
import { wallTimeMs } from '../world/state.ts';
import type { WallClock } from './wall-clock.ts';
import type { OrderOf } from './world.ts';

const HOW = { isOwn: true, isNews: true, isAwaited: true };
const NO_ROOM: Room = { maxTransactions: 0, transactions: 0, keep: 0, rulesFree: 0 }; // an end needs none

/** The order of a world in memory: a number. Each command is applied at once, and nothing is kept. */
export const inMemory =
  (wallClock: WallClock): OrderOf =>
  (world) => {
    let position = 0;
    let scheduled: { readonly wallMs: number; readonly cancel: () => void } | null = null;
    const settle = (): void => {
      scheduled = null;
      world.inBackground(world.submit({ kind: 'settle' }));
    };
    /** Settles when the next step is due. Settlement is correct without it; it only makes changes known on time. */
    const schedule = (): void => {
      const dueMs = world.closed === null ? nextDueMsOf(world.latest) : null;
      const wallMs = dueMs === null ? null : wallTimeMs(world.latest.clock, dueMs);
      if (wallMs === (scheduled?.wallMs ?? null)) return;
      scheduled?.cancel();
      scheduled = wallMs === null ? null : { wallMs, cancel: wallClock.schedule(wallMs, settle) };
    };
    const stampOf = (room: Room): Stamp => ({ server: '', position, wallMs: wallClock.nowMs(), room });
    return {
      get position() {
        return position;
      },
      nowMs: () => wallClock.nowMs(),
      async submit(command, room) {
        position += 1;
        const applied = world.apply(command, stampOf(room), HOW);
        schedule();
        return applied;
      },
      end: (ended) => void world.apply({ kind: 'end', ends: [ended] }, stampOf(NO_ROOM), HOW),
      follow: async () => undefined,
      listen: () => undefined,
      isBusy: false,
      flush: async () => undefined,
      close: schedule,
    };
  };
