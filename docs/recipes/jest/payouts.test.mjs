import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSandbox } from 'payout-sandbox';
import { pay, salary, statusOf } from '../../examples/payout-client.mjs'; // the client under test: yours

let sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' });
});
afterAll(() => sandbox.close());

test('a salary is paid once, although the first answer was lost', async () => {
  const world = sandbox.world(); // a new key: no other test sees its world
  await world.rule({
    name: 'lost-answer',
    match: { route: 'initiate', attempt: 1 },
    effect: { commit: true, fault: 'hang' },
  });
  await pay(world, salary);
  expect(await world.balance()).toBe(950_000);
  expect(
    await world.verify({
      sequence: [
        { fault: 'hang', committed: true },
        { status: 200, replayed: true },
      ],
    }),
  ).toMatchObject({ passed: true });
});

test('a payout settles when the clock is advanced', async () => {
  const world = sandbox.world();
  await pay(world, salary);
  expect(await statusOf(world, salary.client_ref_id)).toMatchObject({ status: 'PENDING', utr: null });
  await world.clock.advance('2s');
  expect(await statusOf(world, salary.client_ref_id)).toMatchObject({ status: 'SUCCESS' });
});
