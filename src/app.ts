import fastify, { type FastifyInstance, type RouteOptions } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { frozenClock, runningClock } from './world/clock.ts';
import { toPaise } from './payout/money.ts';
import type { Scenario, ScenarioSettings } from './scenario/scenario.ts';
import type { WallClock } from './log/wall-clock.ts';
import { Worlds } from './log/worlds.ts';
import { HistoryBudget } from './world/bounded-log.ts';
import { CONTROL_PREFIX, controlApi, isControlPath } from './http/control/control-api.ts';
import { admission } from './http/service/admission.ts';
import { adminOnly, bearerKeys } from './http/bearer-key.ts';
import { LongBodies } from './http/limits/body-bytes.ts';
import { Connections } from './http/limits/connections.ts';
import { takeJsonBodies } from './http/limits/json-body.ts';
import { collectRoutes } from './http/operation.ts';
import { payoutRoutes } from './http/service/payout-routes.ts';
import { limitRates } from './http/service/rate-limit.ts';
import { answerErrors, answerOddHttp, refuseBadPath, refuseBrokenHttp } from './http/refusals.ts';
import { recordRequests, requestRecorder } from './http/request-record.ts';
import { sayScenario } from './http/sandbox-headers.ts';
import { ownCompilersOnly, serializerCompiler, validatorCompiler } from './http/schemas.ts';
import { refuseUnknownRoutes } from './http/unknown-routes.ts';
import { UnreadAnswers } from './http/limits/unread-answers.ts';
import { MemoryLedger } from './ledger/memory.ts';
import { newAdminToken } from './platform/admin-token.ts';
import { sameText, sha256 } from './platform/digest.ts';
import { ControlScenarios } from './http/control/control-scenarios.ts';
import { dashboardFiles } from './platform/dashboard-files.ts';
import { KeptState, type Restored } from './platform/kept-state.ts';
import { linearPattern } from './scenario/linear-pattern.ts';
import { atMost } from './platform/memory-share.ts';
import { packageVersion } from './platform/package-version.ts';
import { ScenarioLibrary } from './scenario/scenario-library.ts';
import { Snapshots } from './platform/snapshots.ts';
import { suggestion } from './contract/suggestion.ts';
import { stopwatchMs } from './platform/system-clock.ts';
import { observeWorlds } from './platform/world-observer.ts';
import type { Settings } from './settings.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024; // the path among them
const REQUEST_TIMEOUT_MS = 30_000; // from the first byte of a request to its last
const TIMEOUT_CHECK_MS = 5_000; // how late that may be noticed
const MAX_STATE_BYTES = 256 * 1024 * 1024; // a snapshot of some 300,000 transactions
const STATE_SHARE = 1 / 16; // of the heap: read, it takes many times its length
const MAX_UNREAD_BYTES = 128 * 1024 * 1024;
const UNREAD_SHARE = 1 / 8; // of the heap
const MAX_REQUESTS_AHEAD = 10_000; // on all connections, beside the first of each
const JOURNAL_SHARE = 16; // one world may take this part of what all journals may hold
const MAX_ATTEMPT_COUNTERS = 200_000; // of all worlds together

/** The key whose world answers a status request without one, in a dialect that answers it. */
const DEFAULT_KEY = 'sk_test_demo';

interface AppParts {
  readonly settings: Settings;
  readonly wallClock: WallClock;
  readonly log: Logger;
}

interface App {
  readonly app: FastifyInstance;
  readonly worlds: Worlds;
  /** What GET and DELETE /_sandbox/worlds ask for: that of the settings, or one that was made. */
  readonly adminToken: string;
  /** What the state file held; null without one. */
  readonly restored: Restored | null;
  readonly scenarioInForce: () => Scenario;
  /** The OpenAPI document of all routes, once the app is ready: made at the first call, since a start needs none of it. */
  readonly openapi: () => Promise<string>;
}

async function documentOf(routes: readonly RouteOptions[]): Promise<string> {
  const { openapiDocument } = await import('./http/openapi/document.ts');
  const { openapiExamples } = await import('./platform/openapi-examples.ts');
  return openapiDocument(routes, packageVersion(), await openapiExamples());
}

/** What a scenario does where it says nothing: the settings. */
const scenarioSettings = ({
  openingBalance,
  seed,
  settlement,
  clock,
  rateLimit,
  magic,
}: Settings): ScenarioSettings => ({
  openingBalancePaise: toPaise(openingBalance),
  seed,
  settlement,
  clock: clock === 'running' ? runningClock : frozenClock(clock.frozenAtMs),
  rateLimit,
  isMagic: magic === 'on',
});

/**
 * Builds the sandbox: what is made of what, and in which order a request meets it.
 *
 * @throws ScenarioError when a scenario that the settings name cannot be used
 */
export async function buildApp({ settings, wallClock, log }: AppParts): Promise<App> {
  const scenarios = new ScenarioLibrary({
    settings: scenarioSettings(settings),
    active: settings.scenario,
    folder: settings.scenarios,
    reloaded: (file) => log.info({ file }, 'scenario read anew'),
    refused: (problems) => log.warn({ problems }, 'scenario refused: the last good one stays in force'),
  });
  const scenarioInForce = () => scenarios.active;
  const ledger = new MemoryLedger(settings.maxTransactions);
  const metrics =
    settings.metrics === 'on'
      ? (await import('./platform/metrics.ts')).startMetrics({
          worlds: () => worlds.size,
          transactions: () => ledger.held,
        })
      : null;
  const worlds: Worlds = new Worlds({
    parts: {
      scenarioInForce,
      ledger,
      digest: sha256,
      wallClock,
      observer: observeWorlds(log, metrics?.settled),
      attemptBudget: { max: MAX_ATTEMPT_COUNTERS, held: 0 },
      historyBudget: new HistoryBudget(settings.journalMemory),
      journalLimits: {
        items: settings.journalEntries,
        bytes: Math.ceil(settings.journalMemory / JOURNAL_SHARE),
      },
    },
    maxWorlds: settings.maxWorlds,
    idleMs: settings.worldIdle,
    dropped: (worldId, reason) => log.info({ world: worldId.slice(0, 8), reason }, 'world dropped'),
  });

  const snapshots = new Snapshots(scenarios, wallClock);
  const keptState =
    settings.state === undefined
      ? null
      : new KeptState({
          file: settings.state,
          everyMs: settings.stateEvery,
          worlds,
          snapshots,
          wallClock,
          written: (count) => log.info({ file: settings.state, worlds: count }, 'state written'),
          failed: (error) => log.error({ err: error }, 'the state could not be written'),
        });
  const restored = (await keptState?.restore()) ?? null;

  const connectionEnded = (limit: string): void => log.warn({ limit }, 'connection ended');
  const connections = new Connections(settings.maxConnections, MAX_REQUESTS_AHEAD, connectionEnded);
  const unread = new UnreadAnswers(atMost(MAX_UNREAD_BYTES, UNREAD_SHARE), connectionEnded);
  const maxStateBytes = atMost(MAX_STATE_BYTES, STATE_SHARE);
  const longBodies = new LongBodies(maxStateBytes);
  const record = requestRecorder(log, stopwatchMs, {
    began: ({ raw }) => connections.began(raw.socket),
    over(request, reply) {
      connections.ended(request.raw.socket);
      unread.read(reply.raw);
      metrics?.requested(request, reply);
    },
  });
  const app: FastifyInstance = fastify({
    logger: false, // one line a request is written by recordRequests
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES }, // an id that is too long is an unknown one, not a bad path
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

  connections.watch(app.server);
  answerOddHttp(app, log, scenarioInForce);
  recordRequests(app, record);
  sayScenario(app, ({ url }) => (isControlPath(url) ? scenarios.base : scenarios.active));
  const routes = collectRoutes(app);
  let document: Promise<string> | undefined;
  const openapi = (): Promise<string> => (document ??= documentOf(routes));
  refuseUnknownRoutes(app, CONTROL_PREFIX);
  answerErrors(app, log, record, scenarioInForce);
  takeJsonBodies(app, longBodies);
  const limitRate = await limitRates(app, settings.maxWorlds);
  const keyOf = bearerKeys(settings.apiKeys, sameText);
  const defaultKey = settings.apiKeys?.[0] ?? DEFAULT_KEY;
  if (settings.stateEvery !== 'off') {
    app.addHook('preHandler', ({ world }, _reply, done) => {
      if (world !== undefined) worlds.noteUse(); // its body is here
      done();
    });
  }
  const admit = admission({ worlds, scenarios, keyOf, defaultKey, wallClock });
  await app
    .withTypeProvider<ZodTypeProvider>()
    .register(payoutRoutes, { admit, limitRate, unread, wallClock });
  const adminToken = settings.adminToken ?? newAdminToken();
  let isStopping = false;
  await app.register(controlApi, {
    prefix: CONTROL_PREFIX,
    worlds,
    keyOf,
    requireAdmin: adminOnly(adminToken, sameText),
    scenarios: new ControlScenarios(scenarios),
    snapshots,
    patternOf: linearPattern,
    wallClock,
    suggest: suggestion,
    version: packageVersion(),
    dashboardFiles: dashboardFiles(),
    isStopping: () => isStopping,
    longBodies,
    maxStateBytes,
    unread,
    openapi,
    metricsText: metrics?.text ?? null,
    docsFile: async (...args) => (await import('./platform/docs-page.ts')).docsFile(...args),
  });

  app.addHook('onListen', () => {
    scenarios.watch();
    keptState?.start();
  });
  app.addHook('preClose', (done) => {
    isStopping = true;
    worlds.release(); // answers that rules hold back would hold us up
    scenarios.close();
    done();
  });
  app.addHook('onClose', async () => {
    metrics?.close();
    try {
      await keptState?.end();
    } finally {
      worlds.close();
    }
  });
  return { app, worlds, adminToken, restored, scenarioInForce, openapi };
}
