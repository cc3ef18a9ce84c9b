import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/platform/system-clock.ts';
import { serverFor } from '../support/server.ts';
import { freshStore } from '../support/store/fresh-store.ts';

describe('limits of servers that share a store', () => {
  test('apply to all worlds: a server warns of the settings that the one before it had otherwise', async () => {
    const store = await freshStore();
    const warnings: unknown[] = [];
    for (const settings of [
      { rateLimit: '5/1s' },
      { maxWorlds: 7, worldIdle: '10m' },
      { seed: 9 },
    ] as const) {
      const given = { store, maxWorlds: 10, ...settings };
      const { logged, close } = await serverFor(given, systemClock());
      warnings.push(
        ...logged.filter(({ level }) => level === 40).map(({ msg }) => String(msg).split(': ')[1]),
      );
      await close();
    }
    expect(warnings).toEqual([
      'the server that started before had another SANDBOX_RATE_LIMIT (5/1s there, off here), SANDBOX_MAX_WORLDS (10 there, 7 here), SANDBOX_WORLD_IDLE (1d there, 10m here)',
      'the server that started before had another SANDBOX_SEED (1 there, 9 here), SANDBOX_MAX_WORLDS (7 there, 10 here), SANDBOX_WORLD_IDLE (10m there, 1d here)',
    ]);
  });
});
