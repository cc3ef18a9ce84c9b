import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../contract/errors.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import type { WorldHandle, WorldLog } from '../../log/world-log.ts';
import { worldIdOf } from '../../payout/identity.ts';
import type { ScenarioLibrary } from '../../scenario/scenario-library.ts';
import { journalRequest } from '../exchange-record.ts';

interface Options {
  readonly log: WorldLog;
  readonly scenarios: ScenarioLibrary;
  /** Takes the key out of an Authorization header. @throws Refusal UNAUTHORIZED */
  readonly keyOf: (authorization: string | undefined) => string;
  /** The key whose world answers a status request without one, in a dialect that answers it. */
  readonly defaultKey: string;
  readonly wallClock: WallClock;
}

const SCENARIO_HEADER = 'x-sandbox-scenario';

/**
 * Finds the world and the scenario of a request: the world by its key, the scenario by the header X-Sandbox-Scenario, or
 * else that of the world. From then on the request is in the journal of its world.
 *
 * @returns a function that sets both in the request, and throws Refusal UNAUTHORIZED or INVALID_REQUEST
 */
export function admission({
  log,
  scenarios,
  keyOf,
  defaultKey,
  wallClock,
}: Options): (request: FastifyRequest, reply: FastifyReply) => void | Promise<void> {
  const needsNoKey = ({ routeOptions, dialect, headers }: FastifyRequest): boolean =>
    headers.authorization === undefined &&
    routeOptions.config.name === 'status' &&
    dialect.status.without_key === 'answered';

  return (request, reply) => {
    const wanted = request.headers[SCENARIO_HEADER];
    const chosen = typeof wanted === 'string' ? scenarios.get(wanted) : undefined;
    if (chosen !== undefined) request.dialect = chosen.dialect; // a key that is refused is refused in it
    const key = needsNoKey(request) ? defaultKey : keyOf(request.headers.authorization);
    const enter = (world: WorldHandle): void => {
      journalRequest(request, reply, world, wallClock.nowMs());
      request.chosenScenario = chosen ?? null;
      request.scenario = chosen ?? world.latest.index.base;
      request.dialect = request.scenario.dialect;
      if (wanted === undefined || chosen !== undefined) return;
      const message = `X-Sandbox-Scenario must be one of ${scenarios.names.join(', ')}`;
      throw new Refusal('INVALID_REQUEST', { message, errors: [{ field: 'X-Sandbox-Scenario', message }] });
    };
    const world = log.use(worldIdOf(key));
    return world instanceof Promise ? world.then(enter) : enter(world);
  };
}
