import rateLimitPlugin from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { durationText } from '../../contract/duration.ts';
import { type RateLimit, rateLimited, rateLimitOn } from '../../scenario/rule.ts';

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

/** Of how many keys requests are counted: a count that others push out begins anew. */
const MAX_COUNTS = 20_000;

/**
 * The server's rate limit of each key, in wall time, which protects the server: one count for each world, whatever its scenario, at
 * each server. A reset starts a new count. The payout API shows no rate limit headers, so only Retry-After is sent.
 */
export async function limitRate(app: FastifyInstance, limit: RateLimit): Promise<void> {
  const change = `SANDBOX_RATE_LIMIT or --rate-limit changes that (${limit.max * 10}/${durationText(limit.windowMs)}, or off)`;
  // counts the requests of each world, and refuses those past the limit before their body is read
  await app.register(rateLimitPlugin, {
    max: limit.max,
    timeWindow: limit.windowMs,
    cache: MAX_COUNTS,
    keyGenerator: ({ exchange: { world } }) => `${world.id} ${world.latest.generation}`,
    allowList: isFree,
    addHeaders: { ...NO_HEADERS, 'retry-after': false },
    addHeadersOnExceeding: NO_HEADERS,
    errorResponseBuilder: ({ exchange }, { ttl }) =>
      rateLimited(limit, exchange.dialect, ttl, 'SANDBOX_RATE_LIMIT', change),
  });
}
