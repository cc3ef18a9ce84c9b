import { constants } from 'node:os';
import { pino } from 'pino';
import { ControlClient, NoSandboxError, SandboxError } from '../../client/control-client.ts';
import { sendOverHttp } from '../../client/http-client.ts';
import type { ConductReports, RefereeSettingsInput, WorldReport } from '../../contract/conduct.ts';
import type { RequestsResponse } from '../../contract/control-responses.ts';
import { REFUSALS, type RefusalCode } from '../../contract/errors.ts';
import type { Evidence } from '../../referee/case.ts';
import { hasRequests, reportsOf, noRequestsMessage, type Failure } from '../../referee/reports/summary.ts';
import { noRequestText } from '../../trials/run.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { MAX_BODY_BYTES } from '../../http/json-bodies.ts';
import { logOptions } from '../../platform/logging.ts';
import { SettingsError, type SettingName, type Settings } from '../../settings.ts';
import { clientCommand, type ClientCommand } from '../client-command.ts';
import { checkElsewhere } from '../health.ts';
import type { RefereeFlags } from '../commands/test-flags.ts';
import { conductOptions, publish, writeReports } from './conduct-options.ts';
import { complain, EXIT_OK, EXIT_STOPPED, EXIT_USAGE } from '../output.ts';
import { openJudged } from '../join-point.ts';
import { libraryFor } from '../scenario-files.ts';
import { clientSettings, givenSettings, REFEREE_DEFAULTS, type SettingFlags } from '../own-server.ts';

/** The sandbox in which a command is judged. */
interface Judged {
  readonly url: string;
  /** The file of a certificate that was made for it. */
  readonly certificate?: string | undefined;
  /** The variables that the command needs. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly begin: () => unknown;
  /** The reports on all worlds with requests. */
  readonly end: () => Promise<ConductReports>;
  /** Why there is nothing to judge. */
  readonly noRequest: () => string;
  readonly close?: () => unknown;
}

/** The key that `{key}` stands for by default. */
const KEY = 'sk_test_referee';

/** How many kinds of refused requests are named. */
const MOST_KINDS = 3;

/** The parts of a log line that say what was refused. Lines that are not about a request have no status. */
interface LogLine extends Partial<Record<'method' | 'route' | 'path', string>> {
  readonly status?: number;
  readonly code?: RefusalCode;
}

/** A destination of log lines that keeps only what reached no world of the sandbox, and why it was refused. */
function refusedLog() {
  const kinds = new Map<string, number>();
  return {
    write(line: string): void {
      if (line.includes('"world":')) return;
      const { method, route, path, status, code } = JSON.parse(line) as LogLine;
      if (status === undefined || status < 400) return;
      const why = code === undefined ? '' : ` ${code}: ${REFUSALS[code].message}`;
      const kind = `${route ?? `${method} ${path}`} got ${status}${why}`;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    },
    /** In a sentence; empty if nothing was refused. */
    text: (): string =>
      [...kinds]
        .slice(0, MOST_KINDS)
        .map(([kind, count]) => (count > 1 ? `${count} × ${kind}` : kind))
        .join('; '),
  };
}

/** Whether the journal still has every request of its world, which are numbered from 1. */
const isWhole = ({ requests }: Evidence): boolean => requests.every(({ id }) => id <= requests.length);

/**
 * Says that no request met a rule, an outcome or the rate limit of a scenario; null where one did, where the scenario has none, and
 * where that is not known.
 *
 * @param worlds those that are left, with or without requests
 * @param judged how many worlds have a report: also those that were dropped or reset
 */
function unmetNote(
  { name, rules, outcomes, hasOwnRateLimit }: Scenario,
  worlds: readonly Evidence[],
  judged: number,
): string | null {
  const prefix = `${name}/`;
  const hasOwn = (parts: readonly { readonly id: string }[]): boolean =>
    parts.some(({ id }) => id.startsWith(prefix));
  if (!hasOwn(rules) && !hasOwn(outcomes) && !hasOwnRateLimit) return null;
  const used = worlds.filter(({ requests }) => requests.length > 0);
  const all = used.flatMap(({ requests }) => requests);
  const isMet = all.some(
    ({ rule, planned_by: planner, limit, code }) =>
      code === 'INSUFFICIENT_BALANCE' || // its wallet
      rule?.startsWith(prefix) ||
      planner?.startsWith(prefix) ||
      limit === `rate_limit of ${name}`,
  );
  if (isMet || used.length === 0 || used.length < judged || !used.every(isWhole)) return null;
  return `no request matched a rule, an outcome or the rate limit of the scenario ${name}, so none of it was tested`;
}

async function ownSandbox(
  conduct: RefereeSettingsInput,
  settings: Settings,
  given: readonly SettingName[],
): Promise<Judged> {
  const refused = refusedLog();
  const isSilent = settings.logLevel === 'silent';
  const rules = {
    by: 'referee',
    usual: REFEREE_DEFAULTS,
    outer: settings,
    fixed: [...given, 'logLevel'] as const,
    said: new Set<string>(),
    log: isSilent ? pino(logOptions({ ...settings, logLevel: 'info' }), refused) : undefined,
  };
  const { url, certificate, variables, end } = await openJudged(rules, conduct);
  return {
    url: url!,
    certificate,
    variables,
    begin: () => undefined,
    async end() {
      const sandboxes = await end();
      const reports = reportsOf(sandboxes.flatMap(({ reports: ofOne }) => ofOne));
      if (!given.includes('scenario')) return reports;
      const left = sandboxes.flatMap(({ evidence }) => evidence.map((world) => world.evidence));
      const scenario = libraryFor(settings, settings.scenario).active;
      const note = unmetNote(scenario, left, reports.worlds.length);
      return note === null ? reports : { ...reports, notes: [...reports.notes, note] };
    },
    noRequest: () => noRequestText(refused.text()),
    close: () => end().catch(() => undefined), // it is an error of `end`, if that was called
  };
}

/**
 * A sandbox that runs elsewhere. Without its admin token, only the world of the key is judged.
 *
 * @param hasRun whether a command runs: one that resets its world in the end leaves no requests, but a verdict
 */
function sandboxElsewhere(
  url: string,
  key: string,
  adminToken: string | undefined,
  conduct: RefereeSettingsInput,
  hasRun: boolean,
): Judged {
  const control = new ControlClient(sendOverHttp, url, adminToken ?? key);
  const path = adminToken === undefined ? '/referee' : '/worlds/referee';
  const query = { ended: hasRun };
  return {
    url,
    // without a command or settings, this only looks: a new verdict must not begin
    begin: () => (hasRun || Object.keys(conduct).length > 0 ? control.put(path, conduct) : undefined),
    async end() {
      if (adminToken !== undefined) return control.get<ConductReports>(path, query);
      const { requests, evicted } = await control.get<RequestsResponse>('/requests', { limit: 1 });
      const report = await control.get<WorldReport>(path, query);
      const wasAsked = requests.length + evicted > 0 || (hasRun && hasRequests(report));
      return reportsOf(wasAsked ? [report] : []);
    },
    noRequest() {
      if (adminToken === undefined)
        return `${noRequestsMessage(`the key ${key}`)}, or judge every world with --admin-token`;
      return hasRun ? noRequestText('') : 'no request reached the sandbox';
    },
  };
}

interface CommandEnd {
  /** For a signal, the code that a shell reports for it. */
  readonly exitCode: number;
  /** What ended it; null for an exit of its own. */
  readonly signal: NodeJS.Signals | null;
  /** Whether Ctrl-C or SIGTERM came while it ran. */
  readonly isStopped: boolean;
}

/** Runs the command as a process that shares this terminal. */
async function runToEnd(
  command: ClientCommand,
  key: string,
  { url, certificate, variables = {} }: Judged,
  isJson: boolean,
): Promise<CommandEnd> {
  const output = isJson ? 2 : 'inherit'; // standard output has the JSON alone
  const { child, exit } = command({ url, key, certificate }, variables, {
    stdio: ['inherit', output, 'inherit'],
  });
  let isStopped = false;
  const forward = (signal: NodeJS.Signals): void => {
    isStopped = true;
    child.kill(signal);
  };
  process.on('SIGTERM', forward);
  process.on('SIGINT', forward); // a terminal sends it to both processes; this one still has to report once the command has ended
  try {
    const [code, signal] = await exit;
    return { exitCode: code ?? 128 + constants.signals[signal!], signal, isStopped };
  } finally {
    process.off('SIGTERM', forward);
    process.off('SIGINT', forward);
  }
}

/** Why the command failed, or cannot be judged; null if neither. */
function failureOf(
  { exitCode, signal, isStopped }: CommandEnd,
  hasReports: boolean,
  { noRequest }: Judged,
): Failure | null {
  if (exitCode === 0 && hasReports) return null;
  if (isStopped) return { title: 'the command was stopped', reasons: ['stopped'] };
  const ended = signal === null ? `ended with exit code ${exitCode}` : `was ended by ${signal}`;
  return {
    title: exitCode === 0 ? 'no requests' : 'the command failed',
    reasons: [...(exitCode === 0 ? [] : [`the command ${ended}`]), ...(hasReports ? [] : [noRequest()])],
  };
}

/** Reports that the command cannot be run, or that its sandbox fails. @throws any other error */
function withoutVerdict(
  error: unknown,
  { reports, failOn }: ReturnType<typeof conductOptions>,
  environment: NodeJS.ProcessEnv,
): number {
  const isCommand = error instanceof SettingsError;
  if (!isCommand && !(error instanceof SandboxError) && !(error instanceof NoSandboxError)) throw error;
  const failure = { title: isCommand ? 'the command failed' : 'failed', reasons: [error.message] };
  writeReports(reports, (write) => write({ ...reportsOf([]), failure }, failOn), environment);
  return complain(error.message);
}

/** `payout-sandbox referee -- COMMAND`. @returns the exit code of a command that failed; otherwise 1 for bad conduct, 2 for no request */
export async function judgeCommand(
  words: readonly string[],
  flags: RefereeFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const options = conductOptions(flags);
  const { url } = flags;
  if (Buffer.byteLength(JSON.stringify(options.settings)) > MAX_BODY_BYTES) {
    throw new SettingsError(
      `--expect ${flags.expect} is too long for referee: it takes 64 KiB, about 1,000 payouts. matrix and hunt take 1,600`,
    );
  }
  const hasCommand = words.length > 0;
  if (!hasCommand && url === undefined) {
    throw new SettingsError('referee needs a command: payout-sandbox referee -- npm test');
  }
  const settings = clientSettings(REFEREE_DEFAULTS, settingFlags, environment, false);
  const { adminToken } = settings;
  if (url !== undefined) checkElsewhere(url, settingFlags);
  if (url !== undefined && flags.key === undefined && adminToken === undefined) {
    throw new SettingsError('--url needs --key or --admin-token');
  }
  const key = flags.key ?? settings.apiKeys?.[0] ?? KEY;
  const command = clientCommand(words, flags.env, environment);
  const judged =
    url === undefined
      ? await ownSandbox(options.settings, settings, givenSettings(settingFlags, environment))
      : sandboxElsewhere(url, key, adminToken, options.settings, hasCommand);
  try {
    await judged.begin();
    const ending = hasCommand
      ? await runToEnd(command, key, judged, options.isJson)
      : { exitCode: EXIT_OK, signal: null, isStopped: false };
    const reports = await judged.end();
    const hasReports = reports.worlds.length > 0;
    const failure = failureOf(ending, hasReports, judged);
    const verdict = publish(reports, options, environment, failure);
    if (ending.isStopped && failure === null) complain('stopped');
    return ending.exitCode || (hasReports ? verdict : ending.isStopped ? EXIT_STOPPED : EXIT_USAGE);
  } catch (error) {
    return withoutVerdict(error, options, environment);
  } finally {
    await judged.close?.();
  }
}
