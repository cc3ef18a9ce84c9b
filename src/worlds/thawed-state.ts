import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { thaw, type FrozenState } from '../world/copy.ts';
import type { WorldState } from '../world/state.ts';
import type { WallClock } from './wall-clock.ts';

/** A state that commands can change, made from a frozen one with turns for other work in between. */
export async function thawed(
  frozen: FrozenState,
  { compiler, wallClock }: { readonly compiler: ScenarioCompiler; readonly wallClock: WallClock },
): Promise<WorldState> {
  const steps = thaw(frozen, compiler);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await wallClock.yieldToEventLoop();
  }
}
