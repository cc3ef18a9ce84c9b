import type { RateLimit } from '../contract/snapshot.ts';
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import rateLimitPlugin from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest, HookHandlerDoneFunction, onRequestHookHandler } from 'fastify';
import { WorldName } from '../contract/control.ts';
import { durationText } from '../contract/times.ts';
import { Refusal, invalidField } from '../contract/errors.ts';
import type { World } from '../worlds/world.ts';
import type { Worlds } from '../worlds/worlds.ts';
import { worldIdOf } from '../payout/identity.ts';
import { rateLimitOn } from '../world/request/request-plan.ts';
import { rateLimited } from '../scenario/rate-limit.ts';

/** The prefix of every key that is accepted when no list of keys is set. */
const TEST_KEY_PREFIX = 'sk_test_';
const BEARER = /^Bearer +([\x21-\x7e]{1,256})$/i;

const unauthorized = (message: string): Refusal =>
  new Refusal('UNAUTHORIZED', { message, headers: { 'www-authenticate': 'Bearer' } });

/** Compares two texts in a time that does not depend on where they differ, or on how long they are. */
const sameText = (given: string, expected: string): boolean =>
  timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));

/** Reads the token of an Authorization header. @throws Refusal UNAUTHORIZED when it is missing, malformed or not accepted */
export type TokenReader = (authorization: string | undefined) => string;

/** @param name of a token in the header @param wanted one that is accepted @param refused what is said of any other */
const bearerTokens =
  (accepts: (token: string) => boolean, name: string, wanted: string, refused: string): TokenReader =>
  (authorization) => {
    const send = `send Authorization: Bearer ${name}, with ${wanted}`;
    if (authorization === undefined) throw unauthorized(`The Authorization header is missing: ${send}`);
    const token = BEARER.exec(authorization)?.[1];
    if (token === undefined)
      throw unauthorized(`The Authorization header is malformed: ${send}; at most 256 characters, no spaces`);
    if (!accepts(token)) throw unauthorized(`${refused}: use ${wanted}`);
    return token;
  };

/** Reads the API key of a request. @param accepted the only keys accepted, or undefined for every test key */
export function bearerKeys(accepted: readonly string[] | undefined): TokenReader {
  const refused = 'The API key is not accepted';
  if (accepted === undefined) {
    const wanted = `a key that begins with ${TEST_KEY_PREFIX}, such as ${TEST_KEY_PREFIX}1`;
    return bearerTokens((key) => key.startsWith(TEST_KEY_PREFIX), 'KEY', wanted, refused);
  }
  const isAccepted = (key: string): boolean =>
    accepted.filter((expected) => {
      const prefix = expected.replace(/\*$/, '');
      return sameText(prefix === expected ? key : key.slice(0, prefix.length), prefix);
    }).length > 0; // looks at every key
  return bearerTokens(isAccepted, 'KEY', 'one of the keys in SANDBOX_API_KEYS', refused);
}

/** Reads the admin token, which is not the key of a world. */
export const adminOnly = (adminToken: string): TokenReader =>
  bearerTokens(
    (token) => sameText(token, adminToken),
    'TOKEN',
    'SANDBOX_ADMIN_TOKEN, or the token that a start with --verbose shows on a terminal',
    'The admin token is missing or wrong',
  );

export interface AdmissionOptions {
  readonly worlds: Worlds;
  readonly keyOf: TokenReader;
  /** The key whose world answers a status request without one, in a dialect that answers it. */
  readonly defaultKey: string;
}

/** The `Sec-Fetch-Site` of what is no page of another site. */
const OWN_SITES: ReadonlySet<unknown> = new Set([undefined, 'none', 'same-origin']);

const needsNoKey = ({ exchange, headers }: FastifyRequest): boolean =>
  headers.authorization === undefined &&
  OWN_SITES.has(headers['sec-fetch-site']) &&
  exchange.route === 'status' &&
  exchange.dialect.status.without_key === 'answered';

const NAME_HEADER = 'x-sandbox-world-name';

/** The name that a request gives its world; undefined for none. @throws Refusal INVALID_REQUEST */
export function worldNameIn({ [NAME_HEADER]: name }: IncomingHttpHeaders): string | undefined {
  if (name === undefined || WorldName.safeParse(name).success) return name as string | undefined;
  throw invalidField('X-Sandbox-World-Name', 'must be 1 to 120 printable ASCII characters');
}

/**
 * A hook that finds the world of a request by its key. From then on its world remembers the request. It throws Refusal UNAUTHORIZED or
 * INVALID_REQUEST.
 */
export function admission({ worlds, keyOf, defaultKey }: AdmissionOptions): onRequestHookHandler {
  function enter({ exchange, headers }: FastifyRequest, world: World): void {
    exchange.dialect = world.latest.index.base.dialect;
    exchange.found(world);
    exchange.name = headers.authorization === undefined ? undefined : worldNameIn(headers); // only its owner names a world
  }

  async function enterOnceOpen(request: FastifyRequest, worldId: string, done: HookHandlerDoneFunction) {
    try {
      enter(request, await worlds.use(worldId));
    } catch (error) {
      return done(error as Error);
    }
    done();
  }

  return (request, _reply, done) => {
    const key = needsNoKey(request) ? defaultKey : keyOf(request.headers.authorization);
    const worldId = worldIdOf(key);
    const here = worlds.useHere(worldId);
    if (here === null) return void enterOnceOpen(request, worldId, done);
    enter(request, here);
    done();
  };
}

/** True for a request that this limit does not apply to: a scenario may have a limit of its own, which its world counts. */
function isFree({ exchange: { world, route } }: FastifyRequest): boolean {
  const scenario = world.latest.index.base;
  return scenario.hasOwnRateLimit || rateLimitOn(scenario, route) === null;
}

const NO_HEADERS = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false };

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
