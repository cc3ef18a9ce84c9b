import rateLimitPlugin from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { durationText } from '../../contract/duration.ts';
import { Refusal } from '../../contract/errors.ts';
import type { RateLimit } from '../../contract/snapshot-lines.ts';
import { rateLimited, rateLimitOn } from '../../scenario/rate-window.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { sharedCounters, type LimitStore } from './shared-counters.ts';

/** What a request is counted under: a reset of its world starts a new count. */
interface Counter {
  readonly worldId: string;
  readonly generation: number;
  readonly scenario: Scenario;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What it is counted under; set when it is counted. */
    counter?: Counter;
    /** How long its client has to wait, in ms; null when it does not have to. */
    waitMs?: Promise<number | null>;
  }
}

/** The limit of a request that has one. */
const limitOf = ({ counter }: FastifyRequest): RateLimit => counter!.scenario.rateLimit as RateLimit;

/** True for a request that this limit does not apply to: a scenario may have its own, which its world counts. */
const isFree = ({ routeOptions }: FastifyRequest, scenario: Scenario): boolean =>
  scenario.hasOwnRateLimit || rateLimitOn(scenario, routeOptions.config.name) === null;

function refusal(request: FastifyRequest, waitMs: number): Refusal {
  const limit = limitOf(request);
  const more = `${limit.max * 10}/${durationText(limit.windowMs)}`;
  const change = `SANDBOX_RATE_LIMIT or --rate-limit changes that (${more}, or off)`;
  return rateLimited(limit, request.dialect, waitMs, 'SANDBOX_RATE_LIMIT', change);
}

export interface RateLimiter {
  /** Counts a request. Its world may be out of date: `check` counts again if that made a difference. */
  readonly count: (request: FastifyRequest, counter: Counter) => void;
  /** @throws Refusal RATE_LIMITED for a request past the limit; STORE_UNAVAILABLE when it cannot be counted */
  readonly check: (request: FastifyRequest) => Promise<void>;
}

/**
 * The server's rate limit of each key, in wall time, which protects the server. It keeps one counter for each possible world. The
 * interface shows no rate limit headers, so only Retry-After is sent.
 */
export async function rateLimiter(
  app: FastifyInstance,
  maxWorlds: number,
  store: LimitStore | undefined,
): Promise<RateLimiter> {
  await app.register(rateLimitPlugin, {
    global: false,
    max: (request: FastifyRequest) => limitOf(request).max,
    timeWindow: (request: FastifyRequest) => limitOf(request).windowMs,
    cache: maxWorlds,
    ...(store && { store: sharedCounters(store) }),
    // in a cluster, the counter is on the node of its world
    keyGenerator: ({ counter }) => `{${counter!.worldId}} ${counter!.generation} ${counter!.scenario.name}`,
  });
  const countInStore = app.createRateLimit();

  const waitMsOf = async (request: FastifyRequest): Promise<number | null> => {
    const counted = await countInStore(request);
    return !counted.isAllowed && counted.isExceeded ? counted.ttl : null;
  };

  const count = (request: FastifyRequest, counter: Counter): void => {
    request.counter = counter;
    if (isFree(request, counter.scenario)) return;
    request.waitMs = waitMsOf(request);
    request.waitMs.catch(() => undefined); // `check` reports it, unless the request ends first
  };

  return {
    count,
    check: async (request) => {
      const { world, scenario, counter } = request;
      const { generation } = world.latest;
      if (counter?.generation !== generation || counter.scenario !== scenario) {
        delete request.waitMs;
        count(request, { worldId: world.id, generation, scenario });
      }
      let waitMs;
      try {
        waitMs = await request.waitMs;
      } catch (error) {
        if (store === undefined) throw error;
        throw new Refusal('STORE_UNAVAILABLE', { headers: { 'retry-after': '1' } });
      }
      if (typeof waitMs === 'number') throw refusal(request, waitMs);
    },
  };
}
