import { startSandbox } from 'payout-sandbox'; // or connectSandbox({ url: 'http://127.0.0.1:3000' }); nothing else changes
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pay, salary, statusOf } from './payout-client.mjs';

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

test('a salary that the bank returns after three days is noticed', async () => {
  const world = sandbox.world();
  await world.use('success-then-reversed');
  await pay(world, salary);
  await world.clock.advance('1h');
  expect(await statusOf(world, salary.client_ref_id)).toMatchObject({ status: 'SUCCESS' });
  const { changes } = await world.clock.advance('idle');
  expect(changes).toMatchObject([{ from: 'SUCCESS', to: 'REVERSED' }]);
  expect(await world.balance()).toBe(1_000_000);
});
