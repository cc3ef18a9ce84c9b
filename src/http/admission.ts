import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { Refusal } from '../contract/errors.ts';
import { suggestion } from '../contract/suggestion.ts';
import type { WallClock } from '../log/wall-clock.ts';
import type { WorldLog } from '../log/world-log.ts';
import { worldIdOf } from '../payout/identity.ts';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import { journalRequest } from './exchange-record.ts';
import type { RateLimiter } from './limits/rate-limit.ts';
import type { LimitStore } from './limits/shared-counters.ts';
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
 * @throws Refusal UNAUTHORIZED when there is none, or it is malformed
 */
function tokenOf(authorization: string | undefined, wanted: string): string {
  if (authorization === undefined) throw unauthorized(`The Authorization header is missing: send ${wanted}`);
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized(`The Authorization header is malformed: send ${wanted}`);
  return token;
}

/** Takes the key out of an Authorization header. @throws Refusal UNAUTHORIZED */
export type KeyReader = (authorization: string | undefined) => string;

/** Reads the API key of a request. @param accepted the only keys accepted, or undefined for every test key */
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

/** Refuses an Authorization header without the admin token, which is not the key of a world. @throws Refusal UNAUTHORIZED */
export type AdminCheck = (authorization: string | undefined) => void;

export const adminOnly =
  (adminToken: string): AdminCheck =>
  (authorization) => {
    if (!sameText(tokenOf(authorization, ADMIN_HEADER), adminToken))
      throw unauthorized(`This is not the admin token: send ${ADMIN_HEADER}`);
  };

export interface AdmissionOptions {
  readonly log: WorldLog;
  readonly scenarios: ScenarioLibrary;
  readonly keyOf: KeyReader;
  /** The key whose world answers a status request without one, in a dialect that answers it. */
  readonly defaultKey: string;
  readonly wallClock: WallClock;
  /** Undefined when this server counts on its own. */
  readonly limitStore: LimitStore | undefined;
}

const needsNoKey = ({ routeOptions, dialect, headers }: FastifyRequest): boolean =>
  headers.authorization === undefined &&
  routeOptions.config.name === 'status' &&
  dialect.status.without_key === 'answered';

/**
 * A hook that finds the world of a request by its key, and its scenario by the header X-Sandbox-Scenario or else its world. From
 * then on the request is in the journal of its world. While a store is asked for changes to that world, the request is already counted against the server's rate limit.
 * It throws Refusal UNAUTHORIZED, INVALID_REQUEST or RATE_LIMITED.
 */
export const admission =
  (
    { log, scenarios, keyOf, defaultKey, wallClock }: AdmissionOptions,
    limiter: RateLimiter,
  ): onRequestAsyncHookHandler =>
  async (request, reply) => {
    const { 'x-sandbox-scenario': wanted, authorization } = request.headers;
    const chosen = typeof wanted === 'string' ? scenarios.get(wanted) : undefined;
    if (chosen !== undefined) request.dialect = chosen.dialect; // even the refusal of a key is written in it
    const worldId = worldIdOf(needsNoKey(request) ? defaultKey : keyOf(authorization));
    const isUnknown = wanted !== undefined && chosen === undefined;
    const known = isUnknown ? undefined : log.known(worldId);
    if (known !== undefined) {
      const { generation, index } = known;
      limiter.count(request, { worldId, generation, scenario: chosen ?? index.base });
    }
    const world = await log.use(worldId, true);
    journalRequest(reply, world, wallClock.nowMs());
    if (chosen !== undefined) request.chosenScenario = chosen;
    request.scenario = chosen ?? world.latest.index.base;
    request.dialect = request.scenario.dialect;
    if (!isUnknown) return limiter.check(request);
    const message = `X-Sandbox-Scenario must be one of ${scenarios.names.join(', ')}${suggestion(String(wanted), scenarios.names)}`;
    throw invalidRequest([{ field: 'X-Sandbox-Scenario', message }]);
  };
