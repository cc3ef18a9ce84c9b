import { isNotFound } from './response-shape.ts';
import {
  dataOf,
  initiateRequest,
  isAccepted,
  ProbeStopped,
  statusRequest,
  textIn,
  type Asked,
  type PayoutFields,
  type ProbeRun,
} from './probe-exchange.ts';
import { NOT_AN_IFSC, UNKNOWN_FIELD, warningOf } from './refused-level.ts';

/** The most money that level `pay` may move. */
export const MOST_INR = 6;
const AMOUNT_INR = 1;
const OTHER_AMOUNT_INR = 2;
const MOST_READS = 10;

/** A POST that may make a payout. Null when it was not sent, since it could exceed the most that may move. */
type Paid = (Asked & { readonly txnId: string | null; readonly isNew: boolean }) | null;

const UNSENT = `not asked: ₹${MOST_INR} is the most that this level moves`;
const ALIKE = 'accepted; warn and ignore look the same without the headers of a sandbox';

/** Level `pay`: at most nine POSTs of ₹1 and ₹2, which move at most ₹6. */
export async function payLevel(run: ProbeRun, balance: number, refusedReference: string): Promise<void> {
  const { ask, learned, reference, beneficiary, payouts } = run;
  if (balance < MOST_INR)
    throw new ProbeStopped(`level pay needs ₹${MOST_INR} in the wallet, and there is ₹${balance}`);
  const known = (row: string): boolean => learned.valueOf(row) !== null;

  const pay = async (fields: PayoutFields, why: string): Promise<Paid> => {
    const moved = payouts.reduce((sum, { amount }) => sum + amount, 0);
    if (moved + fields.amount > MOST_INR) return null;
    const before = payouts.length;
    const { response, evidence } = await ask(initiateRequest(beneficiary, fields, why));
    const txnId = textIn(dataOf(response), 'txn_id');
    return { response, txnId, isNew: payouts.length > before, evidence };
  };
  /** Learns a row by the status of a response. @param accepted what a txn_id shows; null when that is not known */
  const learnStatus = (
    row: string,
    paid: Paid,
    accepted: (paid: NonNullable<Paid>) => string | null,
    alike = ALIKE,
  ): void => {
    if (paid === null) return learned.unknown(row, UNSENT);
    const { response, evidence, txnId } = paid;
    if (!isAccepted(response)) return learned.learn(row, response.status, evidence);
    const value = txnId === null ? null : accepted(paid);
    if (value !== null) learned.learn(row, value, evidence);
    else learned.unknown(row, `${txnId === null ? 'accepted without a txn_id' : alike}: ${evidence}`);
  };
  /** Learns a row from a response with 2xx or 400. */
  const learnRefusal = (row: string, paid: Paid, accepted: string | null): void => {
    if (paid?.response.status === 400) learned.learn(row, 'refuse', paid.evidence);
    else if (paid !== null && !isAccepted(paid.response)) learned.unknown(row, paid.evidence);
    else learnStatus(row, paid, ({ response }) => accepted ?? (warningOf(response) === '' ? null : 'warn'));
  };

  const own = { reference: reference('payout'), amount: AMOUNT_INR, mode: 'IMPS' } as const;
  const first = await pay(own, 'a payout');
  const { txnId = null } = first ?? {};
  if (txnId === null) throw new ProbeStopped(`a payout must get a 2xx with data.txn_id: ${first?.evidence}`);

  const readStatus = async (why: string) => {
    const { response, evidence } = await ask(statusRequest({ client_ref_id: own.reference }, why));
    return { data: dataOf(response), evidence };
  };
  const early = await readStatus('completed_at of a PENDING payout');
  if (textIn(early.data, 'status') !== 'PENDING') {
    learned.unknown('status.completed_at_while_pending', 'the payout was not seen PENDING');
  } else if (!('completed_at' in early.data)) {
    learned.learn('status.completed_at_while_pending', 'absent', early.evidence);
  } else if (early.data['completed_at'] === null) {
    learned.learn('status.completed_at_while_pending', 'null', early.evidence);
  }

  await learnBoth(run, own.reference, txnId);

  let state = textIn(early.data, 'status');
  for (let reads = 0; state === 'PENDING' && reads < MOST_READS; reads += 1) {
    await run.pause();
    const { data, evidence } = await readStatus(
      `is it settled (again while it is PENDING, at most ${MOST_READS} times)`,
    );
    state = textIn(data, 'status');
    if (state === 'FAILED')
      learned.learn('status.utr_of_failed', data['utr'] === null ? 'null' : 'set', evidence);
  }

  learnStatus(
    'client_ref_id.same_body',
    await pay(own, 'the same reference with the same body'),
    (again) => {
      if (again.isNew) return 'second_payout';
      const shown = textIn(dataOf(again.response), 'status');
      if (shown === 'PENDING') return state === 'PENDING' ? null : 'first_answer';
      return shown === null ? null : 'replay';
    },
    'no second payout; replay and first_answer look the same until it is settled',
  );
  const changed = await pay({ ...own, amount: OTHER_AMOUNT_INR }, 'the same reference with another amount');
  learnStatus('client_ref_id.changed_body', changed, ({ isNew }) => (isNew ? 'second_payout' : 'replay'));

  const retried = await pay({ ...own, reference: refusedReference }, 'a reference that was refused with 402');
  if (retried?.response.status === 402)
    learned.learn('client_ref_id.after_402', 'remember', retried.evidence);
  else learnStatus('client_ref_id.after_402', retried, () => 'forget');

  const asked = [
    [
      'requests.unknown_fields',
      'paid-field',
      { more: UNKNOWN_FIELD },
      'is an unknown field refused',
      'ignore',
    ],
    ['requests.formats', 'paid-format', { ifsc: NOT_AN_IFSC }, 'is a wrong IFSC refused', null],
    [
      'requests.mode_limits',
      'paid-limit',
      { mode: 'RTGS' },
      'is an amount below the minimum of RTGS refused',
      null,
    ],
  ] as const;
  for (const [row, kind, change, why, accepted] of asked) {
    if (known(row)) continue;
    learnRefusal(row, await pay({ ...own, reference: reference(kind), ...change }, why), accepted);
  }
  if (!known('requests.upi_beneficiary')) await learnUpi(run, pay, own);
}

const isFound = ({ response }: Asked): boolean => textIn(dataOf(response), 'status') !== null;

/** Which parameter of status counts, found by combining it with one that was never used. */
async function learnBoth({ ask, learned, reference }: ProbeRun, own: string, txnId: string): Promise<void> {
  const row = 'status.both';
  const readBoth = (clientRefId: string, id: string, why: string): Promise<Asked> =>
    ask(statusRequest({ client_ref_id: clientRefId, txn_id: id }, why));
  const agreeing = await readBoth(own, txnId, 'both parameters, of one payout');
  if (!isFound(agreeing)) {
    if (agreeing.response.status === 400) learned.learn(row, 400, agreeing.evidence);
    else learned.unknown(row, agreeing.evidence);
    return;
  }
  const unused = reference('unused');
  const byReference = await readBoth(own, unused, 'both parameters, an unknown txn_id');
  const byTxnId = await readBoth(unused, txnId, 'both parameters, an unknown client_ref_id');
  const [one, other] = [byReference.response, byTxnId.response];
  if (isFound(byReference) && isNotFound(other, learned))
    learned.learn(row, 'client_ref_id', byReference.evidence);
  else if (isFound(byTxnId) && isNotFound(one, learned)) learned.learn(row, 'txn_id', byTxnId.evidence);
  else if (isNotFound(one, learned) && isNotFound(other, learned))
    learned.learn(row, 'same', byReference.evidence);
  else learned.unknown(row, `${byReference.evidence}; ${byTxnId.evidence}`);
}

/** Whether a UPI ID is accepted in place of an account number. */
async function learnUpi(
  { learned, reference, beneficiary }: ProbeRun,
  pay: (fields: PayoutFields, why: string) => Promise<Paid>,
  own: PayoutFields,
): Promise<void> {
  const row = 'requests.upi_beneficiary';
  const byUpi = { ...own, mode: 'UPI' } as const;
  const upiId = await pay(
    { ...byUpi, reference: reference('paid-upi-id'), account: beneficiary.upi },
    'is a UPI ID refused',
  );
  if (upiId === null) return learned.unknown(row, UNSENT);
  if (isAccepted(upiId.response)) {
    if (upiId.txnId !== null && learned.valueOf('requests.formats') === 'refuse')
      learned.learn(row, 'account_or_upi_id', upiId.evidence);
    else learned.unknown(row, `accepted, but a service may accept any unusual format: ${upiId.evidence}`);
    return;
  }
  const account = await pay(
    { ...byUpi, reference: reference('paid-upi-account') },
    'UPI to an account number',
  );
  if (upiId.response.status === 400 && (account?.txnId ?? null) !== null)
    learned.learn(row, 'account', upiId.evidence);
  else learned.unknown(row, account === null ? UNSENT : `${upiId.evidence}; ${account.evidence}`);
}
