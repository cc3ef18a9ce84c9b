// Posts each settlement of a world to a URL, as a provider's webhooks do.
import { connectSandbox } from 'payout-sandbox';

const { PAYOUT_URL = 'http://127.0.0.1:3000', PAYOUT_API_KEY = 'sk_test_demo' } = process.env;
const [target] = process.argv.slice(2);

const world = connectSandbox({ url: PAYOUT_URL }).world(PAYOUT_API_KEY);
const events = await world.events();
console.log(`posting to ${target}`);
for await (const { id, type, data } of events) {
  if (type !== 'settlement') continue;
  const { txn_id, client_ref_id, status, amount, utr } = data.transaction;
  const body = JSON.stringify({ id, event: `payout.${status}`, txn_id, client_ref_id, amount, utr });
  await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}
