import { expect, onTestFinished } from 'vitest';
import { ValkeyLog, type ValkeyLogOptions } from '../../src/log/valkey/valkey-log.ts';
import { systemClock } from '../../src/platform/system-clock.ts';
import { compiler, DAY_MS, sourceOf } from './core.ts';

/** A server's log of worlds, without the server, and what it warns of. */
export async function storedLogFor(url: string, server: string, options: Partial<ValkeyLogOptions> = {}) {
  const warnings: string[] = [];
  const source = sourceOf({});
  const log = await ValkeyLog.open({
    url,
    server,
    compiler,
    activeSource: () => source,
    wallClock: systemClock(),
    observer: {
      settled: () => undefined,
      failed: (_worldId, error) => expect.unreachable(String(error)),
      dropped: () => undefined,
    },
    storeObserver: {
      away: (reason) => expect.unreachable(reason),
      back: () => undefined,
      warning: (what) => void warnings.push(what),
    },
    maxWorlds: 10,
    idleMs: DAY_MS,
    maxRecords: 1000,
    maxAttempts: 1000,
    maxDocumentBytes: 1_000_000,
    journalLimits: { items: 10, bytes: 100_000 },
    journalBytes: 1_000_000,
    ...options,
  });
  onTestFinished(() => log.close());
  return { log, warnings };
}
