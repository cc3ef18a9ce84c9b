import type { WorldsResponse } from '../../contract/control-responses.ts';
import { iso } from '../../contract/instant.ts';
import { toInr } from '../../payout/money.ts';
import { readUnlessDropped } from '../dropped.ts';
import type { Directory } from '../store.ts';
import type { World } from '../world.ts';

/** What a list shows of a world. */
type WorldRow = WorldsResponse['worlds'][number];

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
      const { length: transactions } = payouts;
      const times = { made_at: iso(openedAtMs), used_at: iso(usedAtMs) };
      return {
        id,
        name,
        ...times,
        balance: toInr(wallet.balancePaise),
        transactions,
        scenario: index.base.name,
      };
    });
  });
  if (row === null) await directory?.remove(worldId);
  return row;
}
