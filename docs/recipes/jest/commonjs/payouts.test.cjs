const { randomUUID } = require('node:crypto');

const url = process.env.PAYOUT_URL;

/** Sends JSON with a key, and reads JSON. */
async function send(key, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(
    url + path,
    body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
  );
  return response.json();
}

const order = {
  client_ref_id: 'order-1',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1500.5,
  transfer_mode: 'IMPS',
};

test('a payout settles when the clock says so', async () => {
  const key = `sk_test_${randomUUID()}`; // a fresh key: no other test sees its world
  await send(key, '/payout/initiate', order);
  const { changes } = await send(key, '/_sandbox/clock/advance', { by: '2s' });
  expect(changes).toMatchObject([{ from: 'PENDING', to: 'SUCCESS' }]);
  const { data } = await send(key, '/payout/status?client_ref_id=order-1');
  expect(data).toMatchObject({ status: 'SUCCESS', utr: changes[0].utr });
});
