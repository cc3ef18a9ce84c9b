import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';

const URL = __ENV.PAYOUT_URL || 'http://127.0.0.1:3000';

export const options = {
  vus: 20,
  duration: '30s',
  thresholds: { checks: ['rate==1'], http_req_duration: ['p(99)<250'] },
};

/** Each virtual user has a key, and so a world of its own; each payout a reference of its own. */
export default function pay() {
  const params = {
    headers: {
      Authorization: `Bearer sk_test_load_${exec.vu.idInTest}`,
      'Content-Type': 'application/json',
    },
  };
  const reference = `load-${exec.vu.idInTest}-${exec.vu.iterationInScenario}`;
  const paid = http.post(
    `${URL}/payout/initiate`,
    JSON.stringify({
      client_ref_id: reference,
      beneficiary_name: 'Asha Rao',
      beneficiary_account: '000123456789',
      beneficiary_ifsc: 'SBIN0000001',
      amount: 1,
      transfer_mode: 'IMPS',
    }),
    params,
  );
  check(paid, { 'it is taken': ({ status }) => status === 200 });
  const status = http.get(`${URL}/payout/status?client_ref_id=${reference}`, params);
  check(status, { 'it is known': (answer) => answer.json('data.client_ref_id') === reference });
}
