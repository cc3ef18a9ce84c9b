import type { WorldsResponse } from '../../contract/control-responses.ts';
import { iso } from '../../contract/instant.ts';
import { toInr } from '../../payout/money.ts';
import { readUnlessDropped } from '../dropped.ts';
import type { Directory, Store, WorldsPage } from '../store.ts';
import type { WallClock } from '../wall-clock.ts';
import type { World } from '../world.ts';

/** What a list shows of a world. */
type WorldRow = WorldsResponse['worlds'][number];

interface Visited {
  visit<T>(worldId: string, look: (world: World) => Promise<T>): Promise<T | null>;
}

const ROWS_AT_ONCE = 50;

/** A page of the list of worlds. Other requests have their turn while it is read. */
export async function pageOf(
  worlds: Visited,
  known: { page(afterMs: number, count: number): WorldsPage },
  { store: { directory }, wallClock }: { readonly store: Store; readonly wallClock: WallClock },
  { afterMs, count }: { readonly afterMs: number; readonly count: number },
): Promise<WorldsResponse> {
  const { ids, next } = await (directory ?? known).page(afterMs, count);
  const rows: (WorldRow | null)[] = [];
  for (let from = 0; from < ids.length; from += ROWS_AT_ONCE) {
    if (from > 0) await wallClock.yieldToEventLoop();
    const some = ids.slice(from, from + ROWS_AT_ONCE);
    rows.push(...(await Promise.all(some.map((worldId) => rowOf(worldId, worlds, directory)))));
  }
  return { worlds: rows.filter((row) => row !== null), next };
}

/** The row of a world; null for one that is gone, which is taken off the list, too. */
async function rowOf(
  worldId: string,
  worlds: Visited,
  directory: Directory | null,
): Promise<WorldRow | null> {
  const row = await worlds.visit(worldId, async (world) => {
    const { openedAtMs, usedAtMs } = (await directory?.times(worldId)) ?? world;
    return readUnlessDropped(world, ({ id, name, wallet, payouts, index }): WorldRow => ({
      id,
      name,
      made_at: iso(openedAtMs),
      used_at: iso(usedAtMs),
      balance: toInr(wallet.balancePaise),
      transactions: payouts.length,
      scenario: index.base.name,
    }));
  });
  if (row === null) await directory?.remove(worldId);
  return row;
}
