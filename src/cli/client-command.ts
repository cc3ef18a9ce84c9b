import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { systemReason } from '../contract/usage-error.ts';
import { worldIdOf } from '../payout/identity.ts';
import { SettingsError } from '../settings.ts';
import type { Reported } from '../trials/run-money.ts';
import type { Client } from '../trials/run.ts';
import { withoutControls } from '../world/journal/journal-text.ts';
import { flagOf } from './commands/action-commands.ts';
import type { HuntFlags } from './commands/test-flags.ts';

/** The command of a client under test, which `referee`, `hunt` and `matrix` run. */

/** What a command gets: the address of its sandbox, the key of its world, a folder for what it keeps, and a certificate to trust. */
interface Address {
  readonly url: string;
  readonly key: string;
  /** The file of the certificate that was made for this sandbox. */
  readonly certificate?: string | undefined;
}

/** How a command ended: with an exit code, or by a signal. */
type Exit = readonly [code: number | null, signal: NodeJS.Signals | null];

/** Starts it, with its variables and these. Its end is a SettingsError for a program that cannot be run. */
export type ClientCommand = (
  address: Address,
  variables: Readonly<Record<string, string>>,
  options: SpawnOptions,
) => { readonly child: ChildProcess; readonly exit: Promise<Exit> };

const NAMES = ['url', 'key', 'dir', 'cert'];

/** A fresh folder for each key, which lasts as long as this process. */
function folders(): (key: string) => string {
  let all: string | undefined;
  const madeAll = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'payout-sandbox-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    return made;
  };
  return (key) => {
    const folder = join((all ??= madeAll()), worldIdOf(key));
    mkdirSync(folder, { recursive: true });
    return folder;
  };
}

function filledIn(
  text: string,
  { url, key, certificate }: Address,
  folderOf: (key: string) => string,
): string {
  if (certificate === undefined && text.includes('{cert}'))
    throw new SettingsError('{cert} is the certificate of referee --tls self-signed');
  return text
    .replaceAll('{url}', url)
    .replaceAll('{key}', key)
    .replaceAll('{dir}', () => folderOf(key))
    .replaceAll('{cert}', certificate ?? '');
}

/** A proxy does not lead to a sandbox on this machine, and some clients would use it for every address. */
function loopbackWithoutProxy({ no_proxy: lower, NO_PROXY: hosts = lower }: NodeJS.ProcessEnv) {
  const all = [hosts, 'localhost', '127.0.0.1'].filter(Boolean).join(',');
  return { NO_PROXY: all, no_proxy: all };
}

/** `PAYOUT_URL={url}` as a variable. */
function variableOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new SettingsError(`--env must be NAME=VALUE, such as PAYOUT_URL={url}, not ${text}`);
  const unknown = text
    .slice(at)
    .match(/(?<=\{)\w+(?=\})/g)
    ?.find((name) => !NAMES.includes(name));
  if (unknown !== undefined)
    throw new SettingsError(
      `--env: {${unknown}} in ${text} is not known: the names are ${NAMES.map((name) => `{${name}}`).join(', ')}`,
    );
  return [text.slice(0, at), text.slice(at + 1)];
}

async function exitOf(child: ChildProcess, program: string): Promise<Exit> {
  try {
    return (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'no such program' : systemReason(error);
    throw new SettingsError(`${program} cannot be run (${why})`, { cause: error });
  }
}

/** @param words the program and its arguments, in which {url}, {key}, {dir} and {cert} are filled in */
export function clientCommand(
  words: readonly string[],
  env: readonly string[],
  environment: NodeJS.ProcessEnv,
): ClientCommand {
  if (words[0] === '') throw new SettingsError("'' cannot be run: it is not a command"); // Node.js would throw
  const own = env.map(variableOf);
  const folderOf = folders();
  const inherited = { ...environment, ...loopbackWithoutProxy(environment) };
  return (address, variables, options) => {
    const [program, ...args] = words.map((word) => filledIn(word, address, folderOf)) as [
      string,
      ...string[],
    ];
    const filled = Object.fromEntries(own.map(([name, value]) => [name, filledIn(value, address, folderOf)]));
    const child = spawn(program, args, { ...options, env: { ...inherited, ...variables, ...filled } });
    return { child, exit: exitOf(child, program) };
  };
}

/** What each exit code of a client says of its payouts. Codes that are not in it say that they failed. */
type ExitCodes = ReadonlyMap<number, Reported>;

const DEFAULT_EXIT_CODES: ExitCodes = new Map([
  [0, 'paid'],
  [1, 'failed'],
  [75, 'in-doubt'], // for a temporary failure, as mail programs use it
]);

/** `paid=0,failed=1,in-doubt=75`: what is not named keeps its default. */
export function exitCodesOf(text: string | undefined): ExitCodes {
  if (text === undefined) return DEFAULT_EXIT_CODES;
  const names = [...DEFAULT_EXIT_CODES.values()];
  const codes = text.split(',').map((part) => {
    const [, name, code] = /^(.+)=(\d{1,3})$/.exec(part) ?? [];
    const reported = names.find((known) => known === name);
    if (reported !== undefined && Number(code) <= 255) return [Number(code), reported] as const;
    throw new SettingsError(`--exit-codes must be like paid=0,failed=1,in-doubt=75, not ${text}`);
  });
  const twice = codes.find(([code], nth) => codes.findIndex(([other]) => other === code) < nth);
  if (twice !== undefined) throw new SettingsError(`--exit-codes gives ${twice[0]} two meanings`);
  const named = new Set(codes.map(([, reported]) => reported));
  return new Map([...[...DEFAULT_EXIT_CODES].filter(([, reported]) => !named.has(reported)), ...codes]);
}

/** What its last words may take to arrive, once a command has ended while something that it left behind keeps its output open. */
const LAST_WORDS_MS = 200;
/** How much of what a command wrote is shown when it fails. */
const TAIL_CHARACTERS = 2000;

/** Text without colours and control characters, apart from the ends of its lines; a tab is a space. */
const plainText = (text: string): string =>
  stripVTControlCharacters(text).trim().replaceAll('\t', ' ').split('\n').map(withoutControls).join('\n');

const HAS_GROUPS = process.platform !== 'win32';

/** A command as a client that is run once for each world. Its output is shown only when it fails although the service did not. */
export const huntedCommand =
  (command: ClientCommand, exitCodes: ExitCodes = exitCodesOf(undefined)): Client =>
  async ({ url, apiKey: key }, signal, variables) => {
    const { child, exit } = command({ url, key }, variables, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: HAS_GROUPS, // a process group of its own, so that everything it has started can be ended with it
    });
    const outputs = [child.stdout!, child.stderr!];
    let tail = '';
    for (const output of outputs) {
      output.setEncoding('utf8').on('data', (text: string) => {
        tail += text;
        if (tail.length > TAIL_CHARACTERS) tail = tail.slice(-TAIL_CHARACTERS).replace(/^[^\n]*\n/, ''); // whole lines
      });
    }
    const killAll = (): void => {
      if (child.pid === undefined) return;
      try {
        if (HAS_GROUPS) process.kill(-child.pid, 'SIGKILL');
        else child.kill('SIGKILL');
      } catch {
        // all of its processes have ended
      }
    };
    const closed = new Promise((resolve) => child.once('close', resolve));
    signal.addEventListener('abort', killAll, { once: true });
    child.once('exit', killAll); // processes it leaves behind would disturb the next run, and keep its output open
    const [code, killedBy] = await exit;
    signal.removeEventListener('abort', killAll);
    const late = new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref());
    await Promise.race([closed, late]); // a daemon with a session of its own outlives its group
    for (const output of outputs) output.destroy();
    const reported = code === null ? 'failed' : (exitCodes.get(code) ?? 'failed');
    const isSaid = exitCodes !== DEFAULT_EXIT_CODES;
    if (reported === 'paid') return { kind: 'success', isSaid };
    const isInDoubt = reported === 'in-doubt';
    const why = code === null ? `ended by ${killedBy}` : `exit code ${code}${isInDoubt ? ' (in doubt)' : ''}`;
    return { kind: 'failure', why, output: plainText(tail), isInDoubt, isSaid };
  };

export function clientOf(
  by: 'hunt' | 'matrix',
  words: readonly string[],
  { env, exitCodes }: Pick<HuntFlags, 'env' | 'exitCodes'>,
  environment: NodeJS.ProcessEnv,
): Client {
  if (words.length > 0) return huntedCommand(clientCommand(words, env, environment), exitCodesOf(exitCodes));
  const example = by === 'hunt' ? 'npm run pay-once' : 'npm test';
  throw new SettingsError(
    `${by} needs a command: payout-sandbox ${by} --env PAYOUT_URL={url} --env PAYOUT_KEY={key} -- ${example}`,
  );
}

/** These of the flags as they were typed: `--exit-codes paid=0`. */
export const typed = (flags: object, names: readonly string[]): readonly string[] =>
  names.flatMap((name) => {
    const flag = flagOf(name);
    const given = (flags as Readonly<Record<string, string | readonly string[] | undefined>>)[name] ?? [];
    return [given].flat().flatMap((value) => [flag, value]);
  });
