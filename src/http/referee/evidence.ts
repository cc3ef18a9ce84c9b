import { Refusal } from '../../contract/errors.ts';
import type { RefereeSettings } from '../../contract/conduct.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import { readUnlessDropped, type WorldHandle, type WorldLog } from '../../log/world-log.ts';
import { isMoneyIn, type Evidence } from '../../referee/case.ts';
import type { Referee } from '../../referee/referee.ts';
import { entryAnswer, iso } from '../../world/events.ts';
import { journalEntry } from '../../world/journal/exchange.ts';
import type { Journal, JournalRead } from '../../world/journal/journal.ts';
import { findPayout } from '../../world/ledger.ts';
import { nowMs, type WorldState } from '../../world/state.ts';
import { transactionAnswer } from '../control/world-answers.ts';

/**
 * What the referee judges a world by: its journal, and the payouts of the references in it. With a table of expected payouts,
 * all payouts of the world.
 */
function evidenceOf(
  state: WorldState,
  { exchanges, evicted }: JournalRead,
  { expect }: RefereeSettings,
  wallNowMs: number,
): Evidence {
  const references = new Set(exchanges.map(({ clientRefId }) => clientRefId));
  const payouts =
    expect === undefined
      ? [...references].flatMap((clientRefId) => findPayout(state, { clientRefId }) ?? [])
      : state.payouts;
  const firstMs = exchanges[0]?.atMs ?? Infinity;
  return {
    requests: exchanges.map(journalEntry),
    evicted,
    ledger: {
      payouts: payouts.map((payout) => transactionAnswer(payout, nowMs(state))),
      entries: state.entries.filter(({ kind, atMs }) => isMoneyIn(kind) && atMs >= firstMs).map(entryAnswer),
    },
    wall_now: iso(wallNowMs),
  };
}

interface JudgedBy {
  readonly referee: Referee;
  readonly wallClock: WallClock;
}

/** Keeps the verdict on a world that is being dropped, if somebody wants it: as it is now, before the drop. */
export async function keepVerdict(
  world: Pick<WorldHandle, 'id' | 'latest'> & { readonly journal: Journal },
  { referee, wallClock }: JudgedBy,
): Promise<void> {
  const { id, latest } = world;
  const [journal, wallNowMs] = [world.journal.read(), wallClock.nowMs()];
  const settings = await referee.settingsToKeep(id);
  if (settings === null) return;
  await referee.keep(id, evidenceOf(latest, journal, settings, wallNowMs), settings, true);
}

/** Ignores a refusal: a store that is unavailable is reported elsewhere. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}

/** The evidence on a world as it is now. */
export async function evidenceOn(
  world: WorldHandle,
  settings: RefereeSettings,
  wallClock: WallClock,
): Promise<Evidence> {
  const journal = await world.journal.read();
  return world.read((state) => evidenceOf(state, journal, settings, wallClock.nowMs()));
}

/** The same for a world of a list; null when it was dropped meanwhile. */
export async function evidenceOnListed(
  worldId: string,
  log: WorldLog,
  settings: RefereeSettings,
  wallClock: WallClock,
): Promise<Evidence | null> {
  return log.visit(worldId, async (world) => {
    const journal = await world.journal.read();
    return readUnlessDropped(world, (state) => evidenceOf(state, journal, settings, wallClock.nowMs()));
  });
}

/**
 * Does something that discards the journal of a world, and keeps the verdict on that journal if somebody wants it.
 *
 * @param isOver false when its payouts continue, so that expected ones may still be made
 */
export async function keepingVerdict<T>(
  world: WorldHandle,
  { referee, wallClock }: JudgedBy,
  isOver: boolean,
  lose: () => Promise<T>,
): Promise<T> {
  const settings = await referee.settingsToKeep(world.id);
  if (settings === null) return lose();
  const evidence = await evidenceOn(world, settings, wallClock);
  const result = await lose();
  await referee.keep(world.id, evidence, settings, isOver).catch(ignoreRefusal); // the operation itself is done
  return result;
}

/** Drops a world that this server may not know, and keeps the last verdict on it. @returns whether it was dropped */
export async function dropKeepingVerdict(
  worldId: string,
  log: WorldLog,
  { referee, wallClock }: JudgedBy,
  drop: () => Promise<boolean>,
): Promise<boolean> {
  const settings = await referee.settingsToKeep(worldId);
  if (settings === null) return drop();
  const evidence = await evidenceOnListed(worldId, log, settings, wallClock);
  const isDropped = await drop();
  if (isDropped && evidence !== null)
    await referee.keep(worldId, evidence, settings, true).catch(ignoreRefusal);
  return isDropped;
}
