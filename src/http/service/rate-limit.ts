import rateLimitPlugin from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { durationText } from '../../contract/duration.ts';
import { Refusal } from '../../contract/errors.ts';
import type { RateLimit } from '../../scenario/scenario.ts';

/** The limit of a request's scenario; only asked for where there is one. */
const limitOf = ({ scenario }: FastifyRequest): RateLimit =>
  scenario.rateLimit === 'off' ? { max: Infinity, windowMs: 1000 } : scenario.rateLimit;

function refusal(request: FastifyRequest, ttlMs: number): Refusal {
  const { max, windowMs } = limitOf(request);
  const { name, hasOwnRateLimit, dialect } = request.scenario;
  const { routes, retry_after } = dialect.rate_limit;
  const per = durationText(windowMs);
  const remedy = hasOwnRateLimit
    ? `rate_limit in the scenario ${name} changes that`
    : `SANDBOX_RATE_LIMIT or --rate-limit changes that (${max * 10}/${per}, or off)`;
  return new Refusal('RATE_LIMITED', {
    message:
      `Too many requests: this sandbox takes ${max} ${routes === 'all' ? 'requests' : 'initiates'} per ${per} ` +
      `for each key. ${remedy}`,
    headers: retry_after === 'absent' ? {} : { 'retry-after': String(Math.ceil(ttlMs / 1000)) },
    limit: hasOwnRateLimit ? `rate_limit of ${name}` : 'SANDBOX_RATE_LIMIT',
  });
}

const NO_HEADERS = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false };

/** True for a request that the limit does not hold for. */
const isFree = ({ scenario, routeOptions }: FastifyRequest): boolean =>
  scenario.rateLimit === 'off' ||
  (scenario.dialect.rate_limit.routes === 'initiate' && routeOptions.config.name !== 'initiate');

/**
 * Prepares the rate limit of each key, in wall time. Its counters are as many as there may be worlds. The interface shows no
 * rate limit headers, so only Retry-After is sent.
 *
 * @returns a hook that counts a request, and refuses it with RATE_LIMITED past the limit
 */
export async function limitRates(
  app: FastifyInstance,
  maxWorlds: number,
): Promise<onRequestAsyncHookHandler> {
  await app.register(rateLimitPlugin, {
    global: false,
    allowList: isFree,
    max: (request: FastifyRequest) => limitOf(request).max,
    timeWindow: (request: FastifyRequest) => limitOf(request).windowMs,
    cache: maxWorlds,
    keyGenerator: ({ world, scenario }) => `${world.id} ${world.latest.generation} ${scenario.name}`, // a reset begins anew
    errorResponseBuilder: (request, { ttl }) => refusal(request, ttl), // what it returns is thrown
    addHeadersOnExceeding: NO_HEADERS,
    addHeaders: { ...NO_HEADERS, 'retry-after': false }, // the refusal has it, where the dialect does
  });
  return app.rateLimit();
}
