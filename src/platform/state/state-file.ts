import { createReadStream } from 'node:fs';
import { access, constants, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Refusal } from '../../contract/errors.ts';
import { SNAPSHOT_FORMAT, SNAPSHOT_VERSION } from '../../contract/snapshot-lines.ts';
import { MAX_LINE, readWorlds, type ReadWorld } from '../../log/snapshot-text.ts';
import { SettingsError } from '../../settings.ts';

/** A world holds its scenario in one line, and a scenario file may be long. */
const LONGEST_LINE = 64 * MAX_LINE;

/** The first format, which payout-sandbox 0.1 wrote. */
const FIRST_FORMAT = 'payout-sandbox/state';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const unwritable = (file: string, error: unknown): SettingsError =>
  new SettingsError(`the state file ${file} cannot be written (${codeOf(error)})`);

const unusable = (file: string, why: string): SettingsError =>
  new SettingsError(`the state file ${file} ${why}: move it away to start without its worlds`);

/** Writes a state file. It replaces the old one only once it is complete. @throws SettingsError */
export async function writeStateFile(file: string, text: AsyncIterable<string>): Promise<void> {
  try {
    await writeWhole(file, unfinishedOf(file), text);
  } catch (error) {
    throw codeOf(error) === undefined ? error : unwritable(file, error);
  }
}

/** Where this process writes a file that is to replace another one. No other process writes there. */
const unfinishedOf = (file: string): string => `${file}.${process.pid}.tmp`;

/** Writes a file under a temporary name, and renames it once it is complete. */
async function writeWhole(
  file: string,
  unfinished: string,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  try {
    const handle = await open(unfinished, 'w', 0o600);
    try {
      for await (const chunk of chunks) await handle.appendFile(chunk); // a plain write may stop half-way on a full disk
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Makes the entries of a folder durable. Where a folder cannot be opened (Windows), the system does so by itself. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EACCES'].includes(codeOf(error) ?? '')) throw error;
  }
}

/** Removes what a crash left behind. @throws SettingsError when the file could not be written at the stop, so that the start fails */
export async function prepareStateFolder(file: string): Promise<void> {
  try {
    await access(dirname(file), constants.W_OK);
    await removeAbandoned(file);
  } catch (error) {
    throw unwritable(file, error);
  }
}

/** Removes unfinished files next to a file, except those of processes that are running. */
async function removeAbandoned(file: string): Promise<void> {
  const prefix = `${basename(file)}.`;
  for (const name of await readdir(dirname(file))) {
    const pid = name.startsWith(prefix)
      ? /^([1-9]\d{0,8})\.tmp$/.exec(name.slice(prefix.length))?.[1]
      : undefined;
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(dirname(file), name), { force: true }).catch(() => undefined); // a failure is harmless: the file only takes space
  }
}

/** Whether a process exists. ESRCH means that it does not; any other error means that it does. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/** When the file was written, ms since the epoch; null when there is none. @throws SettingsError */
export async function writtenAtMs(file: string): Promise<number | null> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw unusable(file, `cannot be read (${codeOf(error)})`);
  }
}

/**
 * Reads a state file, world by world. A damaged world is a fault with its id; a truncated file is a fault without one.
 *
 * @throws SettingsError for a file of another format or version, and for one that cannot be read
 */
export async function* readStateFile(
  file: string,
  options: Omit<Parameters<typeof readWorlds>[1], 'maxLine'>,
): AsyncGenerator<ReadWorld | { readonly id: null; readonly fault: Refusal }> {
  try {
    yield* readWorlds(bytesOf(file), { ...options, maxLine: LONGEST_LINE });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    yield { id: null, fault: error };
  }
}

/** @throws SettingsError */
async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  try {
    for await (const bytes of createReadStream(file) as AsyncIterable<Buffer>) {
      if (isFirst) checkFormat(file, bytes.toString('latin1'));
      isFirst = false;
      yield bytes;
    }
  } catch (error) {
    throw error instanceof SettingsError ? error : unusable(file, `cannot be read (${codeOf(error)})`);
  }
  if (isFirst) throw unusable(file, 'is empty');
}

/** @throws SettingsError for a text that does not begin like a state file of this version */
function checkFormat(file: string, text: string): void {
  const { format, version } = headOf(text);
  if (format === FIRST_FORMAT) {
    throw unusable(file, 'was written by payout-sandbox 0.1, in a format that this version does not read');
  }
  if (format !== SNAPSHOT_FORMAT) throw unusable(file, 'is not a state file');
  if (version !== SNAPSHOT_VERSION) {
    throw unusable(
      file,
      `has version ${JSON.stringify(version)}, and this program reads ${SNAPSHOT_VERSION}`,
    );
  }
}

function headOf(text: string): { readonly format?: unknown; readonly version?: unknown } {
  try {
    return Object(JSON.parse(text.split('\n', 1)[0]!));
  } catch {
    return {};
  }
}

/** Copies a damaged file, which the next write replaces. The name contains the file's time, so that repeated starts make only one copy. */
export async function keepDamaged(file: string): Promise<string> {
  const copy = `${file}.damaged-${Math.floor((await writtenAtMs(file)) ?? 0)}`;
  if ((await writtenAtMs(copy)) !== null) return copy;
  try {
    await writeWhole(copy, unfinishedOf(file), createReadStream(file));
  } catch (error) {
    throw unusable(file, `is damaged, and cannot be copied to ${copy} (${codeOf(error)})`);
  }
  return copy;
}
