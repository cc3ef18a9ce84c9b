import type { ProbeResponse, Send } from './probe-exchange.ts';

const response = (status: number, json: object): ProbeResponse => ({
  status,
  headers: {},
  text: JSON.stringify(json),
  json,
});

/** More than level `pay` sends, and less than level `refused` sends. */
const ABOVE_BALANCE_INR = 100;

/** Behaves like a service that makes a probe send every request, to list what it would send. */
export function dryResponses(): Send {
  const refused = new Set<unknown>();
  const paid = new Map<unknown, unknown>();
  return ({ method, path, body = {}, isKeyless }) => {
    const { client_ref_id: reference, amount, beneficiary_account: account } = body;
    const replied = (): ProbeResponse => {
      if (isKeyless) return response(401, { message: 'no key' });
      if (path.startsWith('/client/')) return response(200, { data: { balance: ABOVE_BALANCE_INR } });
      const isKnown = [...paid.keys()].some((known) => path.includes(String(known)));
      if (method === 'GET')
        return isKnown ? response(200, { data: { status: 'PENDING' } }) : response(404, {});
      if (Number(amount) > ABOVE_BALANCE_INR) refused.add(reference);
      if (refused.has(reference)) return response(402, {});
      if (paid.has(reference) && paid.get(reference) !== amount) return response(400, {});
      if (String(account).includes('@')) return response(400, {});
      paid.set(reference, amount);
      return response(200, { data: { txn_id: `txn-of-${reference}`, status: 'PENDING' } });
    };
    return Promise.resolve(replied());
  };
}
