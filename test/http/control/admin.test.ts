import { expect, test } from 'vitest';
import { ManualClock } from '../../support/world/manual-clock.ts';
import { serverFor } from '../../support/server.ts';
import { clientOf } from '../../support/sandbox.ts';

const MINUTE_MS = 60_000;

test('the admin lists every world, with its contents and its last use', async () => {
  const wallClock = new ManualClock();
  const { sandbox } = await serverFor({ settlement: 'manual' }, wallClock);
  expect(await sandbox.worlds()).toEqual([]);
  const worlds = [sandbox.world({ name: 'busy' }), sandbox.world({ name: '' })] as const;
  const [busy, idle] = [clientOf(worlds[0]), clientOf(worlds[1])];
  await busy.pay({ amount: 100 });
  await idle.world.use('strict');
  await wallClock.pass(MINUTE_MS);
  await busy.balance();
  const start = '2026-01-15T10:30:00.000Z';
  const { id: busyId } = await busy.world.summary();
  expect(await sandbox.worlds()).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      used_at: start,
      balance: 1_000_000,
      transactions: 0,
      scenario: 'strict',
      name: null,
    },
    {
      id: busyId,
      used_at: '2026-01-15T10:31:00.000Z',
      balance: 999_900,
      transactions: 1,
      scenario: 'default',
      name: 'busy',
    },
  ]);
});

test('a request that is refused names its world, too', async () => {
  const { sandbox } = await serverFor();
  const world = sandbox.world();
  const headers = { authorization: `Bearer ${world.apiKey}`, 'x-sandbox-world-name': 'refused' };
  const { status } = await fetch(`${world.url}/payout/initiate`, { method: 'POST', body: '{}', headers });
  expect(status).toBe(415);
  expect(await sandbox.worlds()).toMatchObject([{ name: 'refused' }]);
});
