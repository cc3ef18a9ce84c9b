// The adapter for the sandbox, beside the one for your provider. docs/service.md has the three routes.

export function sandboxAdapter({ url, apiKey }) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const call = (path, init) => fetch(url + path, { ...init, headers, signal: AbortSignal.timeout(2000) });
  return {
    async send({ reference, rupees, account, ifsc, name }) {
      const body = JSON.stringify({
        client_ref_id: reference,
        amount: rupees,
        transfer_mode: 'IMPS',
        beneficiary_account: account,
        beneficiary_ifsc: ifsc,
        beneficiary_name: name,
      });
      const response = await call('/payout/initiate', { method: 'POST', body }).catch(() => undefined);
      if (response === undefined || response.status >= 500) return 'UNKNOWN';
      return response.ok ? 'ACCEPTED' : 'REFUSED';
    },
    async read(reference) {
      const query = new URLSearchParams({ client_ref_id: reference });
      const response = await call(`/payout/status?${query}`).catch(() => undefined);
      const { data } = response?.ok ? await response.json() : {};
      return { SUCCESS: 'PAID', FAILED: 'NOT PAID', REVERSED: 'NOT PAID' }[data?.status] ?? 'UNKNOWN';
    },
  };
}
