import type { AdvanceRequest } from '../../contract/control.ts';
import { perform, type Effects } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { counted, grouped } from '../../contract/words.ts';
import { istMoment } from '../ui/formats.ts';

/** What an action that moves the clock does, besides what it says. */
export const CLOCK_EFFECTS: Effects = { causes: ['clock'], undo: true };

const FEW = 3;

/** Advances the clock. @returns what happened by then */
export async function advance(live: LiveWorld, move: string | AdvanceRequest): Promise<string> {
  const { changes, now } = await live.world.clock.advance(move);
  const first = changes.slice(0, FEW).map(({ client_ref_id: ref, to }) => `${ref} ${to}`);
  const more = changes.length > FEW ? ` and ${counted(changes.length - FEW, 'more', 'more')}` : '';
  const what =
    changes.length === 0 ? 'no change' : `${counted(changes.length, 'change')}: ${first.join(', ')}${more}`;
  return `It is ${istMoment(now)}: ${what}.`;
}

/** How many times as fast as real time a clock can be chosen to run. */
export const SPEEDS = [60, 3600, 86_400];

export const setSpeed = (live: LiveWorld, speed: number): void =>
  void perform(
    live,
    async () => {
      await live.world.clock.speed(speed);
      return `The clock runs ${grouped(speed)} times as fast.`;
    },
    CLOCK_EFFECTS,
  );

/** Freezes a running clock, and lets a frozen one run. */
export const toggleClock = (live: LiveWorld): void =>
  void perform(
    live,
    async () => {
      const { clock } = live.world;
      const isFrozen = live.clock.value?.frozen === true;
      await (isFrozen ? clock.resume() : clock.freeze());
      return isFrozen ? 'The clock runs.' : 'The clock is frozen.';
    },
    CLOCK_EFFECTS,
  );
