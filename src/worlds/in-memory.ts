import type { ClockState } from '../payout/settlement.ts';
import { nextDueMsOf } from '../world/ledger.ts';
import { wallTimeMs } from '../world/state.ts';
import type { OrderOf } from './order.ts';
import type { WallClock } from './wall-clock.ts';

/** Calls back when the next step of a world is due. Settlement is correct without it; it only makes changes known on time. */
export class SettlementTimer {
  readonly #wallClock: WallClock;
  readonly #callback: () => void;
  #scheduled: { readonly wallMs: number; readonly cancel: () => void } | null = null;

  constructor(wallClock: WallClock, callback: () => void) {
    this.#wallClock = wallClock;
    this.#callback = callback;
  }

  /** Schedules the callback, instead of what was scheduled before. @param dueMs world time; null for none */
  set(dueMs: number | null, clock: ClockState): void {
    const wallMs = dueMs === null ? null : wallTimeMs(clock, dueMs);
    if (wallMs === (this.#scheduled?.wallMs ?? null)) return;
    this.#scheduled?.cancel();
    this.#scheduled = null;
    if (wallMs === null) return;
    const callback = (): void => {
      this.#scheduled = null;
      this.#callback();
    };
    this.#scheduled = { wallMs, cancel: this.#wallClock.schedule(wallMs, callback) };
  }
}

/** The order of a world in memory: a number. Each command is applied at once, and nothing is kept. */
export const inMemory =
  (wallClock: WallClock): OrderOf =>
  (world) => {
    const timer = new SettlementTimer(wallClock, () => world.inBackground(world.submit({ kind: 'settle' })));
    let position = 0;
    return {
      get position() {
        return position;
      },
      nowMs: () => wallClock.nowMs(),
      async submit({ command, room, onChanges }) {
        position += 1;
        const { maxTransactions, transactions, keep, rulesFree } = room;
        const wallMs = wallClock.nowMs();
        // field by field: V8 gives each object that begins with a spread a class of its own
        const stamp = {
          server: '',
          position,
          wallMs,
          maxTransactions,
          transactions,
          keep,
          rulesFree,
          ends: [],
        };
        const applied = world.apply(command, stamp, {
          isOwn: true,
          isNews: true,
          isAwaited: true,
          onChanges,
        });
        timer.set(world.closed === null ? nextDueMsOf(world.latest) : null, world.latest.clock);
        return applied;
      },
      end: (ended) => world.applyEnds({ ends: [ended], wallMs: wallClock.nowMs() }),
      follow: async () => undefined,
      listen: () => undefined,
      isBusy: false,
      flush: async () => undefined,
      close: () => timer.set(null, world.latest.clock),
    };
  };
