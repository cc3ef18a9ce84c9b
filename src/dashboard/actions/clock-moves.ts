import type { AdvanceRequest } from '../../contract/control.ts';
import { perform } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { counted, grouped } from '../../contract/words.ts';
import { istMoment } from '../ui/formats.ts';

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

/** How a clock can be chosen to run: how many times as fast as real time. */
export const SPEEDS = [0, 1, 60, 3600, 86_400];

export const speedText = (speed: number): string =>
  speed === 0 ? 'frozen' : speed === 1 ? 'real time' : `${grouped(speed)}×`;

export const setSpeed = (live: LiveWorld, speed: number): void =>
  void perform(live, async () => {
    await live.world.clock.speed(speed);
    return speed === 0 ? 'The clock is frozen.' : `The clock runs: ${speedText(speed)}.`;
  }, ['clock']);

/** Freezes a running clock, and lets a frozen one run. */
export const toggleClock = (live: LiveWorld): void =>
  setSpeed(live, live.clock.value?.frozen === true ? 1 : 0);
