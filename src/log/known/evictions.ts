import { Refusal } from '../../contract/errors.ts';
import { iso } from '../../contract/instant.ts';
import { FIRST_GENERATION, isUntouched } from '../../world/state.ts';
import { droppedBy } from '../dropped.ts';
import type { Notes } from '../notes.ts';
import type { DropReason, MaybePromise, Store } from '../store.ts';
import type { World } from '../world.ts';

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Refusal)) throw error; // the store is unavailable
}

function tell(world: World, text: string | null): void {
  if (world.latest.generation === FIRST_GENERATION) world.droppedBefore = text ?? world.droppedBefore;
}

/** What remains of worlds that are dropped without a request to drop them: they were idle, or others needed their place. */
export interface Evictions {
  /** Called before such a drop. @returns what to do once the world is dropped */
  before(world: World, reason: DropReason): () => Promise<void>;
  /** Called with each world that was opened. */
  opened?(world: World): MaybePromise<void>;
}

/**
 * Remembers which worlds were dropped although something had happened to their ledgers, so that whoever comes back learns why they
 * are gone.
 *
 * @param crowdedOut called for each of them that was dropped because there were too many worlds
 */
export const droppedWorlds = (notes: Notes, store: Pick<Store, 'nowMs'>, crowdedOut: () => void) => ({
  /** @returns a function that remembers the drop */
  before({ id, latest, droppedBefore }: World, reason: DropReason): () => Promise<void> {
    const { length: payouts } = latest.payouts;
    const isMissed = !isUntouched(latest);
    const what = payouts === 0 ? 'ledger' : payouts === 1 ? 'payout' : `${payouts} payouts`;
    const text = `at ${iso(store.nowMs())} with its ${what}: ${droppedBy(reason)}`;
    const wasReset = latest.generation !== FIRST_GENERATION; // what was dropped before that is forgotten
    return async () => {
      if (isMissed && reason === 'cap') crowdedOut();
      if (isMissed || wasReset) await notes.change(id, () => (isMissed ? text : droppedBefore));
    };
  },

  /** Remembers that the store has lost a world, or the end of it, before that is read anew. */
  async lost(world: World): Promise<void> {
    const text = `at ${iso(store.nowMs())}, in whole or in part: ${droppedBy('lost')}`;
    world.droppedBefore = text;
    await notes.change(world.id, () => text).catch(ignoreRefusal);
  },

  opened(world: World): MaybePromise<void> {
    const text = notes.get(world.id);
    return text instanceof Promise
      ? text.catch(ignoreRefusal).then((known) => tell(world, known ?? null))
      : tell(world, text);
  },
});
