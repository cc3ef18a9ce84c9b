import { Cluster, Redis, type RedisOptions } from 'iovalkey';
import type { Refusal } from '../contract/errors.ts';
import { unavailable } from '../worlds/order.ts';
import type { WallClock } from '../worlds/wall-clock.ts';
import { FORMAT, KEY_PREFIX, SCRIPTS, type ScriptName } from './scripts.ts';
import { STORE_TIMES } from './store-times.ts';

/** Called when the store can no longer be used, and when it can again. */
export interface StoreObserver {
  readonly away: (reason: string) => void;
  readonly back: (awayMs: number) => void;
  /** Something that an operator should know about the store. */
  readonly warning: (what: string) => void;
  /** Called with the name of each call. @returns a function that ends its time */
  readonly calling?: ((name: string) => () => void) | undefined;
}

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

/** Temporary refusals of the store: it starts, is full, is read-only, has no master, moves slots, or has another password. */
const PASSING =
  /^(?:LOADING|READONLY|OOM|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|UNBLOCKED|NOSCRIPT|MOVED|ASK|NOAUTH|WRONGPASS|NOPERM)\b/;

/** A call that the client library has not sent: a connection to a node of a cluster is only just made. */
const UNSENT = /^(?:Cluster isn't ready|Stream isn't writeable|None of startup nodes)/;
/** A connection that has ended: the next call makes another. */
const CUT = /Connection is closed|ECONNRESET|EPIPE|socket closed/;
const AGAIN_AFTER_MS = 25;

const NO_CLUSTER = 'no node of the cluster responds, or its cluster_state is not ok';
const UNREADY = /^Cluster isn't ready/;
const GIVEN_UP = /^Reached the max retries/;

const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

/** The error of a cluster also has that of one of its nodes: what it replied, or that the connection is closed. */
type ClientError = Error & { readonly lastNodeError?: Error };

type Calls = Record<ScriptName, (...args: (string | number)[]) => Promise<unknown>>;

type Client = Redis | Cluster;

const LONGEST_PAUSE_MS = 500; // between attempts to connect

/** The client library sends nothing again: a call that is under way when a connection breaks fails, and the caller decides. */
const COMMON: RedisOptions = {
  connectTimeout: STORE_TIMES.answerWithin,
  socketTimeout: 2 * STORE_TIMES.answerWithin, // a connection that has gone silent is replaced
  maxLoadingRetryTime: LONGEST_PAUSE_MS, // a store that reads its file may say that it takes much longer than it does
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (times) => Math.min(times * AGAIN_AFTER_MS, LONGEST_PAUSE_MS),
};

/** The connection to the store: it runs scripts, and watches whether the store can be used. */
export class StoreConnection {
  readonly client: Client;
  readonly server: string;
  readonly wallClock: WallClock;
  readonly #url: string;
  readonly #observer: StoreObserver;
  readonly #calls: Calls;
  /** The end of this turn of the event loop, if somebody waits for it. */
  #turn: Promise<void> | null = null;
  /** Keys on a node of a cluster that did not answer just now. */
  readonly #awayKeys = new Set<string>();
  /** The heads of worlds in a newer format, of which it has warned. */
  readonly #newerHeads = new Set<string>();
  #awaySinceMs: number | null = null;
  /** Why it has been away since then, as far as that was said. */
  readonly #reasons = new Set<string>();
  #isPartlyAway = false;
  /** Whether it could be used at any time. If not, the cause may be on the side of this server alone. */
  wasReached = false;
  /** Why the latest attempt to connect failed. */
  #connectionError: string | null = null;
  #cancelHeartbeat: () => void = () => undefined;
  #isClosed = false;
  #numbers = 0;
  /** How far the store's clock is ahead of this server's. */
  #aheadMs = 0;

  constructor({ url, server, wallClock, observer }: ConnectionOptions) {
    this.server = server;
    this.wallClock = wallClock;
    this.#url = url;
    this.#observer = observer;
    this.client = clientFor(url);
    this.client.on('error', (error: ClientError) => {
      const { name, message } = error.lastNodeError ?? error;
      this.#connectionError = this.client.isCluster && name !== 'ReplyError' ? NO_CLUSTER : message;
    });
    for (const [name, script] of Object.entries(SCRIPTS)) this.client.defineCommand(name, script);
    this.#calls = this.client as unknown as Calls;
  }

  get isAway(): boolean {
    return this.#awaySinceMs !== null;
  }

  /** The time of the store, which all servers share, ms since the epoch. */
  nowMs(): number {
    return this.wallClock.nowMs() + this.#aheadMs;
  }

  setTime(nowMs: number): void {
    this.#aheadMs = nowMs - this.wallClock.nowMs();
  }

  /** A number for a command or a stored state: with the name of this server, nothing else has it. */
  nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  /** Connects, and asks the store whether it can be used, now and every second from now on. */
  async start(): Promise<void> {
    const { client } = this;
    const connected = new Promise((resolve) => client.once('ready', resolve).once('error', resolve));
    await this.#inTime(connected).catch(() => undefined); // the heartbeat says so
    await this.#heartbeat();
  }

  warn(what: string): void {
    this.#observer.warning(what);
  }

  /** Records a world that a newer program has written. @param head its key @returns the refusal to answer */
  newerFormat(head: string, format: number): Refusal {
    const what = `wrote this world in format ${format}, and this one reads format ${FORMAT}: update this server`;
    if (!this.#newerHeads.has(head)) this.warn(`a newer version of the sandbox ${what} (${head})`);
    this.#newerHeads.add(head);
    return unavailable({ message: `A newer version of the sandbox ${what}` });
  }

  /** Runs a script. */
  script<T>(name: ScriptName, ...args: (string | number)[]): Promise<T> {
    const done = this.#observer.calling?.(name);
    const call = this.#calls[name](...args) as Promise<T>;
    if (done !== undefined) void call.catch(() => undefined).finally(() => done());
    return call;
  }

  /**
   * Does a piece of work in the store. Nothing is sent twice.
   *
   * @param key the head of the world that it is about, or another key. While the node of this key does not answer, other work with
   *   it is refused without a try for a moment, so that no request waits for several such tries
   * @throws Refusal STORE_UNAVAILABLE; when no reply came, the work may have been done
   */
  async use<T>(work: () => Promise<T>, key = ''): Promise<T> {
    const { wallClock } = this;
    const endMs = wallClock.nowMs() + STORE_TIMES.answerWithin;
    for (;;) {
      if (this.#isClosed || this.isAway || this.#awayKeys.has(key)) throw unavailable();
      try {
        return await this.#inTime(work(), endMs - wallClock.nowMs());
      } catch (error) {
        if (isReply(error) && !PASSING.test(error.message)) throw error;
        const { message } = error as Error;
        if (UNSENT.test(message) && wallClock.nowMs() < endMs) {
          await new Promise<void>((done) => wallClock.schedule(wallClock.nowMs() + AGAIN_AFTER_MS, done));
          continue;
        }
        if (this.client.isCluster) this.#setKeyAway(key); // the other nodes may be working
        else if (!CUT.test(message)) this.#setAway(error);
        throw isReply(error) ? unavailable() : unavailable({ message: UNKNOWN });
      }
    }
  }

  /**
   * Resolves at the end of this turn of the event loop. What is called then, before anything else is waited for, goes in one write to
   * each server: the store reads it at once and answers it at once, which takes less time on both sides than a write for each.
   */
  turn(): Promise<void> {
    return (this.#turn ??= this.#endTurn());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelHeartbeat();
    disconnect(this.client);
  }

  async #endTurn(): Promise<void> {
    await this.wallClock.yieldToEventLoop();
    this.#turn = null;
    const { client } = this;
    const nodes = client.isCluster ? (client as Cluster).nodes() : [client as Redis];
    const streams = nodes.map(({ stream }) => stream).filter((stream) => stream !== undefined); // only connected nodes have one
    for (const stream of streams) stream.cork();
    process.nextTick(() => streams.forEach((stream) => stream.uncork())); // after all that waits for this
  }

  /** @throws Error when it takes too long; a process that was busy itself first reads what has arrived */
  async #inTime<T>(work: Promise<T>, forMs = STORE_TIMES.answerWithin): Promise<T> {
    const { wallClock } = this;
    let cancel = (): void => undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const check = async (): Promise<void> => {
        await wallClock.yieldToEventLoop();
        reject(new Error(`no response within ${STORE_TIMES.answerWithin} ms`));
      };
      cancel = wallClock.schedule(wallClock.nowMs() + forMs, () => void check());
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      cancel();
    }
  }

  /** Writes something, since a store that is full or read-only cannot be used either. In a cluster, it writes to all nodes. */
  async #heartbeat(): Promise<void> {
    const count = this.client.isCluster ? HEARTBEATS_OF_CLUSTER : 1;
    const { server, wallClock } = this;
    const beats = await Promise.allSettled(
      Array.from({ length: count }, (_, nth) =>
        this.#inTime(this.client.set(`${KEY_PREFIX}heartbeat:${nth}`, server, 'PX', HEARTBEAT_KEPT_MS)),
      ),
    );
    if (this.#isClosed) return;
    const failed = beats.filter((one) => one.status === 'rejected');
    if (failed.length === count) {
      this.#setAway(failed[0]!.reason);
      // after a failover, the connection may lead to a server that is only read now; a cluster says where to go
      if (!this.client.isCluster && this.client.status === 'ready') this.client.disconnect(true);
    } else await this.#markReachable(failed[0]?.reason);
    if (this.#isClosed) return;
    const pauseMs = this.isAway ? STORE_TIMES.heartbeatWhileAway : STORE_TIMES.heartbeat;
    this.#cancelHeartbeat = wallClock.schedule(wallClock.nowMs() + pauseMs, () => void this.#heartbeat());
  }

  /** @param error why a part of the store cannot be used; undefined when all of it can */
  async #markReachable(error: unknown): Promise<void> {
    this.#setBack();
    if (!this.wasReached) {
      this.wasReached = true;
      await this.#checkPolicy();
    }
    const isPartlyAway = error !== undefined;
    if (isPartlyAway && !this.#isPartlyAway) {
      this.warn(`a part of its cluster cannot be used, nor the worlds in it: ${(error as Error).message}`);
    } else if (!isPartlyAway && this.#isPartlyAway) this.warn('all parts of its cluster can be used again');
    this.#isPartlyAway = isPartlyAway;
  }

  #setAway(error: unknown): void {
    if (this.#isClosed) return;
    this.#awaySinceMs ??= this.wallClock.nowMs();
    const reason = this.#reasonOf((error as Error).message);
    if (!this.#reasons.has(reason)) this.#observer.away(reason); // a connection that was cut may say more when it is made again
    this.#reasons.add(reason);
  }

  /** Why the store cannot be used, in words for its operator. @param message of the call that failed, often without the reason */
  #reasonOf(message: string): string {
    const isUnsaid = UNREADY.test(message) || GIVEN_UP.test(message);
    const reason = isUnsaid ? (this.#connectionError ?? message) : message;
    if (UNREADY.test(reason)) return NO_CLUSTER;
    const scheme = this.wasReached ? null : this.#url.slice(0, this.#url.indexOf(':')); // it may be the wrong one
    if (GIVEN_UP.test(reason)) {
      const advice = scheme === 'redis' ? ': if it uses TLS, write rediss://' : '';
      return `it closed the connection before it replied${advice}`;
    }
    const isSilent = scheme === 'rediss' && reason.startsWith('no response');
    return isSilent ? `${reason}: if it does not use TLS, write redis://` : reason;
  }

  #setKeyAway(key: string): void {
    const { wallClock } = this;
    if (key === '') return;
    this.#awayKeys.add(key);
    wallClock.schedule(wallClock.nowMs() + STORE_TIMES.heartbeatWhileAway, () => this.#awayKeys.delete(key));
  }

  #setBack(): void {
    if (this.#awaySinceMs === null || this.#isClosed) return;
    const awayMs = this.wallClock.nowMs() - this.#awaySinceMs;
    this.#awaySinceMs = null;
    this.#reasons.clear();
    this.#connectionError = null;
    this.#observer.back(awayMs);
  }

  /** Warns about a store that may drop data. It is in what INFO says, since few users may call CONFIG. */
  async #checkPolicy(): Promise<void> {
    const nodes = this.client instanceof Cluster ? this.client.nodes('master') : [this.client];
    const texts = await Promise.all(nodes.map((node) => node.info('memory').catch(() => '')));
    const policies = texts.map((text) => /maxmemory_policy:(\S+)/.exec(text)?.[1] ?? 'not shown to it');
    const policy = policies.find((one) => one !== 'noeviction');
    if (policy === undefined) return;
    this.warn(`its maxmemory-policy is ${policy}: unless that is noeviction, it may drop parts of worlds`);
  }
}

export const UNKNOWN =
  'The store did not reply, so the outcome of this request is unknown: sending it again with the same client_ref_id is safe';

/** @param text `redis://`, `rediss://` or `redis+cluster://` */
function clientFor(text: string): Client {
  if (!text.startsWith('redis+cluster:')) return oneServer(text);
  const { username, password, hosts } = clusterAddress(text);
  return new Cluster(
    hosts.map(({ hostname: host, port }) => ({ host, port: Number(port || 6379) })),
    {
      redisOptions: { ...COMMON, username, password },
      enableOfflineQueue: false, // a call would wait there for as long as the cluster is away: the start of a server, too
      clusterRetryStrategy: (times) => Math.min(times * AGAIN_AFTER_MS, LONGEST_PAUSE_MS),
      slotsRefreshTimeout: STORE_TIMES.answerWithin,
    },
  );
}

/** Ends each connection on which the database of the address cannot be used: the client library would use database 0 instead. */
function oneServer(text: string): Redis {
  let isRefused = false;
  const client = new Redis(text, {
    ...COMMON,
    // such a connection became ready, so the client library counts its attempts from 1 again
    retryStrategy: (times) => (isRefused ? LONGEST_PAUSE_MS : COMMON.retryStrategy!(times)),
  });
  client.on('connect', () => (isRefused = false));
  client.on('error', (error: Error & { readonly command?: { readonly name: string } }) => {
    if (error.command?.name !== 'select') return;
    isRefused = true;
    client.disconnect(true);
  });
  return client;
}

/**
 * Ends a connection for good. In the middle of a TLS handshake, the store answers that with an alert, and the client library
 * listens no more: an error that nobody listens to would end the process.
 */
function disconnect(client: Client): void {
  const nodes = client instanceof Cluster ? client.nodes() : [client];
  for (const { stream } of nodes) stream?.on('error', () => undefined);
  client.disconnect();
}

/** `redis+cluster://user:password@one:6379,two:6379` */
function clusterAddress(text: string) {
  const [, account, list] = /^redis\+cluster:\/\/(?:(.*)@)?([^/]*)/.exec(text)!;
  const { username, password } = new URL(`redis://${account ?? ''}@host`);
  const hosts = list!.split(',').map((host) => new URL(`redis://${host}`));
  return { username: decodeURIComponent(username), password: decodeURIComponent(password), hosts };
}
