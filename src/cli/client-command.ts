import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemReason } from '../contract/usage-error.ts';
import { worldIdOf } from '../payout/identity.ts';
import { SettingsError } from '../settings.ts';

/** The command of a client under test, which `referee`, `hunt` and `matrix` run. */

/** What a command gets: the address of its sandbox, the key of its world, and a folder for what it keeps. */
interface Address {
  readonly url: string;
  readonly key: string;
}

/** How a command ended: with an exit code, or by a signal. */
type Exit = readonly [code: number | null, signal: NodeJS.Signals | null];

/** Starts it, with its variables and these. Its end is a SettingsError for a program that cannot be run. */
export type ClientCommand = (
  address: Address,
  variables: Readonly<Record<string, string>>,
  options: SpawnOptions,
) => { readonly child: ChildProcess; readonly exit: Promise<Exit> };

const NAMES = ['url', 'key', 'dir'] as const;

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

const filledIn = (text: string, { url, key }: Address, folderOf: (key: string) => string): string =>
  text
    .replaceAll('{url}', url)
    .replaceAll('{key}', key)
    .replaceAll('{dir}', () => folderOf(key));

/** `PAYOUT_URL={url}` as a variable. */
function variableOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new SettingsError(`--env must be NAME=VALUE, such as PAYOUT_URL={url}, not ${text}`);
  const unknown = (text.slice(at).match(/(?<=\{)\w+(?=\})/g) ?? []).find(
    (one) => !NAMES.some((name) => name === one),
  );
  if (unknown !== undefined) {
    throw new SettingsError(
      `--env: {${unknown}} in ${text} is not known: the names are {url}, {key} and {dir}`,
    );
  }
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

/** @param words the program and its arguments, in which {url}, {key} and {dir} are filled in */
export function clientCommand(
  words: readonly string[],
  env: readonly string[],
  environment: NodeJS.ProcessEnv,
): ClientCommand {
  if (words[0] === '') throw new SettingsError("'' cannot be run: it is no command"); // Node.js would throw
  const own = env.map(variableOf);
  const folderOf = folders();
  return (address, variables, options) => {
    const [program, ...args] = words.map((word) => filledIn(word, address, folderOf)) as [
      string,
      ...string[],
    ];
    const filled = Object.fromEntries(own.map(([name, value]) => [name, filledIn(value, address, folderOf)]));
    const child = spawn(program, args, { ...options, env: { ...environment, ...variables, ...filled } });
    return { child, exit: exitOf(child, program) };
  };
}
