import rateLimitPlugin, {
  type FastifyRateLimitStore,
  type FastifyRateLimitStoreCtor,
  type RateLimitPluginOptions,
} from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { durationText } from '../../contract/duration.ts';
import type { RateLimit } from '../../contract/snapshot-lines.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import type { World } from '../../log/world.ts';
import { rateLimited, rateLimitOn } from '../../scenario/rate-window.ts';

/** A store that several servers share. */
export interface LimitStore {
  /** With the interface of ioredis. */
  readonly client: RateLimitPluginOptions['redis'];
  readonly counterPrefix: string;
}

/** True for a request that this limit does not apply to: a scenario may have a limit of its own, which its world counts. */
function isFree({ exchange, routeOptions }: FastifyRequest): boolean {
  const scenario = exchange.chosen ?? exchange.world.latest.index.base;
  return scenario.hasOwnRateLimit || rateLimitOn(scenario, routeOptions.config.name) === null;
}

const NO_HEADERS = {
  'x-ratelimit-limit': false,
  'x-ratelimit-remaining': false,
  'x-ratelimit-reset': false,
};

/**
 * Counts the requests of this server's worlds, each for as long as its world is there. The plugin's own store keeps those keys that were
 * used last: in it, as many other keys as there may be worlds would push a count out.
 */
const countsOfWorlds = (wallClock: WallClock): FastifyRateLimitStoreCtor =>
  class {
    readonly #counts = new WeakMap<object, { generation: number; current: number; sinceMs: number }>();

    /** @param key a world, see `keyGenerator` */
    incr(key: unknown, callback: Parameters<FastifyRateLimitStore['incr']>[1], windowMs: number): void {
      const world = key as World;
      const { generation } = world.latest;
      const nowMs = wallClock.nowMs();
      let count = this.#counts.get(world);
      if (count?.generation !== generation || count.sinceMs + windowMs <= nowMs) {
        count = { generation, current: 0, sinceMs: nowMs };
        this.#counts.set(world, count);
      }
      count.current += 1;
      callback(null, { current: count.current, ttl: count.sinceMs + windowMs - nowMs });
    }

    child(): this {
      return this; // the routes share the limit
    }
  };

/**
 * The server's rate limit of each key, in wall time, which protects the server: one count for each world, whatever its scenario. A
 * reset starts a new count. The payout API shows no rate limit headers, so only Retry-After is sent.
 */
export async function limitRate(
  app: FastifyInstance,
  limit: RateLimit,
  wallClock: WallClock,
  store: LimitStore | undefined,
): Promise<void> {
  const change = `SANDBOX_RATE_LIMIT or --rate-limit changes that (${limit.max * 10}/${durationText(limit.windowMs)}, or off)`;
  // counts the requests of each world, and refuses those past the limit before their body is read
  await app.register(rateLimitPlugin, {
    max: limit.max,
    timeWindow: limit.windowMs,
    ...(store === undefined
      ? { store: countsOfWorlds(wallClock), keyGenerator: ({ exchange: { world } }) => world as never }
      : {
          redis: store.client,
          nameSpace: store.counterPrefix,
          skipOnError: true, // the world says that the store is away
          // in a cluster, the counter is on the node of its world
          keyGenerator: ({ exchange: { world } }) => `{${world.id}} ${world.latest.generation}`,
        }),
    allowList: isFree,
    addHeaders: { ...NO_HEADERS, 'retry-after': false },
    addHeadersOnExceeding: NO_HEADERS,
    errorResponseBuilder: ({ exchange }, { ttl }) =>
      rateLimited(limit, exchange.dialect, ttl, 'SANDBOX_RATE_LIMIT', change),
  });
}
