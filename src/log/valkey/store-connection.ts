import { Cluster } from 'iovalkey';
import type { Refusal } from '../../contract/errors.ts';
import { unavailable } from '../dropped.ts';
import { STORE_TIMES } from '../store-times.ts';
import type { WallClock } from '../wall-clock.ts';
import type { StoreObserver } from '../world-parts.ts';
import { FORMAT, KEY_PREFIX, SCRIPTS, type ScriptName } from './scripts.ts';
import { isPassing, joinedCalls, retriedCalls } from './store-calls.ts';
import { clientFor, disconnect, NO_CLUSTER, reasonOf, subscriberFor, type Client } from './store-client.ts';

export interface ConnectionOptions {
  /** `redis://`, `rediss://` or `redis+cluster://`. */
  readonly url: string;
  /** Distinguishes this server from all others that ever use the store: letters and digits. */
  readonly server: string;
  readonly wallClock: WallClock;
  readonly observer: StoreObserver;
}

const HEARTBEAT_KEPT_MS = 10_000;
const HEARTBEATS_OF_CLUSTER = 16; // enough keys for each of a few nodes to have one

/** Called with news. @param by the server that published them; empty for no server, or when some may have been missed */
type Follower = (by: string) => void;

/** The error of a cluster also has that of one of its nodes: what it replied, or that the connection is closed. */
type ClientError = Error & { readonly lastNodeError?: Error };

type Calls = Record<ScriptName, (...args: (string | number)[]) => Promise<unknown>>;

/** The connection to the store: it runs scripts, watches whether the store can be used, and announces news. */
export class StoreConnection {
  readonly server: string;
  readonly client: Client;
  /** Makes calls that are sent together. */
  readonly joined: ReturnType<typeof joinedCalls>;
  readonly #options: ConnectionOptions;
  readonly #subscriber: Client;
  readonly #calls: Calls;
  readonly #retried: ReturnType<typeof retriedCalls>;
  readonly #followers = new Map<string, Set<Follower>>();
  /** Keys on a node of a cluster that did not answer just now. */
  readonly #awayKeys = new Set<string>();
  /** The heads of worlds in a newer format. */
  readonly #newerHeads = new Set<string>();
  #awaySinceMs: number | null = null;
  #isPartlyAway = false;
  #wasReached = false;
  /** Why the latest attempt to connect failed. */
  #connectionError: string | null = null;
  #cancelHeartbeat: () => void = () => undefined;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.server = options.server;
    this.client = clientFor(options.url);
    this.#subscriber = subscriberFor(options.url);
    this.#subscriber.on('error', () => undefined); // the other connection reports it
    this.client.on('error', (error: ClientError) => {
      const { name, message } = error.lastNodeError ?? error;
      this.#connectionError = this.client.isCluster && name !== 'ReplyError' ? NO_CLUSTER : message;
    });
    this.#retried = retriedCalls(options.wallClock, () => options.observer.retried?.());
    this.joined = joinedCalls(this.client, options.wallClock);
    for (const [name, script] of Object.entries(SCRIPTS)) this.client.defineCommand(name, script);
    this.#calls = this.client as unknown as Calls;
    this.#subscriber.on('message', (channel: string, by: string) => this.#publish(channel, by));
    this.#subscriber.on('ready', () => this.#followAgain());
  }

  /** How many worlds requests came for that only a newer program can read. */
  get newerWorlds(): number {
    return this.#newerHeads.size;
  }

  get isAway(): boolean {
    return this.#awaySinceMs !== null;
  }

  /** Whether it could be used at any time. If not, the cause may be on the side of this server alone. */
  get wasReached(): boolean {
    return this.#wasReached;
  }

  /** Asks the store whether it can be used, now and every second from now on. */
  start(): Promise<void> {
    return this.#heartbeat();
  }

  warn(what: string): void {
    this.#options.observer.warning(what);
  }

  /** Records a world that a newer program has written. @param head its key @returns the refusal to answer */
  newerFormat(head: string, format: number): Refusal {
    const what = `wrote this world in format ${format}, and this one reads format ${FORMAT}: update this server`;
    if (!this.#newerHeads.has(head)) this.warn(`a newer version of the sandbox ${what} (${head})`);
    this.#newerHeads.add(head);
    return unavailable({ message: `A newer version of the sandbox ${what}` });
  }

  /** Runs a script once. @throws Error without a response in time */
  script<T>(name: ScriptName, ...args: (string | number)[]): Promise<T> {
    const done = this.#options.observer.calling?.(name);
    const call = this.#calls[name](...args) as Promise<T>;
    if (done !== undefined) void call.catch(() => undefined).finally(() => done());
    return call;
  }

  /**
   * Does a piece of work in the store, and repeats it while it may succeed, for little more than a second.
   *
   * @param work when it is called again, it may already have been done
   * @param key the head of the world that it is about, or another key. While the node of this key does not answer, other work with
   *   it is refused without a try for a moment, so that no request waits for several such tries
   * @throws Refusal STORE_UNAVAILABLE
   */
  async reliably<T>(work: () => Promise<T>, key = ''): Promise<T> {
    if (this.#isClosed || this.isAway || this.#awayKeys.has(key)) throw unavailable();
    try {
      return await this.#retried.retry(work);
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (!this.client.isCluster) this.#setAway(error);
      else if (key !== '') this.#setKeyAway(key); // the other nodes may be working
      throw unavailable();
    }
  }

  /** Whether somebody on this server waits for news on a channel. */
  isFollowing(channel: string): boolean {
    return this.#followers.has(channel);
  }

  /** Calls back when there is news on a channel, or may be. @returns a function that ends it */
  follow(channel: string, callback: Follower): () => void {
    const followers = this.#followers.get(channel) ?? new Set();
    this.#followers.set(channel, followers.add(callback));
    void this.#subscribe(channel);
    return () => {
      followers.delete(callback);
      if (followers.size > 0 || this.#followers.get(channel) !== followers) return;
      this.#followers.delete(channel);
      this.#subscriber.unsubscribe(channel).catch(() => undefined);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#retried.close();
    this.#cancelHeartbeat();
    disconnect(this.client);
    disconnect(this.#subscriber);
  }

  async #subscribe(channel: string): Promise<void> {
    try {
      await this.#subscriber.subscribe(channel);
      this.#publish(channel, ''); // they may have missed something
    } catch {
      // the store is unavailable: this is repeated once it is back
    }
  }

  /** Subscribes again, because the client library forgets subscriptions that failed while the store was unavailable. */
  #followAgain(): void {
    for (const channel of this.#followers.keys()) void this.#subscribe(channel);
  }

  #publish(channel: string, by: string): void {
    for (const callback of this.#followers.get(channel) ?? []) callback(by);
  }

  /** Writes something, since a store that is full or read-only cannot be used either. In a cluster, it writes to all nodes. */
  async #heartbeat(): Promise<void> {
    const { wallClock } = this.#options;
    const count = this.client.isCluster ? HEARTBEATS_OF_CLUSTER : 1;
    const beat = async (nth: number): Promise<void> => {
      const write = () =>
        this.client.set(`${KEY_PREFIX}heartbeat:${nth}`, this.server, 'PX', HEARTBEAT_KEPT_MS);
      await (this.isAway ? this.#retried.once(write()) : this.#retried.retry(write));
    };
    const beats = await Promise.allSettled(Array.from({ length: count }, (_, nth) => beat(nth)));
    if (this.#isClosed) return;
    const failed = beats.filter((one) => one.status === 'rejected');
    if (failed.length === count) {
      this.#setAway(failed[0]!.reason);
      this.#reconnect();
    } else await this.#markReachable(failed[0]?.reason);
    if (this.#isClosed) return;
    const pauseMs = this.isAway ? STORE_TIMES.heartbeatWhileAway : STORE_TIMES.heartbeat;
    this.#cancelHeartbeat = wallClock.schedule(wallClock.nowMs() + pauseMs, () => void this.#heartbeat());
  }

  /** Connects again: after a failover, the connections may lead to a server that is only read now. A cluster says where to go. */
  #reconnect(): void {
    for (const client of [this.client, this.#subscriber]) {
      if (!client.isCluster && client.status === 'ready') client.disconnect(true);
    }
  }

  /** @param error why a part of the store cannot be used; undefined when all of it can */
  async #markReachable(error: unknown): Promise<void> {
    this.#setBack();
    if (!this.#wasReached) {
      this.#wasReached = true;
      await this.#checkPolicy();
    }
    const isPartlyAway = error !== undefined;
    if (isPartlyAway && !this.#isPartlyAway) {
      this.warn(`a part of its cluster cannot be used, nor the worlds in it: ${(error as Error).message}`);
    } else if (!isPartlyAway && this.#isPartlyAway) this.warn('all parts of its cluster can be used again');
    this.#isPartlyAway = isPartlyAway;
    for (const head of this.#newerHeads) if (await this.#isReadable(head)) this.#newerHeads.delete(head);
  }

  /** A world in a newer format may be gone, or be written in an older one again. */
  async #isReadable(head: string): Promise<boolean> {
    try {
      return Number(await this.#retried.once(this.client.hget(head, 'format'))) <= FORMAT;
    } catch {
      return false;
    }
  }

  #setAway(error: unknown): void {
    if (this.isAway || this.#isClosed) return;
    this.#awaySinceMs = this.#options.wallClock.nowMs();
    this.#options.observer.away(
      reasonOf((error as Error).message, this.#options.url, this.#connectionError, this.#wasReached),
    );
  }

  #setKeyAway(key: string): void {
    const { wallClock } = this.#options;
    this.#awayKeys.add(key);
    wallClock.schedule(wallClock.nowMs() + STORE_TIMES.heartbeatWhileAway, () => this.#awayKeys.delete(key));
  }

  #setBack(): void {
    if (this.#awaySinceMs === null || this.#isClosed) return;
    const awayMs = this.#options.wallClock.nowMs() - this.#awaySinceMs;
    this.#awaySinceMs = null;
    this.#connectionError = null;
    this.#options.observer.back(awayMs);
    this.#followAgain();
  }

  /** Warns about a store that may drop data. It is in what INFO says, since few users may call CONFIG. */
  async #checkPolicy(): Promise<void> {
    const nodes = this.client instanceof Cluster ? this.client.nodes('master') : [this.client];
    const texts = await Promise.all(nodes.map((node) => node.info('memory').catch(() => '')));
    const policies = texts.map(
      (text) => /maxmemory_policy:(\S+)/.exec(text)?.[1] ?? 'not shown to this user',
    );
    const policy = policies.find((one) => one !== 'noeviction');
    if (policy === undefined) return;
    this.warn(`its maxmemory-policy is ${policy}: with any but noeviction, it may drop parts of worlds`);
  }
}
