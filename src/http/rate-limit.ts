import rateLimitPlugin from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { durationText } from '../contract/duration.ts';
import { Refusal } from '../contract/errors.ts';
import type { RateLimit } from '../settings.ts';

const refusal = ({ max, windowMs }: RateLimit): Refusal =>
  new Refusal('RATE_LIMITED', {
    message:
      `Too many requests: this sandbox takes ${max} initiates per ${durationText(windowMs)} for each key. ` +
      `SANDBOX_RATE_LIMIT or --rate-limit changes that (${max * 10}/${durationText(windowMs)}, or off)`,
    limit: 'SANDBOX_RATE_LIMIT',
  });

/**
 * Prepares the rate limit of each key, in wall time, for the routes that ask for it (`config.rateLimit`).
 * Its counters are as many as there may be worlds. The interface shows no rate limit headers, so only
 * Retry-After is sent.
 *
 * @param limit what a route may ask for
 */
export async function limitRates(app: FastifyInstance, limit: RateLimit, maxWorlds: number): Promise<void> {
  await app.register(rateLimitPlugin, {
    global: false,
    max: limit.max,
    timeWindow: limit.windowMs,
    cache: maxWorlds,
    keyGenerator: (request) => request.world.id,
    errorResponseBuilder: () => refusal(limit), // what it returns is thrown
    addHeadersOnExceeding: {
      'x-ratelimit-limit': false,
      'x-ratelimit-remaining': false,
      'x-ratelimit-reset': false,
    },
    addHeaders: {
      'x-ratelimit-limit': false,
      'x-ratelimit-remaining': false,
      'x-ratelimit-reset': false,
      'retry-after': true,
    },
  });
}
