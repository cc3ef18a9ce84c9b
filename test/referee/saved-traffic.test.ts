import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { judge } from '../../src/referee/judge.ts';
import { savedTraffic } from '../../src/referee/saved-traffic.ts';
import { testRows } from '../support/test-rows.ts';
import { journalOf, type Line } from './journal-of.ts';

const found = (text: string, settings: Parameters<typeof judge>[2] = {}): readonly string[] =>
  judge('a file', savedTraffic(text), settings)
    .checks.filter(({ verdict }) => verdict === 'found')
    .map(({ id, severity }) => `${severity} ${id}`);

const again = [{ http: 500 }, { reference: 'order-1-b' }];
const BY_ACCOUNT = { intent: 'beneficiary_account' } as const;

test('a journal that was saved is judged, and errors are warnings since there is no ledger', () => {
  const requests = journalOf(again);
  const all = ['warning paid-twice', 'warning never-asked'];
  expect(found(JSON.stringify({ requests, evicted: 0 }), BY_ACCOUNT)).toEqual(all);
  expect(found(JSON.stringify(requests.toReversed()), BY_ACCOUNT)).toEqual(all);
});

test('a journal that had dropped requests when it was saved proves nothing', () => {
  const whole = { requests: journalOf([{ state: 'PENDING' }]) };
  const verdicts = (file: object) =>
    new Set(judge('a file', savedTraffic(JSON.stringify(file))).checks.map(({ verdict }) => verdict));
  expect(verdicts({ ...whole, evicted: 3 })).toEqual(new Set(['inconclusive']));
  expect(verdicts(whole)).not.toContain('inconclusive');
});

/** A send, and a response that shows the state of x. */
const sent = (reference: string, txn_id: string | null = null): Line => ({
  reference,
  state: 'PENDING',
  change: { txn_id },
});
const read = (state: string, txn_id: string | null = null): Line => ({
  ...sent('x', txn_id),
  route: 'status',
  state,
});

const PAID_AGAIN = ['warning paid-twice', 'warning paid-more-often'];

test.each([
  ['x is seen REVERSED', [sent('x', 'T1'), read('SUCCESS', 'T1'), read('REVERSED', 'T1'), sent('y')], []],
  ['a stale read follows', [sent('x'), read('FAILED'), read('PENDING'), sent('y')], []],
  ['x is sent again, without ids', [sent('x'), read('FAILED'), sent('x'), read('SUCCESS')], []],
  ['x is seen SUCCESS', [sent('x'), read('SUCCESS'), sent('y')], PAID_AGAIN],
  [
    'only the second x is seen FAILED',
    [sent('x', 'T1'), sent('x', 'T2'), read('FAILED', 'T2'), sent('y')],
    PAID_AGAIN,
  ],
])('without a ledger, what was paid is what the latest responses show: %s', (_what, lines, expected) => {
  const once = [{ account: '000123456789', amount: 100, times: 1 }];
  const all = found(JSON.stringify(journalOf(lines)), { ...BY_ACCOUNT, expect: once });
  expect(all.filter((id) => / paid-/.test(id))).toEqual(expected);
});

test('in a journal that does not say what overlapped, the times do', () => {
  const sent = (tookMs: number) => [{ tookMs, state: 'PENDING' }, { state: 'PENDING' }];
  const overlapping = journalOf(sent(1500)).map(({ ended_after: _after, ...entry }) => entry);
  const apart = (tookMs: number) =>
    journalOf(sent(tookMs)).map((entry) => Object.assign(entry, { ended_after: null, id: 9 - entry.id }));
  const verdict = (requests: object[]) =>
    found(JSON.stringify(requests)).filter((id) => id.endsWith('at-once'));
  expect(verdict(overlapping)).toEqual(['warning same-reference-at-once']);
  expect(verdict(apart(900))).toEqual([]);
  expect(verdict(apart(1000.4))).toEqual([]); // the next one was sent right afterwards
});

/** An entry of a HAR, as Chromium writes it, with what does not matter left out. */
const harEntry = (
  second: number,
  method: string,
  url: string,
  request: object | null,
  answer: object | null,
) => ({
  startedDateTime: `2026-01-15T10:30:0${second}.000+05:30`,
  time: 12.5,
  request: {
    method,
    url: `https://payouts.example/v1${url}`,
    headers: [{ name: 'Content-Type', value: 'application/json' }],
    ...(request !== null && { postData: { mimeType: 'application/json', text: JSON.stringify(request) } }),
  },
  response: {
    status: answer === null ? 0 : 200,
    headers: [],
    content:
      answer === null
        ? { size: 0 }
        : { size: 9, encoding: 'base64', text: btoa(JSON.stringify({ data: answer })) },
  },
});

test('a HAR of a browser is judged', () => {
  const payout = { client_ref_id: 'order-1', beneficiary_account: '1', amount: 10.005 };
  const failed = harEntry(0, 'POST', '/payout/initiate', payout, null);
  const entries = [
    harEntry(2, 'GET', '/payout/status?client_ref_id=order-1', null, { status: 'PENDING' }),
    { ...failed, time: -1, response: { ...failed.response, status: -1 } }, // as Playwright writes what is not known
    harEntry(1, 'OPTIONS', '/payout/initiate', null, {}), // a browser asks first whether it may send
    harEntry(3, 'POST', '/payout/initiate', { ...payout, client_ref_id: 'order-1-b' }, { status: 'PENDING' }),
    harEntry(4, 'GET', '/assets/page.css', null, {}),
  ];
  const text = JSON.stringify({ log: { version: '1.2', entries } });
  const evidence = savedTraffic(text);
  expect(
    evidence.requests.map((one) => [one.route, one.client_ref_id, one.outcome, one.duration_ms]),
  ).toEqual([
    ['initiate', 'order-1', 'client_gone', 0],
    ['status', 'order-1', 'answered', 12.5],
    ['initiate', 'order-1-b', 'answered', 12.5],
  ]);
  expect(found(text, BY_ACCOUNT)).toEqual(['warning paid-twice', 'warning amount-not-paise']);
});

/** A send of ₹100 to one account, and its response; null for none. */
const sends = (second: number, client_ref_id: string, answer: object | null) =>
  harEntry(
    second,
    'POST',
    '/payout/initiate',
    { client_ref_id, beneficiary_account: '1', amount: 100 },
    answer,
  );
const reads = (second: number, reference: string, answer: object) =>
  harEntry(second, 'GET', `/payout/status?client_ref_id=${reference}`, null, answer);
/** The same request, refused with this status and code. */
const refused = (entry: ReturnType<typeof harEntry>, status: number, code: string) => ({
  ...entry,
  response: { ...entry.response, status, content: { size: 9, text: JSON.stringify({ code }) } },
});
const withStatus = (entry: ReturnType<typeof harEntry>, status: number) => ({
  ...entry,
  response: { ...entry.response, status },
});
const PENDING = { status: 'PENDING' };
const SEEN = { status: 'SUCCESS', txn_id: 'T1' };
const LOST = sends(0, 'x', null);
const OTHER = sends(2, 'y', { ...PENDING, txn_id: 'T2' });
const ONCE = { expect: [{ account: '1', amount: 100, times: 1 }] };
const TWICE = { expect: [{ account: '1', amount: 100, times: 2 }] };
const complaints = (...entries: object[]) => found(JSON.stringify({ log: { entries } }), ONCE);

test('without a ledger, an expected payout was not paid as far as the responses show', () => {
  const { checks } = judge('a file', savedTraffic(JSON.stringify({ log: { entries: [LOST] } })), TWICE);
  expect(checks.at(-1)!.findings).toMatchObject([
    { message: '1: not paid ₹100.00, expected twice, as far as the responses show' },
  ]);
});

testRows<[complaints: readonly string[], entries: readonly object[]]>([
  // a payout whose response is missing, or from something in between, was made if a later read shows it
  [[], [LOST, reads(1, 'x', SEEN)]],
  [[], [withStatus(LOST, 408), reads(1, 'x', SEEN)]],
  [[], [withStatus(LOST, 307), reads(1, 'x', SEEN)]],
  [['warning paid-twice'], [LOST, reads(1, 'x', SEEN), OTHER]],
  [[], [LOST, reads(1, 'x', { ...SEEN, status: 'FAILED' }), OTHER]],
  // but not if an earlier one does
  [['warning resent-after-success'], [reads(0, 'x', { ...SEEN, txn_id: 'T0' }), sends(1, 'x', null)]],
  // the second send made it, also if its response names no payout, or the read does not
  [[], [LOST, sends(1, 'x', { ...PENDING, txn_id: 'T1' }), reads(2, 'x', SEEN)]],
  [[], [LOST, sends(1, 'x', PENDING), reads(2, 'x', SEEN)]],
  [[], [LOST, sends(1, 'x', { ...PENDING, txn_id: 'T1' }), reads(2, 'x', { status: 'SUCCESS' })]],
  // each send made one
  [PAID_AGAIN, [LOST, sends(1, 'x', { ...PENDING, txn_id: 'T3' }), reads(2, 'x', SEEN)]],
  [PAID_AGAIN, [LOST, sends(1, 'x', null), reads(2, 'x', SEEN), reads(3, 'x', { ...SEEN, txn_id: 'T2' })]],
  [
    ['warning not-found-believed'],
    [sends(0, 'x', PENDING), refused(reads(1, 'x', {}), 400, 'TRANSACTION_UNKNOWN')],
  ],
  // a send that was refused made none, so what is read was paid before
  [
    ['warning expectation-missed'],
    [refused(sends(0, 'x', {}), 409, 'DUPLICATE_REFERENCE'), reads(1, 'x', SEEN)],
  ],
])('the reads of a HAR show which of its sends paid', (expected, entries) => {
  expect(complaints(...entries)).toEqual(expected);
});

const notFound = refused(reads(1, 'x', {}), 404, 'TRANSACTION_UNKNOWN');
const page = {
  ...sends(0, 'x', {}),
  response: { ...sends(0, 'x', {}).response, content: { size: 4, text: '<html>' } },
};
const AGAIN = [sends(1, 'y', PENDING), reads(2, 'y', { status: 'SUCCESS' })];
const OTHERS = { expect: [{ account: '2', amount: 7, times: 0 }] };
const lastSeen = (reference: string, state: string): string =>
  `${reference} was last seen ${state}, and without a ledger nobody knows more`;
const OTHERS_TOO = { intent: 'client_ref_id' };
const paidToo = 'without a ledger nobody knows whether x was paid too';
const paid = 'without a ledger nobody knows whether x was paid';

testRows<[open: Readonly<Record<string, string>>, entries: readonly object[], settings?: object]>([
  [{ 'paid-twice': paidToo, 'paid-more-often': paidToo }, [LOST, ...AGAIN]],
  [{ 'paid-twice': paidToo, 'paid-more-often': paidToo }, [page, ...AGAIN]],
  [{ 'paid-more-often': paidToo }, [LOST, ...AGAIN], BY_ACCOUNT],
  [{ 'paid-more-often': paidToo }, [LOST, ...AGAIN], {}],
  [{ 'expectation-missed': paid }, [LOST]],
  [{ 'expectation-missed': paid }, [LOST], OTHERS],
  [{ 'not-found-believed': paid.replace('paid', 'made'), 'expectation-missed': paid }, [LOST, notFound]],
  [{ 'expectation-missed': lastSeen('x', 'PENDING') }, [sends(0, 'x', PENDING)]],
  [{}, [sends(0, 'x', PENDING), reads(1, 'x', { status: 'SUCCESS' })]],
  // its client went on
  [{ 'pending-left': lastSeen('x', 'PENDING') }, [sends(0, 'x', PENDING), ...AGAIN], OTHERS_TOO],
  [
    { 'pending-left': lastSeen('x', 'PENDING'), 'reversal-unseen': lastSeen('y', 'SUCCESS') },
    [...AGAIN, sends(3, 'x', PENDING)],
    OTHERS_TOO,
  ],
  [{}, [...AGAIN, reads(3, 'y', { status: 'REVERSED' }), sends(4, 'z', { status: 'FAILED' })], OTHERS_TOO],
  [{}, [refused(sends(0, 'x', {}), 400, 'INVALID_REQUEST'), ...AGAIN]],
  [{}, [LOST, reads(1, 'x', { status: 'FAILED' }), ...AGAIN]],
])('what a HAR cannot tell is inconclusive, with the reason', (open, entries, settings = ONCE) => {
  const { checks } = judge('a file', savedTraffic(JSON.stringify({ log: { entries } })), settings);
  const inconclusive = checks.filter(({ verdict }) => verdict === 'inconclusive');
  expect(Object.fromEntries(inconclusive.map(({ id, reason }) => [id, reason]))).toEqual(open);
});

const to = (method: string, url: string, mimeType?: string) => {
  const entry = harEntry(5, method, url, null, {});
  const content = { ...entry.response.content, ...(mimeType !== undefined && { mimeType }) };
  return { ...entry, response: { ...entry.response, content } };
};

testRows<[unclear: number, other: ReturnType<typeof to>]>([
  [1, to('POST', '/payouts')],
  [1, to('POST', '/payout/initiate/')],
  [1, to('GET', '/payouts/x')],
  [1, to('GET', '/payouts/x', 'application/json')],
  [0, to('GET', '/page.css', 'text/css')],
  [0, to('OPTIONS', '/payouts')],
])(
  'where a request to another path may be about payouts, no check passes, and nothing is found to be missing',
  (unclear, other) => {
    const text = JSON.stringify({ log: { entries: [sends(0, 'x', null), notFound, other] } });
    const evidence = savedTraffic(text);
    const { method, url } = other.request;
    expect(evidence.others).toEqual({
      note: `1 of 3 requests is to another path and was left out: ${method} ${new URL(url).pathname}`,
      unclear,
    });
    const settings = { expect: [{ account: '1', amount: 100, times: 2 }] };
    const { checks } = judge('a file', evidence, settings);
    const verdicts = new Set(checks.map(({ verdict }) => verdict));
    expect(verdicts).toEqual(
      new Set(unclear > 0 ? ['inconclusive'] : ['found', 'passed', 'not_exercised', 'inconclusive']),
    );
    if (unclear > 0)
      expect(checks[0]!.reason).toBe('1 request to another path, which may be about a payout, was left out');
  },
);

test('a HAR names its headers in any case', () => {
  const ranged = sends(0, 'x', PENDING);
  ranged.request.headers = [{ name: 'Range', value: 'bytes=120-' }];
  expect(complaints(ranged)).toEqual(['warning never-asked']);
});

test('a HAR with a body that is nested too deep to be written again is judged', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const entry = harEntry(0, 'POST', '/payout/initiate', {}, {});
  entry.request.postData = { mimeType: 'application/json', text: `{"client_ref_id":"order-1","x":${deep}}` };
  const text = JSON.stringify({ log: { entries: [entry, entry] } });
  expect(judge('a file', savedTraffic(text)).passed).toBe(true);
});

test('a HAR that Chromium recorded is judged: timeouts, an error page, half a response, a reset', () => {
  const text = readFileSync(new URL('recorded/chromium.har', import.meta.url), 'utf8');
  const { checks } = judge('a file', savedTraffic(text), BY_ACCOUNT);
  const findings = checks.flatMap(({ id, findings: all }) =>
    all.map(({ references }) => [id, ...references]),
  );
  expect(findings).toEqual([
    ['paid-twice', 'order-1', 'order-1-b'],
    ['same-reference-at-once', 'order-6'],
    ['never-asked', 'order-2'],
    ['never-asked', 'order-3'],
    ['never-asked', 'order-4'],
  ]);
  const atOnce = checks.find(({ id }) => id === 'same-reference-at-once')!.findings;
  expect(atOnce.map(({ lines }) => lines[1])).toEqual(['#10 POST initiate order-6  200 PENDING, replayed']);
});

test.each([
  [
    'a year out of range',
    { startedDateTime: '+275760-09-13T00:00:00.000Z' },
    'startedDateTime',
    'must be a time',
  ],
  [
    'a relative URL',
    { request: { method: 'GET', url: '/payout/status' } },
    'request.url',
    'must be an absolute URL',
  ],
  ['an endless duration', { time: 1e300 }, 'time', ''],
])(
  'a HAR with %s is refused with the name of the entry, unless the entry is of another service',
  (_what, change, field, reason) => {
    const good = harEntry(0, 'GET', '/payout/status?client_ref_id=order-1', null, { status: 'PENDING' });
    const har = (entry: object) => JSON.stringify({ log: { entries: [good, entry] } });
    expect(() => savedTraffic(har({ ...good, ...change }))).toThrow(
      new RegExp(`^log\\.entries\\.1\\.${field} is not valid in a HAR: .*${reason}[^\\n]*$`),
    );
    const foreign = harEntry(1, 'GET', '/assets/page.css', null, {});
    const { requests } = savedTraffic(har({ ...foreign, ...change, request: foreign.request }));
    expect(requests).toHaveLength(1);
  },
);

/** A HAR of one read, whose response has this content. */
const harWith = (content: object): string => {
  const read = harEntry(0, 'GET', '/payout/status', null, {});
  return JSON.stringify({ log: { entries: [{ ...read, response: { ...read.response, content } }] } });
};

test('a journal and a HAR with a byte order mark are read', () => {
  const har = { log: { entries: [harEntry(0, 'GET', '/payout/status', null, { status: 'PENDING' })] } };
  for (const document of [{ requests: journalOf([{}]) }, har])
    expect(savedTraffic(`\ufeff${JSON.stringify(document)}`).requests).toHaveLength(1);
});

/** A HAR of one send whose body was not recorded, of which this is known. */
const sentWithout = (request: object, creator = 'a proxy'): string => {
  const { request: whole, ...rest } = harEntry(0, 'POST', '/payout/initiate', null, PENDING);
  const entries = [{ ...rest, request: { ...whole, ...request } }];
  return JSON.stringify({ log: { creator: { name: creator }, entries } });
};
const withLength = (value: string) => ({ headers: [{ name: 'Content-Length', value }] });

testRows<object>([
  {},
  { postData: { mimeType: 'application/json' } },
  { bodySize: -1 },
  { bodySize: 161, postData: { text: '' } },
  withLength('161'),
  { bodySize: 0, ...withLength('161') }, // as Chromium writes it when it has lost the body
])('a HAR that lacks the body of a send is refused', (request) => {
  expect(() => savedTraffic(sentWithout(request))).toThrow('record it with request bodies');
});

test('a HAR with a send that had no body is judged, and one of a sandbox that did not read it', () => {
  const unread = sentWithout({ bodySize: 0, ...withLength('161') }, 'payout-sandbox'); // it was refused before that
  for (const text of [sentWithout({ bodySize: 0 }), sentWithout(withLength('0')), unread])
    expect(savedTraffic(text).requests).toHaveLength(1);
});

test.each([
  ['text', 'nothing', 'it is not JSON'],
  ['other JSON', '{"worlds":[]}', 'it is neither a journal'],
  [
    'a journal nested too deep',
    `[{"request":${'['.repeat(20_000)}${']'.repeat(20_000)}}]`,
    'it is nested too deep',
  ],
  ['a journal of something else', '[{"id":"x"}]', 'requests.0.id is not valid in a journal'],
  [
    'a HAR of another service',
    JSON.stringify({ log: { entries: [harEntry(0, 'GET', '/assets/page.css', null, {})] } }),
    'it has 1 request, and none is to /payout/initiate, /payout/status or /client/fetchbalance',
  ],
  ['a HAR without bodies', harWith({ size: 99 }), 'record it with their content'],
  // as Playwright records it to replay it
  [
    'a HAR with its bodies in other files',
    harWith({ size: -1, _file: '1a2b.json' }),
    'record it with their content',
  ],
])('%s is refused with the reason', (_what, text, reason) => {
  expect(() => savedTraffic(text)).toThrow(reason);
});
