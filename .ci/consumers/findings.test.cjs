// The package as a suite of jest or mocha uses it with require, also in the middle of a test: a hunt finds a planted bug.
const assert = require('node:assert/strict');

/** Pays again under a new reference when a response is missing. */
async function payCarelessly(world) {
  const send = (client_ref_id) =>
    fetch(`${world.url}/payout/initiate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        client_ref_id,
        beneficiary_name: 'Asha Rao',
        beneficiary_account: '000123456789',
        beneficiary_ifsc: 'SBIN0000001',
        amount: 5,
        transfer_mode: 'IMPS',
      }),
      signal: AbortSignal.timeout(2000),
    }).then(
      ({ status }) => status,
      () => 0,
    );
  if ((await send('order-1')) !== 200) await send('order-1-again');
}

const define = globalThis.test ?? globalThis.it; // jest, mocha

define('a hunt finds the failure that makes a careless client pay twice', async () => {
  const { hunt, SandboxError, startSandbox } = require('payout-sandbox');
  const { findings } = await hunt({ run: payCarelessly, goals: ['paid-twice'], depth: 1 });
  assert.deepEqual(
    findings.map(({ goal }) => goal),
    ['paid-twice'],
  );
  const sandbox = await startSandbox();
  const refused = await sandbox
    .world()
    .fund(-1)
    .catch((error) => error);
  const { matchers } = require('payout-sandbox/matchers');
  const message = await matchers.toHaveReceived.call({}, sandbox.world(), {}, { times: 2 }).catch(String);
  await sandbox.close(); // before what may fail: jest and mocha wait for what is open
  assert.match(String(message), /^ExpectationError: 0 requests match; expected exactly 2\n/);
  assert.ok(refused instanceof SandboxError);
  assert.equal(require('payout-sandbox/schema').type, 'object');
});
