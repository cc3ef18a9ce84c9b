// One payout on the sandbox at SANDBOX_AT, from its request to its settlement, and the money afterwards.
import assert from 'node:assert/strict';

const headers = { authorization: 'Bearer sk_test_smoke', 'content-type': 'application/json' };
const ask = async (path, body) => {
  const method = body === undefined ? 'GET' : 'POST';
  const init = { method, headers, body: body && JSON.stringify(body) };
  const response = await fetch(process.env.SANDBOX_AT + path, init);
  assert.equal(response.status, 200, `${method} ${path}`);
  return response.json();
};

const before = await ask('/client/fetchbalance');
const paid = await ask('/payout/initiate', {
  client_ref_id: 'smoke-1',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1500.5,
  transfer_mode: 'IMPS',
});
assert.equal(paid.data.status, 'PENDING');
await ask('/_sandbox/clock/advance', { by: '1h' });
const { data } = await ask('/payout/status?client_ref_id=smoke-1');
assert.equal(data.status, 'SUCCESS');
assert.match(data.utr, /^\w+$/);
const after = await ask('/client/fetchbalance');
assert.equal(before.data.balance - after.data.balance, 1500.5);
process.stdout.write(`smoke: ${data.txn_id} settled with UTR ${data.utr}\n`);
