import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { startSandbox } from 'payout-sandbox'; // or connectSandbox({ url: 'http://127.0.0.1:3000' }); nothing else changes
import { pay, salary, statusOf } from './payout-client.mjs';

let sandbox, world;
before(async () => {
  sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' });
});
after(() => sandbox.close());

/** Opens a world for a test: a new key, which no other test sees. Its journal is printed if the test fails. */
function openWorld(t) {
  world = sandbox.world({ name: t.name }); // reports name it; vitest and jest need no name
  t.after(async () => t.passed || console.error(await world.journalText()));
}
// a reference says which payout it is for: another one for the same salary would pay twice
const intent = { client_ref_id: '^(salary-[0-9-]+[a-z]+)' };
// whatever a test looks at, it fails if the client did something that could cost money
afterEach(() => world.expectGoodConduct({ failOn: 'warning', intent }));

test('an empty wallet refuses a salary, and a top-up makes it possible', async (t) => {
  openWorld(t);
  await world.use({ wallet: { opening_balance: 100 } });
  assert.equal((await pay(world, salary)).http, 402);
  await world.fund(50_000);
  assert.equal((await pay(world, salary)).http, 200);
  assert.equal(await world.balance(), 100);
});

test('a client that gets a 429 waits before it retries', async (t) => {
  openWorld(t);
  await world.rule({ match: { route: 'initiate' }, times: 1, effect: { respond: { status: 429 } } });
  assert.equal((await pay(world, salary)).http, 429);
  await world.expect({ route: 'initiate' }).exactly(1); // an error shows the closest requests
});

test('a payout that is forced to fail returns the money', async (t) => {
  openWorld(t);
  const { data } = await pay(world, salary);
  await world.transition(data.txn_id, 'FAILED');
  assert.equal((await statusOf(world, salary.client_ref_id)).status, 'FAILED');
  assert.equal(await world.balance(), 1_000_000);
});
