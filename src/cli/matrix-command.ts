import { z } from 'zod';
import { World } from '../client/controlled-world.ts';
import { sendOverHttp } from '../client/http-client.ts';
import { ExpectedPayout, type RefereeSettingsInput } from '../contract/conduct.ts';
import type { ScenarioInput } from '../contract/control.ts';
import type { Dialect } from '../contract/dialect.ts';
import type { Match } from '../contract/match.ts';
import type { InitiateRequest } from '../contract/service.ts';
import type { PlannedStep } from '../contract/snapshot.ts';
import { suggestion } from '../contract/suggestion.ts';
import { instantMs, durationMs } from '../contract/times.ts';
import { UsageError } from '../contract/usage-error.ts';
import { plannedSteps, timelineOf } from '../payout/settlement.ts';
import { systemClock } from '../platform/system-clock.ts';
import { reportsOf } from '../referee/reports/summary.ts';
import { compileCondition } from '../scenario/rule-compiler.ts';
import { shippedDialects } from '../scenario/scenario-file.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { SettingsError, type SettingName, type Settings } from '../settings.ts';
import { baselineLines, cellLines, countLine, MATRIX_WRITERS } from '../trials/matrix/matrix-reports.ts';
import { baselineOf, cellOf, type CommandRun, type MatrixRow, type Cell } from '../trials/matrix/matrix.ts';
import { runClient, inParallel, type Client } from '../trials/run.ts';
import { clockAt } from '../worlds/wall-clock.ts';
import type { MatrixFlags } from './commands/test-flags.ts';
import { clientOf, typed } from './client-command.ts';
import { openJudged, PER_RUN_SETTINGS, type JoinRules } from './join-point.ts';
import { CLEAR_LINE, EXIT_STOPPED, paintFor, quoted, say, sayJson, searchExitCode } from './output.ts';
import { REFEREE_DEFAULTS, clientSettings, givenSettings, type SettingFlags } from './own-server.ts';
import { conductSettings, reportFile, writeReports } from './referee/conduct-options.ts';
import { libraryFor } from './scenario-files.ts';
import { untilStopped } from './stop-signal.ts';

/** The clock of a row: a program that ends within seconds meets what its scenario does at other hours, or days later. */

/** The last step of a payout comes so soon after it was made, in real time. */
const LAST_STEP_AFTER_S = 2;
const FASTEST = 86_400;
/** What is drawn for fewer than one payout in twenty is left out: the speed is for the others. */
const DRAWS = Array.from({ length: 19 }, (_, at) => (at + 1) / 20);
const TIMES_IN_MATCH: ReadonlySet<string> = new Set(['date', 'hours', 'weekday', 'working_day']);
const hasTimes = (match: Match): boolean => Object.keys(match).some((field) => TIMES_IN_MATCH.has(field));

const MIDNIGHT_MS = instantMs('2026-01-15T00:00')!;
/** Every run begins at 10:30, so that no result depends on the hour of the day. */
const START_MINUTE = 10 * 60 + 30;
/** What a condition of a scenario sees in a request at the beginning of a run. */
const FIRST = { route: 'initiate', fields: {}, headers: {}, attempt: 1, payout: () => 1, ageMs: 0 } as const;

/** When a sandbox begins. A scenario for certain hours or days begins in them: otherwise nothing of it would be met. */
export function startMsOf({ outcomes, rules, calendar }: Scenario): number {
  const timed = [...outcomes, ...rules].find(({ match }) => hasTimes(match))?.match ?? {};
  const times: Match = Object.fromEntries(
    Object.entries(timed).filter(([field]) => TIMES_IN_MATCH.has(field)),
  );
  const isIn = compileCondition(times, undefined, () => undefined);
  const firstMs = MIDNIGHT_MS + (times.hours?.from ?? START_MINUTE) * 60_000;
  const days = Array.from({ length: 366 }, (_, day) => firstMs + day * 86_400_000);
  return days.find((nowMs) => isIn({ ...FIRST, calendar, nowMs })) ?? firstMs;
}

const ownOf = <T extends { readonly id: string }>({ name }: Scenario, all: readonly T[]): readonly T[] =>
  all.filter(({ id }) => id.startsWith(`${name}/`));

/**
 * Whether requests depend on world time in other ways than by the steps of payouts. At another speed a client would meet a rate
 * limit less often, and a stale read or a window of time for less long.
 */
const hasWindows = (scenario: Scenario): boolean =>
  (scenario.hasOwnRateLimit && scenario.rateLimit !== 'off') ||
  ownOf(scenario, scenario.outcomes).some(({ notFound }) => notFound?.for !== undefined) ||
  ownOf(scenario, scenario.rules).some(
    ({ match, during, limit, effect: { staleMs, notFound } }) =>
      during !== undefined ||
      limit !== null ||
      staleMs !== null ||
      notFound?.for !== undefined ||
      hasTimes(match),
  );

/**
 * World seconds in a second of real time, from 1 to 86,400.
 *
 * @param payouts the bodies of the initiates of the baseline: the last step of any of these payouts decides
 * @param startMs world time at which the run begins
 */
export function speedOf(scenario: Scenario, payouts: readonly InitiateRequest[], startMs: number): number {
  if (hasWindows(scenario)) return 1;
  const { settlement, calendar } = scenario;
  const outcomes = ownOf(scenario, scenario.outcomes);
  const ofRules = ownOf(scenario, scenario.rules).map(({ effect }) => effect.timeline ?? []);
  const planned = payouts.flatMap((fields) => {
    const facts = { ...FIRST, fields: { ...fields }, calendar, nowMs: startMs };
    const outcome = outcomes.find(({ matches }) => matches(facts));
    return DRAWS.map((drawn): readonly PlannedStep[] => {
      const draw = () => drawn;
      return outcome?.steps?.(draw) ?? plannedSteps(settlement, fields.transfer_mode, startMs, draw);
    });
  });
  const timelines = [...ofRules, ...planned].map((steps) => timelineOf(steps, startMs, false, calendar));
  const lastMs = timelines.flat().reduce((most, { afterMs }) => Math.max(most, afterMs ?? 0), 0);
  return Math.min(FASTEST, Math.max(1, lastMs / 1000 / LAST_STEP_AFTER_S));
}

export interface SandboxRow extends MatrixRow {
  readonly scenario: string | ScenarioInput;
  /** The same, compiled; undefined for the scenario of the settings in another dialect, also if a scenario names the dialect. */
  readonly compiled?: Scenario;
}

/**
 * The settings of a sandbox for a row. Its clock is as fast as its scenario needs, unless the scenario or the user says how fast it is.
 *
 * @param payouts the bodies of the initiates of the baseline
 */
export function settingsOf(
  { scenario, compiled }: SandboxRow,
  settings: Settings,
  payouts: Parameters<typeof speedOf>[1],
): Settings {
  const hasClock = settings.clock !== null || settings.clockSpeed !== undefined;
  const document = compiled?.source.document as ScenarioInput | undefined;
  if (hasClock || compiled === undefined || document?.clock !== undefined) return { ...settings, scenario };
  const speed = speedOf(compiled, payouts, startMsOf(compiled));
  return { ...settings, scenario, ...(speed > 1 && { clockSpeed: speed }) };
}

/** The names in a list, each once, with those that `all` stands for. */
const named = (list: string, all: () => readonly string[]): readonly string[] => {
  const names = list.split(',').flatMap((name) => (name.trim() === 'all' ? all() : name.trim()));
  return [...new Set(names)].filter((name) => name !== '' && name !== 'none');
};

/**
 * The rows of a matrix: the scenario of the settings with each dialect, then each scenario.
 *
 * @param dialects `all`, `none`, or names of presets
 * @param scenarios `all`, `none`, or scenarios by name or file
 */
export function sandboxRows(dialects: string, scenarios: string, settings: Settings): readonly SandboxRow[] {
  const library = libraryFor(settings, settings.scenario);
  const presets = new Map([...shippedDialects()].filter(([name]) => name !== 'default'));
  const inDialect = (dialect: Dialect): ScenarioInput => ({
    ...(library.active.source.document as ScenarioInput),
    dialect,
  });
  const dialectRow = (name: string): SandboxRow => {
    const dialect = presets.get(name);
    const known = ['all', 'none', ...presets.keys()];
    if (dialect === undefined) {
      throw new UsageError(
        `--dialects: there is no ${name}${suggestion(name, known)}: use ${known.join(', ')}`,
      );
    }
    return { kind: 'dialect', name, scenario: inDialect(dialect) };
  };
  const scenarioRow = (name: string): SandboxRow => {
    const compiled = libraryFor(settings, name).active; // refuses one that cannot be used
    const fields = Object.keys(compiled.source.document as ScenarioInput);
    const isDialectOnly = fields.every((field) => field === 'dialect' || field === 'description');
    if (isDialectOnly)
      return { kind: 'scenario', name, isDialectOnly, scenario: inDialect(compiled.dialect) };
    return { kind: 'scenario', name, scenario: name, compiled };
  };
  /** A rule that holds requests would wait for a release that never comes in a matrix. */
  const isHeld = (name: string): boolean =>
    library.get(name)!.rules.some(({ effect }) => effect.hold !== null);
  const usable = () => library.names.filter((name) => name !== 'default' && !isHeld(name));
  const rows = [
    ...named(dialects, () => [...presets.keys()]).map(dialectRow),
    ...named(scenarios, usable).map(scenarioRow),
  ];
  if (rows.length === 0) throw new UsageError('there is nothing to run: --dialects and --scenarios are none');
  return rows;
}

/** Runs a client once against a sandbox of its own, so that every world behaves alike, whichever keys the client uses. */
export async function runInSandbox(
  settings: Settings,
  conduct: RefereeSettingsInput,
  client: Client,
  limitMs: number,
  stop: AbortSignal,
  { fixed, said }: Pick<JoinRules<unknown>, 'fixed' | 'said'>,
): Promise<CommandRun> {
  const systemTime = systemClock();
  const offsetMs = startMsOf(libraryFor(settings, settings.scenario).active) - systemTime.nowMs();
  const wallClock = clockAt({ nowMs: () => systemTime.nowMs() + offsetMs }, systemTime);
  const ofRow: readonly SettingName[] = settings.clockSpeed === undefined ? [] : ['clockSpeed'];
  const misreported: string[] = [];
  const join = await openJudged(
    {
      by: 'matrix',
      usual: REFEREE_DEFAULTS,
      outer: settings,
      fixed: [...new Set([...fixed, ...PER_RUN_SETTINGS, ...ofRow])],
      said,
      wallClock,
      misreported,
    },
    conduct,
  );
  const world = new World(sendOverHttp, join.url!, 'sk_test_matrix');
  const { sandboxes, ...done } = await runClient(client, world, limitMs, stop, systemTime, join);
  return {
    ...done,
    isSuite: sandboxes.length > 1,
    misreported,
    conduct: reportsOf(sandboxes.flatMap(({ reports }) => reports)),
    worlds: sandboxes.flatMap(({ evidence }) => evidence.map((one) => one.evidence)),
  };
}

/** The flags with which one cell is run again, next to those of its row. */
const REPEATED = ['intent', 'expect', 'patience', 'limit', 'exitCodes', 'failOn', 'off'] as const;

function rerunText(
  { kind, name }: MatrixRow,
  command: readonly string[],
  flags: MatrixFlags,
  settingFlags: SettingFlags,
): string {
  const rows = { dialects: 'none', scenarios: 'none', [`${kind}s`]: name };
  const failOn = flags.failOn === 'error' ? undefined : flags.failOn;
  const limit = flags.limit === '5m' ? undefined : flags.limit;
  const words = [
    'payout-sandbox',
    'matrix',
    ...typed(settingFlags, Object.keys(settingFlags)),
    ...typed(rows, Object.keys(rows)),
    ...typed({ ...flags, failOn, limit }, REPEATED),
    ...typed(flags, ['env']),
    '--',
    ...command,
  ];
  return words.map(quoted).join(' ');
}

/** `payout-sandbox matrix -- COMMAND`. @returns the exit code: 1 when a cell failed, 2 for a command that fails even without failures */
export async function matrixCommand(
  command: readonly string[],
  flags: MatrixFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const client = clientOf('matrix', command, flags, environment);
  const { failOn, workers, json: isJson } = flags;
  const reports = flags.report.map((text) => reportFile(text, MATRIX_WRITERS));
  const { expect: table, ...conduct } = conductSettings(flags);
  const expect =
    table === undefined
      ? null
      : { name: `--expect ${flags.expect}`, payouts: z.array(ExpectedPayout).parse(table) };
  const limitMs = durationMs(flags.limit);
  if (!limitMs) throw new SettingsError(`--limit must be a duration such as 30s or 5m, not ${flags.limit}`);
  const usual = { settlement: 'instant', ...REFEREE_DEFAULTS };
  const settings = clientSettings(usual, settingFlags, environment, true);
  const joined = { fixed: givenSettings(settingFlags, environment), said: new Set<string>() };
  const rows = sandboxRows(flags.dialects, flags.scenarios, settings);
  const isTerminal = process.stdout.isTTY && !isJson;
  const show = (lines: readonly string[], progress = ''): void => {
    if (isTerminal) process.stdout.write(CLEAR_LINE);
    if (!isJson) lines.forEach(say);
    if (isTerminal) process.stdout.write(progress);
  };
  return untilStopped(async (stop) => {
    const run = (rowSettings: Settings) => runInSandbox(rowSettings, conduct, client, limitMs, stop, joined);
    const baseline = await baselineOf(() => run(settings), expect, conduct.intent).catch((error: unknown) => {
      if (!stop.aborted) throw error;
    });
    if (baseline === undefined) return EXIT_STOPPED;
    show([...baselineLines(baseline), '']);
    const found: Cell[] = [];
    let shown = 0;
    const work = async ([index, row]: readonly [number, SandboxRow]): Promise<void> => {
      const done = await run(settingsOf(row, settings, baseline.payouts));
      if (stop.aborted) return;
      found[index] = cellOf(row, done, baseline, failOn, rerunText(row, command, flags, settingFlags));
      for (; found[shown] !== undefined; shown += 1) {
        show(cellLines(found[shown]!, rows, paintFor(environment)), `${shown + 1} of ${rows.length} runs`);
      }
    };
    await inParallel([...rows.entries()], workers, () => !stop.aborted, work);
    const cells = found.filter((cell) => cell !== undefined);
    const left = rows.length - cells.length;
    if (isJson) sayJson({ runs: cells });
    const stopped = left > 0 ? `; stopped before the other ${left}` : '';
    show(['', countLine(cells) + stopped]);
    const areWritten = writeReports(reports, (write) => write(cells), environment);
    const hasFailed = cells.some(({ failed }) => failed);
    return searchExitCode(hasFailed, stop.aborted, areWritten);
  });
}
