// Pays one salary, with the care of most clients: timeouts, a retry, a look at the status before it tries again.
// A payout that is made late still makes it pay twice: docs/hunt.md finds it.

const salary = {
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 50_000,
  transfer_mode: 'IMPS',
};

const TIMEOUT_MS = Number(process.env.PAYOUT_TIMEOUT_MS ?? 300);

/** Sends a request. `status` is 0 when no whole response came. */
async function send({ url, apiKey }, path, body) {
  try {
    const response = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, data: (await response.json()).data };
  } catch {
    return { status: 0 };
  }
}

const isUnknown = ({ status }) => status === 0 || status >= 500;

/** @returns the state in which the salary ended; undefined when it is not known */
export async function pay(service) {
  let payout = 1;
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const reference = `salary-2026-01-asha-${payout}`;
    const statusOf = () => send(service, `/payout/status?client_ref_id=${reference}`);
    const answer = await send(service, '/payout/initiate', { ...salary, client_ref_id: reference });
    if (answer.status === 429) continue;
    if (isUnknown(answer) && (await statusOf()).status === 404) {
      payout += 1; // it never arrived
      continue;
    }
    let { data } = await statusOf();
    for (let reads = 1; reads < 10 && (data === undefined || data.status === 'PENDING'); reads += 1) {
      ({ data } = await statusOf());
    }
    if (data?.status !== 'FAILED') return data?.status;
    payout += 1; // the money is back
  }
  return undefined;
}

if (process.argv[1] === import.meta.filename) {
  const { PAYOUT_URL: url, PAYOUT_KEY: apiKey } = process.env;
  const state = await pay({ url, apiKey });
  process.stdout.write(`the salary is ${state ?? 'in doubt'}\n`);
  process.exitCode = { SUCCESS: 0, FAILED: 1, REVERSED: 1 }[state] ?? 75; // in doubt
}
