import { randomBytes } from 'node:crypto';
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { adminOnly, bearerKeys } from './http/admission.ts';
import { controlApi } from './http/control/control-api.ts';
import { httpServer } from './http/http-server.ts';
import { CONTROL_PREFIX } from './http/request-checks.ts';
import type { Examples } from './http/openapi/document.ts';
import { payoutRoutes } from './http/service/payout-routes.ts';
import { droppedWorlds } from './worlds/evictions.ts';
import type { Store, StoreOptions } from './store/store.ts';
import type { WallClock } from './worlds/wall-clock.ts';
import { Worlds } from './worlds/worlds.ts';
import { packageText, packageVersion } from './package-files.ts';
import type { Metrics } from './platform/metrics.ts';
import { crowdedOutWarning, observeStore, observeWorlds } from './platform/logging.ts';
import { pageFiles } from './platform/page-files.ts';
import { sharedSettings } from './platform/shared-settings.ts';
import { keptState, type Restored } from './platform/state/kept-state.ts';
import { stopwatchMs } from './platform/system-clock.ts';
import { reportOnDropped } from './http/referee/evidence.ts';
import { Referee } from './referee/referee.ts';
import { ScenarioLibrary, scenarioSettings } from './scenario/scenario-library.ts';
import { atMost, MIB, worldsThatFit } from './heap-share.ts';
import { journalEntriesOf, type Settings } from './settings.ts';

const MAX_STATE_BYTES = atMost(256 * MIB, 1 / 16); // a snapshot of some 300,000 payouts
const MAX_UNREAD_BYTES = atMost(128 * MIB, 1 / 8);
const WORST_REQUEST_BYTES = 48 * 1024; // with its headers at their largest
const MAX_REQUESTS_AHEAD = atMost(10_000, 1 / 8, WORST_REQUEST_BYTES);
const MAX_REPORT_CHARACTERS = atMost(64 * MIB, 1 / 16); // of the referee's reports on dropped worlds

/** The key whose world answers a status request without one, in a dialect that answers it. */
const DEFAULT_KEY = 'sk_test_demo';

interface AppParts {
  readonly settings: Settings;
  readonly wallClock: WallClock;
  readonly log: Logger;
}

export interface App {
  readonly app: FastifyInstance;
  readonly worlds: Worlds;
  /** The token for GET and DELETE /_sandbox/worlds: that of the settings, or a generated one. */
  readonly adminToken: string;
  /** What the state file held; null without one. */
  readonly restored: Restored | null;
  /** False for a server that could not use its store yet. */
  readonly wasStoreReached: () => boolean;
  readonly scenarios: ScenarioLibrary;
  /** The OpenAPI document of all routes, once the app is ready. Generated on demand, since a start does not need it. */
  readonly openapi: () => Promise<string>;
}

async function documentOf(routes: readonly RouteOptions[], wallClock: WallClock): Promise<string> {
  const { openapiDocument } = await import('./http/openapi/document.ts');
  const examples = JSON.parse(packageText('fixtures/openapi-examples.json')) as Examples;
  return openapiDocument(routes, packageVersion(), examples, () => wallClock.yieldToEventLoop());
}

/** The store of worlds that several servers share. Its client is loaded only for it. */
async function sharedStore(options: Omit<StoreOptions, 'server'>): Promise<Store> {
  const { Store } = await import('./store/store.ts');
  const server = randomBytes(8).toString('hex'); // distinguishes it from every other server that ever uses the store
  return Store.open({ ...options, server });
}

/**
 * Builds the sandbox: its whole wiring, in the order in which a request meets it.
 *
 * @throws ScenarioError when a scenario of the settings cannot be used; SettingsError for the state file
 */
export async function buildApp({ settings, wallClock, log }: AppParts): Promise<App> {
  const scenarios = new ScenarioLibrary({
    settings: scenarioSettings(settings),
    active: settings.scenario,
    folder: settings.scenarios,
    reloaded: (file) =>
      log.info(
        { file },
        'scenario reloaded: a world that chose it keeps its former version until it chooses again',
      ),
    refused: (problems) => log.warn({ problems }, 'scenario refused: the last good one stays active'),
  });
  const metrics: Metrics | null =
    settings.metrics === 'on'
      ? (await import('./platform/metrics.ts')).startMetrics({
          worlds: () => worlds.size,
          transactions: () => worlds.recordsHeld,
          version: packageVersion(),
          startedAtMs: wallClock.nowMs() - process.uptime() * 1000,
          store:
            settings.store === undefined
              ? undefined
              : {
                  isUp: (): boolean => shared?.connection.isAway === false,
                  copies: () => worlds.size,
                  newer: () => shared?.connection.newerWorlds ?? 0,
                },
        })
      : null;

  const observer = observeWorlds(log, metrics ?? undefined);
  const shared =
    settings.store === undefined
      ? null
      : await sharedStore({
          url: settings.store,
          wallClock,
          compiler: scenarios,
          activeSource: scenarios.activeSource,
          observer: observeStore(log, metrics?.store),
          idleMs: settings.worldIdle,
          settings: sharedSettings(settings, scenarios.activeSource()),
        });
  const drops = droppedWorlds(shared ?? wallClock, crowdedOutWarning(log));
  const referee = new Referee(MAX_REPORT_CHARACTERS);
  const worlds = new Worlds({
    store: shared,
    compiler: scenarios,
    activeSource: scenarios.activeSource,
    wallClock,
    observer,
    maxWorlds: shared === null ? settings.maxWorlds : Math.min(settings.maxWorlds, worldsThatFit()),
    idleMs: settings.worldIdle,
    maxRequests: journalEntriesOf(settings),
    maxRecords: settings.maxTransactions,
    maxScenarioCharacters: settings.scenarioMemory,
    maxRequestsInAll: settings.journalTotal,
    evictions: {
      before: (world, reason) => {
        const remember = drops.before(world, reason);
        const report = reportOnDropped(world, { referee, wallClock });
        return () => {
          remember();
          report();
        };
      },
      opened: (world) => drops.opened(world),
      lost: (world) => drops.lost(world),
    },
  });
  const { state: file, stateEvery: everyMs } = settings;
  const kept =
    file === undefined ? null : keptState({ file, everyMs, worlds, compiler: scenarios, wallClock, log });
  const restored = (await kept?.restore()) ?? null;

  const wasStoreReached = (): boolean => shared?.connection.wasReached !== false;
  const { app, routes, unread } = httpServer({
    log,
    scenarios,
    allowedHosts: settings.allowedHosts,
    maxConnections: settings.maxConnections,
    maxRequestsAhead: MAX_REQUESTS_AHEAD,
    maxUnreadBytes: MAX_UNREAD_BYTES,
    wallClock,
    stopwatchMs,
    server: shared?.server,
    observe: metrics?.requested,
  });
  const openapi = (): Promise<string> => documentOf(routes, wallClock);
  let isStopping = false;

  const keyOf = bearerKeys(settings.apiKeys);
  // must not come from the seed, or anyone could derive it
  const adminToken = settings.adminToken ?? `admin_${randomBytes(18).toString('base64url')}`;
  await app.withTypeProvider<ZodTypeProvider>().register(payoutRoutes, {
    worlds,
    scenarios,
    keyOf,
    defaultKey: settings.apiKeys?.[0] ?? DEFAULT_KEY,
    rateLimit: settings.rateLimit,
    wallClock,
    unread,
  });
  await app.register(controlApi, {
    prefix: CONTROL_PREFIX,
    worlds,
    scenarios,
    referee,
    keyOf,
    requireAdmin: adminOnly(adminToken),
    isStoreAway: () => shared?.connection.isAway === true,
    wasStoreReached,
    wallClock,
    version: packageVersion(),
    isStopping: () => isStopping,
    maxStateBytes: MAX_STATE_BYTES,
    maxRecords: settings.maxTransactions,
    unread,
    openapi,
    metricsText: metrics?.text ?? null,
    pageFiles,
  });

  app.addHook('onListen', () => {
    scenarios.watch();
    kept?.start();
    wallClock.nextTurn(() => void scenarios.active.rules); // compiles those of the magic beneficiaries before a request needs them
  });
  app.addHook('preClose', (done) => {
    isStopping = true;
    worlds.release(); // held responses would keep connections open
    scenarios.close();
    done();
  });
  app.addHook('onClose', async () => {
    metrics?.close();
    try {
      await kept?.end();
    } finally {
      await worlds.close();
    }
  });
  return { app, worlds, adminToken, restored, wasStoreReached, scenarios, openapi };
}
