import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/platform/system-clock.ts';
import type { Client } from '../../support/sandbox.ts';
import { serverFor } from '../../support/server.ts';
import { freshStore } from '../../support/store/fresh-store.ts';
import { serversFor } from '../../support/store/shared-servers.ts';

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

  test('one world too many drops the one that was idle longest, whichever server used it', async () => {
    const { servers, clients } = await serversFor(2, { maxWorlds: 2 });
    const [first, atOther] = clients('sk_test_first') as [Client, Client];
    await first.pay({ amount: 10 });
    const [, second] = clients('sk_test_second') as [Client, Client];
    await second.pay({ amount: 10 });
    const held = async () => (await servers[0]!.worlds()).map(({ transactions }) => transactions);
    await expect.poll(held).toEqual([1, 1]); // one that seems to hold nothing is dropped first
    const [, third] = clients('sk_test_third') as [Client, Client];
    await third.balance();
    expect((await second.balance()).body.data.balance).toBe(999_990);
    const dropped = () => atOther.balance(); // only the server that dropped it says so
    const { body, headers } = await dropped();
    expect(body.data.balance).toBe(1_000_000);
    expect(headers.get('x-sandbox-world-dropped')).toMatch(/^at 20\S+Z with its payout: SANDBOX_MAX_WORLDS$/);
  });
});
