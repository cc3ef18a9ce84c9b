import { callbackify } from 'node:util';
import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit';

/** A store that several servers share. */
export interface LimitStore {
  /** With the interface of ioredis. */
  readonly client: {
    incr(key: string): Promise<number>;
    pexpire(key: string, ms: number): Promise<number>;
    pttl(key: string): Promise<number>;
  };
  /** Batches a call with those that fetch changes to worlds. */
  readonly joined: { make<T>(call: () => Promise<T>): Promise<T> };
  /** The prefix of the counters' keys. */
  readonly counterPrefix: string;
}

/**
 * Counters in a shared store, for @fastify/rate-limit. Its own store for Redis runs a script for each request. This one sends one
 * command, and a second one with the first request of a window and with those past the
 * limit, whose answer says how long to wait.
 */
export function sharedCounters({ client, joined, counterPrefix }: LimitStore): FastifyRateLimitStoreCtor {
  const count = callbackify(async (key: string, windowMs: number, max: number) => {
    const current = await joined.make(() => client.incr(key));
    if (current > 1 && current <= max) return { current, ttl: windowMs }; // below the limit, the ttl is not used
    const ttl = current > 1 ? await client.pttl(key) : -1;
    if (ttl >= 0) return { current, ttl };
    await client.pexpire(key, windowMs); // also when a server died after its first command
    return { current, ttl: windowMs };
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
