import { startSandbox } from 'payout-sandbox'; // or connectSandbox({ url: 'http://127.0.0.1:3000' }); nothing else changes
import { matchers } from 'payout-sandbox/matchers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { pay, salary, statusOf } from './payout-client.mjs';

expect.extend(matchers);

let sandbox;
let world;
beforeAll(async () => {
  sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' });
});
afterAll(() => sandbox.close());
beforeEach(({ onTestFailed }) => {
  world = sandbox.world(); // a new key: no other test sees its world
  onTestFailed(async () => console.error(await world.journalText()));
});
// a reference says which payout it is for: another one for the same salary would pay twice
const intent = { client_ref_id: '^(salary-[0-9-]+[a-z]+)' };
// whatever a test looks at, it fails if the client did something that could cost money
afterEach(() => world.expectGoodConduct({ failOn: 'warning', intent }));

test('a salary is paid once, although the first response was lost', async () => {
  await world.rule({
    name: 'lost-response',
    match: { route: 'initiate', attempt: 1 },
    effect: { commit: true, fault: 'hang' },
  });
  await pay(world, salary);
  expect(await world.balance()).toBe(950_000);
  await expect(world).toHavePayout(salary.client_ref_id, { status: 'PENDING', amount: 50_000 });
  await world.expect({ client_ref_id: salary.client_ref_id }).sequence([
    { fault: 'hang', committed: true },
    { status: 200, replayed: true },
  ]);
});

test('a salary that the bank returns after three days is noticed', async () => {
  await world.use('success-then-reversed');
  await pay(world, salary);
  await world.waitFor(salary.client_ref_id, 'SUCCESS'); // moves the frozen clock
  expect(await statusOf(world, salary.client_ref_id)).toMatchObject({ status: 'SUCCESS' });
  const { changes } = await world.clock.advance('idle');
  expect(changes).toMatchObject([{ from: 'SUCCESS', to: 'REVERSED' }]);
  expect(await statusOf(world, salary.client_ref_id)).toMatchObject({ status: 'REVERSED' });
  expect(await world.balance()).toBe(1_000_000);
  await expect(world).toHaveReceived({ route: 'initiate' }, { times: 1 });
});

test('a payout is asked for when the service answers nothing but errors', async () => {
  await world.rule({ match: { route: 'initiate' }, effect: { commit: true, respond: { status: 500 } } });
  expect(await pay(world, salary)).toMatchObject({ data: { status: 'PENDING' } });
  expect(await world.balance()).toBe(950_000);
});
