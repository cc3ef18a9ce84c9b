import { expect, onTestFinished } from 'vitest';
import { Store, type StoreOptions } from '../../../src/store/store.ts';
import { Worlds, type WorldsOptions } from '../../../src/worlds/worlds.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { keysOf } from '../../../src/store/scripts.ts';
import { compiler, DAY_MS, sourceOf, WORLDS_OPTIONS } from '../world/core.ts';
import { freshStore, redisAt } from './fresh-store.ts';

/** The world of tests that need one. */
export const WORLD = 'c'.repeat(32);

/** Does what is least: it puts money into a world. */
export const credit = async (log: Worlds, worldId = WORLD, amountPaise = 500): Promise<void> =>
  void (await (await log.use(worldId)).submit({ kind: 'credit', amountPaise }));

interface Options extends Partial<Omit<WorldsOptions, 'observer'>> {
  readonly observer?: Partial<WorldsOptions['observer']>;
  readonly storeObserver?: Partial<StoreOptions['observer']>;
}

/** The worlds of a server in a store, without the server, and what it warns of. @param server letters and digits */
export async function storedLogFor(url: string, server: string, options: Options = {}) {
  const warnings: string[] = [];
  const lost: string[] = [];
  const source = sourceOf({});
  const { wallClock = systemClock(), idleMs = DAY_MS, activeSource = () => source } = options;
  const observer = {
    ...WORLDS_OPTIONS.observer,
    lost: (worldId: string) => void lost.push(worldId),
    ...options.observer,
  };
  const store = await Store.open({
    url,
    server,
    wallClock,
    compiler,
    activeSource,
    idleMs,
    observer: {
      away: (reason) => expect.unreachable(reason),
      back: () => undefined,
      warning: (what) => void warnings.push(what),
      ...options.storeObserver,
    },
  });
  const log = new Worlds({
    ...WORLDS_OPTIONS,
    store,
    activeSource,
    wallClock,
    idleMs,
    maxWorlds: 10_000,
    maxTransactions: 1000,
    maxRules: 1000,
    maxRequestsInAll: 1000,
    ...options,
    observer,
  });
  onTestFinished(() => log.close());
  return { log, store, warnings, lost };
}

/** Two servers of a new store. @param options of both @param ofOther of the second one alone */
export async function storedLogsFor(options: Options = {}, ofOther: Options = {}) {
  const url = await freshStore();
  const ofOne = await storedLogFor(url, 'one', options);
  const other = await storedLogFor(url, 'other', { ...options, ...ofOther });
  return { url, redis: redisAt(url), one: ofOne.log, other: other.log, ofOne, ofOther: other };
}

/** The position of the snapshot of a world in its store; 0 without one. */
export async function snapshotAt(url: string, worldId = WORLD): Promise<number> {
  const text = await redisAt(url).hget(keysOf(worldId).head, 'snapshot');
  return text === null ? 0 : (JSON.parse(text) as { readonly position: number }).position;
}

/** The balance of a world at a server, in paise. */
export const balanceAt = async (log: Worlds, worldId = WORLD): Promise<number> =>
  (await log.use(worldId)).read(({ wallet }) => wallet.balancePaise);
