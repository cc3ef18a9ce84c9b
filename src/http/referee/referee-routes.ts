import type { FastifyReply } from 'fastify';
import {
  type ConductReports,
  RefereeQuery,
  type WorldReport,
  type ReportFormat,
} from '../../contract/conduct.ts';
import type { World } from '../../worlds/world.ts';
import { CheckedSettings } from '../../referee/intents.ts';
import { junitXml } from '../../referee/reports/junit.ts';
import { markdownText } from '../../referee/reports/markdown.ts';
import { reportsOf } from '../../referee/reports/summary.ts';
import { terminalText } from '../../referee/reports/terminal.ts';
import type { Steps } from '../../world/steps.ts';
import { operation, type ControlRoutes } from '../routes.ts';
import type { WorldState } from '../../world/state-shape.ts';
import { frozen, judgedBy } from './evidence.ts';

/** The formats that are not JSON: their media types, and how a report is written. */
const TEXTS: Readonly<
  Record<Exclude<ReportFormat, 'json'>, readonly [type: string, write: (reports: ConductReports) => string]>
> = {
  text: ['text/plain', (reports) => terminalText(reports)],
  junit: ['application/xml', (reports) => junitXml(reports)],
  markdown: ['text/markdown', markdownText],
};

/** @returns the body of the response */
function written(
  report: WorldReport | ConductReports,
  format: ReportFormat,
  reply: FastifyReply,
): string | WorldReport | ConductReports {
  if (format === 'json') return report;
  const [type, write] = TEXTS[format];
  void reply.type(`${type}; charset=utf-8`);
  return write('worlds' in report ? report : reportsOf([report]));
}

const DESCRIPTION = 'As JSON, or as text for people, JUnit XML or Markdown.';

/** How the client of a world behaved. */
export const refereeRoutes: ControlRoutes = async (app, { referee, wallClock, heavy }) => {
  /** @param first done when its turn has come, so that nothing was done when this is refused */
  const reportOn = (world: World, clientEnded: boolean, first?: () => Promise<void>): Promise<WorldReport> =>
    heavy.run(async () => {
      await first?.();
      return reporting(world, await world.read(frozen), clientEnded);
    });

  function* reporting(world: World, state: Readonly<WorldState>, clientEnded: boolean) {
    const settings = referee.settingsToJudge(state.referee) ?? {};
    const judged = yield* judgedBy(settings, state, world, wallClock.nowMs(), clientEnded);
    return yield* referee.report(judged);
  }

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
        await world.submit({ kind: 'referee', settings: body, forgets: referee.settingsOfAll === null });
        referee.forget(world.id);
      }),
  );
};

/** How the clients of all worlds behaved: with the admin token only. */
export const allWorldsRefereeRoutes: ControlRoutes = async (app, { referee, worlds, wallClock, heavy }) => {
  function* shortReport(
    found: { readonly world: World; readonly state: Readonly<WorldState> } | null,
    clientEnded: boolean,
  ): Steps<WorldReport | null> {
    if (found === null) return null;
    const { world, state } = found;
    const settings = referee.settingsToJudge(state.referee) ?? {};
    return yield* referee.shortReport(
      yield* judgedBy(settings, state, world, wallClock.nowMs(), clientEnded),
    );
  }
  const reportOnAll = async (clientEnded = false): Promise<ConductReports> => {
    const living = new Map<string, WorldReport>();
    for (const worldId of await worlds.ids()) {
      const report = await heavy.run(async () => {
        const found = await worlds.visit(worldId, (state, world) => ({ world, state: frozen(state) }));
        return shortReport(found, clientEnded);
      });
      if (report !== null) living.set(worldId, report);
    }
    return referee.reports(living);
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
