// A small payout client and its checks. They pass; docs/matrix.md shows where they would not.

const salary = {
  client_ref_id: 'salary-2026-01-asha',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 50_000,
  transfer_mode: 'IMPS',
};

/** @returns the HTTP status and the body. @throws when no whole response comes */
async function send(path, payout) {
  const response = await fetch(process.env.PAYOUT_URL + path, {
    method: payout === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${process.env.PAYOUT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(payout),
    signal: AbortSignal.timeout(2000),
  });
  if (response.status >= 500) throw new Error(`got ${response.status}`);
  return { http: response.status, ...(await response.json()) };
}

/** Makes a payout, and tries once more when no response says whether it was made. */
async function pay(payout) {
  try {
    return await send('/payout/initiate', payout);
  } catch {
    return send('/payout/initiate', { ...payout, client_ref_id: `${payout.client_ref_id}-again` });
  }
}

function check(isRight, message) {
  if (!isRight) throw new Error(message);
}

const checks = {
  async 'the salary is paid'() {
    const { http, data } = await pay(salary);
    check(http === 200, `got ${http}`);
    const { data: payout } = await send(`/payout/status?txn_id=${data.txn_id}`);
    check(payout.status === 'SUCCESS', `it is ${payout.status}`);
  },
  async 'the same salary is not paid again'() {
    const { http, data } = await pay(salary);
    check(http === 200, `got ${http}`);
    check(data.status === 'SUCCESS', `it is ${data.status}`);
  },
  async 'a refusal says why'() {
    const { http, message } = await pay({ ...salary, client_ref_id: 'too-much', amount: 4_000_000 });
    check(http === 402, `got ${http}`);
    check(message !== undefined, 'no message');
  },
};

for (const [title, run] of Object.entries(checks)) {
  try {
    await run();
  } catch (error) {
    process.stdout.write(`${title}: ${error.message}\n`);
    process.exitCode = 1;
  }
}
