import { hash, timingSafeEqual } from 'node:crypto';
import rateLimitPlugin from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { durationText } from '../contract/duration.ts';
import { Refusal } from '../contract/errors.ts';
import { suggestion } from '../contract/suggestion.ts';
import type { WallClock } from '../log/wall-clock.ts';
import type { WorldLog } from '../log/world-log.ts';
import { worldIdOf } from '../payout/identity.ts';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import type { RateLimit } from '../contract/snapshot-lines.ts';
import { journalRequest } from './exchange-record.ts';
import { invalidRequest } from './route-schemas.ts';

/** The prefix of every key that is accepted when no list of keys is set. */
const TEST_KEY_PREFIX = 'sk_test_';
const BEARER = /^Bearer +([\x21-\x7e]{1,256})$/i;

const unauthorized = (message: string): Refusal =>
  new Refusal('UNAUTHORIZED', { message, headers: { 'www-authenticate': 'Bearer' } });

/** Compares two texts in a time that does not depend on where they differ, or on how long they are. */
const sameText = (given: string, expected: string): boolean =>
  timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));

/**
 * The token of an Authorization header.
 *
 * @param wanted the header to send instead
 * @throws Refusal UNAUTHORIZED when there is none, or it has another form
 */
function tokenOf(authorization: string | undefined, wanted: string): string {
  if (authorization === undefined) throw unauthorized(`The Authorization header is missing: send ${wanted}`);
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized(`The Authorization header has another form: send ${wanted}`);
  return token;
}

/** Takes the key out of an Authorization header. @throws Refusal UNAUTHORIZED */
export type KeyReader = (authorization: string | undefined) => string;

/** Reads the API key of a request. @param accepted the only keys accepted, or undefined for every key of a test */
export function bearerKeys(accepted: readonly string[] | undefined): KeyReader {
  const accepts = (key: string): boolean =>
    accepted === undefined
      ? key.startsWith(TEST_KEY_PREFIX)
      : accepted.filter((expected) => sameText(key, expected)).length > 0; // looks at every key
  const wanted =
    accepted === undefined
      ? `Authorization: Bearer KEY, with a key that begins with ${TEST_KEY_PREFIX}, such as ${TEST_KEY_PREFIX}1`
      : 'Authorization: Bearer KEY, with one of the keys in SANDBOX_API_KEYS';

  return (authorization) => {
    const key = tokenOf(authorization, wanted);
    if (!accepts(key)) throw unauthorized(`The API key is not accepted: send ${wanted}`);
    return key;
  };
}

const ADMIN_HEADER =
  'Authorization: Bearer TOKEN, with SANDBOX_ADMIN_TOKEN or the token printed at the start';

/** Reads the admin token, which is no key of a world. */
export const adminOnly =
  (adminToken: string): KeyReader =>
  (authorization) => {
    if (sameText(tokenOf(authorization, ADMIN_HEADER), adminToken)) return adminToken;
    throw unauthorized(`This is not the admin token: send ${ADMIN_HEADER}`);
  };

/** Where the counters are that several servers share. */
export interface LimitStore {
  /** With the interface of ioredis. */
  readonly client: unknown;
}

export interface AdmissionOptions {
  readonly log: WorldLog;
  readonly scenarios: ScenarioLibrary;
  readonly keyOf: KeyReader;
  /** The key whose world answers a status request without one, in a dialect that answers it. */
  readonly defaultKey: string;
  readonly wallClock: WallClock;
  /** Undefined where this server counts by itself. */
  readonly limitStore: LimitStore | undefined;
}

const needsNoKey = ({ routeOptions, dialect, headers }: FastifyRequest): boolean =>
  headers.authorization === undefined &&
  routeOptions.config.name === 'status' &&
  dialect.status.without_key === 'answered';

/**
 * A hook that finds the world of a request by its key, and its scenario by the header X-Sandbox-Scenario or else its world.
 * It throws Refusal UNAUTHORIZED or INVALID_REQUEST. From then on the request is in the journal of its world.
 */
export const admission =
  ({ log, scenarios, keyOf, defaultKey, wallClock }: AdmissionOptions): onRequestAsyncHookHandler =>
  async (request, reply) => {
    const { 'x-sandbox-scenario': wanted, authorization } = request.headers;
    const chosen = typeof wanted === 'string' ? scenarios.get(wanted) : undefined;
    if (chosen !== undefined) request.dialect = chosen.dialect; // a key that is refused is refused in it
    const worldId = worldIdOf(needsNoKey(request) ? defaultKey : keyOf(authorization));
    const world = await log.use(worldId, true);
    journalRequest(reply, world, wallClock.nowMs());
    if (chosen !== undefined) request.chosenScenario = chosen;
    request.scenario = chosen ?? world.latest.index.base;
    request.dialect = request.scenario.dialect;
    if (wanted === undefined || chosen !== undefined) return;
    const message = `X-Sandbox-Scenario must be one of ${scenarios.names.join(', ')}${suggestion(String(wanted), scenarios.names)}`;
    throw invalidRequest([{ field: 'X-Sandbox-Scenario', message }]);
  };

/** The limit of a request that is not free of it. */
const limitOf = ({ scenario }: FastifyRequest): RateLimit => scenario.rateLimit as RateLimit;

function refusal(request: FastifyRequest, ttlMs: number): Refusal {
  const { max, windowMs } = limitOf(request);
  const { routes, retry_after } = request.dialect.rate_limit;
  const per = durationText(windowMs);
  return new Refusal('RATE_LIMITED', {
    message:
      `Too many requests: this sandbox takes ${max} ${routes === 'all' ? 'requests' : 'initiates'} per ${per} ` +
      `for each key. SANDBOX_RATE_LIMIT or --rate-limit changes that (${max * 10}/${per}, or off)`,
    headers: retry_after === 'absent' ? {} : { 'retry-after': String(Math.ceil(ttlMs / 1000)) },
    limit: 'SANDBOX_RATE_LIMIT',
  });
}

const NO_HEADERS = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false };

/** True for a request that the limit does not hold for: a scenario may have its own, which counts in its world. */
const isFree = ({ scenario, routeOptions }: FastifyRequest): boolean =>
  scenario.hasOwnRateLimit ||
  scenario.rateLimit === 'off' ||
  (scenario.dialect.rate_limit.routes === 'initiate' && routeOptions.config.name !== 'initiate');

/**
 * The server's rate limit of each key, in wall time, which protects it: a hook that refuses a request past it with RATE_LIMITED. Its counters are as many
 * as there may be worlds. The interface shows no rate limit headers, so only Retry-After is sent.
 */
export async function limitRates(
  app: FastifyInstance,
  maxWorlds: number,
  store: LimitStore | undefined,
): Promise<(request: FastifyRequest, reply: FastifyReply) => Promise<void>> {
  await app.register(rateLimitPlugin, {
    global: false,
    allowList: isFree,
    max: (request: FastifyRequest) => limitOf(request).max,
    timeWindow: (request: FastifyRequest) => limitOf(request).windowMs,
    cache: maxWorlds,
    ...(store && { redis: store.client, nameSpace: 'payout-sandbox:1:limit:' }),
    keyGenerator: ({ world, scenario }) => `${world.id} ${world.latest.generation} ${scenario.name}`, // a reset begins anew
    errorResponseBuilder: (request, { ttl }) => refusal(request, ttl), // what it returns is thrown
    addHeadersOnExceeding: NO_HEADERS,
    addHeaders: { ...NO_HEADERS, 'retry-after': false }, // the refusal has it, where the dialect does
  });
  const count = app.rateLimit();
  return async (request, reply) => {
    try {
      await count.call(app, request, reply);
    } catch (error) {
      if (store === undefined || error instanceof Refusal) throw error;
      throw new Refusal('STORE_UNAVAILABLE', { headers: { 'retry-after': '1' } });
    }
  };
}
