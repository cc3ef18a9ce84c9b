import { LRUCache } from 'lru-cache';
import { iso } from '../contract/times.ts';
import { FIRST_GENERATION, isUntouched } from '../world/opening.ts';
import { droppedBy, type DropReason } from './order.ts';
import type { World } from './world.ts';

/** Which world goes when they are too many, and what is said of it afterwards. */

/** Of how many worlds a server remembers that they were dropped, the latest. */
const MAX_REMEMBERED = 1000;

export type Evictions = ReturnType<typeof droppedWorlds>;

/**
 * Remembers which worlds this server has dropped or lost although something had happened to their ledgers, so that whoever comes
 * back learns why they are gone.
 *
 * @param crowdedOut called for each of them that was dropped because there were too many worlds
 * @param reportOn called before each drop; returns what else to do once the world is dropped
 */
export function droppedWorlds(
  time: { nowMs(): number },
  crowdedOut: () => void,
  reportOn: (world: World) => () => void = () => () => undefined,
) {
  /** When and why, by the ids of the worlds. */
  const texts = new LRUCache<string, string>({ max: MAX_REMEMBERED });
  return {
    /** Called before a drop without a request for it. @returns what to do once the world is dropped */
    before(world: World, reason: DropReason): () => void {
      const { id, latest, droppedBefore } = world;
      const { length: payouts } = latest.payouts;
      const isMissed = !isUntouched(latest);
      const what = payouts === 0 ? 'ledger' : payouts === 1 ? 'payout' : `${payouts} payouts`;
      const text = `at ${iso(time.nowMs())} with its ${what}: ${droppedBy(reason)}`;
      const wasReset = latest.generation !== FIRST_GENERATION; // what was dropped before that is forgotten
      const report = reportOn(world);
      return () => {
        report();
        if (isMissed && reason === 'cap') crowdedOut();
        const said = isMissed ? text : droppedBefore;
        if (said !== null) texts.set(id, said);
        else if (wasReset) texts.delete(id);
      };
    },

    /** The store has lost a world, or the end of it. */
    lost(world: World): void {
      world.droppedBefore = `at ${iso(time.nowMs())}, in whole or in part: ${droppedBy('lost')}`;
      texts.set(world.id, world.droppedBefore);
    },

    /** Called with each world that was opened. */
    opened(world: World): void {
      if (world.latest.generation === FIRST_GENERATION)
        world.droppedBefore = texts.get(world.id) ?? world.droppedBefore;
    },
  };
}

/** The one whose drop loses least: the idlest without transactions, else the idlest. One in use only if all are. @param worlds the idlest first */
export function leastMissed(worlds: readonly World[]): World | undefined {
  const idle = worlds.filter(({ isInUse }) => !isInUse);
  return idle.find(({ size }) => size.transactions === 0) ?? idle[0] ?? worlds[0];
}
