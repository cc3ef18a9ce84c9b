// Checks of a payout client, as an ordinary test suite has them. They pass; docs/matrix.md shows where they would not.
import assert from 'node:assert/strict';
import { pay, salary, statusOf } from './payout-client.mjs';

const service = { url: process.env.PAYOUT_URL, apiKey: process.env.PAYOUT_KEY };

/** Pays a salary. When the service fails again and again, it starts afresh with a new reference. */
async function paySalary() {
  try {
    return await pay(service, salary);
  } catch {
    return pay(service, { ...salary, client_ref_id: `${salary.client_ref_id}-2` });
  }
}

/** The state of a payout that is no longer PENDING. */
async function outcomeOf(reference) {
  for (let reads = 1; reads < 5; reads += 1) {
    const data = await statusOf(service, reference);
    if (data?.status !== 'PENDING') return data?.status;
  }
  return 'PENDING';
}

const checks = {
  async 'a salary is paid'() {
    const { http } = await paySalary();
    assert.equal(http, 200);
    assert.equal(await outcomeOf(salary.client_ref_id), 'SUCCESS');
  },
  async 'the same salary is not paid again'() {
    const { http, data } = await pay(service, salary);
    assert.deepEqual([http, data.status], [200, 'SUCCESS']);
  },
  async 'a refusal says why'() {
    const { http, message } = await pay(service, {
      ...salary,
      client_ref_id: 'too-much',
      amount: 99_000_000,
    });
    assert.equal(http, 402);
    assert.match(message, /./);
  },
};

for (const [title, check] of Object.entries(checks)) {
  try {
    await check();
  } catch (error) {
    process.stdout.write(`${title}: ${error.message.replaceAll(/\s+/g, ' ')}\n`);
    process.exitCode = 1;
  }
}
