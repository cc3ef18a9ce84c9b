import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { pino, type Logger } from 'pino';
import { ControlClient, NoSandboxError, SandboxError } from '../../client/control-client.ts';
import type { ConductReports, WorldReport } from '../../contract/conduct.ts';
import type { RequestsResponse } from '../../contract/control-responses.ts';
import { reportsOf } from '../../referee/reports/summary.ts';
import type { Server } from '../../server.ts';
import { logOptions } from '../../platform/log-line.ts';
import { readSettings, SettingsError, type Settings } from '../../settings.ts';
import { checkAddress, refuseOwnSettings } from '../flag-checks.ts';
import { conductOptions, publish, type ConductFlags } from './conduct-options.ts';
import { showRequestCount } from './request-count.ts';
import { complain, EXIT_OK, EXIT_STOPPED } from '../output.ts';
import { RefusedLog } from './refused-log.ts';
import { openJoinPoint } from '../joined/join-point.ts';
import {
  checkAcceptedKey,
  givenSettings,
  LONG_JOURNAL,
  startOwnServer,
  type SettingFlags,
} from '../own-server.ts';

export interface JudgeFlags extends ConductFlags {
  /** NAME=VALUE, in which {url} and {key} are filled in. */
  readonly env: readonly string[];
  readonly url?: string;
  readonly key?: string;
}

/** A sandbox whose clients are judged. */
interface Judged {
  readonly url: string;
  readonly key: string;
  /** null where only the world of the key may be judged. */
  readonly adminToken: string | null;
  /** null for a sandbox that runs elsewhere. */
  readonly worlds: Server['worlds'] | null;
  readonly refused: RefusedLog;
  /** Where the log of sandboxes goes. */
  readonly log?: Logger | undefined;
  readonly close: () => Promise<void>;
}

/** The key that `{key}` stands for by default. */
const KEY = 'sk_test_referee';

/** The sandbox of `--url`, or one of its own. @throws SettingsError for a key that its own sandbox would not accept */
async function judgedSandbox({ url, key: given }: JudgeFlags, settings: Settings): Promise<Judged> {
  const { adminToken = null, apiKeys } = settings;
  const key = given ?? apiKeys?.[0] ?? KEY;
  const refused = new RefusedLog();
  if (url !== undefined)
    return { url, key, adminToken, worlds: null, refused, close: () => Promise.resolve() };
  checkAcceptedKey(key, settings);
  const log =
    settings.logLevel === 'silent' ? pino(logOptions({ ...settings, logLevel: 'info' }), refused) : undefined;
  const server = await startOwnServer(settings, log);
  return { ...server, key, refused, log, close: () => server.close() };
}

/** How a command ended. */
interface Ending {
  /** For a signal, the code that a shell reports for it. */
  readonly exitCode: number;
  /** Whether Ctrl-C or SIGTERM came while it ran. */
  readonly isStopped: boolean;
}

const NO_COMMAND: Ending = { exitCode: EXIT_OK, isStopped: false };

/** Why a command without a name is refused: Node.js would throw. */
export const EMPTY_COMMAND = "'' cannot be run: it is no command";

/** Runs the command as a process that shares this terminal. */
async function run(command: readonly string[], environment: NodeJS.ProcessEnv): Promise<Ending> {
  const [program, ...args] = command as [string, ...string[]];
  if (program === '') throw new SettingsError(EMPTY_COMMAND);
  const child = spawn(program, args, { stdio: 'inherit', env: environment });
  let isStopped = false;
  const forward = (signal: NodeJS.Signals): void => {
    isStopped = true;
    child.kill(signal);
  };
  process.on('SIGTERM', forward);
  process.on('SIGINT', forward); // a terminal sends it to both processes; this one still has to report once the command has ended
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
    });
    return { exitCode, isStopped };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SettingsError(`${program} cannot be run (${code})`, { cause: error });
  } finally {
    process.off('SIGTERM', forward);
    process.off('SIGINT', forward);
  }
}

/** What a command gets: the address of the sandbox, and the key of its world. */
type Address = Pick<Judged, 'url' | 'key'>;

type Target = Pick<Judged, 'url' | 'key' | 'adminToken'>;

export const filledIn = (text: string, { url, key }: Address): string =>
  text.replaceAll('{url}', url).replaceAll('{key}', key);

/** `PAYOUT_URL={url}` as a variable. */
export function variableOf(text: string, target: Address): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new SettingsError(`--env must be NAME=VALUE, such as PAYOUT_URL={url}, not ${text}`);
  const value = text.slice(at + 1);
  const [unknown] = /\{(?!(url|key)\})\w+\}/.exec(value) ?? [];
  if (unknown !== undefined) {
    throw new SettingsError(`--env: ${unknown} in ${text} is not known: the names are {url} and {key}`);
  }
  return [text.slice(0, at), filledIn(value, target)];
}

/** @throws SettingsError for settings, since the sandbox runs elsewhere, and without a world to judge */
function checkElsewhere(
  url: string,
  key: string | undefined,
  settings: Settings,
  settingFlags: SettingFlags,
): void {
  checkAddress('--url', url);
  refuseOwnSettings(settingFlags);
  if (key === undefined && settings.adminToken === undefined) {
    throw new SettingsError('--url needs --key or --admin-token');
  }
}

/** Why nothing can be judged. @param refused what came without reaching a world; empty for nothing */
function noRequestText(refused: string): string {
  const what = refused === '' ? '' : ` (${refused})`;
  return `no request with a valid key reached the sandbox${what}: give the command its address and a key, such as --env PAYOUT_URL={url} --env PAYOUT_KEY={key}, or start its sandbox with startSandbox()`;
}

/** Whether a report rests on requests: what is expected is missed also by a client that sent none. */
const hasRequests = ({ checks }: WorldReport): boolean =>
  checks.some(
    ({ id, verdict }) => id !== 'expectation-missed' && verdict !== 'not_exercised' && verdict !== 'off',
  );

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

async function tell({ url, key, adminToken }: Target, settings: object): Promise<void> {
  if (adminToken !== null) await new ControlClient(url, adminToken).put('/worlds/referee', settings);
  else await new ControlClient(url, key).put('/referee', settings);
}

/**
 * `payout-sandbox referee -- COMMAND`: runs a command against a sandbox, and judges how it behaved.
 *
 * @param settingFlags the flags of the sandbox's own settings
 * @returns the exit code of the command if it failed; otherwise 1 for bad conduct, 2 for input that cannot be used and for a command that sent no request
 */
export async function judgeCommand(
  command: readonly string[],
  flags: JudgeFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const options = conductOptions(flags);
  const { url } = flags;
  if (command.length === 0 && url === undefined) {
    throw new SettingsError('referee needs a command: payout-sandbox referee -- npm test');
  }
  const settings = readSettings(
    { port: '0', logLevel: 'silent', ...LONG_JOURNAL, ...settingFlags },
    { ...environment, PORT: '' }, // a free port, whatever the command itself listens on
  );
  if (url !== undefined) checkElsewhere(url, flags.key, settings, settingFlags);
  flags.env.forEach((text) => variableOf(text, { url: '', key: '' })); // refused before anything starts
  const judged = await judgedSandbox(flags, settings);
  const join = await openJoinPoint({
    by: 'referee',
    usual: LONG_JOURNAL,
    outer: settings,
    fixed: [...givenSettings(settingFlags, environment), 'logLevel'],
    said: new Set(),
    log: judged.log,
    prepare: ({ url: joined, adminToken }) => tell({ url: joined, key: KEY, adminToken }, options.settings),
    collect: ({ url: joined, adminToken }) => reportsOn({ url: joined, key: KEY, adminToken }, true),
  });
  try {
    const variables = {
      ...(url === undefined && join.variables),
      ...Object.fromEntries(flags.env.map((text) => variableOf(text, judged))),
    };
    // without a command or settings, this only looks: a new verdict must not begin
    if (command.length > 0 || Object.keys(options.settings).length > 0) await tell(judged, options.settings);
    const words = command.map((word) => filledIn(word, judged));
    const endProgress =
      judged.worlds !== null && process.stderr.isTTY
        ? showRequestCount([judged.worlds, join.counts], complain)
        : undefined;
    const { exitCode, isStopped } =
      words.length === 0 ? NO_COMMAND : await run(words, { ...environment, ...variables });
    endProgress?.();
    const joined = await join.end();
    const own = await reportsOn(judged, words.length > 0);
    const reports = reportsOf([own, ...joined].flatMap(({ worlds }) => worlds));
    const verdict = publish(reports, options, environment);
    if (isStopped) {
      complain('stopped');
      return exitCode || (reports.worlds.length > 0 ? verdict : EXIT_STOPPED);
    }
    if (exitCode !== 0) complain(`the command ended with exit code ${exitCode}`);
    const tested =
      reports.worlds.length > 0
        ? verdict
        : complain(
            words.length > 0
              ? noRequestText(judged.refused.text)
              : `no request reached the sandbox${judged.adminToken === null ? ' with this key' : ''}`,
          );
    return exitCode === 0 ? tested : exitCode;
  } catch (error) {
    if (!(error instanceof SandboxError) && !(error instanceof NoSandboxError)) throw error;
    return complain(error.message);
  } finally {
    await join.end();
    await judged.close();
  }
}
