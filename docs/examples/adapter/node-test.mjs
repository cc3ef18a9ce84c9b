import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startSandbox } from 'payout-sandbox';
import { payOrder } from './payouts.mjs';
import { sandboxAdapter } from './sandbox-adapter.mjs';

const order = {
  reference: 'order-7',
  rupees: 250,
  account: '000123456789',
  ifsc: 'SBIN0000001',
  name: 'Asha Rao',
};
const intent = { client_ref_id: '^(order-[0-9]+)' };
const sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' });
after(() => sandbox.close());

test('an order is paid once, although the first response is a 500', async () => {
  const world = sandbox.world();
  await world.rule({ match: { route: 'initiate' }, times: 1, effect: { commit: true, respond: 500 } });
  assert.equal(await payOrder(sandboxAdapter(world), order), 'UNKNOWN'); // it is PENDING
  await world.clock.advance('2s');
  assert.equal(await sandboxAdapter(world).read('order-7'), 'PAID');
  assert.equal(await world.balance(), 999_750);
  await world.expectGoodConduct({ intent });
});

test('an order whose payout fails is not paid, and the money is back', async () => {
  const world = sandbox.world();
  await world.use({ settlement: { IMPS: [{ to: 'FAILED', after: '2s' }] } });
  await payOrder(sandboxAdapter(world), order);
  await world.clock.advance('2s');
  assert.equal(await sandboxAdapter(world).read('order-7'), 'NOT PAID');
  assert.equal(await world.balance(), 1_000_000);
});
