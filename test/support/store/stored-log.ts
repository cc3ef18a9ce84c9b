import { expect, onTestFinished } from 'vitest';
import { ValkeyStore, type ValkeyStoreOptions } from '../../../src/log/valkey/valkey-store.ts';
import { Worlds, type WorldsOptions } from '../../../src/log/worlds.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { compiler, DAY_MS, sourceOf, WORLDS_OPTIONS } from '../world/core.ts';

/** The worlds of a server in a store, without the server, and what it warns of. @param server letters and digits */
export async function storedLogFor(
  url: string,
  server: string,
  options: Partial<WorldsOptions> & {
    storeObserver?: ValkeyStoreOptions['observer'];
  } = {},
) {
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
    observer: options.storeObserver ?? {
      away: (reason) => expect.unreachable(reason),
      back: () => undefined,
      warning: (what) => void warnings.push(what),
      lost: (worldId) => void lost.push(worldId),
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
    maxCharacters: 1_000_000,
    ...options,
  });
  onTestFinished(() => log.close());
  return { log, store, warnings, lost };
}
