// The payout client under test: replace it with yours. It retries after an answer that does not say whether the payout happened.

/** Makes a payout, and repeats it with the same reference when it cannot know whether it happened. */
export async function pay({ url, apiKey }, payout, tries = 3) {
  for (let attempt = 1; ; attempt += 1) {
    const signal = AbortSignal.timeout(300);
    try {
      const response = await fetch(`${url}/payout/initiate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(payout),
        signal,
      });
      if (response.status < 500) return { http: response.status, ...(await response.json()) };
    } catch (error) {
      if (attempt === tries) throw error;
    }
    if (attempt === tries) throw new Error('the payout service does not answer');
  }
}

/** The state of a payout. */
export async function statusOf({ url, apiKey }, reference) {
  const query = new URLSearchParams({ client_ref_id: reference });
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${url}/payout/status?${query}`, { headers });
  return (await response.json()).data;
}

export const salary = {
  client_ref_id: 'salary-2026-01-asha',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 50_000,
  transfer_mode: 'IMPS',
};
