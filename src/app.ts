import type { ScenarioSource } from './contract/snapshot.ts';
import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { adminOnly, bearerKeys } from './http/admission.ts';
import { controlApi } from './http/control/control-api.ts';
import { httpServer } from './http/http-server.ts';
import { reportOnDropped } from './http/control/referee-routes.ts';
import { pressureOf, type Memory } from './http/limits/pressure.ts';
import { CONTROL_PREFIX } from './http/request-checks.ts';
import { payoutRoutes } from './http/service/payout-routes.ts';
import type { Certificate } from './platform/certificates.ts';
import { packageText, packageVersion } from './package-files.ts';
import { startAndEnd } from './platform/lifecycle.ts';
import {
  crowdedOutWarning,
  memoryWarning,
  observeScenarios,
  observeStore,
  observeWorlds,
} from './platform/logging.ts';
import { openFiles, processMemory } from './platform/process-limits.ts';
import { pageFiles } from './platform/page-files.ts';
import type { Restored } from './platform/state-file.ts';
import { stopwatchMs } from './platform/system-clock.ts';
import { Referee } from './referee/referee.ts';
import { ScenarioLibrary, scenarioSettings } from './scenario/scenario-library.ts';
import { defaultKeyOf, journalEntriesOf, type Settings } from './settings.ts';
import { droppedWorlds } from './worlds/evictions.ts';
import type { WallClock } from './worlds/wall-clock.ts';
import { Worlds } from './worlds/worlds.ts';

/** What a process opens beside its connections. */
const SPARE_FILES = 64;

/** So many requests that it helps to forget them. */
const MANY_REQUESTS = 100;

interface AppParts {
  readonly settings: Settings;
  readonly wallClock: WallClock;
  readonly log: Logger;
  /** That of this process when absent. */
  readonly memory?: Memory | undefined;
  /** What HTTPS is served with; HTTP without one. */
  readonly certificate?: Certificate | undefined;
}

export interface App {
  readonly app: FastifyInstance;
  readonly worlds: Worlds;
  /** The token for the calls about all worlds: that of the settings, or a generated one. */
  readonly adminToken: string;
  /** What the state file held; null without one. */
  readonly restored: Restored | null;
  /** False for a server that could not use its store yet. */
  readonly wasStoreReached: () => boolean;
  readonly scenarios: ScenarioLibrary;
}

/**
 * Builds the sandbox: its whole wiring, from what everything needs to the routes.
 *
 * @throws ScenarioError when a scenario of the settings cannot be used; SettingsError for the state file
 */
export async function buildApp(parts: AppParts): Promise<App> {
  const { settings, wallClock, log, certificate, memory = processMemory } = parts;
  const { state: file, stateEvery: everyMs, store: url, worldIdle: idleMs } = settings;
  const scenarios = new ScenarioLibrary({
    settings: scenarioSettings(settings),
    active: settings.scenario,
    folder: settings.scenarios,
    ...observeScenarios(log),
  });
  const activeSource = (): ScenarioSource => scenarios.active.source;
  const hasMetrics = settings.metrics === 'on';
  const metrics = hasMetrics ? (await import('./platform/metrics.ts')).startMetrics(url !== undefined) : null;
  const store =
    url === undefined
      ? null
      : await (
          await import('./store/store.ts')
        ).Store.open({
          url,
          server: randomBytes(8).toString('hex'), // no other server that ever uses the store has this name
          wallClock,
          compiler: scenarios,
          activeSource,
          observer: observeStore(log, metrics?.store),
          idleMs,
        });
  const { app, routes, heavy, endLargest } = httpServer({
    log,
    scenarios,
    allowedHosts: settings.allowedHosts,
    maxConnections: Math.min(settings.maxConnections, Math.max(1, openFiles() - SPARE_FILES)),
    wallClock,
    stopwatchMs,
    version: packageVersion(),
    certificate,
    server: store?.connection.server,
    observe: metrics?.requested,
  });
  const referee = new Referee();
  const worlds = new Worlds({
    store,
    compiler: scenarios,
    activeSource,
    wallClock,
    observer: observeWorlds(log, metrics ?? undefined),
    maxWorlds: settings.maxWorlds,
    idleMs,
    maxRequests: journalEntriesOf(settings),
    maxTransactions: settings.maxTransactions,
    maxRules: settings.maxRules,
    maxRequestsInAll: settings.journalTotal,
    evictions: droppedWorlds(store ?? wallClock, crowdedOutWarning(log), (world) => {
      const report = reportOnDropped(world, { referee, wallClock, heavy });
      return () => world.inBackground(report());
    }),
  });
  metrics?.watch(worlds, store?.connection);
  const keeping = { everyMs, worlds, compiler: scenarios, wallClock, log };
  const kept =
    file === undefined ? null : (await import('./platform/state-file.ts')).keptState({ file, ...keeping });
  const restored = (await kept?.restore()) ?? null;

  const openapi = async (): Promise<string> => {
    const { openapiDocument } = await import('./http/openapi/document.ts');
    const examples = packageText('fixtures/openapi-examples.json');
    return openapiDocument(routes, packageVersion(), examples, () => wallClock.yieldToEventLoop());
  };
  const keyOf = bearerKeys(settings.apiKeys);
  // must not come from the seed, or anyone could derive it
  const adminToken = settings.adminToken ?? `admin_${randomBytes(18).toString('base64url')}`;
  const pressure = pressureOf({
    maxPercent: settings.maxMemory,
    memory,
    relieve: () => worlds.cutJournals() >= MANY_REQUESTS || endLargest(),
    changed: memoryWarning(log),
  });
  const ofBoth = { worlds, scenarios, keyOf, wallClock, heavy, pressure };
  await app
    .withTypeProvider<ZodTypeProvider>()
    .register(payoutRoutes, { ...ofBoth, defaultKey: defaultKeyOf(settings), rateLimit: settings.rateLimit });
  await app.register(controlApi, {
    ...ofBoth,
    prefix: CONTROL_PREFIX,
    referee,
    requireAdmin: adminOnly(adminToken),
    store: store?.connection,
    version: packageVersion(),
    openapi,
    metricsText: metrics?.text ?? null,
    pageFiles,
  });

  startAndEnd(app, { worlds, scenarios, kept, pressure });
  const wasStoreReached = (): boolean => store?.connection.wasReached !== false;
  return { app, worlds, adminToken, restored, wasStoreReached, scenarios };
}
