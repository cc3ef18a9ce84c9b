import { callbackify } from 'node:util';
import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit';

/** A store that several servers share. */
export interface LimitStore {
  /** With the interface of ioredis. */
  readonly client: {
    incr(key: string): Promise<number>;
    pexpire(key: string, ms: number, only: 'NX'): Promise<number>;
    pttl(key: string): Promise<number>;
  };
  /** Batches a call with those that fetch changes to worlds. */
  readonly joined: { make<T>(call: () => Promise<T>): Promise<T> };
  /** The prefix of the counters' keys. */
  readonly counterPrefix: string;
}

/**
 * Counters in a shared store, for @fastify/rate-limit. Its own store for Redis runs a script for each request. This one sends two
 * commands at once, and a third for requests past the limit, whose answer says how long to wait.
 */
export function sharedCounters({ client, joined, counterPrefix }: LimitStore): FastifyRateLimitStoreCtor {
  const count = callbackify(async (key: string, windowMs: number, max: number) => {
    // with each request: a first one that was counted may have lost its connection before its window was set
    const [current] = await joined.make(() =>
      Promise.all([client.incr(key), client.pexpire(key, windowMs, 'NX')]),
    );
    const ttl = current <= max ? windowMs : await client.pttl(key); // below the limit, the ttl is not used
    return { current, ttl: Math.max(0, ttl) };
  });

  return class SharedCounters implements FastifyRateLimitStore {
    incr(
      key: string,
      callback: Parameters<FastifyRateLimitStore['incr']>[1],
      windowMs: number,
      max: number,
    ): void {
      count(counterPrefix + key, windowMs, max, callback);
    }

    child(): FastifyRateLimitStore {
      return this; // no route has counters of its own
    }
  };
}
