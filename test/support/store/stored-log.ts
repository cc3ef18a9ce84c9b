import { expect, onTestFinished } from 'vitest';
import { ValkeyStore, type ValkeyStoreOptions } from '../../../src/log/valkey/valkey-store.ts';
import { Worlds, type WorldsOptions } from '../../../src/log/worlds.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { compiler, DAY_MS, sourceOf, WORLDS_OPTIONS } from '../world/core.ts';

/** The world of tests that need one. */
export const WORLD = 'c'.repeat(32);

/** Does what is least: it puts money into a world. */
export const credit = async (log: Worlds, worldId = WORLD, amountPaise = 500): Promise<void> =>
  void (await (await log.use(worldId)).submit({ kind: 'credit', amountPaise }));

interface Options extends Partial<Omit<WorldsOptions, 'observer'>> {
  readonly observer?: Partial<WorldsOptions['observer']>;
  readonly storeObserver?: Partial<ValkeyStoreOptions['observer']>;
}

/** The worlds of a server in a store, without the server, and what it warns of. @param server letters and digits */
export async function storedLogFor(url: string, server: string, options: Options = {}) {
  const warnings: string[] = [];
  const lost: string[] = [];
  const source = sourceOf({});
  const { wallClock = systemClock(), idleMs = DAY_MS, activeSource = () => source } = options;
  const store = await ValkeyStore.open({
    url,
    server,
    wallClock,
    compiler,
    idleMs,
    source,
    observer: {
      away: (reason) => expect.unreachable(reason),
      back: () => undefined,
      warning: (what) => void warnings.push(what),
      lost: (worldId) => void lost.push(worldId),
      ...options.storeObserver,
    },
  });
  const log = new Worlds({
    ...WORLDS_OPTIONS,
    store,
    activeSource,
    wallClock,
    idleMs,
    maxRecords: 1000,
    maxScenarioCharacters: 1_000_000,
    maxCopies: 10_000,
    maxCharacters: 1_000_000,
    ...options,
    observer: { ...WORLDS_OPTIONS.observer, ...options.observer },
  });
  onTestFinished(() => log.close());
  return { log, store, warnings, lost };
}
