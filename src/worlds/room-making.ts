import type { World } from './world.ts';

/** What goes when worlds hold more than they may, or when memory is short. */

/** The one whose drop loses least: the idlest without transactions, else the idlest. One in use only if all are. @param worlds the idlest first */
export function leastMissed(worlds: readonly World[]): World | undefined {
  const idle = worlds.filter(({ isInUse }) => !isInUse);
  return idle.find(({ size }) => size.transactions === 0) ?? idle[0] ?? worlds[0];
}

/**
 * Drops the older half of the requests of those that remember at least half of what the largest does, with what an undo needs there.
 *
 * @param count called after each
 * @returns how many requests are gone
 */
export function cutLargest(
  worlds: readonly World[],
  isEnough: () => boolean,
  count: (world: World) => void,
): number {
  const largestFirst = worlds.toSorted((a, b) => b.size.requests - a.size.requests);
  const least = Math.max(1, (largestFirst[0]?.size.requests ?? 0) / 2);
  let dropped = 0;
  for (const world of largestFirst) {
    if (world.size.requests < least || isEnough()) break;
    const { evicted } = world.latest.requests;
    world.inBackground(world.submit({ kind: 'forgetUndo' }));
    world.inBackground(world.submit({ kind: 'forget', as: 'evicted' }));
    world.connections.recent.clear(); // with the event of that
    count(world);
    dropped += world.latest.requests.evicted - evicted;
  }
  return dropped;
}

/** Forgets copies of worlds of a store, whose use is in the list of all. @param worlds the idlest first @returns how many requests they had */
export function forgetCopies(
  worlds: Iterable<World>,
  isEnough: () => boolean,
  forget: (world: World) => void,
): number {
  let dropped = 0;
  for (const world of worlds) {
    if (isEnough() || world.usedAtMs > world.notedAtMs) break;
    if (!world.isIdle) continue;
    dropped += world.size.requests;
    forget(world);
  }
  return dropped;
}
