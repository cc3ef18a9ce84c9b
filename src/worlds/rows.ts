import type { WorldsResponse } from '../contract/control-responses.ts';
import { iso } from '../contract/instant.ts';
import { toInr } from '../payout/money.ts';
import { readUnlessDropped } from './dropped.ts';
import type { World } from './world.ts';

/** Some worlds of a list, the one that was idle longest first, and the time of the last one's use; null on the last page. */
export interface WorldsPage {
  readonly ids: readonly string[];
  readonly next: number | null;
}

/** What a list shows of a world. */
type WorldRow = WorldsResponse['worlds'][number];

/** A page of some worlds, the one that was idle longest first. See `SharedWorlds.page`. */
export function pageOf(worlds: Iterable<World>, afterMs: number, count: number): WorldsPage {
  const ids: string[] = [];
  let next: number | null = null;
  for (const { id, usedAtMs } of worlds) {
    if (usedAtMs <= afterMs) continue;
    if (next !== null && usedAtMs > next) return { ids, next };
    ids.push(id);
    if (ids.length >= count) next = usedAtMs;
  }
  return { ids, next: null };
}

/** The row of a world; null for one that is gone. */
export const rowOf = (world: World, usedAtMs: number): Promise<WorldRow | null> =>
  readUnlessDropped(world, ({ id, name, wallet, payouts, index }): WorldRow => ({
    id,
    name,
    made_at: iso(world.openedAtMs),
    used_at: iso(usedAtMs),
    balance: toInr(wallet.balancePaise),
    transactions: payouts.length,
    scenario: index.base.name,
  }));
