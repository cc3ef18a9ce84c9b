import { Cluster } from 'iovalkey';
import { Refusal } from '../../contract/errors.ts';
import type { WallClock } from '../wall-clock.ts';
import { JoinedCalls } from './calls/joined-calls.ts';
import { FORMAT, KEY_PREFIX, SCRIPTS, type ScriptName } from './scripts/scripts.ts';
import { AGAIN_AFTER_MS, ANSWER_WITHIN_MS, clientFor, type Client } from './store-client.ts';

/** Told when the store cannot be used any more, and when it can again. */
export interface StoreObserver {
  readonly away: (reason: string) => void;
  readonly back: (awayMs: number) => void;
  /** What an operator should know of the store. */
  readonly warning: (what: string) => void;
}

interface Options {
  /** `redis://`, `rediss://` or `redis+cluster://`. */
  readonly url: string;
  /** Tells this server from all others. */
  readonly server: string;
  readonly wallClock: WallClock;
  readonly observer: StoreObserver;
}

const GIVE_UP_AFTER_MS = 1200; // a call and its repetitions: with the last of them less than 2 s
const HEARTBEAT_MS = 1000;
const HEARTBEAT_WHILE_AWAY_MS = 250;
const HEARTBEAT_KEPT_MS = 10_000;
const HEARTBEATS_OF_CLUSTER = 16; // so many keys that each of a few nodes has one

/** Refusals of the store that pass: it starts, is full, only reads, has no master, or moves slots. */
const PASSING =
  /^(?:LOADING|READONLY|OOM|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|UNBLOCKED|NOSCRIPT|MOVED|ASK)\b/;

const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

/** Whether a call may succeed if it is repeated: not where the store has refused it for what it is. */
const isPassing = (error: unknown): boolean => !isReply(error) || PASSING.test(error.message);

export const storeUnavailable = (message?: string): Refusal =>
  new Refusal('STORE_UNAVAILABLE', {
    ...(message === undefined ? {} : { message }),
    headers: { 'retry-after': '1' },
  });

/** @param isOwn whether this server has done it itself */
type Follower = (isOwn: boolean) => void;

type Calls = Record<ScriptName, (...args: (string | number)[]) => Promise<unknown>>;

/** The connection to the store: its scripts, whether it can be used, and what is new. */
export class StoreConnection {
  readonly server: string;
  readonly client: Client;
  /** What the keys of the server's rate limit begin with. */
  readonly counterPrefix = `${KEY_PREFIX}limit:`;
  /** The calls that leave together. */
  readonly joined: JoinedCalls;
  readonly #options: Options;
  readonly #subscriber: Client;
  readonly #calls: Calls;
  readonly #followers = new Map<string, Set<Follower>>();
  /** The heads of worlds in a newer format. */
  readonly #newerHeads = new Set<string>();
  #awaySinceMs: number | null = null;
  #isPartlyAway = false;
  /** Why the latest attempt to connect failed. */
  #connectionError: string | null = null;
  #cancelHeartbeat: () => void = () => undefined;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    this.server = options.server;
    this.client = clientFor(options.url);
    this.#subscriber = clientFor(options.url);
    this.#subscriber.on('error', () => undefined); // the other connection says it
    this.client.on('error', (error: Error) => (this.#connectionError = error.message));
    this.joined = new JoinedCalls(this.client, options.wallClock);
    for (const [name, script] of Object.entries(SCRIPTS)) this.client.defineCommand(name, script);
    this.#calls = this.client as unknown as Calls;
    this.#subscriber.on('message', (channel: string, by: string) => this.#tell(channel, by === this.server));
    this.#subscriber.on('ready', () => {
      for (const channel of this.#followers.keys()) this.#tell(channel, false); // what was missed meanwhile
    });
  }

  /** Whether a world has been asked for that only a newer program can read. */
  get isOutdated(): boolean {
    return this.#newerHeads.size > 0;
  }

  get isAway(): boolean {
    return this.#awaySinceMs !== null;
  }

  /** Asks the store whether it can be used, now and every second from now on. */
  async start(): Promise<void> {
    await this.#heartbeat();
    if (!this.isAway) await this.#checkSettings();
  }

  /** Writes a warning for the operator. */
  warn(what: string): void {
    this.#options.observer.warning(what);
  }

  /** Takes note of a world that a newer program has written. @param head its key @returns what to answer */
  newerFormat(head: string, format: number): Refusal {
    const what = `wrote this world in format ${format}, and this one reads format ${FORMAT}: update this server`;
    if (!this.#newerHeads.has(head)) this.warn(`a newer version of the sandbox ${what} (${head})`);
    this.#newerHeads.add(head);
    return storeUnavailable(`A newer version of the sandbox ${what}`);
  }

  /** Runs a script once. @throws Error when no answer comes in time */
  script<T>(name: ScriptName, ...args: (string | number)[]): Promise<T> {
    return this.#calls[name](...args) as Promise<T>;
  }

  /**
   * Does a piece of work in the store, and does it again as long as it may succeed, for little more than a second.
   *
   * @param work may have been done already when it is called again
   * @throws Refusal STORE_UNAVAILABLE
   */
  async reliably<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed || this.isAway) throw storeUnavailable();
    try {
      return await this.#insist(work);
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (!this.client.isCluster) this.#setAway(error); // the other nodes of a cluster may do their work
      throw storeUnavailable();
    }
  }

  /** Calls back when something is new on a channel, or may be. @returns a function that ends it */
  follow(channel: string, callback: Follower): () => void {
    const followers = this.#followers.get(channel) ?? new Set();
    this.#followers.set(channel, followers.add(callback));
    void this.#subscribe(channel, callback);
    return () => {
      followers.delete(callback);
      if (followers.size > 0 || this.#followers.get(channel) !== followers) return;
      this.#followers.delete(channel);
      this.#subscriber.unsubscribe(channel).catch(() => undefined);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelHeartbeat();
    this.client.disconnect();
    this.#subscriber.disconnect();
  }

  async #subscribe(channel: string, callback: Follower): Promise<void> {
    try {
      await this.#subscriber.subscribe(channel);
      callback(false); // what happened before is found by looking now
    } catch {
      // the store is away: the listeners are called once it is back
    }
  }

  #tell(channel: string, isOwn: boolean): void {
    for (const callback of this.#followers.get(channel) ?? []) callback(isOwn);
  }

  /** Twice at least: a process that was busy itself for so long has not looked whether the answer was there. */
  async #insist<T>(work: () => Promise<T>): Promise<T> {
    const { wallClock } = this.#options;
    const endMs = wallClock.nowMs() + GIVE_UP_AFTER_MS;
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.#inTime(work());
      } catch (error) {
        const isOver = tried > 1 && wallClock.nowMs() >= endMs;
        if (isOver || this.#isClosed || !isPassing(error)) throw error;
        await this.#pause(AGAIN_AFTER_MS);
      }
    }
  }

  /** @throws Error when it takes too long, which a process that was busy itself finds out after it has looked what has come */
  async #inTime<T>(work: Promise<T>): Promise<T> {
    const { wallClock } = this.#options;
    let cancel = (): void => undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const check = async (): Promise<void> => {
        await wallClock.yieldToEventLoop();
        reject(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`));
      };
      cancel = wallClock.schedule(wallClock.nowMs() + ANSWER_WITHIN_MS, () => void check());
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      cancel();
    }
  }

  #pause(ms: number): Promise<void> {
    const { wallClock } = this.#options;
    return new Promise((resolve) => wallClock.schedule(wallClock.nowMs() + ms, resolve));
  }

  /** Writes something: a store that is full, or that only reads, cannot be used either. In a cluster, to all of its nodes. */
  async #heartbeat(): Promise<void> {
    const { wallClock } = this.#options;
    const count = this.client.isCluster ? HEARTBEATS_OF_CLUSTER : 1;
    const beat = async (nth: number): Promise<void> => {
      const write = () =>
        this.client.set(`${KEY_PREFIX}heartbeat:${nth}`, this.server, 'PX', HEARTBEAT_KEPT_MS);
      await (this.isAway ? this.#inTime(write()) : this.#insist(write));
    };
    const beats = await Promise.allSettled(Array.from({ length: count }, (_, nth) => beat(nth)));
    if (this.#isClosed) return;
    const failed = beats.filter((one) => one.status === 'rejected');
    if (failed.length === count) this.#setAway(failed[0]!.reason);
    else await this.#goOn(failed[0]?.reason);
    if (this.#isClosed) return;
    const pauseMs = this.isAway ? HEARTBEAT_WHILE_AWAY_MS : HEARTBEAT_MS;
    this.#cancelHeartbeat = wallClock.schedule(wallClock.nowMs() + pauseMs, () => void this.#heartbeat());
  }

  /** @param error why a part of the store cannot be used; undefined where all of it can */
  async #goOn(error: unknown): Promise<void> {
    this.#setBack();
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
      return Number(await this.#inTime(this.client.hget(head, 'format'))) <= FORMAT;
    } catch {
      return false;
    }
  }

  #setAway(error: unknown): void {
    if (this.isAway || this.#isClosed) return;
    this.#awaySinceMs = this.#options.wallClock.nowMs();
    const { message } = error as Error;
    const isUnconnected = message.startsWith('Reached the max retries'); // which does not say why
    this.#options.observer.away((isUnconnected && this.#connectionError) || message);
  }

  #setBack(): void {
    if (this.#awaySinceMs === null || this.#isClosed) return;
    const awayMs = this.#options.wallClock.nowMs() - this.#awaySinceMs;
    this.#awaySinceMs = null;
    this.#options.observer.back(awayMs);
  }

  /** Warns of a store that drops what it should keep. */
  async #checkSettings(): Promise<void> {
    if (this.client instanceof Cluster) return;
    try {
      const [, policy] = (await this.client.config('GET', 'maxmemory-policy')) as string[];
      if (policy === undefined || policy === 'noeviction') return;
      this.warn(`its maxmemory-policy is ${policy}: it may drop parts of worlds; use noeviction`);
    } catch {
      // a managed store does not tell its settings
    }
  }
}
