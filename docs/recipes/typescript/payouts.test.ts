import { type Sandbox, startSandbox, type World } from 'payout-sandbox';
import { matchers } from 'payout-sandbox/matchers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { pay, type Payout } from './payout-client.js';

expect.extend(matchers);

const salary: Payout = {
  client_ref_id: 'salary-2026-01-asha',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 50_000,
  transfer_mode: 'IMPS',
};

let sandbox: Sandbox;
let world: World;
beforeAll(async () => {
  sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' });
});
afterAll(() => sandbox.close());
beforeEach(({ onTestFailed }) => {
  world = sandbox.world(); // a new key: no other test sees its world
  onTestFailed(async () => console.error(await world.journalText()));
});
afterEach(() => world.expectGoodConduct({ intent: { client_ref_id: '^(salary-[0-9-]+[a-z]+)' } }));

test('a salary is paid once although the first response is a 500', async () => {
  await world.rule({ match: { route: 'initiate', attempt: 1 }, effect: { commit: true, respond: 500 } });
  const { status } = await pay(world, salary);
  expect(status).toBe('PENDING');
  await expect(world).toHaveReceived({ route: 'initiate', status: 500 }, { times: 1 });
  expect(await world.balance()).toBe(950_000);
});

test('a salary that the wallet cannot cover is refused', async () => {
  await expect(pay(world, { ...salary, amount: 1_000_001 })).rejects.toThrow('INSUFFICIENT_BALANCE');
});
