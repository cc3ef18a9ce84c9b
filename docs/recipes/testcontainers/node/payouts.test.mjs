import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectSandbox } from 'payout-sandbox';
import { GenericContainer, Wait } from 'testcontainers';

let container, sandbox;
before(async () => {
  container = await new GenericContainer('payout-sandbox')
    .withExposedPorts(3000)
    .withEnvironment({ SANDBOX_CLOCK: '2026-01-15T10:30:00Z' })
    .withWaitStrategy(Wait.forHttp('/_sandbox/health', 3000))
    .start();
  sandbox = connectSandbox({ url: `http://${container.getHost()}:${container.getMappedPort(3000)}` });
});
after(() => container.stop());

test('a payout settles when the clock says so', async () => {
  const world = sandbox.world(); // a fresh key
  const answer = await fetch(`${world.url}/payout/initiate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      client_ref_id: 'order-1',
      beneficiary_name: 'Asha Rao',
      beneficiary_account: '000123456789',
      beneficiary_ifsc: 'SBIN0000001',
      amount: 1500.5,
      transfer_mode: 'IMPS',
    }),
  });
  assert.equal(answer.status, 200);
  const { changes } = await world.clock.advance('2s');
  assert.equal(changes[0].to, 'SUCCESS');
});
