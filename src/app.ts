import fastify, { type FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { frozenClock, runningClock } from './domain/clock.ts';
import { toPaise } from './domain/money.ts';
import type { WallClock } from './domain/wall-clock.ts';
import type { Scenario } from './domain/world.ts';
import { Worlds } from './domain/worlds.ts';
import { bearerKeys } from './http/bearer-key.ts';
import { takeJsonBodies } from './http/json-body.ts';
import { payoutRoutes } from './http/payout-routes.ts';
import { limitRates } from './http/rate-limit.ts';
import { answerErrors, refuseBadPath, refuseBrokenHttp } from './http/refusals.ts';
import { recordRequests } from './http/request-record.ts';
import { serializerCompiler, validatorCompiler } from './http/schemas.ts';
import { refuseUnknownRoutes } from './http/unknown-routes.ts';
import { MemoryLedger } from './ledger/memory.ts';
import { sameText, sha256 } from './runtime/digest.ts';
import { observeWorlds } from './runtime/world-log.ts';
import type { Settings } from './settings.ts';

const MAX_BODY_BYTES = 64 * 1024;
const REQUEST_TIMEOUT_MS = 30_000; // from the first byte of a request to its last

interface AppParts {
  readonly settings: Settings;
  readonly wallClock: WallClock;
  readonly log: Logger;
}

interface App {
  readonly app: FastifyInstance;
  readonly worlds: Worlds;
}

const scenarioOf = ({ openingBalance, seed, settlement, clock }: Settings): Scenario => ({
  openingBalancePaise: toPaise(openingBalance),
  seed,
  settlement,
  clock: clock === 'running' ? runningClock : frozenClock(clock.frozenAtMs),
});

/** Builds the sandbox: what is made of what, and in which order a request meets it. */
export async function buildApp({ settings, wallClock, log }: AppParts): Promise<App> {
  const worlds = new Worlds({
    parts: {
      scenario: scenarioOf(settings),
      ledger: new MemoryLedger(settings.maxTransactions),
      digest: sha256,
      wallClock,
      observer: observeWorlds(log),
    },
    maxWorlds: settings.maxWorlds,
    idleMs: settings.worldIdle,
    dropped: (worldId, reason) => log.info({ world: worldId.slice(0, 8), reason }, 'world dropped'),
  });
  const keyOf = bearerKeys(settings.apiKeys, sameText);

  const app = fastify({
    logger: false, // one line a request is written by recordRequests
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    return503OnClosing: false, // what still comes in while we stop is answered, and its connection closed
    clientErrorHandler: refuseBrokenHttp,
    frameworkErrors: refuseBadPath(log),
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);

  recordRequests(app, log);
  refuseUnknownRoutes(app);
  answerErrors(app, log);
  takeJsonBodies(app);
  if (settings.rateLimit !== 'off') await limitRates(app, settings.rateLimit, settings.maxWorlds);
  await app.register(payoutRoutes, {
    worldOf: (authorization) => worlds.of(keyOf(authorization)),
    rateLimited: settings.rateLimit !== 'off',
  });
  app.addHook('onClose', () => worlds.close());
  return { app, worlds };
}
