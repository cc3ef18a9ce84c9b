import { createReadStream } from 'node:fs';
import { link, open, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Refusal } from '../contract/errors.ts';
import { systemReason } from '../contract/usage-error.ts';
import { MAX_LINE, readWorlds, snapshotText, type ReadWorld } from '../worlds/snapshot-text.ts';
import { SettingsError } from '../settings.ts';
import { lockFile } from './state-lock.ts';
import type { Logger } from 'pino';
import type { WallClock } from '../worlds/wall-clock.ts';
import type { Worlds } from '../worlds/worlds.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { takeSnapshot, type Snapshot } from '../world/snapshot.ts';

/** A world holds its scenario in one line, and a scenario file may be long. */
const LONGEST_LINE = 64 * MAX_LINE;

/** The file that is being written. It is always removed and made anew, so that no link there is followed. */
const unfinished = (file: string): string => `${file}.tmp`;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const unwritable = (file: string, error: unknown): SettingsError =>
  new SettingsError(`the state file ${file} cannot be written (${systemReason(error)})`);

const unusable = (file: string, why: string): SettingsError =>
  new SettingsError(`the state file ${file} ${why}. Move it away to start without its worlds`);

/** Writes a file that this process has locked. It replaces the old one only once it is complete. @throws SettingsError */
async function writeStateFile(file: string, text: AsyncIterable<string>): Promise<void> {
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
async function writtenAtMs(file: string): Promise<number | null> {
  const found = await stat(file).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw unusable(file, `cannot be read (${systemReason(error)})`);
  });
  if (found?.isFIFO()) throw unusable(file, 'cannot be read (it is a pipe)'); // which would wait for a writer
  if (found?.isFile() && found.size === 0) throw unusable(file, 'is empty');
  return found?.mtimeMs ?? null;
}

/** Reads a state file. @throws SettingsError when it is damaged or cannot be read; the worlds before the damage must not be used */
async function* readStateFile(
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

interface KeptStateOptions {
  readonly file: string;
  /** How often it is written in addition to the stop, in ms of wall time. */
  readonly everyMs: number | 'off';
  readonly worlds: Worlds;
  readonly compiler: ScenarioCompiler;
  readonly wallClock: WallClock;
  readonly log: Logger;
}

export interface Restored {
  readonly worlds: number;
  readonly payouts: number;
  /** How long ago it was written, in ms of wall time. */
  readonly ageMs: number;
}

/** All worlds of a sandbox in a file: read at the start, written at the stop and at intervals. */
export function keptState({ file: path, everyMs, worlds, compiler, wallClock, log }: KeptStateOptions) {
  let file = path;
  let unlock: (() => Promise<void>) | null = null;
  let cancel: (() => void) | null = null;
  let writing: Promise<void> = Promise.resolve();
  let writtenAtUses = 0;

  async function* snapshots(counted: { worlds: number }): AsyncGenerator<Snapshot> {
    for (const worldId of await worlds.ids()) {
      const snapshot = await worlds.visit(worldId, (state) => takeSnapshot(state));
      if (snapshot !== null) {
        counted.worlds += 1;
        yield snapshot;
      }
      await wallClock.yieldToEventLoop();
    }
  }

  async function write(): Promise<void> {
    const { uses } = worlds; // requests during the write may be missing from the file
    const counted = { worlds: 0 };
    await writeStateFile(file, snapshotText(snapshots(counted)));
    writtenAtUses = uses;
    log.info({ file, ...counted }, 'state written');
  }

  async function restoreWorlds(): Promise<Restored | null> {
    const overLimit = (why: string) => new SettingsError(`the state file ${file} cannot be used: ${why}`);
    const atMs = await writtenAtMs(file);
    if (atMs === null) return null;
    const restored = { worlds: 0, payouts: 0, ageMs: Math.max(0, Math.round(wallClock.nowMs() - atMs)) };
    for await (const read of readStateFile(file, { compiler, wallClock })) {
      restored.worlds += 1;
      restored.payouts += read.state.payouts.length;
      if (restored.worlds > worlds.maxWorlds) continue; // the start is refused below, with their number
      const world = await worlds.use(read.id);
      await world.submit({ kind: 'restore', state: read.state, clock: 'ran-on' }).catch((error: unknown) => {
        throw error instanceof Refusal ? overLimit(`world ${read.id}: ${error.message}`) : error;
      });
    }
    if (restored.worlds > worlds.maxWorlds) {
      throw overLimit(`it has ${restored.worlds} worlds, and SANDBOX_MAX_WORLDS is ${worlds.maxWorlds}`);
    }
    return restored;
  }

  return {
    /**
     * Restores the worlds of the file, if there is one. Running clocks have kept running.
     *
     * @throws SettingsError when another sandbox uses the file, when it is damaged or cannot be used, or could not be written at the
     * stop. It is not changed
     */
    async restore(): Promise<Restored | null> {
      try {
        file = await targetOf(path);
        const lock = await lockFile(file);
        if (lock === 'taken') throw new SettingsError(`the state file ${path} is used by another sandbox`);
        if (lock === 'impossible')
          log.warn({ file }, 'the state file cannot be locked: no other sandbox may use it');
        else unlock = lock;
        await tryToWrite(file);
        return await restoreWorlds();
      } catch (error) {
        await unlock?.();
        throw codeOf(error) === undefined ? error : unwritable(path, error);
      }
    },

    /** Writes the file at intervals from now on, if there was a request since the last write. */
    start(): void {
      if (everyMs === 'off') return;
      const round = async (): Promise<void> => {
        try {
          if (worlds.uses !== writtenAtUses) await write();
        } catch (error) {
          log.error({ err: error }, 'the state could not be written');
        }
        if (cancel !== null) schedule();
      };
      const schedule = (): void => {
        cancel = wallClock.schedule(wallClock.nowMs() + everyMs, () => {
          writing = round();
        });
      };
      schedule();
    },

    /** Writes the file a last time, after any write that is under way. */
    async end(): Promise<void> {
      cancel?.();
      cancel = null;
      await writing;
      try {
        await write();
      } finally {
        await unlock?.();
      }
    },
  };
}
