import { sendsSandboxHeaders } from './response-shape.ts';
import {
  initiateRequest,
  isAccepted,
  ProbeStopped,
  type Asked,
  type PayoutFields,
  type ProbeResponse,
  type ProbeRun,
} from './probe-exchange.ts';

/** Above the limits of IMPS (₹5,00,000) and UPI (₹1,00,000), and more above the balance than a top-up is likely to add. */
const ABOVE_LIMITS_INR = 600_000;
const ABOVE_BALANCE_INR = 100_000;

export const NOT_AN_IFSC = 'PROBE';
export const UNKNOWN_FIELD = { probe_field: 'probe' };

export const warningOf = ({ headers }: ProbeResponse): string => headers['x-sandbox-warning'] ?? '';

/**
 * Level `refused`: six POSTs above the balance, so that no rupee moves. The first is otherwise valid, and must get a 402. None may
 * be accepted: a service that ignores the balance gets no further one. After the first, a 400 shows what a service refuses. A
 * 402 shows that it accepts something only if it is known to check the request before the balance, as a sandbox does.
 *
 * @returns the reference that was refused with 402
 */
export async function refusedLevel(run: ProbeRun, balance: number): Promise<string> {
  const { ask, learned, reference, beneficiary } = run;
  const amount = Math.max(ABOVE_LIMITS_INR, Math.ceil(balance) + ABOVE_BALANCE_INR);
  const post = async (change: Omit<PayoutFields, 'amount'>, why: string): Promise<Asked> => {
    const asked = await ask(initiateRequest(beneficiary, { ...change, amount }, why));
    if (!isAccepted(asked.response)) return asked;
    throw new ProbeStopped(
      `a payout above the balance was accepted, so this service is not safe to probe: ${asked.evidence}`,
    );
  };
  const first = reference('first');
  const baseline = await post(
    { reference: first, mode: 'NEFT' },
    'does a payout above the balance get a 402',
  );
  if (baseline.response.status !== 402) {
    throw new ProbeStopped(`a payout above the balance must get a 402: ${baseline.evidence}`);
  }
  const NEEDS_PAY = 'it got a 402, which a service may send before it checks the request: needs --level pay';

  /** Learns a row whose choices are warn, refuse and ignore. */
  const learnSeverity = (row: string, { response, evidence }: Asked): void => {
    if (response.status === 400) learned.learn(row, 'refuse', evidence);
    else if (response.status !== 402) learned.unknown(row, evidence);
    else if (warningOf(response) !== warningOf(baseline.response))
      learned.learn(row, 'warn', `${evidence}, ${warningOf(response)}`);
    else if (sendsSandboxHeaders(learned)) learned.learn(row, 'ignore', evidence);
    else learned.unknown(row, NEEDS_PAY);
  };

  const asked = [
    ['requests.formats', 'format', { mode: 'NEFT', ifsc: NOT_AN_IFSC }, 'is a wrong IFSC refused'],
    [
      'requests.unknown_fields',
      'field',
      { mode: 'NEFT', more: UNKNOWN_FIELD },
      'is an unknown field refused',
    ],
    ['requests.mode_limits', 'limit', { mode: 'IMPS' }, 'is an amount above the limit of IMPS refused'],
  ] as const;
  for (const [row, kind, change, why] of asked) {
    learnSeverity(row, await post({ reference: reference(kind), ...change }, why));
  }

  // the two differ in nothing but the account
  const account = await post(
    { reference: reference('upi-account'), mode: 'UPI' },
    'UPI to an account number',
  );
  const upiId = await post(
    { reference: reference('upi-id'), mode: 'UPI', account: beneficiary.upi },
    'is a UPI ID refused, where an account number is not',
  );
  const row = 'requests.upi_beneficiary';
  const formats = learned.valueOf('requests.formats');
  if (account.response.status !== 402) {
    learned.unknown(row, `${account.evidence}: needs --level pay`);
  } else if (upiId.response.status === 400) {
    learned.learn(row, 'account', upiId.evidence);
  } else if (upiId.response.status !== 402 || !sendsSandboxHeaders(learned)) {
    learned.unknown(row, upiId.response.status === 402 ? NEEDS_PAY : upiId.evidence);
  } else if (warningOf(upiId.response) !== warningOf(account.response)) {
    learned.learn(row, 'account', `${upiId.evidence}, ${warningOf(upiId.response)}`);
  } else if (formats === 'warn' || formats === 'refuse') {
    learned.learn(row, 'account_or_upi_id', upiId.evidence);
  } else {
    learned.unknown(row, 'a service that ignores formats shows no difference');
  }
  return first;
}
