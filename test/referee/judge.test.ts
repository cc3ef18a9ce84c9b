import { expect, test } from 'vitest';
import {
  CHECK_IDS,
  type CheckId,
  type Finding,
  type RefereeSettingsInput,
} from '../../src/contract/conduct.ts';
import type { TransactionResponse } from '../../src/contract/control-responses.ts';
import type { Evidence } from '../../src/referee/case.ts';
import { mergeReports } from '../../src/referee/judge.ts';
import {
  checkOf,
  creditAt,
  evidenceOf,
  expecting,
  lost,
  ORDERS,
  payoutOf,
  reportOn,
  underWay,
  type Line,
} from './journal-of.ts';
import { testRows } from '../support/test-rows.ts';

const DAY = 86_400_000;
/** The verdict of one check, and how grave its findings are. */
function verdictOf(id: CheckId, evidence: Evidence, settings: RefereeSettingsInput = {}): string {
  const { verdict, findings } = checkOf(id, evidence, settings);
  return [verdict, ...findings.map(({ severity }) => severity)].join(' ');
}

/** The evidence on a client that may go on. */
const stillRunning = (...given: Parameters<typeof evidenceOf>): Evidence => ({
  ...evidenceOf(...given),
  clientEnded: false,
});

const FAILED = { state: 'FAILED' };
const unknown: Line = { http: 500 };
const status = (line: Line = {}): Line => ({ route: 'status', ...line });
const NAMES_REFERENCE = { status: 400, headers: {}, body: { errors: [{ field: 'client_ref_id' }] } };
const again = (reference: string, line: Line = {}): Line => ({ reference, ...line });

test('a report has every check once, in the order of the table; without requests, none was exercised', () => {
  const { checks, passed, counts } = reportOn(evidenceOf([]));
  expect(checks.map(({ id }) => id)).toEqual(CHECK_IDS);
  expect([passed, counts.not_exercised]).toEqual([true, CHECK_IDS.length]);
});

test('the same evidence gives the same bytes, in whatever order the journal is listed', () => {
  const lines = [unknown, again('order-1-b'), status({ state: 'PENDING' })];
  const evidence = evidenceOf(lines);
  const report = JSON.stringify(reportOn(evidence, ORDERS));
  expect(JSON.stringify(reportOn(evidenceOf(lines), ORDERS))).toBe(report);
  const reversed = { ...evidence, requests: evidence.requests.toReversed() };
  expect(JSON.stringify(reportOn(reversed, ORDERS))).toBe(report);
});

const PENDING = { state: 'PENDING' };
const B = 'order-1-b';
const missing = status({ http: 404 });
const sees = (state: string): Line => status({ state });
const busy = (http: number): Line => ({ http, headers: { 'Retry-After': '30' } });
/** Two sends that were refused, the first at this balance and the second at that one. */
const refusedAt = (balance_after: number, balance_before: number, replayed = false): Line[] =>
  [{ balance_after }, { balance_before, replayed }].map((change) => ({ http: 402, change }));
const times = (count: number, line: Line): Line[] => Array.from({ length: count }, () => line);
/** A request that its client left while another one came, as the sandbox noticed after so long. */
const hangingFor = (tookMs: number): Line => ({
  http: 0,
  tookMs,
  endedAfter: 2,
  change: { fault: 'hang', outcome: 'fault' },
});
const inProgress: Line = { http: 409, change: { code: 'REQUEST_IN_PROGRESS' } };
const CORRECTED: Line = { ...PENDING, body: { beneficiary_account: '2' } };
type VerdictCase = [check: CheckId, verdict: string, lines: readonly Line[], settings?: RefereeSettingsInput];
const VERDICTS: readonly VerdictCase[] = [
  ['paid-twice', 'passed', [unknown, PENDING], ORDERS],
  ['paid-twice', 'passed', [unknown, sees('FAILED'), again(B, PENDING)], ORDERS],
  ['paid-twice', 'passed', [unknown, sees('REVERSED'), again(B)], ORDERS],
  ['paid-twice', 'found error', [PENDING, sees('FAILED'), sees('SUCCESS'), again(B)], ORDERS],
  // only the first has FAILED
  ['paid-twice', 'found error', [PENDING, sees('FAILED'), again(B, PENDING), again('order-1-c')], ORDERS],
  ['paid-twice', 'not_exercised', [{ http: 402 }, again(B, PENDING)], ORDERS],
  ['paid-twice', 'found warning', [unknown, { http: 402 }, again(B)], ORDERS],
  ['paid-twice', 'found warning', [unknown, missing, again(B)], ORDERS],
  ['paid-twice', 'found warning', [inProgress, again(B)], ORDERS],
  ['paid-twice', 'inconclusive', [unknown, again('order-2', { body: { amount: 5 } })]],
  ['paid-twice', 'found notice', [unknown, again('order-2')]],
  ['paid-twice', 'not_exercised', [PENDING, again('order-2', PENDING)]],
  ['paid-twice', 'passed', [unknown, again('order-2')], ORDERS],
  // the pattern finds nothing in a reference that may have paid: a mistyped one finds nothing in any
  ['paid-twice', 'inconclusive', [unknown, again('other-2')], ORDERS],
  ['paid-twice', 'passed', [unknown, again('other-2', { http: 400 })], ORDERS],
  // refused at first, and sent again once another reference had paid
  ['paid-twice', 'found error', [{ http: 402 }, again(B, PENDING), {}], ORDERS],
  // the reference whose payout FAILED made another one, as some dialects let it
  ['paid-twice', 'found error', [FAILED, PENDING, again(B)], ORDERS],
  ['paid-twice', 'found error', [PENDING, again('b', PENDING)], { intent: 'beneficiary_account' }],
  ['paid-twice', 'found warning', [unknown, again('b', { body: { remarks: 'x' } })], { intent: 'amount' }],
  // to another account while the first is not final: the same payout, corrected, or another one
  ['paid-twice', 'inconclusive', [PENDING, again('order-2', CORRECTED)]],
  ['paid-twice', 'inconclusive', [PENDING, again('order-2', CORRECTED)], { intent: 'beneficiary_account' }],
  ['paid-twice', 'not_exercised', [PENDING, sees('FAILED'), again('order-2', CORRECTED)]],
  ['paid-twice', 'not_exercised', [PENDING, again('order-2', CORRECTED)], ORDERS],
  ['same-payout-at-once', 'found error', [{ endedAfter: 2 }, again(B)], ORDERS],
  ['same-payout-at-once', 'passed', [{ endedAfter: 2 }, again('order-2')], ORDERS],
  ['same-payout-at-once', 'inconclusive', [{ endedAfter: 2 }, again('other-2')], ORDERS],
  ['same-payout-at-once', 'not_exercised', [{}, again(B)], ORDERS],
  ['same-payout-at-once', 'passed', [{ endedAfter: 2 }, again('order-2')], expecting(2)],
  ['same-payout-at-once', 'found notice', [{ endedAfter: 2 }, again('order-2')]],
  ['same-payout-at-once', 'inconclusive', [{ endedAfter: 2 }, again('order-2', { body: { amount: 5 } })]],
  ['same-reference-at-once', 'found warning', [{ endedAfter: 2 }, { change: { committed: false } }]],
  // the journal says what overlapped, also while another request is under way
  ['same-reference-at-once', 'passed', [{ atMs: 0, tookMs: 10 }, { atMs: 5 }, underWay()]],
  // its client left the first, which the sandbox noticed late, or only after that
  ['same-reference-at-once', 'passed', [hangingFor(1900), {}]],
  ['same-reference-at-once', 'found warning', [hangingFor(2100), {}]],
  ['reference-reused', 'found error', [PENDING, { body: { amount: 5 } }]],
  ['reference-reused', 'passed', [{ http: 400, body: { amount: -1 } }, {}]],
  ['resent-after-success', 'found warning', [PENDING, sees('SUCCESS'), {}]],
  ['resent-after-success', 'passed', [PENDING, status({ state: 'SUCCESS', endedAfter: 3 }), {}]],
  // seen while the first send was still under way, whose PENDING came later
  [
    'resent-after-success',
    'found warning',
    [{ ...PENDING, tookMs: 1500, endedAfter: 2 }, sees('SUCCESS'), { change: { committed: false } }],
  ],
  ['resent-after-success', 'passed', [sees('SUCCESS'), sees('REVERSED'), {}]],
  ['never-asked', 'found warning', [{ http: 200 }]],
  // the reference whose payout FAILED made another one, as some dialects let it
  ['never-asked', 'found warning', [FAILED, lost]],
  ['never-asked', 'inconclusive', [unknown, { http: 429 }, status({ http: 500 })]],
  // asked only while it was under way
  ['never-asked', 'found warning', [{ ...unknown, tookMs: 1500, endedAfter: 2 }, missing]],
  // asked after it was left, which the sandbox noticed late
  ['never-asked', 'passed', [hangingFor(1500), missing]],
  ['never-asked', 'passed', [unknown, PENDING]],
  ['never-asked', 'found warning', [lost, missing, inProgress]],
  ['never-asked', 'passed', [lost, inProgress, PENDING]],
  // two workers with one reference: the first was refused in the end
  ['never-asked', 'passed', [{ http: 402, tookMs: 1500, endedAfter: 2 }, inProgress]],
  ['never-asked', 'not_exercised', [{ http: 400 }, { http: 429 }]],
  // a rule with `commit: true` answered it so
  ['never-asked', 'inconclusive', [{ http: 429, change: { committed: true } }]],
  ['not-found-believed', 'found warning', [PENDING, missing]],
  ['not-found-believed', 'passed', [PENDING, missing, sees('PENDING')]],
  ['not-found-believed', 'passed', [PENDING, missing, PENDING]],
  ['not-found-believed', 'inconclusive', [PENDING, missing, missing, missing]],
  ['not-found-believed', 'inconclusive', [lost, missing, status({ http: 500 })]],
  ['not-found-believed', 'passed', [{ state: 'SUCCESS' }, missing]],
  // asked while the payout was still under way, whose answer came later
  ['not-found-believed', 'passed', [{ state: 'PENDING', tookMs: 1500, endedAfter: 2 }, missing]],
  [
    'not-found-believed',
    'found warning',
    [{ state: 'PENDING', tookMs: 1500, endedAfter: 2 }, status({ http: 404, tookMs: 600 })],
  ],
  ['not-found-believed', 'not_exercised', [unknown, missing]],
  // a timer may fire a little early
  ['retry-after-ignored', 'passed', [busy(429), { atMs: 28_520 }]],
  ['retry-after-ignored', 'found warning', [busy(429), { atMs: 28_000 }]],
  // it was sent before the 429 came, or by a client that left before that
  ['retry-after-ignored', 'not_exercised', [{ ...busy(429), endedAfter: 2 }, {}]],
  ['retry-after-ignored', 'not_exercised', [{ ...busy(429), change: { outcome: 'client_gone' } }, {}]],
  ['retry-after-ignored', 'not_exercised', [busy(500), {}]],
  ['retry-after-ignored', 'not_exercised', [busy(503), again('order-2')]],
  ['retry-after-ignored', 'not_exercised', [{ http: 429, headers: { 'Retry-After': '1.5' } }, {}]],
  ['endless-retry', 'found warning', times(11, unknown)],
  ['endless-retry', 'passed', times(10, unknown)],
  ['endless-retry', 'found warning', [unknown, unknown, unknown], { limits: { sends: 2 } }],
  ...[400, 401, 403, 413, 415, 422].map((http): VerdictCase => [
    'refusal-repeated',
    'found warning',
    [{ http }, { http }],
  ]),
  ['refusal-repeated', 'passed', [{ http: 400, body: { amount: -1 } }, {}]],
  ['refusal-repeated', 'found notice', [{ http: 400 }, again('another', { http: 400 })]],
  ['refusal-repeated', 'found warning', [{ http: 400 }, again(B, { http: 400 })], ORDERS],
  ['refusal-repeated', 'passed', [{ http: 400 }, again('order-2', { http: 400 })], ORDERS],
  ['refusal-repeated', 'passed', [{ http: 400, endedAfter: 2 }, again('another', { http: 400 })]],
  ['refusal-repeated', 'passed', [{ http: 400 }, again('another', { body: { amount: 5 } })]],
  // the reference was what was wrong
  ['refusal-repeated', 'passed', [{ http: 400, change: { answer: NAMES_REFERENCE } }, again('another')]],
  ['refusal-repeated', 'not_exercised', [{ http: 409 }, { http: 409 }]],
  ['refusal-repeated', 'not_exercised', times(2, { http: 400, change: { code: 'DUPLICATE_REFERENCE' } })],
  ['refusal-repeated', 'not_exercised', [unknown, { http: 400 }, { http: 400 }]],
  ['refusal-repeated', 'passed', [{ http: 402 }, { http: 402, atMs: 60_010 }]],
  ['refusal-repeated', 'found warning', [{ http: 402 }, { http: 402, atMs: 59_000 }]],
  ['refusal-repeated', 'passed', [{ http: 402, endedAfter: 2 }, { http: 402 }]],
  ['refusal-repeated', 'found warning', [{ http: 402 }, { route: 'balance', balance: 99 }, { http: 402 }]],
  ['refusal-repeated', 'passed', [{ http: 402 }, { route: 'balance', balance: 100 }, { http: 402 }]],
  ['refusal-repeated', 'passed', [{ http: 402 }, again('order-2')]],
  ['refusal-repeated', 'passed', refusedAt(5, 6)],
  // the service keeps its first response, whatever the wallet has by then
  ['refusal-repeated', 'passed', [...refusedAt(5, 500, true), again(B, PENDING)], ORDERS],
  ['refusal-repeated', 'found warning', [...refusedAt(5, 500), again(B, PENDING)], ORDERS],
  ['poll-storm', 'found warning', times(31, sees('PENDING'))],
  ['poll-storm', 'passed', times(30, sees('PENDING'))],
  ['poll-storm', 'passed', Array.from({ length: 40 }, (_, nth) => status({ atMs: nth * 600_000 }))],
  ['poll-storm', 'found warning', Array.from({ length: 40 }, (_, nth) => status({ atMs: nth * 599_000 }))],
  ['poll-storm', 'passed', [...times(30, sees('PENDING')), ...times(30, sees('SUCCESS'))]],
  ['poll-storm', 'found warning', [status(), status()], { limits: { reads: 1 } }],
  ['no-timeout', 'found warning', [{ http: 0, tookMs: 10_001, change: { fault: 'hang' } }]],
  ['no-timeout', 'passed', [{ http: 0, tookMs: 10_000, change: { fault: 'hang' } }]],
  ['no-timeout', 'found warning', [{ tookMs: 11 }], { limits: { patience: '10ms' } }],
  ['amount-not-paise', 'found error', [{ body: { amount: 10.005 } }]],
  ['amount-not-paise', 'found error', [{ body: { amount: '10' } }]],
  ['amount-not-paise', 'passed', [{ body: { amount: 10.05 } }]],
];

testRows(VERDICTS)(
  'every check has the verdict that its case calls for',
  (check, verdict, lines, settings) => {
    expect(verdictOf(check, evidenceOf(lines), settings)).toBe(verdict);
  },
);

test('money that came in between two sends excuses the second after a 402', () => {
  const lines = [{ http: 402 }, { http: 402 }];
  expect(verdictOf('refusal-repeated', evidenceOf(lines, { entries: [creditAt(500)] }))).toBe('passed');
  expect(verdictOf('refusal-repeated', evidenceOf(lines, { entries: [creditAt(1500)] }))).toBe(
    'found warning',
  );
  // it came before the first, at the same time of a frozen clock, as the balances show
  expect(verdictOf('refusal-repeated', evidenceOf(refusedAt(5, 5), { entries: [creditAt(0)] }))).toBe(
    'found warning',
  );
});

test('no message calls a payout paid whose money was returned', () => {
  const failed = { payouts: [payoutOf('order-1', [['FAILED', 500]]), payoutOf('order-1-b', [])] };
  const messages = (...lines: Line[]): readonly string[] =>
    reportOn(evidenceOf([lost, ...lines], failed), ORDERS).checks.flatMap(({ findings }) =>
      findings.map(({ message }) => message),
    );
  expect(messages()).toEqual(['order-1 is FAILED (₹100.00), and the client never found out']);
  expect(messages(status({ http: 404 }))).toEqual([
    'the client believed that order-1 does not exist, although it exists and is FAILED (₹100.00)',
  ]);
  expect(messages(again('order-1-b', { state: 'PENDING' }))[0]).toBe(
    'order-1-b is a second payment of order-1: ₹100.00 (order-1 is FAILED, which the client did not know then)',
  );
});

test('no more counts as too much than is out in the end, and a client that got its money back was lucky', () => {
  const firstOf = (settings: RefereeSettingsInput, ...states: ('FAILED' | 'SUCCESS')[]): Partial<Finding> => {
    const references = ['order-1', 'order-1-b', 'order-1-c'].slice(0, states.length);
    const payouts = references.map((reference, nth) => payoutOf(reference, [[states[nth]!, 500]]));
    const lines = references.map((reference) => again(reference, lost));
    const evidence = evidenceOf(lines, { payouts });
    const { severity, message, amount } = checkOf('paid-twice', evidence, settings).findings[0]!;
    return { severity, message, amount };
  };
  expect(firstOf({ intent: 'beneficiary_account' }, 'FAILED', 'FAILED')).toMatchObject({
    severity: 'warning',
    amount: 100,
  });
  expect(firstOf(ORDERS, 'SUCCESS', 'FAILED')).toEqual({
    severity: 'warning',
    message:
      'order-1-b is a second payment of order-1: ₹100.00 (order-1-b is FAILED, which the client did not know then)',
    amount: 100,
  });
  expect(firstOf(ORDERS, 'FAILED', 'SUCCESS', 'SUCCESS')).toEqual({
    severity: 'error',
    message:
      'order-1-b and order-1-c are further payments of order-1: ₹100.00 too much (order-1 is FAILED, which the client did not know then)',
    amount: 100,
  });
});

test('a payout that nobody asked for is reported beside the sends that were under way together', () => {
  const lines: Line[] = [{ ...lost, tookMs: 1500, endedAfter: 2 }, unknown];
  const found = (evidence: Evidence) =>
    reportOn(evidence).checks.flatMap(({ id, findings }) => findings.map(() => id));
  expect(found(evidenceOf(lines))).toEqual(['same-reference-at-once', 'never-asked']);
  // without a payout, no money is at stake
  expect(found(evidenceOf([{ ...lines[0]!, change: {} }, unknown]))).toEqual(['same-reference-at-once']);
});

test('a reference belongs to the payout that it made, not to a send that was refused and corrected', () => {
  const to = (beneficiary_account: string, reference: string, line: Line = {}): Line =>
    again(reference, { body: { beneficiary_account }, ...line });
  const lines = [to('1', 'order-1', { http: 400 }), to('2', 'order-1'), to('1', 'order-2')];
  const payouts = [
    payoutOf('order-1', [], { beneficiary_account: '2' }),
    payoutOf('order-2', [], { beneficiary_account: '1' }),
  ];
  const evidence = evidenceOf(lines, { payouts });
  expect(verdictOf('paid-more-often', evidence, { intent: 'beneficiary_account' })).toBe('passed');
});

test('what a table shows to be too much is found once, with what the intent shows', () => {
  const messages = (lines: readonly Line[], references: readonly string[]) => {
    const payouts = references.map((reference) => payoutOf(reference, [['SUCCESS', 500]]));
    const evidence = evidenceOf(lines, { payouts });
    const found = (['paid-twice', 'expectation-missed'] as const).flatMap(
      (id) => checkOf(id, evidence, { ...ORDERS, ...expecting(1) }).findings,
    );
    return found.map(({ message }) => message.replace('000123456789', 'account'));
  };
  const three = [lost, again(B), again('order-2')];
  const second = 'order-1-b is a second payment of order-1: ₹100.00 too much';
  expect(messages(three, ['order-1', B, 'order-2'])).toEqual([
    second,
    'account: paid ₹100.00 3 times, expected once',
  ]);
  // the first send of the second reference did not pay
  expect(messages([lost, again(B, unknown), again(B)], ['order-1', B])).toEqual([second]);
  // the earlier reference did not pay
  expect(messages([unknown, again(B), again('order-2')], [B, 'order-2'])).toEqual([
    'order-1-b could be a second payment of order-1: ₹100.00',
    'account: paid ₹100.00 twice, expected once',
  ]);
});

const WAIT =
  /^read the status of order-1 until it is final, and pay again only after FAILED or REVERSED; store .* send$/;
const OTHER_MODE: Line = { body: { transfer_mode: 'NEFT' } };
const BOTH_PAID = ['order-1', B].map((reference) => payoutOf(reference, [['SUCCESS', 5]]));
const PAYS_AGAIN = [payoutOf('order-1', []), payoutOf('order-1', [], { txn_id: 'TXN-2', nth: 2 })];

testRows<[CheckId, RegExp, Line[], RefereeSettingsInput?, TransactionResponse[]?]>([
  ['paid-twice', WAIT, [PENDING, again(B)], ORDERS],
  ['paid-twice', WAIT, [lost, sees('SUCCESS'), again(B)], ORDERS],
  [
    'paid-twice',
    /^read the status of order-1, or send order-1 again; store .* send$/,
    [lost, again(B)],
    ORDERS,
  ],
  // where a repeated reference pays again, it is not sent again
  ['paid-twice', /^read the status of order-1; store/, [lost, again(B)], ORDERS, PAYS_AGAIN],
  [
    'paid-twice',
    /; if these were meant to be separate payouts, use another/,
    [lost, again(B)],
    { intent: 'amount' },
  ],
  [
    'reference-reused',
    /^read the status of order-1 first; .* only after a refusal, FAILED/,
    [lost, OTHER_MODE],
  ],
  ['reference-reused', /^use a new reference for each new payout/, [FAILED, OTHER_MODE]],
  // reported as FAILED, and paid all the same
  [
    'paid-more-often',
    /^wait before a payout is sent again: read the status of order-1 for some time/,
    [PENDING, sees('FAILED'), again(B)],
    ORDERS,
    BOTH_PAID,
  ],
  ['poll-storm', /^REVERSED is final/, times(31, sees('REVERSED'))],
  ['poll-storm', /^poll less and less often/, times(31, sees('PENDING'))],
])('the advice of %s fits what the client knew: %s', (check, fix, lines, settings = {}, payouts = []) => {
  expect(checkOf(check, evidenceOf(lines, { payouts }), settings).findings[0]!.fix).toMatch(fix);
});

test('a payout that is sent twice while another is under way counts once', () => {
  const lines = [{ endedAfter: 3, tookMs: 3000 }, again(B), again(B, { change: { committed: false } })];
  expect(checkOf('same-payout-at-once', evidenceOf(lines), ORDERS).findings).toMatchObject([
    {
      message: 'order-1-b was sent for the payout of order-1 while that was under way: ₹100.00',
      amount: 100,
    },
  ]);
});

test('a 500 is no reason to pay an account again once the SUCCESS of its payout was seen', () => {
  const other = again('order-2', { body: { remarks: 'the deposit' } });
  const payouts = ['order-1', 'order-2'].map((reference) => payoutOf(reference, [['SUCCESS', 500]]));
  const often = (...lines: Line[]) => verdictOf('paid-more-often', evidenceOf(lines, { payouts }));
  expect(often(lost, other)).toBe('found warning');
  expect(often(lost, sees('SUCCESS'), other)).toBe('inconclusive');
  expect(often({ ...lost, tookMs: 3000, endedAfter: 2 }, other)).toBe('found warning');
});

test('a payout last seen PENDING counts as forgotten only if its client sends requests after it settled', () => {
  const paid = { payouts: [payoutOf('order-1', [['SUCCESS', 2000]])] };
  const verdict = (...lines: Line[]) => verdictOf('pending-left', evidenceOf(lines, paid));
  const other = (atMs: number) => again('order-2', { state: 'PENDING', atMs });
  const seen = (state: string) => status({ state, atMs: 3000 });
  expect(verdict(PENDING, other(2000))).toBe('found notice');
  expect(verdictOf('pending-left', stillRunning([PENDING, other(2000)], paid))).toBe('inconclusive');
  expect(verdict(PENDING)).toBe('not_exercised');
  expect(verdict(PENDING, other(1999))).toBe('not_exercised');
  expect(verdict(PENDING, seen('PENDING'))).toBe('not_exercised'); // its client was gone after that
  expect(verdict(PENDING, seen('SUCCESS'))).toBe('passed');
  expect(verdict(PENDING, seen('SUCCESS'), seen('PENDING'), other(DAY))).toBe('passed'); // a stale read
});

test('pending-left does not pass for a client that has followed only one of its payouts', () => {
  const left = evidenceOf(
    [PENDING, again(B, { state: 'PENDING', atMs: 1000 }), status({ state: 'SUCCESS', atMs: 1500 })],
    { payouts: [payoutOf('order-1', [['SUCCESS', 1500]]), payoutOf(B, [['SUCCESS', 2000]])] },
  );
  expect(checkOf('pending-left', left)).toMatchObject({
    verdict: 'inconclusive',
    reason: 'the client sent no more requests after order-1-b had settled, last seen PENDING',
  });
});

test('a reversal counts as unseen only if its client saw the SUCCESS and pays others later', () => {
  const reversed = {
    payouts: [
      payoutOf('order-1', [
        ['SUCCESS', 500],
        ['REVERSED', DAY],
      ]),
    ],
  };
  const verdict = (...lines: Line[]) => verdictOf('reversal-unseen', evidenceOf(lines, reversed));
  const saw = [PENDING, sees('SUCCESS')];
  const later = again('order-2', { atMs: 2 * DAY });
  expect(verdict(...saw, later)).toBe('found warning');
  expect(verdictOf('reversal-unseen', stillRunning([...saw, later], reversed))).toBe('inconclusive');
  expect(verdict(...saw)).toBe('not_exercised');
  expect(verdict(...saw, status({ state: 'REVERSED', atMs: 2 * DAY }), later)).toBe('passed');
  expect(verdict(PENDING, status({ state: 'REVERSED', atMs: 2 * DAY }), later)).toBe('not_exercised');
});

test('the expected payouts are compared with what the ledger shows as paid, a missing one once the client has ended', () => {
  const paid = payoutOf('order-1', [['SUCCESS', 500]]);
  const failed = payoutOf('order-2', [['FAILED', 500]]);
  const second = payoutOf('order-2', []);
  const wrong = payoutOf('order-2', [], { amount: 99 });
  const missed = (...payouts: (typeof paid)[]) =>
    verdictOf('expectation-missed', evidenceOf([PENDING, again('order-2')], { payouts }), expecting(1));
  expect(missed(paid, failed)).toBe('passed');
  expect(missed(second)).toBe('inconclusive'); // it is PENDING, and may fail
  expect(missed(failed)).toBe('found error');
  expect(missed(wrong)).toBe('found error error');
  expect(verdictOf('expectation-missed', stillRunning([]), expecting(1))).toBe('inconclusive');
  const other = { expect: [{ account: '123456789', amount: 100, times: 1 }] };
  expect(checkOf('expectation-missed', evidenceOf([], { payouts: [paid] }), other).findings).toMatchObject([
    { message: '123456789: not paid ₹100.00, expected once' },
    { message: '000123456789: paid ₹100.00, not expected' },
  ]);
  const twice = (other: typeof paid): Evidence => ({ ...evidenceOf([], { payouts: [paid, other] }) });
  expect(verdictOf('expectation-missed', twice(failed), expecting(1))).toBe('passed');
  expect(verdictOf('expectation-missed', { ...twice(second), evicted: 2 }, expecting(1))).toBe('found error');
});

test('a request that still hangs counts as waiting until now', () => {
  const at = (wall_now: string) => verdictOf('no-timeout', { ...evidenceOf([underWay()]), wall_now });
  expect(at('2026-01-15T10:30:10.000Z')).toBe('not_exercised');
  expect(at('2026-01-15T10:30:10.001Z')).toBe('found warning');
});

test('no check passes when requests were dropped from the journal', () => {
  const evidence = { ...evidenceOf([unknown, {}]), evicted: 5 };
  const { counts } = reportOn(evidence);
  expect(counts).toMatchObject({ passed: 0, not_exercised: 0 });
  expect(verdictOf('never-asked', { ...evidenceOf([unknown]), evicted: 5 })).toBe('found warning');
});

test('a report keeps a hundred findings of a check, and counts the others', () => {
  const lines = Array.from({ length: 103 }, (_, index) => again(`order-${index}`, { body: { amount: '1' } }));
  const report = reportOn(evidenceOf(lines));
  const both = mergeReports([report, report]);
  const counted = [report, both].map(({ checks, counts }) => {
    const { findings, more } = checks.find(({ id }) => id === 'amount-not-paise')!;
    return [findings.length, more, counts.error];
  });
  expect(counted).toEqual([
    [100, 3, 103],
    [100, 106, 206],
  ]);
  expect(both.duration_ms).toBe(2 * report.duration_ms);
});

test('a finding shows its first eleven requests, and the last', () => {
  const lines = Array.from({ length: 20 }, (_, index) => again(`order-1-${index}`, lost));
  const { requests } = checkOf('paid-twice', evidenceOf(lines), ORDERS).findings[0]!;
  expect(requests).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20]);
});

test('control characters of a client do not get into the sentences of a report', () => {
  const { checks } = reportOn(evidenceOf([again('\u001b[31m\n', { http: 500 })]));
  const [{ message, knew, fix, lines }] = checks.flatMap(({ findings }) => findings) as [Finding];
  expect([message, knew, fix, ...lines].join('')).not.toMatch(/\p{C}/u);
});
