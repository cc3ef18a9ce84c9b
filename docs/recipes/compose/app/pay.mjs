// An example app: makes a payout, reads its status, and exits with 0 if it succeeded.
const { PAYOUT_URL, PAYOUT_API_KEY } = process.env;
const headers = { authorization: `Bearer ${PAYOUT_API_KEY}`, 'content-type': 'application/json' };

await fetch(`${PAYOUT_URL}/payout/initiate`, {
  method: 'POST',
  headers,
  body: JSON.stringify({
    client_ref_id: 'order-1',
    beneficiary_name: 'Asha Rao',
    beneficiary_account: '000123456789',
    beneficiary_ifsc: 'SBIN0000001',
    amount: 1500.5,
    transfer_mode: 'IMPS',
  }),
});
const answer = await fetch(`${PAYOUT_URL}/payout/status?client_ref_id=order-1`, { headers });
const { data } = await answer.json();
process.stdout.write(`order-1 ${data.status} ${data.amount}\n`);
process.exitCode = data.status === 'SUCCESS' ? 0 : 1;
