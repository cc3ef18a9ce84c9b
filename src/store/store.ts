import type { ScenarioSource } from '../contract/snapshot.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { openWorld } from '../world/opening.ts';
import { takeSnapshot, type Snapshot } from '../world/snapshot.ts';
import type { WorldState } from '../world/state-shape.ts';
import { unavailable } from '../worlds/dropped.ts';
import type { Opened } from '../worlds/order.ts';
import type { WallClock } from '../worlds/wall-clock.ts';
import type { OrderOf, World } from '../worlds/world.ts';
import type { WorldsPage, SharedWorlds } from '../worlds/shared-worlds.ts';
import { FORMAT, keysOf, LIST_KEY, type WorldKeys } from './scripts.ts';
import { StoreConnection, UNKNOWN, type ConnectionOptions } from './store-connection.ts';
import { STORE_TIMES } from './store-times.ts';
import { commandText, readEntry, type Logged, type Seen, type StreamEntry } from './stored-command.ts';
import { piecesOfStored, readState, writeState, type StoredState } from './stored-state.ts';
import { WorldLog, type Appended, type Item, type LogStore, type StoreWorld } from './world-log.ts';

export interface StoreOptions extends ConnectionOptions {
  readonly compiler: ScenarioCompiler;
  /** The scenario of a world that is made again because another server has dropped it. */
  readonly activeSource: () => ScenarioSource;
  /** A world that was not used for this long expires. */
  readonly idleMs: number;
}

/** See `CALL`. */
type CallReply =
  | readonly ['open', number, string, number, number, string, string, 0 | 1]
  | readonly ['done' | 'more', nowMs: number, news: readonly StreamEntry[]]
  | readonly ['newer', format: number]
  | readonly ['behind' | 'gone' | 'missing' | 'lost'];

/** A state in the store from which the log is followed, and its place. */
interface StoredSnapshot extends Omit<Seen, 'epoch'> {
  readonly state: StoredState;
}

const NOTHING: Seen = { epoch: '', position: 0, name: '' };
const TRIES = 5;
const RENEWED_AFTER = 0.05; // of the time that the keys are kept

/** The worlds in Valkey or Redis, which many servers share. */
export class Store implements SharedWorlds, LogStore {
  readonly server: string;
  readonly wallClock: WallClock;
  readonly idleMs: number;
  readonly connection: StoreConnection;
  readonly #options: StoreOptions;
  /** How long keys are kept: not every use renews them. */
  readonly #keptMs: number;
  readonly #renewMs: number;
  /** The worlds in which somebody on this server waits for what happens. */
  readonly #listening = new Set<World>();
  #cancelListening: (() => void) | null = null;
  #numbers = 0;
  /** How far the store's clock is ahead of this server's. */
  #aheadMs = 0;

  private constructor(options: StoreOptions) {
    this.#options = options;
    this.server = options.server;
    this.wallClock = options.wallClock;
    this.idleMs = options.idleMs;
    this.connection = new StoreConnection(options);
    this.#renewMs = Math.ceil(options.idleMs * RENEWED_AFTER);
    this.#keptMs = options.idleMs + this.#renewMs;
  }

  /** Connects to the store, which may also become reachable later. */
  static async open(options: StoreOptions): Promise<Store> {
    const store = new Store(options);
    await store.connection.start();
    return store;
  }

  nowMs(): number {
    return this.wallClock.nowMs() + this.#aheadMs;
  }

  nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  async open(
    worldId: string,
    source: ScenarioSource | null,
  ): Promise<(Opened & { orderOf: OrderOf }) | null> {
    const opened = await this.#read(worldId, source);
    if (opened?.isNew === true) await this.#list([[worldId, this.nowMs()]]).catch(() => undefined); // the next use lists it
    return opened && { ...opened, orderOf: (world) => new WorldLog(world, this, opened) };
  }

  read(worldId: string, isMade: boolean): Promise<StoreWorld | null> {
    return this.#read(worldId, isMade ? this.#options.activeSource() : null);
  }

  async #read(worldId: string, source: ScenarioSource | null): Promise<StoreWorld | null> {
    const keys = keysOf(worldId);
    const first = source === null ? '' : JSON.stringify(source);
    for (let tried = 0; tried < TRIES; tried += 1) {
      const reply = await this.#call(keys, NOTHING, source !== null, first, []);
      if (reply[0] !== 'open') return null;
      const [, nowMs, epoch, format, openedAtMs, text, ofWorld, isNew] = reply;
      this.#aheadMs = nowMs - this.wallClock.nowMs();
      if (format > FORMAT) throw this.connection.newerFormat(keys.head, format);
      const snapshot = text === '' ? null : (JSON.parse(text) as StoredSnapshot);
      const state =
        snapshot === null
          ? openWorld(worldId, JSON.parse(ofWorld) as ScenarioSource, openedAtMs, this.#options.compiler)
          : await this.#readState(keys, snapshot.state);
      if (state === null) continue; // replaced meanwhile
      const { position, name } = snapshot ?? NOTHING;
      const characters = snapshot?.state.characters ?? 0;
      const seen = { epoch, position, name };
      return { epoch, openedAtMs, isNew: isNew === 1, state, seen, characters, keys };
    }
    throw unavailable();
  }

  async append(keys: WorldKeys, seen: Seen, items: readonly Item[], isUsed: boolean): Promise<Appended> {
    const commands: (string | number)[] = [];
    let characters = 0;
    for (const item of items) {
      const { number, command, room } = item;
      if (command.kind === 'restore') {
        item.restored ??= await this.#writeState(keys, takeSnapshot(command.state, true));
      }
      const text = commandText(command, room, item.restored);
      characters += text.length;
      commands.push(number, text);
    }
    const reply = await this.#call(keys, seen, isUsed, '', commands);
    if (reply[0] === 'newer') throw this.connection.newerFormat(keys.head, reply[1]);
    if (reply[0] === 'open') throw new Error('a store has opened a world instead of appending to it');
    if (reply[0] !== 'done' && reply[0] !== 'more') return { kind: reply[0] };
    const [kind, nowMs, news] = reply;
    this.#aheadMs = nowMs - this.wallClock.nowMs();
    const read: Logged[] = [];
    for (const entry of news) {
      const logged = await readEntry(entry, (stored) => this.#readState(keys, stored));
      if (logged === null) {
        // a snapshot has taken the place of what it restores
        if (kind === 'done' && items.length > 0) throw unavailable({ message: UNKNOWN }); // they are in the log
        return { kind: 'behind' };
      }
      read.push(logged);
    }
    return { kind, commands: read, nowMs, characters };
  }

  async keep(
    keys: WorldKeys,
    { epoch, position, name }: Seen,
    taken: Snapshot,
    restored: readonly StoredState[],
  ): Promise<number> {
    const { head, log, states } = keys;
    const state = await this.#writeState(keys, taken);
    const snapshot: StoredSnapshot = { position, name, state };
    const args = [head, log, states, epoch, JSON.stringify(snapshot), position];
    const needless = restored.flatMap(piecesOfStored);
    const keep = () => this.connection.script<number>('keep', ...args, ...needless);
    const isKept = (await this.connection.use(keep, head)) === 1;
    if (!isKept) await this.connection.client.hdel(states, ...piecesOfStored(state)).catch(() => undefined);
    return state.characters;
  }

  async drop(worldId: string): Promise<boolean> {
    const { head, log, states } = keysOf(worldId);
    const drop = () => this.connection.script<number>('drop', head, log, states);
    const isDropped = await this.connection.use(drop, head);
    await this.unlist(worldId).catch(() => undefined); // who reads the list finds that the world is gone
    return isDropped === 1;
  }

  ids(): Promise<readonly string[]> {
    return this.#ofList((client) => client.zrange(LIST_KEY, 0, -1));
  }

  async page(afterMs: number, count: number): Promise<WorldsPage> {
    const read = (from: string, to: string, most: number) =>
      this.#ofList((client) => client.zrangebyscore(LIST_KEY, from, to, 'WITHSCORES', 'LIMIT', 0, most));
    const first = await read(`(${afterMs}`, '+inf', count);
    const next = first.length < 2 * count ? null : Number(first.at(-1));
    const together = next === null ? [] : await read(String(next), String(next), -1);
    const uses = new Map<string, number>();
    const listed = [...first, ...together]; // each world is followed by its time
    for (let nth = 0; nth < listed.length; nth += 2) uses.set(listed[nth]!, Number(listed[nth + 1]));
    return { uses: [...uses], next };
  }

  async unlist(worldId: string): Promise<void> {
    await this.#ofList((client) => client.zrem(LIST_KEY, worldId));
  }

  async used(worlds: readonly World[]): Promise<void> {
    await this.#list(worlds.map(({ id, usedAtMs }) => [id, usedAtMs]));
  }

  listen(world: World): void {
    this.#listening.add(world);
    if (this.#cancelListening !== null) return;
    this.#cancelListening = this.wallClock.schedule(this.wallClock.nowMs() + STORE_TIMES.listen, () => {
      this.#cancelListening = null;
      for (const one of this.#listening) {
        if (one.closed !== null || one.connections.isEmpty) this.#listening.delete(one);
        else one.inBackground(one.read(() => null, false));
      }
      const [next] = this.#listening;
      if (next !== undefined) this.listen(next);
    });
  }

  close(): void {
    this.#cancelListening?.();
    this.connection.close();
  }

  #call(
    { head, log, states }: WorldKeys,
    { epoch, position, name }: Seen,
    isUsed: boolean,
    source: string,
    commands: readonly (string | number)[],
  ): Promise<CallReply> {
    const args = [head, log, states, epoch, position, name, this.server, isUsed ? 1 : 0];
    const all = [...args, this.#keptMs, this.#renewMs, source, ...commands];
    const call = () => this.connection.joined(() => this.connection.script<CallReply>('call', ...all));
    return this.connection.use(call, head);
  }

  #ofList<T>(work: (client: StoreConnection['client']) => Promise<T>): Promise<T> {
    return this.connection.use(() => work(this.connection.client), LIST_KEY);
  }

  /** Writes when worlds were used, and takes those off the list that have expired. */
  async #list(uses: readonly (readonly [worldId: string, usedAtMs: number])[]): Promise<void> {
    await this.#ofList((client) => client.zadd(LIST_KEY, 'GT', ...uses.flatMap(([id, atMs]) => [atMs, id])));
    await this.#ofList((client) => client.zremrangebyscore(LIST_KEY, '-inf', this.nowMs() - this.#keptMs));
  }

  #writeState({ head, states }: WorldKeys, snapshot: Snapshot): Promise<StoredState> {
    const { client } = this.connection;
    return writeState(`${this.server}:${this.nextNumber()}`, snapshot, (fields) =>
      this.connection.use(async () => {
        const [written] = await Promise.all([
          client.hset(states, ...fields),
          client.pexpire(states, this.#keptMs), // it expires even if the server dies before it writes the rest
        ]);
        return written;
      }, head),
    );
  }

  /** @returns null when it is deleted meanwhile */
  #readState({ head, states }: WorldKeys, stored: StoredState): Promise<WorldState | null> {
    const read = (fields: readonly string[]) =>
      this.connection.use(() => this.connection.client.hmget(states, ...fields), head);
    return readState(stored, read, this.#options);
  }
}
