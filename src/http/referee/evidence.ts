import { Refusal } from '../../contract/errors.ts';
import type { RefereeSettings } from '../../contract/conduct.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import { readUnlessDropped } from '../../log/dropped.ts';
import type { World } from '../../log/world.ts';
import type { Worlds } from '../../log/worlds.ts';
import { isMoneyIn, type Evidence } from '../../referee/case.ts';
import type { JournalEnd } from '../../referee/referee.ts';
import { iso } from '../../contract/instant.ts';
import { entryResponse } from '../../world/events.ts';
import type { MaybePromise } from '../../log/store.ts';
import { endsOf, journalEntry } from '../../world/journal/exchange.ts';
import { nowMs, type WorldState } from '../../world/state.ts';
import type { ControlOptions } from '../control/control-options.ts';
import { transactionResponse } from '../control/world-responses.ts';

/**
 * What the referee judges a world by: the requests that it remembers, the payouts of the references in them, and every payout of a
 * reference that was paid more than once. With a table of expected payouts, all payouts of the world.
 */
export function evidenceOf(
  state: Readonly<WorldState>,
  { expect }: RefereeSettings,
  wallNowMs: number,
  clientEnded: boolean,
  dropped: string | null,
): Evidence {
  const { list, evicted } = state.requests;
  const ends = endsOf(list);
  const references = new Set<string | undefined>(list.map(({ clientRefId }) => clientRefId));
  for (const { nth, clientRefId } of state.payouts) if (nth > 1) references.add(clientRefId);
  const payouts =
    expect === undefined
      ? state.payouts.filter(({ clientRefId }) => references.has(clientRefId))
      : state.payouts;
  const sent = new Set(list.flatMap(({ route, clientRefId }) => (route === 'initiate' ? [clientRefId] : [])));
  const firstMs = list[0]?.atMs ?? Infinity;
  return {
    requests: list.map((exchange) => journalEntry(exchange, ends.get(exchange.nth) ?? null)),
    name: state.name,
    evicted,
    dropped,
    ledger: {
      payouts: payouts.map((payout) => transactionResponse(payout, nowMs(state))),
      entries: state.entries
        .filter(({ kind, atMs }) => isMoneyIn(kind) && atMs >= firstMs)
        .map(entryResponse),
      forgotten: evicted > 0 ? 0 : state.payouts.filter(({ clientRefId }) => !sent.has(clientRefId)).length,
    },
    wall_now: iso(wallNowMs),
    clientEnded,
  };
}

type RefereeDeps = Pick<ControlOptions, 'referee' | 'worlds' | 'wallClock'>;

/** @returns a function that adds the report on a world that was dropped meanwhile to its others, if somebody wants it */
export function reportOnDropped(
  { id, latest, droppedBefore }: World,
  { referee, wallClock }: Omit<RefereeDeps, 'worlds'>,
): () => Promise<void> {
  const past = { ...latest, requests: { ...latest.requests, list: latest.requests.list.slice() } };
  const wallNowMs = wallClock.nowMs();
  return async () => {
    const settings = await referee.settingsToJudge(id);
    if (settings === null) return;
    await referee.add(id, evidenceOf(past, settings, wallNowMs, true, droppedBefore), settings, 'drop');
  };
}

/** The evidence on a world as it is now; null when there is none, or it was dropped meanwhile. */
export const evidenceOnListed = (
  worldId: string,
  worlds: Worlds,
  settings: RefereeSettings,
  wallClock: WallClock,
  clientEnded: boolean,
): Promise<Evidence | null> =>
  worlds.visit(worldId, (world) =>
    readUnlessDropped(world, (state) =>
      evidenceOf(state, settings, wallClock.nowMs(), clientEnded, world.droppedBefore),
    ),
  );

/**
 * Resets or drops a world, and adds the report on the journal that ends to its others, if somebody wants it.
 *
 * @param act returns false if there was no such world
 */
export async function endJournal<T>(
  worldId: string,
  { referee, worlds, wallClock }: RefereeDeps,
  end: JournalEnd,
  act: () => MaybePromise<T>,
): Promise<T> {
  const settings = await referee.settingsToJudge(worldId);
  const evidence = settings && (await evidenceOnListed(worldId, worlds, settings, wallClock, true));
  const result = await act();
  if (settings === null || evidence === null || result === false) return result;
  try {
    await referee.add(worldId, evidence, settings, end);
  } catch (error) {
    // the operation itself is done, and a store that is unavailable is reported elsewhere
    if (!(error instanceof Refusal)) throw error;
  }
  return result;
}
