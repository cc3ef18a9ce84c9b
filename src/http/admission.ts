import type { FastifyRequest } from 'fastify';
import { Refusal } from '../contract/errors.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { Worlds } from '../domain/worlds.ts';
import { bearerKeys } from './bearer-key.ts';

/** The scenarios that a request can choose. */
interface Scenarios {
  readonly names: readonly string[];
  get(name: string): Scenario | undefined;
}

interface Options {
  readonly worlds: Worlds;
  readonly scenarios: Scenarios;
  /** The only keys accepted, or undefined for every key that begins with `sk_test_`. */
  readonly acceptedKeys: readonly string[] | undefined;
  /** Compares two texts in constant time. */
  readonly sameText: (given: string, expected: string) => boolean;
}

/** The key whose world answers a status request without one, in a dialect that answers it. */
const DEFAULT_KEY = 'sk_test_demo';

const SCENARIO_HEADER = 'x-sandbox-scenario';

/**
 * Finds the world and the scenario of a request: the world by its key, the scenario by the header X-Sandbox-Scenario, or
 * else that of the world.
 *
 * @returns a function that writes both into the request, and throws Refusal UNAUTHORIZED or INVALID_REQUEST
 */
export function admission({
  worlds,
  scenarios,
  acceptedKeys,
  sameText,
}: Options): (request: FastifyRequest) => void {
  const keyOf = bearerKeys(acceptedKeys, sameText);
  const needsNoKey = ({ routeOptions, scenario, headers }: FastifyRequest): boolean =>
    headers.authorization === undefined &&
    routeOptions.config.name === 'status' &&
    scenario.dialect.status.without_key === 'answered';

  return (request) => {
    const wanted = request.headers[SCENARIO_HEADER];
    const chosen = typeof wanted === 'string' ? scenarios.get(wanted) : undefined;
    if (chosen !== undefined) request.scenario = chosen; // a key that is refused is refused in its dialect
    const key = needsNoKey(request)
      ? (acceptedKeys?.[0] ?? DEFAULT_KEY)
      : keyOf(request.headers.authorization);
    request.world = worlds.of(key);
    request.scenario = chosen ?? request.world.scenario;
    if (wanted === undefined || chosen !== undefined) return;
    const message = `X-Sandbox-Scenario must be one of ${scenarios.names.join(', ')}`;
    throw new Refusal('INVALID_REQUEST', { message, errors: [{ field: 'X-Sandbox-Scenario', message }] });
  };
}
