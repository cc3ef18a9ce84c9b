import { expect, test } from 'vitest';
import type { JournalEntry, RuleAnswer, TransactionAnswer } from '../../src/contract/control-answers.ts';
import { NO_FILTER, wantedPayouts } from '../../src/dashboard/lists/payout-filter.ts';
import { seenText } from '../../src/dashboard/lists/request-filter.ts';
import { RequestList } from '../../src/dashboard/lists/request-list.ts';
import { failureText, orderedFailure } from '../../src/dashboard/header/ordered-failure.ts';

/** A request that made a payout, as far as the page looks at it here. */
const request = (id: number, change: object): JournalEntry =>
  ({
    id,
    txn_id: `T${id}`,
    committed: true,
    outcome: 'answered',
    answer: { status: 200 },
    ...change,
  }) as JournalEntry;

const listOf = (...requests: readonly JournalEntry[]): RequestList => {
  const list = new RequestList(10);
  list.begin(requests, 0);
  return list;
};

test.each([
  ['an error status', { answer: { status: 500 } }, 'client saw 500'],
  [
    'a broken connection',
    { outcome: 'fault', answer: null, fault: 'connection-reset' },
    'client saw connection-reset',
  ],
  ['a hang', { outcome: 'fault', answer: null, fault: 'hang' }, 'client saw no answer'],
  ['a client that left', { outcome: 'client_gone', answer: null }, 'client saw no answer'],
  ['an answer that has not come yet', { outcome: 'pending', answer: null }, 'client still waits'],
])('a payout is at risk after %s', (_what, change, seen) => {
  const entry = request(1, change);
  expect([...listOf(entry).atRisk.keys()]).toEqual(['T1']);
  expect(seenText(entry)).toBe(seen);
});

test.each([
  ['its client saw the success', {}],
  ['nothing was paid', { committed: false, answer: { status: 500 } }],
  ['the request only read', { committed: null, answer: { status: 500 } }],
])('no money is at risk when %s', (_what, change) => {
  expect(listOf(request(1, change)).atRisk.size).toBe(0);
});

test('a payout is no longer at risk once the answer that its client waited for arrives', () => {
  const list = listOf(
    request(1, { outcome: 'pending', answer: null }),
    request(2, { answer: { status: 500 } }),
  );
  list.take([request(1, {})]);
  expect([...list.atRisk.keys()]).toEqual(['T2']);
});

test('a payout stays at risk after its request was dropped from a full list', () => {
  const list = new RequestList(1);
  list.take([request(1, { answer: { status: 500 } })]);
  list.take([request(2, {})]);
  expect(list.rows.map(({ id }) => id)).toEqual([2]);
  expect([...list.atRisk.keys()]).toEqual(['T1']);
});

test('the filter shows the payouts at risk, whatever their state', () => {
  const rows = ['T1', 'T2'].map((id) => ({ txn_id: id, status: 'SUCCESS', amount: 1 }) as TransactionAnswer);
  const wanted = wantedPayouts(rows, { ...NO_FILTER, state: 'at-risk' }, new Set(['T2']));
  expect(wanted.map(({ txn_id: id }) => id)).toEqual(['T2']);
});

const rule = (document: object, change: Partial<RuleAnswer> = {}): RuleAnswer => ({
  id: 'world/r',
  name: 'r',
  from: 'world',
  description: '',
  matched: 0,
  taken: 0,
  rule: document,
  ...change,
});
const every = { match: { route: 'initiate' } };

test.each([
  [{ ...every, effect: { respond: { status: 500 } } }, 'Every payout is answered 500, and is not made'],
  [{ ...every, effect: { commit: true, respond: 503 } }, 'Every payout is answered 503, although it is made'],
  [{ ...every, effect: { commit: true, fault: 'hang' } }, 'Every payout gets no answer, although it is made'],
  [
    { ...every, effect: { fault: { kind: 'hang', for: '3s' } } },
    'Every payout gets no answer, and is not made',
  ],
  [{ ...every, effect: { fault: 'garbage' } }, 'Every payout ends in garbage, and is not made'],
  [{ effect: { respond: 500 } }, 'Every payout is answered 500, and is not made'],
  [
    { match: { route: ['initiate', 'status'] }, effect: { respond: 500 } },
    'Every payout is answered 500, and is not made',
  ],
  [
    { ...every, times: 3, effect: { respond: 500 } },
    'Each of the next 2 payouts is answered 500, and is not made',
  ],
])('a sentence says how every payout fails with the rule %j', (document, text) => {
  expect(failureText(orderedFailure([rule(document, { taken: 1 })])!)).toBe(text);
});

test.each([
  [
    'for only some payouts',
    { match: { route: 'initiate', transfer_mode: 'NEFT' }, effect: { respond: 500 } },
  ],
  ['for status reads', { match: { route: 'status' }, effect: { respond: 500 } }],
  ['for one payout in two', { ...every, probability: 0.5, effect: { respond: 500 } }],
  ['for payouts past a limit', { ...every, effect: { respond: 429, limit: { max: 3, per: '10s' } } }],
  ['for a limited time', { ...every, during: { from: '1m', for: '1m' }, effect: { respond: 500 } }],
  ['that was used up', { ...every, times: 1, effect: { respond: 500 } }],
  ['that only delays answers', { ...every, effect: { delay: '3s' } }],
  ['that answers with another success', { ...every, effect: { respond: { status: 200 } } }],
])('a rule %s is not announced as a failure of every payout', (_what, document) => {
  expect(orderedFailure([rule(document, { taken: 1 })])).toBeNull();
});

test('a failure behind a rule that takes every payout is not announced', () => {
  const failing = rule({ ...every, effect: { respond: 500 } });
  const before = (document: object) => orderedFailure([rule(document), failing]);
  expect(before({ ...every, effect: { delay: '5s' } })).toBeNull();
  expect(before({ ...every, times: 1, effect: { delay: '5s' } })).toBeNull();
  expect(before({ ...every, times: 0, effect: { delay: '5s' } })?.rule).toBe(failing);
  expect(before({ ...every, effect: { limit: { max: 3, per: '10s' } } })?.rule).toBe(failing);
  expect(before({ match: { route: 'status' }, effect: { delay: '5s' } })?.rule).toBe(failing);
});
