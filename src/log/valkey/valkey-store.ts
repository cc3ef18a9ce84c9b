import type { ScenarioSource, ScenarioCompiler } from '../../scenario/scenario.ts';
import { isUse } from '../../world/commands.ts';
import { unavailable } from '../dropped.ts';
import type { Appended, Base, DropReason, NewCommand, Opened, Place, Store } from '../store.ts';
import { FORMAT, HEARD_AGAIN_MS, KEY_PREFIX, keysOf, type WorldKeys } from './scripts.ts';
import { StoreConnection, type ConnectionOptions } from './store-connection.ts';
import {
  appendedAfter,
  commandText,
  readEntry,
  type ReadEntry,
  type StreamEntry,
} from './stored/stored-command.ts';
import { basesIn, compactAfter, FIRST_BASE, storedStates } from './stored/stored-states.ts';
import { valkeyDirectory } from './valkey-directory.ts';

export interface ValkeyStoreOptions extends ConnectionOptions {
  readonly compiler: ScenarioCompiler;
  /** A world that was not used for this long is dropped. */
  readonly idleMs: number;
  /** The settings of this server at its start that all servers should have in common, by their names. */
  readonly settings: Readonly<Record<string, string>>;
}

type OpenReply = readonly [
  epoch: string,
  format: number,
  openedAtMs: number,
  bases: string,
  source: string,
  isNew: 0 | 1,
];
type AppendReply =
  | readonly ['done', nowMs: number, news: readonly StreamEntry[], isRenewed: 0 | 1]
  | readonly ['more', nowMs: number, news: readonly StreamEntry[]]
  | readonly ['behind']
  | readonly ['gone', reason: DropReason | '']
  | readonly ['newer', format: number];
type DropReply = readonly [outcome: -1 | 0 | 1, bases?: string, restores?: readonly string[]];

const TRIES = 5;

/** The logs of all worlds, in Valkey or Redis. Many servers share it. */
export class ValkeyStore implements Store {
  readonly server: string;
  readonly connection: StoreConnection;
  readonly directory: ReturnType<typeof valkeyDirectory>;
  readonly compactAfter = compactAfter;
  readonly #options: ValkeyStoreOptions;
  readonly #states: ReturnType<typeof storedStates>;
  /** The worlds whose logs this server is compacting. */
  readonly #compacting = new Set<string>();
  /** How far the store's clock is ahead of this server's. */
  #aheadMs = 0;

  private constructor(options: ValkeyStoreOptions) {
    this.#options = options;
    this.server = options.server;
    this.connection = new StoreConnection(options);
    this.#states = storedStates(this.connection, options);
    this.directory = valkeyDirectory(this.connection, {
      nowMs: () => this.nowMs(),
      is: (nowMs) => this.#timeIs(nowMs),
    });
  }

  /** Connects to the store, which may also become reachable later. */
  static async open(options: ValkeyStoreOptions): Promise<ValkeyStore> {
    const store = new ValkeyStore(options);
    // together, since each may wait two seconds for a node that hangs
    await Promise.all([store.connection.start(), store.#compareSettings()]);
    return store;
  }

  nowMs(): number {
    return this.#options.wallClock.nowMs() + this.#aheadMs;
  }

  async open(worldId: string, source: ScenarioSource | null): Promise<Opened | null> {
    const { connection, server } = this;
    const keys = keysOf(worldId);
    const first = source === null ? '' : JSON.stringify(source);
    const names = [keys.head, keys.log, keys.restores];
    const args = [FORMAT, this.#states.keptMs, server, first, JSON.stringify([FIRST_BASE])];
    for (let tried = 0; tried < TRIES; tried += 1) {
      const call = () => connection.script<OpenReply | []>('open', ...names, ...args);
      const reply = await connection.reliably(call, keys.head);
      if (reply.length === 0) return null;
      const [epoch, format, openedAtMs, bases, firstSource, isNew] = reply;
      if (format > FORMAT) throw connection.newerFormat(keys.head, format);
      if (isNew === 1) this.#timeIs(openedAtMs);
      const base = basesIn(bases).at(-1)!;
      const made = isNew === 1 ? source! : firstSource;
      const state = await this.#states.baseState(worldId, keys, base, openedAtMs, made);
      if (state === null) continue; // replaced meanwhile
      return { epoch, openedAtMs, isNew: isNew === 1, base: { ...base, state: () => state } };
    }
    throw unavailable();
  }

  async append(
    worldId: string,
    epoch: string,
    seen: Place,
    commands: readonly NewCommand[],
  ): Promise<Appended> {
    const { connection, server } = this;
    const { keptMs, renewMs } = this.#states;
    const keys = keysOf(worldId);
    const isUsed = commands.some(({ command }) => isUse(command)) ? 1 : 0;
    const isFollowing = connection.isFollowing(keys.news) ? 1 : 0;
    const args: (string | number)[] = [keys.head, keys.log, keys.restores, keys.dropped];
    args.push(epoch, FORMAT, seen.position, seen.name, server, keys.news);
    args.push(isUsed, keptMs, renewMs, isFollowing);
    for (const command of commands) {
      const restored =
        command.command.kind === 'restore' ? await this.#states.write(keys, command.command.state) : '';
      args.push(command.number, restored, commandText(command, restored));
    }
    let tried = 0;
    const reply = await connection.reliably(() => {
      tried += 1;
      return connection.joined(() => connection.script<AppendReply>('append', ...args));
    }, keys.head);
    const isUnsure = tried > 1 && commands.length > 0;
    if (reply[0] === 'gone' && reply[1] === '') await this.#options.observer.lost(worldId);
    if (reply[0] === 'gone') return { kind: 'gone', reason: reply[1] || 'lost' };
    if (reply[0] === 'newer') throw connection.newerFormat(keys.head, reply[1]);
    if (reply[0] === 'behind') return { kind: 'moved', isUnsure };
    const [kind, nowMs, news] = reply;
    this.#timeIs(nowMs);
    const logged = await this.#read(keys, news);
    if (logged === null) return { kind: 'moved', isUnsure: true };
    if (kind === 'more') return { kind, commands: logged, isUnsure };
    if (reply[3] === 1) void this.#states.renew(keys);
    return {
      kind,
      commands: [...logged, ...appendedAfter(logged.at(-1) ?? seen, logged, commands, server, nowMs)],
    };
  }

  async compact(worldId: string, epoch: string, base: Base): Promise<void> {
    if (this.#compacting.has(worldId)) return; // the log is still there
    this.#compacting.add(worldId);
    try {
      await this.#states.compact(keysOf(worldId), epoch, base);
    } finally {
      this.#compacting.delete(worldId);
    }
  }

  wake(worldId: string, callback: () => void): () => void {
    const { wallClock } = this.#options;
    const unfollow = this.connection.follow(keysOf(worldId).news, (by) => {
      if (by !== this.server) callback();
    });
    let cancel = (): void => undefined;
    const callAgain = (): void => {
      cancel = wallClock.schedule(wallClock.nowMs() + HEARD_AGAIN_MS, () => {
        callAgain();
        callback();
      });
    };
    callAgain();
    return () => {
      cancel();
      unfollow();
    };
  }

  async drop(worldId: string, reason: DropReason, idleMs?: number): Promise<boolean> {
    const { connection, directory } = this;
    const { head, log, restores, dropped, news, state } = keysOf(worldId);
    const names = [head, log, restores, dropped, `${dropped}:${this.server}`];
    const args = [reason, news, this.#states.newName(), ...(idleMs === undefined ? [] : [idleMs])];
    const drop = () => connection.script<DropReply>('drop', ...names, ...args);
    const [outcome, bases = '', restored = []] = await connection.reliably(drop, head);
    if (outcome === -1) return false;
    await directory.remove(worldId).catch(() => undefined); // the list notices later that the world is gone
    const states = [...(bases === '' ? [] : basesIn(bases).map(({ key }) => key)), ...restored];
    for (const name of states) await this.#states.forget(state(name));
    return outcome === 1;
  }

  close(): void {
    this.connection.close();
  }

  #timeIs(nowMs: number): void {
    this.#aheadMs = nowMs - this.#options.wallClock.nowMs();
  }

  /** Warns when the server that started before this one had other settings: worlds keep those they have, and limits apply to all. */
  async #compareSettings(): Promise<void> {
    const { connection } = this;
    const { settings } = this.#options;
    try {
      const write = () => connection.client.set(`${KEY_PREFIX}settings`, JSON.stringify(settings), 'GET');
      const before = JSON.parse((await connection.reliably(write)) ?? '{}') as Readonly<
        Record<string, string>
      >;
      const others = Object.entries(settings).filter(([name, here]) => (before[name] ?? here) !== here);
      if (others.length === 0) return;
      const listed = others.map(([name, here]) => `${name} (${before[name]} there, ${here} here)`).join(', ');
      connection.warn(
        `the server that started before had another ${listed}: each world uses the scenario and settings of the server that opened or reset it, and the limits of every server`,
      );
    } catch {
      // the store is unavailable; each world will still bring its own
    }
  }

  /** Reads commands of the log. @returns null when a state that they restore is gone */
  async #read(keys: WorldKeys, entries: readonly StreamEntry[]): Promise<ReadEntry[] | null> {
    const read: ReadEntry[] = [];
    for (const entry of entries) {
      const logged = await readEntry(entry, (name) => this.#states.restored(keys, name));
      if (logged === null) return null;
      read.push(logged);
    }
    return read;
  }
}
