import type { ScenarioSource } from '../../contract/snapshot.ts';
import type { RefereeSettings } from '../../contract/conduct.ts';
import type { World } from '../../worlds/world.ts';
import { isMoneyIn, type Evidence } from '../../referee/case.ts';
import { fieldReader } from '../../referee/intents.ts';
import { inSteps, whole, type Steps } from '../../world/steps.ts';
import type { Judged } from '../../referee/referee.ts';
import { iso } from '../../contract/instant.ts';
import { entryResponse } from '../../world/events.ts';
import { journalEntry } from '../../world/journal/journal-entry.ts';
import { nowMs } from '../../world/state.ts';
import type { WorldState } from '../../world/state-shape.ts';
import { transactionResponse } from '../../world/transaction-response.ts';
import type { HttpExchange } from '../http-exchange.ts';
import { act, type ControlOptions } from '../routes.ts';

/**
 * What the referee judges a world by: the requests that it remembers, the payouts of the references in them, and every payout of a
 * reference, or of a declared intent, that was paid more than once. With a table of expected payouts, all payouts of the world.
 */
export function* evidenceOf(
  state: Readonly<WorldState>,
  { expect, intent }: RefereeSettings,
  wallNowMs: number,
  clientEnded: boolean,
  dropped: string | null,
): Steps<Evidence> {
  const { list, evicted } = state.requests;
  const references = new Set<string | undefined>(list.map(({ clientRefId }) => clientRefId));
  const sent = new Set(list.flatMap(({ route, clientRefId }) => (route === 'initiate' ? [clientRefId] : [])));
  const read = intent && fieldReader(intent);
  /** The first reference of each declared payout. */
  const firsts = new Map<string | null, string>([[null, '']]);
  let forgotten = 0;
  yield* inSteps(state.payouts, (payout) => {
    const { nth, clientRefId } = payout;
    const declared = read?.(transactionResponse(payout, nowMs(state))) ?? null;
    const first = firsts.get(declared);
    if (first === undefined) firsts.set(declared, clientRefId);
    else if (declared !== null && first !== clientRefId) references.add(first).add(clientRefId);
    if (nth > 1) references.add(clientRefId);
    if (!sent.has(clientRefId)) forgotten += 1;
  });
  const payouts = state.payouts.filter(
    ({ clientRefId }) => expect !== undefined || references.has(clientRefId),
  );
  const firstMs = list[0]?.atMs ?? Infinity;
  const moneyIn = state.entries.filter(({ kind, atMs }) => isMoneyIn(kind) && atMs >= firstMs);
  yield;
  return {
    requests: yield* inSteps(list, journalEntry),
    name: state.name,
    evicted,
    dropped,
    ledger: {
      payouts: yield* inSteps(payouts, (payout) => transactionResponse(payout, nowMs(state))),
      entries: yield* inSteps(moneyIn, entryResponse),
      forgotten: evicted > 0 ? 0 : forgotten,
    },
    wall_now: iso(wallNowMs),
    speed: state.clock.speed,
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
): Steps<Judged> {
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
