import { createReadStream } from 'node:fs';
import { link, open, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Refusal } from '../../contract/errors.ts';
import { systemReason } from '../../contract/usage-error.ts';
import { MAX_LINE, readWorlds, type ReadWorld } from '../../worlds/snapshot-text.ts';
import { SettingsError } from '../../settings.ts';
import { lockFile } from './state-lock.ts';

/** A world holds its scenario in one line, and a scenario file may be long. */
const LONGEST_LINE = 64 * MAX_LINE;

/** The file that is being written. It is always removed and made anew, so that no link there is followed. */
const unfinished = (file: string): string => `${file}.tmp`;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const unwritable = (file: string, error: unknown): SettingsError =>
  new SettingsError(`the state file ${file} cannot be written (${systemReason(error)})`);

const unusable = (file: string, why: string): SettingsError =>
  new SettingsError(`the state file ${file} ${why}. Move it away to start without its worlds`);

/** Writes a state file that this process has locked. It replaces the old one only once it is complete. @throws SettingsError */
export async function writeStateFile(file: string, text: AsyncIterable<string>): Promise<void> {
  try {
    await rm(unfinished(file), { force: true });
    await writeFile(unfinished(file), text, { flag: 'wx', mode: 0o600, flush: true });
    await rename(unfinished(file), file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(unfinished(file), { force: true }).catch(() => undefined); // the next write removes it
    throw codeOf(error) === undefined ? error : unwritable(file, error);
  }
}

/** Makes the entries of a folder durable. Where a folder cannot be opened (Windows), the system does so by itself. */
async function syncFolder(folder: string): Promise<void> {
  try {
    await using handle = await open(folder, 'r');
    await handle.sync();
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EACCES'].includes(codeOf(error) ?? '')) throw error;
  }
}

/**
 * The file that a path names, locked for this process.
 *
 * @returns its path, with links followed, and a function that unlocks it; null where it cannot be locked
 * @throws SettingsError when another sandbox uses it, or it could not be written at the stop, so that the start fails
 */
export async function claimStateFile(
  path: string,
): Promise<{ readonly file: string; readonly unlock: (() => Promise<void>) | null }> {
  let unlock: (() => Promise<void>) | null = null;
  try {
    const file = await targetOf(path);
    const lock = await lockFile(file);
    if (lock === 'taken') throw new SettingsError(`the state file ${path} is used by another sandbox`);
    if (lock !== 'impossible') unlock = lock;
    await tryToWrite(file);
    return { file, unlock };
  } catch (error) {
    await unlock?.();
    throw error instanceof SettingsError ? error : unwritable(path, error);
  }
}

/** Tries what a write does, without replacing the file. @throws SettingsError when it is a mount, which cannot be replaced */
async function tryToWrite(file: string): Promise<void> {
  await rm(unfinished(file), { force: true }); // what a crash left
  try {
    await link(file, unfinished(file));
  } catch (error) {
    if (codeOf(error) === 'EXDEV')
      throw new SettingsError(`the state file ${file} is a mount and cannot be replaced: mount its folder`);
    await writeFile(unfinished(file), '', { flag: 'wx' }); // no file yet, or a file system without links
  }
  await rm(unfinished(file));
}

/** What a path names once links are followed: a new file would replace the link. */
async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const target = await readlink(path).catch(() => null); // of a link to a file that is not there yet
  return target === null ? path : resolve(dirname(path), target);
}

/** When the file was written, ms since the epoch; null when there is none. @throws SettingsError */
export async function writtenAtMs(file: string): Promise<number | null> {
  const found = await stat(file).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw unusable(file, `cannot be read (${systemReason(error)})`);
  });
  if (found?.isFIFO()) throw unusable(file, 'cannot be read (it is a pipe)'); // which would wait for a writer
  if (found?.isFile() && found.size === 0) throw unusable(file, 'is empty');
  return found?.mtimeMs ?? null;
}

/** Reads a state file. @throws SettingsError when it is damaged or cannot be read; the worlds before the damage must not be used */
export async function* readStateFile(
  file: string,
  options: Omit<Parameters<typeof readWorlds>[1], 'maxLine'>,
): AsyncGenerator<ReadWorld> {
  try {
    yield* readWorlds(createReadStream(file), { ...options, maxLine: LONGEST_LINE });
  } catch (error) {
    if (error instanceof Refusal) throw unusable(file, `cannot be used: ${error.message}`);
    throw codeOf(error) === undefined ? error : unusable(file, `cannot be read (${systemReason(error)})`);
  }
}
