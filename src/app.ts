import fastify, { type FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { DEFAULT_DIALECT } from './contract/dialect.ts';
import { frozenClock, runningClock } from './domain/clock.ts';
import { toPaise } from './domain/money.ts';
import type { Scenario, ScenarioBase } from './domain/scenario.ts';
import type { WallClock } from './domain/wall-clock.ts';
import { Worlds } from './domain/worlds.ts';
import { admission } from './http/admission.ts';
import { takeJsonBodies } from './http/json-body.ts';
import { payoutRoutes } from './http/payout-routes.ts';
import { limitRates } from './http/rate-limit.ts';
import { answerErrors, answerOddHttp, refuseBadPath, refuseBrokenHttp } from './http/refusals.ts';
import { recordRequests, requestRecorder } from './http/request-record.ts';
import { sayScenario } from './http/sandbox-headers.ts';
import { ownCompilersOnly, serializerCompiler, validatorCompiler } from './http/schemas.ts';
import { refuseUnknownRoutes } from './http/unknown-routes.ts';
import { MemoryLedger } from './ledger/memory.ts';
import { sameText, sha256 } from './runtime/digest.ts';
import { ScenarioLibrary } from './runtime/scenario-library.ts';
import { stopwatchMs } from './runtime/system-clock.ts';
import { observeWorlds } from './runtime/world-log.ts';
import type { Settings } from './settings.ts';

const MAX_BODY_BYTES = 64 * 1024;
const REQUEST_TIMEOUT_MS = 30_000; // from the first byte of a request to its last
const TIMEOUT_CHECK_MS = 5_000; // how late that may be noticed
const MAX_ATTEMPT_COUNTERS = 200_000; // of all worlds together

interface AppParts {
  readonly settings: Settings;
  readonly wallClock: WallClock;
  readonly log: Logger;
}

interface App {
  readonly app: FastifyInstance;
  readonly worlds: Worlds;
  readonly scenarioInForce: () => Scenario;
}

/** What a scenario does where it says nothing: the settings. */
const scenarioBase = ({ openingBalance, seed, settlement, clock, rateLimit }: Settings): ScenarioBase => ({
  openingBalancePaise: toPaise(openingBalance),
  seed,
  settlement,
  clock: clock === 'running' ? runningClock : frozenClock(clock.frozenAtMs),
  rateLimit,
  dialect: DEFAULT_DIALECT,
  rules: [],
  countsAttempts: false,
});

/**
 * Builds the sandbox: what is made of what, and in which order a request meets it.
 *
 * @throws ScenarioError when a scenario that the settings name cannot be used
 */
export async function buildApp({ settings, wallClock, log }: AppParts): Promise<App> {
  const scenarios = new ScenarioLibrary({
    base: scenarioBase(settings),
    inForce: settings.scenario,
    folder: settings.scenarios,
    isMagic: settings.magic === 'on',
    reloaded: (file) => log.info({ file }, 'scenario read anew'),
    refused: (problems) => log.warn({ problems }, 'scenario refused: the last good one stays in force'),
  });
  const scenarioInForce = () => scenarios.inForce;
  const worlds = new Worlds({
    parts: {
      scenarioInForce,
      ledger: new MemoryLedger(settings.maxTransactions),
      digest: sha256,
      wallClock,
      observer: observeWorlds(log),
      attemptBudget: { max: MAX_ATTEMPT_COUNTERS, held: 0 },
    },
    maxWorlds: settings.maxWorlds,
    idleMs: settings.worldIdle,
    dropped: (worldId, reason) => log.info({ world: worldId.slice(0, 8), reason }, 'world dropped'),
  });

  const record = requestRecorder(log, stopwatchMs);
  const app: FastifyInstance = fastify({
    logger: false, // one line a request is written by recordRequests
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    http: {
      requireHostHeader: false, // refuseUnknownRoutes says so in the envelope
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    schemaController: { compilersFactory: ownCompilersOnly },
    return503OnClosing: false, // what still comes in while we stop is answered, and its connection closed
    clientErrorHandler: refuseBrokenHttp(log, scenarioInForce),
    frameworkErrors: refuseBadPath(record, scenarioInForce),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);

  answerOddHttp(app, log, scenarioInForce);
  recordRequests(app, record);
  sayScenario(app, scenarioInForce);
  refuseUnknownRoutes(app);
  answerErrors(app, log);
  takeJsonBodies(app);
  const limitRate = await limitRates(app, settings.maxWorlds);
  const admit = admission({ worlds, scenarios, acceptedKeys: settings.apiKeys, sameText });
  await app.withTypeProvider<ZodTypeProvider>().register(payoutRoutes, { admit, limitRate, wallClock });

  app.addHook('onListen', () => scenarios.watch());
  app.addHook('preClose', (done) => {
    worlds.release(); // answers that rules hold back would hold us up
    scenarios.close();
    done();
  });
  app.addHook('onClose', () => worlds.close());
  return { app, worlds, scenarioInForce };
}
