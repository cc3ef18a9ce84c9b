import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import { snapshotText } from '../../worlds/snapshot-text.ts';
import type { WallClock } from '../../worlds/wall-clock.ts';
import type { Worlds } from '../../worlds/worlds.ts';
import type { ScenarioCompiler } from '../../scenario/scenario.ts';
import { SettingsError } from '../../settings.ts';
import { takeSnapshot, type Snapshot } from '../../world/snapshot.ts';
import { claimStateFile, readStateFile, writeStateFile, writtenAtMs } from './state-file.ts';

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
    const unusable = (why: string) => new SettingsError(`the state file ${file} cannot be used: ${why}`);
    const atMs = await writtenAtMs(file);
    if (atMs === null) return null;
    const restored = { worlds: 0, payouts: 0, ageMs: Math.max(0, Math.round(wallClock.nowMs() - atMs)) };
    for await (const read of readStateFile(file, { compiler, wallClock })) {
      restored.worlds += 1;
      restored.payouts += read.state.payouts.length;
      if (restored.worlds > worlds.maxWorlds) continue; // the start is refused below, with their number
      const world = await worlds.use(read.id);
      await world.submit({ kind: 'restore', state: read.state, clock: 'ran-on' }).catch((error: unknown) => {
        throw error instanceof Refusal ? unusable(`world ${read.id}: ${error.message}`) : error;
      });
    }
    if (restored.worlds > worlds.maxWorlds) {
      throw unusable(`it has ${restored.worlds} worlds, and SANDBOX_MAX_WORLDS is ${worlds.maxWorlds}`);
    }
    return restored;
  }

  return {
    /**
     * Restores the worlds of the file, if there is one. Running clocks have kept running.
     *
     * @throws SettingsError when the file is damaged or cannot be used, or could not be written. It is not changed
     */
    async restore(): Promise<Restored | null> {
      ({ file, unlock } = await claimStateFile(path));
      if (unlock === null) log.warn({ file }, 'the state file cannot be locked: no other sandbox may use it');
      try {
        return await restoreWorlds();
      } catch (error) {
        await unlock?.();
        throw error;
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
