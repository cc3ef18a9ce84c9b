import type { ScenarioSource, ScenarioCompiler } from '../../../scenario/scenario.ts';
import { freeze, type FrozenState } from '../../../world/copy.ts';
import { openWorld, type WorldState } from '../../../world/state.ts';
import { thawed } from '../../thawed-state.ts';
import type { Base, Place } from '../../store.ts';
import type { WallClock } from '../../wall-clock.ts';
import { FORMAT, type WorldKeys } from '../scripts.ts';
import type { StoreConnection } from '../store-connection.ts';
import { readState, writeState } from './stored-state.ts';

/** A state from which the log can be followed, as the head of a world lists it. The first of a world has no key: its scenario is in the head. */
interface StoredBase extends Place {
  readonly key: string;
  readonly payouts: number;
}

export const FIRST_BASE: StoredBase = { position: 0, name: '', key: '', payouts: 0 };
export const basesIn = (text: string): StoredBase[] => JSON.parse(text) as StoredBase[];

const COMPACT_AFTER = 2000;
/** How many payouts in a state are worth one more command before it is stored again. */
const PAYOUTS_A_COMMAND = 4;
/** After how many commands a state with so many payouts is stored: a server that does not know the world applies at most so many. */
export const compactAfter = (payouts: number): number =>
  Math.max(COMPACT_AFTER, Math.floor(payouts / PAYOUTS_A_COMMAND));

interface Parts {
  readonly wallClock: WallClock;
  readonly compiler: ScenarioCompiler;
  readonly idleMs: number;
}

const RENEWED_AFTER = 0.05; // of the time that the keys are kept
const READ_BEFORE_DROPPED_MS = 60_000;

/** The states that are stored beside the logs of worlds: those from which a log can be followed, and those that restores put in place. */
export function storedStates(connection: StoreConnection, options: Parts) {
  const { client } = connection;
  /** How long keys are kept: longer than a world may be idle, since not every call renews them, and since who drops it reads it first. */
  const keptMs = Math.ceil(options.idleMs * (1 + 2 * RENEWED_AFTER)) + READ_BEFORE_DROPPED_MS;
  /** After how long a call keeps them for longer. */
  const renewMs = Math.ceil(options.idleMs * RENEWED_AFTER);
  let named = 0;

  /** A name that no other state or call has. */
  function newName(): string {
    named += 1;
    return `${connection.server}:${named}`;
  }

  /** @param source the scenario of the first state of a world, or its text; @returns null when the state is gone */
  async function baseState(
    worldId: string,
    keys: WorldKeys,
    { key }: StoredBase,
    openedAtMs: number,
    source: ScenarioSource | string,
  ): Promise<FrozenState | null> {
    if (key !== '') return readState(connection, keys.state(key));
    if (source === '') return null;
    const first = typeof source === 'string' ? (JSON.parse(source) as ScenarioSource) : source;
    return freeze(openWorld(worldId, first, openedAtMs, options.compiler));
  }

  /** Stores a state beside the log. @returns its name */
  async function write(
    keys: WorldKeys,
    { index: _index, undoPoints: _undoPoints, ...state }: FrozenState & Partial<WorldState>,
  ): Promise<string> {
    const name = newName();
    await writeState(connection, keys.state(name), state, keptMs);
    return name;
  }

  /** The state of a restore. @returns null when it is gone */
  async function restored(keys: WorldKeys, name: string): Promise<WorldState | null> {
    const state = await readState(connection, keys.state(name));
    return state === null ? null : thawed(state, options);
  }

  /** Stores a state from which the log can be followed, and trims the log up to the one before it, which other servers may just read. */
  async function compact(keys: WorldKeys, epoch: string, base: Base): Promise<void> {
    const reliably = <T>(work: () => Promise<T>): Promise<T> => connection.reliably(work, keys.head);
    const [ofEpoch, before] = await reliably(() => client.hmget(keys.head, 'epoch', 'bases'));
    if (ofEpoch !== epoch || before == null) return;
    const bases = basesIn(before);
    const latest = bases.at(-1)!;
    const restores = Object.entries(await reliably(() => client.hgetall(keys.restores)));
    const state = base.state();
    if (base.position <= latest.position) return; // another server was first
    const key = await write(keys, state);
    const { position, name } = base;
    const { length: payouts } = state.payouts;
    const kept = [latest, { position, name, key, payouts }];
    const [first] = kept as [StoredBase];
    const needless = restores.filter(([, at]) => Number(at) <= first.position).map(([restored]) => restored);
    const dropped = bases.filter((one) => !kept.includes(one) && one.key !== '').map((one) => one.key);
    const states = [...dropped, ...needless].map((one) => keys.state(one));
    const names = [keys.head, keys.log, keys.restores, ...states];
    const args = [epoch, before, JSON.stringify(kept), first.position, FORMAT, key, ...needless];
    const isDone = await connection.reliably(() =>
      connection.script<number>('compact', names.length, ...names, ...args),
    );
    if (isDone !== 1) await forget(keys.state(key)); // another server was quicker
  }

  /** Keeps the stored states of a world for longer. */
  async function renew(keys: WorldKeys): Promise<void> {
    try {
      const [bases, restored] = await Promise.all([
        client.hget(keys.head, 'bases'),
        client.hkeys(keys.restores),
      ]);
      const names = [...basesIn(bases ?? '[]').map(({ key }) => key), ...restored];
      const stored = names.filter((name) => name !== ''); // nothing is stored of a world's beginning
      await Promise.all(stored.map((name) => client.pexpire(keys.state(name), keptMs)));
    } catch {
      // the store is unavailable: they are kept for much longer than it takes until the next time
    }
  }

  /** Deletes a state that nobody needs. It expires otherwise. */
  async function forget(key: string): Promise<void> {
    await client.unlink(key).catch(() => undefined);
  }

  return { keptMs, renewMs, newName, baseState, write, restored, compact, renew, forget };
}
