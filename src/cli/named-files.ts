import { accessSync, constants, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemReason, textOfBytes, unreadable } from '../contract/usage-error.ts';
import { SettingsError } from '../settings.ts';
import { complain } from './output.ts';

const STANDARD_INPUT = '-';

/** @param calledBy the flag or the command that takes the file */
export function textOfFile(calledBy: string, file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file === STANDARD_INPUT ? 0 : file);
  } catch (error) {
    throw new SettingsError(`${calledBy}: ${unreadable(file, error)}`, { cause: error });
  }
  const text = textOfBytes(bytes);
  if (text !== undefined) return text;
  throw new SettingsError(`${calledBy}: ${file} is not a text file: it must be in UTF-8`);
}

/** @param calledBy the flag or the command that names the file */
const refusal = (calledBy: string, file: string, error: unknown, done = 'written'): SettingsError =>
  new SettingsError(`${calledBy}: ${file} cannot be ${done} (${systemReason(error)})`, { cause: error });

/** Checks, before a command begins, that its results can be saved. Does not create the file. */
export function checkWritable(calledBy: string, file: string): void {
  if (file === STANDARD_INPUT)
    throw new SettingsError(`${calledBy}: - is standard input, not a file to write`);
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    // the dot makes it fail unless the parent is a folder
    accessSync(found === undefined ? `${dirname(file)}/.` : file, constants.W_OK);
  } catch (error) {
    throw refusal(calledBy, file, error);
  }
}

/** @param how `a` appends, and `wx` keeps an existing file @returns whether it was written */
export function writeText(
  calledBy: string,
  file: string,
  text: string,
  how: 'w' | 'a' | 'wx' = 'w',
): boolean {
  try {
    writeFileSync(file, text, { flag: how });
    return true;
  } catch (error) {
    if (how === 'wx' && (error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw refusal(calledBy, file, error);
  }
}

/** Writes a file, or complains: for a command that goes on without it. @returns whether it was written */
export function tryWrite(...file: Parameters<typeof writeText>): boolean {
  try {
    return writeText(...file);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    complain(error.message);
    return false;
  }
}

/** Not mkdir's own `recursive`, which never ends below /proc, where mkdir reports an existing folder as missing. */
function makeWithParents(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found !== undefined) throw Object.assign(new Error('a file'), { code: 'ENOTDIR' });
  if (dirname(folder) !== folder) makeWithParents(dirname(folder));
  mkdirSync(folder);
}

export function makeFolder(calledBy: string, folder: string): void {
  try {
    makeWithParents(folder);
  } catch (error) {
    throw refusal(calledBy, folder, error, 'created');
  }
}
