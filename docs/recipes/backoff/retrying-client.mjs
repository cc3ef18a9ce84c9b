// The client under test: p-retry around fetch. Its pause is an argument, so that a test can move a clock instead of waiting.
import { setTimeout as pause } from 'node:timers/promises';
import pRetry, { AbortError } from 'p-retry';

async function initiate({ url, apiKey }, payout) {
  const response = await fetch(`${url}/payout/initiate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(payout),
    signal: AbortSignal.timeout(10_000),
  });
  if (response.ok) return response.json();
  const reason = `the service returned ${response.status} for ${payout.client_ref_id}`;
  if (response.status !== 429 && response.status < 500) throw new AbortError(reason); // sending it again would not help
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  throw Object.assign(new Error(reason), {
    retryAfterMs: Number.isNaN(seconds) ? undefined : seconds * 1000,
  });
}

/** Makes a payout. The same reference is sent each time, which cannot pay twice. @param sleep waits for so many milliseconds */
export const pay = (service, payout, sleep = pause) =>
  pRetry(() => initiate(service, payout), {
    retries: 4,
    minTimeout: 0, // the pause is made below
    async onFailedAttempt({ error, attemptNumber, retriesLeft }) {
      if (retriesLeft > 0) await sleep(error.retryAfterMs ?? 500 * 2 ** attemptNumber);
    },
  });
