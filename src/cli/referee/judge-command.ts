import { constants } from 'node:os';
import { pino, type Logger } from 'pino';
import { ControlClient, NoSandboxError, SandboxError } from '../../client/control-client.ts';
import type { ConductReports, WorldReport } from '../../contract/conduct.ts';
import type { RequestsResponse } from '../../contract/control-responses.ts';
import { hasRequests, reportsOf, noRequestsMessage, type Failure } from '../../referee/reports/summary.ts';
import type { Server } from '../../server.ts';
import type { Evidence } from '../../referee/case.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { noRequestText } from '../../trials/run.ts';
import { MAX_BODY_BYTES } from '../../http/limits/json-body.ts';
import { logOptions } from '../../platform/log-line.ts';
import { SettingsError, type Settings } from '../../settings.ts';
import { clientCommand, type ClientCommand } from '../client-command.ts';
import { checkElsewhere } from '../flag-checks.ts';
import type { ClientFlags } from '../hunt/hunted-command.ts';
import { conductOptions, publish, tableName, writeReports, type ConductFlags } from './conduct-options.ts';
import { complain, EXIT_OK, EXIT_STOPPED, EXIT_USAGE } from '../output.ts';
import { RefusedLog } from './refused-log.ts';
import { joinedWorlds, openJoinPoint, type JoinPoint } from '../join-point.ts';
import { unmetNote } from './unmet-scenario.ts';
import {
  checkAcceptedKey,
  clientSettings,
  givenSettings,
  REFEREE_DEFAULTS,
  startOwnServer,
  type SettingFlags,
} from '../own-server.ts';

interface JudgeFlags extends ConductFlags, Pick<ClientFlags, 'env'> {
  readonly url?: string;
  readonly key?: string;
}

interface Judged {
  readonly url: string;
  readonly key: string;
  /** null where only the world of the key may be judged. */
  readonly adminToken: string | null;
  /** null for a sandbox that runs elsewhere. */
  readonly worlds: Server['worlds'] | null;
  /** Set where the user chose it. */
  readonly scenario?: Scenario | undefined;
  readonly refused: RefusedLog;
  /** Where the log of sandboxes goes. */
  readonly log?: Logger | undefined;
  readonly close: () => Promise<void>;
}

/** The key that `{key}` stands for by default. */
const KEY = 'sk_test_referee';

/** The sandbox of `--url`, or one of its own. */
async function judgedSandbox(
  { url, key: given }: JudgeFlags,
  settings: Settings,
  isScenarioChosen: boolean,
): Promise<Judged> {
  const { adminToken = null, apiKeys } = settings;
  const key = given ?? apiKeys?.[0] ?? KEY;
  const refused = new RefusedLog();
  if (url !== undefined)
    return { url, key, adminToken, worlds: null, refused, close: () => Promise.resolve() };
  checkAcceptedKey(key, settings);
  const log =
    settings.logLevel === 'silent' ? pino(logOptions({ ...settings, logLevel: 'info' }), refused) : undefined;
  const server = await startOwnServer(settings, log);
  const scenario = isScenarioChosen ? server.scenario : undefined;
  return { ...server, scenario, key, refused, log, close: () => server.close() };
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
  { url, key, worlds }: Judged,
  { variables }: JoinPoint<unknown>,
  isJson: boolean,
): Promise<CommandEnd> {
  const output = isJson ? 2 : 'inherit'; // standard output has the JSON alone
  const { child, exit } = command({ url, key }, worlds === null ? {} : variables, {
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

type Target = Pick<Judged, 'url' | 'key' | 'adminToken'>;

/**
 * The reports on all worlds with requests, or on that of the key where there is no admin token.
 *
 * @param hasRun whether a command ran: one that resets its world in the end leaves no requests, but a verdict
 */
async function reportsOn({ url, key, adminToken }: Target, hasRun: boolean): Promise<ConductReports> {
  if (adminToken !== null)
    return new ControlClient(url, adminToken).get('/worlds/referee', { ended: hasRun });
  const control = new ControlClient(url, key);
  const { requests, evicted } = await control.get<RequestsResponse>('/requests', { limit: 1 });
  const report = await control.get<WorldReport>('/referee', { ended: hasRun });
  const wasAsked = requests.length + evicted > 0 || (hasRun && hasRequests(report));
  return reportsOf(wasAsked ? [report] : []);
}

const configure = ({ url, key, adminToken }: Target, settings: object): Promise<unknown> =>
  new ControlClient(url, adminToken ?? key).put(
    adminToken === null ? '/referee' : '/worlds/referee',
    settings,
  );

interface Collected extends ConductReports {
  /** Of every world that is left. */
  readonly evidence: readonly Evidence[];
}

/** The reports on a sandbox, and what says whether its clients met the scenario that the user chose, if there is one. */
async function collected(
  target: Target & Pick<Judged, 'worlds'>,
  scenario: Scenario | undefined,
  hasRun: boolean,
): Promise<Collected> {
  const { worlds } = target;
  const reports = await reportsOn(target, hasRun);
  const left = scenario === undefined || worlds === null ? [] : await joinedWorlds({ worlds });
  return { ...reports, evidence: left.map(({ evidence }) => evidence) };
}

/** The reports of a run as one. */
function combineReports(all: readonly Collected[], scenario: Scenario | undefined): ConductReports {
  const reports = reportsOf(all.flatMap(({ worlds }) => worlds));
  const left = all.flatMap(({ evidence }) => evidence);
  const note = scenario === undefined ? null : unmetNote(scenario, left, reports.worlds.length);
  return note === null ? reports : { ...reports, notes: [...reports.notes, note] };
}

/** Why there is nothing to judge. */
function noRequest(hasRun: boolean, { key, adminToken, refused }: Judged): string {
  if (adminToken === null) {
    return `${noRequestsMessage(`the key ${key}`)}, or judge every world with --admin-token`;
  }
  return hasRun ? noRequestText(refused.text) : 'no request reached the sandbox';
}

/** Why the command failed, or cannot be judged; null if neither. */
function failureOf(
  { exitCode, signal, isStopped }: CommandEnd,
  hasRun: boolean,
  hasReports: boolean,
  judged: Judged,
): Failure | null {
  if (exitCode === 0 && hasReports) return null;
  if (isStopped) return { title: 'the command was stopped', reasons: ['stopped'] };
  const ended = signal === null ? `ended with exit code ${exitCode}` : `was ended by ${signal}`;
  return {
    title: exitCode === 0 ? 'no requests' : 'the command failed',
    reasons: [
      ...(exitCode === 0 ? [] : [`the command ${ended}`]),
      ...(hasReports ? [] : [noRequest(hasRun, judged)]),
    ],
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
  flags: JudgeFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const options = conductOptions(flags);
  const { url } = flags;
  if (Buffer.byteLength(JSON.stringify(options.settings)) > MAX_BODY_BYTES) {
    throw new SettingsError(
      `${tableName(flags)} is too long for referee: it takes 64 KiB, about 1,000 rows. matrix and hunt take 10,000`,
    );
  }
  const hasCommand = words.length > 0;
  if (!hasCommand && url === undefined) {
    throw new SettingsError('referee needs a command: payout-sandbox referee -- npm test');
  }
  const settings = clientSettings(REFEREE_DEFAULTS, settingFlags, environment, false);
  if (url !== undefined) checkElsewhere(url, settingFlags);
  if (url !== undefined && flags.key === undefined && settings.adminToken === undefined) {
    throw new SettingsError('--url needs --key or --admin-token');
  }
  const given = givenSettings(settingFlags, environment);
  const command = clientCommand(words, flags.env, environment);
  const judged = await judgedSandbox(flags, settings, given.includes('scenario'));
  const join = await openJoinPoint({
    by: 'referee',
    usual: REFEREE_DEFAULTS,
    outer: settings,
    fixed: [...given, 'logLevel'],
    said: new Set(),
    log: judged.log,
    prepare: (joined) => configure({ ...joined, key: KEY }, options.settings),
    collect: (joined) => collected({ ...joined, key: KEY }, judged.scenario, true),
  });
  try {
    // without a command or settings, this only looks: a new verdict must not begin
    if (hasCommand || Object.keys(options.settings).length > 0) await configure(judged, options.settings);
    const ending = hasCommand
      ? await runToEnd(command, judged, join, options.isJson)
      : { exitCode: EXIT_OK, signal: null, isStopped: false };
    const joined = await join.end();
    const own = await collected(judged, judged.scenario, hasCommand);
    const reports = combineReports([own, ...joined], judged.scenario);
    const hasReports = reports.worlds.length > 0;
    const failure = failureOf(ending, hasCommand, hasReports, judged);
    const verdict = publish(reports, options, environment, failure);
    if (ending.isStopped && failure === null) complain('stopped');
    if (hasReports) return ending.exitCode || verdict;
    return ending.exitCode || (ending.isStopped ? EXIT_STOPPED : EXIT_USAGE);
  } catch (error) {
    return withoutVerdict(error, options, environment);
  } finally {
    await join.end();
    await judged.close();
  }
}
