import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../contract/errors.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { Worlds } from '../../log/worlds.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import { journalRequest } from '../request-record.ts';

/** The scenarios that a request can choose. */
interface Scenarios {
  readonly names: readonly string[];
  get(name: string): Scenario | undefined;
}

interface Options {
  readonly worlds: Worlds;
  readonly scenarios: Scenarios;
  /** Takes the key out of an Authorization header. @throws Refusal UNAUTHORIZED */
  readonly keyOf: (authorization: string | undefined) => string;
  /** The key whose world answers a status request without one, in a dialect that answers it. */
  readonly defaultKey: string;
  readonly wallClock: WallClock;
}

const SCENARIO_HEADER = 'x-sandbox-scenario';

/**
 * Finds the world and the scenario of a request: the world by its key, the scenario by the header X-Sandbox-Scenario, or
 * else that of the world. From then on the request stands in the journal of its world.
 *
 * @returns a function that writes both into the request, and throws Refusal UNAUTHORIZED or INVALID_REQUEST
 */
export function admission({
  worlds,
  scenarios,
  keyOf,
  defaultKey,
  wallClock,
}: Options): (request: FastifyRequest) => void {
  const needsNoKey = ({ routeOptions, scenario, headers }: FastifyRequest): boolean =>
    headers.authorization === undefined &&
    routeOptions.config.name === 'status' &&
    scenario.dialect.status.without_key === 'answered';

  return (request) => {
    const wanted = request.headers[SCENARIO_HEADER];
    const chosen = typeof wanted === 'string' ? scenarios.get(wanted) : undefined;
    if (chosen !== undefined) request.scenario = chosen; // a key that is refused is refused in its dialect
    const key = needsNoKey(request) ? defaultKey : keyOf(request.headers.authorization);
    const world = worlds.of(key);
    request.world = world;
    journalRequest(request, world, wallClock.nowMs());
    request.scenario = chosen === undefined ? world.scenario : world.behaviour.over(chosen);
    if (wanted === undefined || chosen !== undefined) return;
    const message = `X-Sandbox-Scenario must be one of ${scenarios.names.join(', ')}`;
    throw new Refusal('INVALID_REQUEST', { message, errors: [{ field: 'X-Sandbox-Scenario', message }] });
  };
}
