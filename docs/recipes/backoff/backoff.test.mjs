import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { startSandbox } from 'payout-sandbox';
import { pay } from './retrying-client.mjs'; // the client under test: yours

let sandbox, world;
before(async () => {
  sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' }); // frozen: only sleep moves it
});
after(() => sandbox.close());
beforeEach(() => {
  world = sandbox.world();
});
afterEach(() => world.expectGoodConduct({ failOn: 'warning' }));

const sleep = (ms) => world.clock.advance(`${ms}ms`);
const salary = (nth) => ({
  client_ref_id: `salary-${nth}`,
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 50_000,
  transfer_mode: 'IMPS',
});

test('the third payout of a minute waits for the next one', async () => {
  await world.rule({ match: { route: 'initiate' }, effect: { limit: { max: 2, per: '60s' } } });
  for (const nth of [1, 2, 3]) await pay(world, salary(nth), sleep);
  await world.expect({ client_ref_id: 'salary-3' }).sequence([{ status: 429 }, { status: 200 }]);
  assert.equal((await world.clock.now()).toISOString(), '2026-01-15T10:31:00.000Z');
});

test('a payout waits as long as a 503 asks', async () => {
  const respond = { status: 503, headers: { 'retry-after': '30' } };
  await world.rule({ match: { route: 'initiate' }, during: { until: '30s' }, effect: { respond } });
  await pay(world, salary(1), sleep);
  await world.expect({ client_ref_id: 'salary-1' }).sequence([{ status: 503 }, { status: 200 }]);
});

test('without a Retry-After, the pauses grow', async () => {
  await world.rule({ match: { attempt: { lte: 3 } }, effect: { commit: true, respond: { status: 500 } } });
  await pay(world, salary(1), sleep);
  const times = (await world.requests()).map(({ at }) => Date.parse(at));
  assert.deepEqual(
    times.map((ms) => ms - times[0]),
    [0, 1000, 3000, 7000],
  );
  assert.equal(await world.balance(), 950_000);
});
