import type { RefereeSettings } from '../../contract/conduct.ts';
import type { ScenarioSource } from '../../scenario/scenario.ts';
import type { World } from '../../worlds/world.ts';
import { isMoneyIn, type Evidence } from '../../referee/case.ts';
import { whole } from '../../referee/judge.ts';
import type { Judged } from '../../referee/referee.ts';
import { iso } from '../../contract/instant.ts';
import { entryResponse } from '../../world/events.ts';
import { journalEntry } from '../../world/journal/journal-entry.ts';
import { nowMs } from '../../world/state.ts';
import type { WorldState } from '../../world/state-shape.ts';
import { transactionResponse } from '../../world/transaction-response.ts';
import type { HttpExchange } from '../http-exchange.ts';
import { act, type ControlOptions } from '../control/control-options.ts';
import { inSteps } from '../limits/heavy-work.ts';

/**
 * What the referee judges a world by: the requests that it remembers, the payouts of the references in them, and every payout of a
 * reference that was paid more than once. With a table of expected payouts, all payouts of the world.
 */
export function* evidenceOf(
  state: Readonly<WorldState>,
  { expect }: RefereeSettings,
  wallNowMs: number,
  clientEnded: boolean,
  dropped: string | null,
): Generator<void, Evidence> {
  const { list, evicted } = state.requests;
  const references = new Set<string | undefined>(list.map(({ clientRefId }) => clientRefId));
  for (const { nth, clientRefId } of state.payouts) if (nth > 1) references.add(clientRefId);
  const payouts =
    expect === undefined
      ? state.payouts.filter(({ clientRefId }) => references.has(clientRefId))
      : state.payouts;
  const sent = new Set(list.flatMap(({ route, clientRefId }) => (route === 'initiate' ? [clientRefId] : [])));
  const firstMs = list[0]?.atMs ?? Infinity;
  return {
    requests: yield* inSteps(list, journalEntry),
    name: state.name,
    evicted,
    dropped,
    ledger: {
      payouts: yield* inSteps(payouts, (payout) => transactionResponse(payout, nowMs(state))),
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

/** A world as it is now, which later commands do not change. */
export const frozen = (state: Readonly<WorldState>): Readonly<WorldState> => ({
  ...state,
  payouts: state.payouts.slice(),
  entries: state.entries.slice(),
  requests: { ...state.requests, list: state.requests.list.slice() },
});

/** A world, judged by these settings: prepared in steps. */
export function* judgedBy(
  settings: RefereeSettings,
  state: Readonly<WorldState>,
  { id, droppedBefore }: World,
  wallNowMs: number,
  clientEnded: boolean,
): Generator<void, Judged> {
  const evidence = yield* evidenceOf(state, settings, wallNowMs, clientEnded, droppedBefore);
  return { worldId: id, kept: state.referee, settings, evidence };
}

/** @returns a function that keeps the report on a world that was dropped meanwhile, if somebody wants it */
export function reportOnDropped(
  world: World,
  { referee, wallClock }: Omit<RefereeDeps, 'worlds'>,
): () => void {
  const { latest } = world;
  const settings = referee.settingsToJudge(latest.referee);
  if (settings === null) return () => undefined;
  const past = frozen(latest);
  const wallNowMs = wallClock.nowMs();
  return () => referee.dropped(whole(judgedBy(settings, past, world, wallNowMs, true)));
}

/** How often a report is made anew because something happened meanwhile, before others have to wait for it. */
const MOST_REPORTS = 3;

/** Resets a world. The report on the journal that ends is added to its others, if somebody wants it. */
export async function resetWorld(
  exchange: HttpExchange,
  source: ScenarioSource,
  { referee, wallClock, heavy }: Omit<RefereeDeps, 'worlds'> & Pick<ControlOptions, 'heavy'>,
): Promise<void> {
  const { world } = exchange;
  for (let times = 1; ; times += 1) {
    const state = await world.read(frozen);
    const { position } = world;
    const settings = referee.settingsToJudge(state.referee);
    const report =
      settings && referee.endedAtReset(judgedBy(settings, state, world, wallClock.nowMs(), true));
    const isLast = times === MOST_REPORTS;
    const ended = report && (isLast ? whole(report) : await heavy.run(() => report));
    if (!isLast && position !== world.position) continue;
    await act(exchange, { kind: 'reset', source, ...(ended && { ended }) });
    return;
  }
}

/** Drops a world, and keeps the report on it if the settings for all worlds ask for that. @returns false if there was none */
export async function dropWorld(
  worldId: string,
  { referee, worlds, wallClock }: RefereeDeps,
): Promise<boolean> {
  const keep =
    referee.settingsOfAll !== null &&
    (await worlds.visit(worldId, (_state, world) => reportOnDropped(world, { referee, wallClock })));
  if (!(await worlds.drop(worldId))) return false;
  if (keep) keep();
  referee.forget(worldId);
  return true;
}
