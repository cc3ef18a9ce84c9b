import rateLimitPlugin from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { durationText } from '../../contract/duration.ts';
import { Refusal } from '../../contract/errors.ts';
import { goOn } from '../continuation.ts';
import type { RateLimit } from '../../contract/snapshot-lines.ts';

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

/** Where the counters are that several servers share. */
interface LimitStore {
  /** With the interface of ioredis. */
  readonly client: unknown;
}

const unavailable = (): Refusal => new Refusal('STORE_UNAVAILABLE', { headers: { 'retry-after': '1' } });

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
  store?: LimitStore,
): Promise<onRequestHookHandler> {
  await app.register(rateLimitPlugin, {
    global: false,
    max: (request: FastifyRequest) => limitOf(request).max,
    timeWindow: (request: FastifyRequest) => limitOf(request).windowMs,
    cache: maxWorlds,
    ...(store === undefined ? {} : { redis: store.client, nameSpace: 'payout-sandbox:1:limit:' }),
    keyGenerator: ({ world, scenario }) => `${world.id} ${world.latest.generation} ${scenario.name}`, // a reset begins anew
    errorResponseBuilder: (request, { ttl }) => refusal(request, ttl), // what it returns is thrown
    addHeadersOnExceeding: {
      'x-ratelimit-limit': false,
      'x-ratelimit-remaining': false,
      'x-ratelimit-reset': false,
    },
    addHeaders: {
      'x-ratelimit-limit': false,
      'x-ratelimit-remaining': false,
      'x-ratelimit-reset': false,
      'retry-after': false, // the refusal has it, where the dialect does
    },
  });
  const count = app.rateLimit();
  return (request, reply, done) => {
    if (isFree(request)) return done(); // without a promise: most requests are
    const counted = count.call(app, request, reply);
    const failed = (error: Error): void => done(error instanceof Refusal ? error : unavailable());
    goOn(counted, () => done(), store === undefined ? done : failed);
  };
}
