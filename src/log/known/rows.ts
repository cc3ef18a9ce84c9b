import { readUnlessDropped } from '../dropped.ts';
import type { Directory } from '../store.ts';
import type { World } from '../world.ts';

/** What a list shows of a world. */
export interface WorldRow {
  readonly id: string;
  readonly name: string | null;
  /** Wall time of its first and its latest use, ms since the epoch. */
  readonly openedAtMs: number;
  readonly usedAtMs: number;
  readonly balancePaise: number;
  readonly transactions: number;
  readonly scenario: string;
}

interface Visited {
  visit<T>(worldId: string, look: (world: World) => Promise<T>): Promise<T | null>;
}

/** The row of a world; null for one that is gone, which is taken off the list, too. */
export async function rowOf(
  worldId: string,
  worlds: Visited,
  directory: Directory | null,
): Promise<WorldRow | null> {
  const row = await worlds.visit(worldId, async (world) => {
    const { openedAtMs, usedAtMs } = (await directory?.times(worldId)) ?? world;
    return readUnlessDropped(world, ({ id, name, wallet, payouts, index }): WorldRow => {
      const { balancePaise } = wallet;
      const { length: transactions } = payouts;
      return { id, name, openedAtMs, usedAtMs, balancePaise, transactions, scenario: index.base.name };
    });
  });
  if (row === null) await directory?.remove(worldId);
  return row;
}
