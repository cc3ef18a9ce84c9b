import { pay, salary, statusOf } from '../../examples/payout-client.mjs'; // the client under test: yours
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hunt, startSandbox } from 'payout-sandbox';
import { matchers } from 'payout-sandbox/matchers';

expect.extend(matchers);

let sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' });
});
afterAll(() => sandbox.close());

/** Runs a test in a world of its own, and prints what the client did there if the test fails. */
const inWorld = (body) => async () => {
  const world = sandbox.world(); // a new key: no other test sees its world
  try {
    await body(world);
    // whatever a test looks at, it fails if the client did something that could cost money
    await world.expectGoodConduct({
      failOn: 'warning',
      intent: { client_ref_id: '^(salary-[0-9-]+[a-z]+)' },
    });
  } catch (error) {
    process.stderr.write(`${await world.journalText()}\n`);
    throw error;
  }
};

test(
  'a salary is paid once, although the first response was lost',
  inWorld(async (world) => {
    await world.rule({
      name: 'lost-response',
      match: { route: 'initiate', attempt: 1 },
      effect: { commit: true, fault: 'hang' },
    });
    await pay(world, salary);
    expect(await world.balance()).toBe(950_000);
    await expect(world).toHavePayout(salary.client_ref_id, { amount: 50_000 });
    await world.expect().sequence([
      { fault: 'hang', committed: true },
      { status: 200, replayed: true },
    ]);
  }),
);

test(
  'a payout settles when the clock is advanced',
  inWorld(async (world) => {
    await pay(world, salary);
    expect(await statusOf(world, salary.client_ref_id)).toMatchObject({ status: 'PENDING', utr: null });
    await world.waitFor(salary.client_ref_id, 'SUCCESS');
    expect(await statusOf(world, salary.client_ref_id)).toMatchObject({ status: 'SUCCESS' });
    await expect(world).toHaveReceived({ route: 'status' }, { times: 2 });
  }),
);

test('no single failure of the service makes the client pay twice', async () => {
  const { findings } = await hunt({ run: (world) => pay(world, salary), goals: ['paid-twice'], depth: 1 });
  expect(findings).toEqual([]);
}, 60_000);
