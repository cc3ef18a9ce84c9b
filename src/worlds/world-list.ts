import type { WorldsResponse } from '../contract/control-responses.ts';
import { iso } from '../contract/times.ts';
import { toInr } from '../payout/money.ts';
import type { WorldState } from '../world/state-shape.ts';
import type { SharedWorlds, WorldsPage } from './shared-worlds.ts';
import type { WallClock } from './wall-clock.ts';
import type { World } from './world.ts';

/** The worlds of a server, as their list reads them. */
interface Listed {
  /** Those in memory, the one that was idle longest first. */
  all(): Iterable<World>;
  visit<T>(worldId: string, look: (state: Readonly<WorldState>, world: World) => T): Promise<T | null>;
}

interface ListOptions {
  readonly store: SharedWorlds | null;
  readonly wallClock: WallClock;
}

const ROWS_AT_ONCE = 50;

/** What a list shows of a world. */
type WorldRow = WorldsResponse['worlds'][number];

/** A page of some worlds, the one that was idle longest first. See `SharedWorlds.page`. */
function pageOf(worlds: Iterable<World>, afterMs: number, count: number): WorldsPage {
  const uses: [string, number][] = [];
  let next: number | null = null;
  for (const { id, usedAtMs } of worlds) {
    if (usedAtMs <= afterMs) continue;
    if (next !== null && usedAtMs > next) return { uses, next };
    uses.push([id, usedAtMs]);
    if (uses.length >= count) next = usedAtMs;
  }
  return { uses, next: null };
}

/** What a page of the list shows, without worlds that are gone. Not a use. @param afterMs only those used after that time */
export async function listedPage(
  worlds: Listed,
  { store, wallClock }: ListOptions,
  afterMs: number,
  count: number,
): Promise<WorldsResponse> {
  const { uses, next } =
    store === null ? pageOf(worlds.all(), afterMs, count) : await store.page(afterMs, count);
  const row = async ([worldId, usedAtMs]: (typeof uses)[number]): Promise<WorldRow | null> => {
    const found = await worlds.visit(worldId, ({ id, name, wallet, payouts, index }, world) => ({
      id,
      name,
      made_at: iso(world.openedAtMs),
      used_at: iso(usedAtMs),
      balance: toInr(wallet.balancePaise),
      transactions: payouts.length,
      scenario: index.base.name,
    }));
    if (found === null) await store?.unlist(worldId);
    return found;
  };
  const rows: (WorldRow | null)[] = [];
  for (let from = 0; from < uses.length; from += ROWS_AT_ONCE) {
    if (from > 0) await wallClock.yieldToEventLoop();
    rows.push(...(await Promise.all(uses.slice(from, from + ROWS_AT_ONCE).map(row))));
  }
  return { worlds: rows.filter((one) => one !== null), next };
}
