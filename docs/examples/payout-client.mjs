// The payout client under test: replace it with yours. When it cannot know whether a payout happened, it sends the same reference
// again, which cannot pay twice; when that does not help, it asks.
import { setTimeout as pause } from 'node:timers/promises';

/** For every request: one that hangs would hang forever. */
const TIMEOUT_MS = Number(process.env.PAYOUT_TIMEOUT_MS ?? 300);

/** @returns the HTTP status and the body; http is 0 when nobody knows what happened to the request */
async function send({ url, apiKey }, path, payout) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const method = payout === undefined ? 'GET' : 'POST';
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(payout), signal });
    if (response.status >= 500) return { http: 0, mustWait: response.headers.has('retry-after') };
    return { http: response.status, ...(response.ok && (await response.json())) };
  } catch {
    return { http: 0 }; // no whole response: the payout may have happened or not
  }
}

/** Makes a payout. @returns what the service returned, or else what its status says */
export async function pay(world, payout, tries = 3) {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const answer = await send(world, '/payout/initiate', payout);
    if (answer.http > 0) return answer;
    if (answer.mustWait) break;
    await pause(50 * 2 ** attempt);
  }
  const data = await statusOf(world, payout.client_ref_id);
  if (data === undefined)
    throw new Error(`what happened to ${payout.client_ref_id} is unknown: ask again later`);
  return { http: 200, data };
}

/** The payout as the service knows it; undefined while it does not say. */
export async function statusOf(world, reference, reads = 4) {
  for (let read = 1; read <= reads; read += 1) {
    const query = new URLSearchParams({ client_ref_id: reference });
    const { data } = await send(world, `/payout/status?${query}`);
    if (data !== undefined) return data;
    await pause(25 * 2 ** read); // "not found" may come too early
  }
  return undefined;
}

export const salary = {
  client_ref_id: 'salary-2026-01-asha',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 50_000,
  transfer_mode: 'IMPS',
};
