import type { FastifyReply } from 'fastify';
import {
  RefereeQuery,
  type ClientReport,
  type ConductReports,
  type RefereeSettings,
  type ReportFormat,
  type WorldReport,
} from '../../contract/conduct.ts';
import type { ScenarioSource } from '../../contract/snapshot.ts';
import { iso } from '../../contract/times.ts';
import type { HttpExchange } from '../http-exchange.ts';
import { act, operation, type ControlOptions, type ControlRoutes } from '../routes.ts';
import { isMoneyIn, type Evidence } from '../../referee/case.ts';
import { CheckedSettings, fieldReader } from '../../referee/intents.ts';
import { fromBeforeReset } from '../../referee/judge.ts';
import { allEnded, type Judged } from '../../referee/referee.ts';
import { junitXml } from '../../referee/reports/junit.ts';
import { reportsOf } from '../../referee/reports/summary.ts';
import { markdownText, terminalText } from '../../referee/reports/terminal.ts';
import { entryResponse } from '../../world/events.ts';
import { journalEntry } from '../../world/journal/journal-entry.ts';
import type { WorldState } from '../../world/state-shape.ts';
import { nowMs } from '../../world/state.ts';
import { inSteps, type Steps } from '../../world/steps.ts';
import { transactionResponse } from '../../world/transaction-response.ts';
import type { World } from '../../worlds/world.ts';

/** On the requests that the dashboard sends: they are not the client's. */
const BY_DASHBOARD = 'x-sandbox-dashboard';

/**
 * What the referee judges a world by: the requests of the client that it remembers, the payouts of the references in them, and every payout of a
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
  const judged = list.filter(({ headers }) => !(BY_DASHBOARD in headers));
  const references = new Set<string | undefined>(judged.map(({ clientRefId }) => clientRefId));
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
    requests: yield* inSteps(judged, journalEntry),
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
    overrides: state.index.overrides.map(({ id }) => ({ id, taken: state.uses.get(id)?.taken ?? 0 })),
    clientEnded,
  };
}

type RefereeDeps = Pick<ControlOptions, 'referee' | 'worlds' | 'wallClock' | 'heavy'>;

/** A world as it is now, which later commands do not change. */
const frozen = (state: Readonly<WorldState>): Readonly<WorldState> => ({
  ...state,
  payouts: state.payouts.slice(),
  entries: state.entries.slice(),
  requests: { ...state.requests, list: state.requests.list.slice() },
});

/** A world as it is judged now: prepared in steps. */
function* judged(
  { referee, wallClock }: Pick<RefereeDeps, 'referee' | 'wallClock'>,
  { id, droppedBefore }: Pick<World, 'id' | 'droppedBefore'>,
  state: Readonly<WorldState>,
  clientEnded: boolean,
  wallNowMs = wallClock.nowMs(), // as it is before the first step
): Steps<Judged> {
  const settings = referee.settingsToJudge(state.referee) ?? {};
  const evidence = yield* evidenceOf(state, settings, wallNowMs, clientEnded, droppedBefore);
  return { worldId: id, kept: state.referee, settings, evidence };
}

/** @returns a function that keeps the report on a world that was dropped meanwhile, if somebody wants it */
export function reportOnDropped(world: World, deps: Omit<RefereeDeps, 'worlds'>): () => Promise<void> {
  const { referee, heavy } = deps;
  const { latest } = world;
  if (referee.settingsToJudge(latest.referee) === null) return () => Promise.resolve();
  const preparing = judged(deps, world, frozen(latest), true);
  return () => heavy.run(world, () => referee.dropped(preparing));
}

/** Resets a world. The report on the journal that has ended is then added to its others, if somebody wants it. */
export async function resetWorld(
  exchange: HttpExchange,
  source: ScenarioSource,
  deps: Omit<RefereeDeps, 'worlds'>,
): Promise<void> {
  const { referee, heavy } = deps;
  const { world } = exchange;
  const settings = await world.read(({ referee: kept }) => referee.settingsToJudge(kept)); // which settles what is due, too
  const reset = () => act(exchange, { kind: 'reset', source });
  if (settings === null) return void (await reset());
  // as one piece of heavy work: a verdict sees the journal before its end, or the report on it
  await heavy.run(world, async () => {
    const { id, droppedBefore } = world;
    const preparing = judged(deps, { id, droppedBefore }, frozen(await reset()), true);
    return (function* () {
      const ended = yield* allEnded(yield* preparing, () => world.latest.referee.ended, fromBeforeReset);
      return world.submit({ kind: 'referee', ended });
    })();
  });
}

/** Drops a world, and keeps the report on it if the settings for all worlds ask for that. @returns false if there was none */
export async function dropWorld(worldId: string, { worlds, ...deps }: RefereeDeps): Promise<boolean> {
  const { referee } = deps;
  const keep =
    referee.settingsOfAll !== null &&
    (await worlds.visit(worldId, (_state, world) => reportOnDropped(world, deps)));
  if (!(await worlds.drop(worldId))) return false;
  if (keep) await keep();
  referee.forget(worldId);
  return true;
}

/** The formats that are not JSON: their media types, and how a report is written. */
const TEXTS: Readonly<
  Record<Exclude<ReportFormat, 'json'>, readonly [type: string, write: (reports: ConductReports) => string]>
> = {
  text: ['text/plain', (reports) => terminalText(reports)],
  junit: ['application/xml', (reports) => junitXml(reports)],
  markdown: ['text/markdown', markdownText],
};

/** @returns the body of the response */
function written(report: WorldReport | ConductReports, format: ReportFormat, reply: FastifyReply) {
  if (format === 'json') return report;
  const [type, write] = TEXTS[format];
  void reply.type(`${type}; charset=utf-8`);
  return write('worlds' in report ? report : reportsOf([report]));
}

const DESCRIPTION = 'Returns JSON, text for people, JUnit XML or Markdown.';

/** How the client of a world behaved. */
export const refereeRoutes: ControlRoutes = async (app, deps) => {
  const { referee, heavy } = deps;
  /** @param first done when its turn has come, so that nothing was done when this is refused */
  const reportOn = (world: World, clientEnded: boolean, first?: () => Promise<void>): Promise<ClientReport> =>
    heavy.run(world, async () => {
      await first?.();
      return referee.report(judged(deps, world, await world.read(frozen), clientEnded));
    });

  app.get(
    '/referee',
    operation('Journal', 'judgeClient', 'How the client of this world behaved', {
      description: DESCRIPTION,
      querystring: RefereeQuery,
    }),
    async ({ exchange: { world }, query: { format = 'json', ended = false } }, reply) => {
      return written(await reportOn(world, ended), format, reply);
    },
  );

  app.put(
    '/referee',
    operation('Journal', 'instructReferee', 'Give the referee its settings for this world', {
      description:
        'They apply until others replace them. From now on, the report on a journal is kept when the world is reset or dropped; those from before are left out.',
      body: CheckedSettings,
    }),
    ({ exchange: { world }, body }) =>
      reportOn(world, false, async () => {
        const forgets = referee.settingsOfAll === null;
        await world.submit({ kind: 'referee', settings: body, ...(forgets && { ended: [] }) });
        referee.forget(world.id);
      }),
  );
};

/** How the clients of all worlds behaved: with the admin token only. */
export const allWorldsRefereeRoutes: ControlRoutes = async (app, deps) => {
  const { referee, worlds, heavy } = deps;
  const reportOnAll = async (clientEnded = false): Promise<ConductReports> => {
    const living = new Map<string, WorldReport>();
    for (const worldId of await worlds.ids()) {
      const report = await heavy.run(worlds, async () => {
        const preparing = await worlds.visit(worldId, (state, world) =>
          judged(deps, world, frozen(state), clientEnded),
        );
        return referee.shortReport(preparing);
      });
      if (report !== null) living.set(worldId, report);
    }
    return heavy.run(worlds, () => referee.reports(living)); // after those on worlds that were dropped before
  };

  app.get(
    '/worlds/referee',
    operation('Server', 'judgeClients', 'How the clients of all worlds behaved', {
      description: DESCRIPTION,
      access: 'admin',
      querystring: RefereeQuery,
    }),
    async ({ query: { format = 'json', ended } }, reply) => written(await reportOnAll(ended), format, reply),
  );

  app.put(
    '/worlds/referee',
    operation('Server', 'instructRefereeForAll', 'Give the referee its settings for all worlds', {
      description:
        'They apply to every world without settings of its own. From now on, the report on a journal is kept when its world is reset or dropped.',
      access: 'admin',
      body: CheckedSettings,
    }),
    async ({ body }) => {
      referee.settingsOfAll = body;
      return reportOnAll();
    },
  );
};
