import { expect, test } from 'vitest';
import type { CheckId, Finding, RefereeSettingsInput, WorldReport } from '../../src/contract/conduct.ts';
import type { Evidence } from '../../src/referee/case.ts';
import { mergeReports } from '../../src/referee/judge.ts';
import { testRows } from '../support/test-rows.ts';
import {
  checkOf,
  evidenceOf,
  expecting,
  lost,
  ORDERS,
  payoutOf,
  reportOn,
  underWay,
  type Line,
} from './journal-of.ts';

/** What popular HTTP clients do with a payout whose response is lost (docs/http-clients.md), and what the referee says of it. */

const LEFT = { outcome: 'client_gone', fault: 'hang', committed: true } as const;

const broken: Line = { http: 0, change: { fault: 'connection-reset', outcome: 'fault', committed: true } };

/** Sends or reads again after a second of wall time, in which an hour passes in a world that is so fast. */
const hourly = (line: Line, times = 2): Evidence => {
  const lines = Array.from({ length: times }, (_, nth): Line => ({
    ...line,
    atMs: nth * 3_600_000,
    change: { wall_at: new Date(Date.parse('2026-01-15T10:30:00Z') + nth * 1000).toISOString() },
  }));
  return { ...evidenceOf(lines), speed: 3600 };
};

/** `found error: its message`, or only the verdict. */
const saidOf = (id: CheckId, evidence: Evidence, settings: RefereeSettingsInput = {}): string => {
  const { verdict, findings } = checkOf(id, evidence, settings);
  const [first] = findings;
  return first === undefined ? verdict : `${verdict} ${first.severity}: ${first.message}`;
};

test('a client that ends while its payout is PENDING can no longer ask', () => {
  const pending = evidenceOf([lost], { payouts: [payoutOf('order-1', [])] });
  expect(saidOf('never-asked', pending)).toBe(
    'found warning: order-1 was made (₹100.00), and the client never found out',
  );
  const runs = { ...pending, clientEnded: false };
  expect(checkOf('never-asked', runs)).toMatchObject({
    verdict: 'inconclusive',
    reason: 'the client may still read the status of order-1',
  });
  const settled = { ...runs, ledger: { payouts: [payoutOf('order-1', [['SUCCESS', 500]])], entries: [] } };
  expect(saidOf('never-asked', settled)).toMatch(/^found warning: order-1 was paid/);
});

/** A request that has made its payout and is under way. */
const paying = (change: Line['change']): Line => underWay({ committed: true, ...change });

test('a client that ends before its response comes does not get it, although the server has not noticed yet', () => {
  const { answer } = evidenceOf([{ state: 'PENDING' }]).requests[0]!;
  const paid = 'found warning: order-1 was made (₹100.00), and the client never found out';
  const lines = [paying({ delay_ms: 3000 }), paying({ fault: 'slow-body', answer })];
  for (const line of lines) {
    expect(saidOf('never-asked', evidenceOf([line]))).toBe(paid);
    expect(saidOf('never-asked', { ...evidenceOf([line]), clientEnded: false })).toBe('not_exercised');
  }
  // its end is only recorded later
  expect(saidOf('never-asked', evidenceOf([paying({ answer })]))).toBe('not_exercised');
});

test.each([302, 307, 408])('a %d says nothing about the payout', (http) => {
  const made: Line = { http, change: { committed: true } };
  expect(saidOf('never-asked', evidenceOf([made]))).toMatch(/^found warning: order-1 was made/);
  expect(saidOf('never-asked', evidenceOf([made, { state: 'PENDING' }]))).toBe('passed');
  expect(saidOf('paid-twice', evidenceOf([made, { reference: 'order-1-b' }]), ORDERS)).toMatch(
    /^found error/,
  );
});

test('one reference that was paid twice is an error, with each request that paid', () => {
  const twice = [1, 2].map((nth) => payoutOf('order-1', [['SUCCESS', 500]], { nth, txn_id: `TXN-${nth}` }));
  const paid = (nth: number, line: Line): Line => ({
    ...line,
    change: { ...line.change, txn_id: `TXN-${nth}` },
  });
  const evidence = evidenceOf([paid(1, broken), paid(2, { state: 'PENDING' })], { payouts: twice });
  for (const settings of [{}, ORDERS]) {
    const [found] = checkOf('paid-more-often', evidence, settings).findings;
    expect(found).toMatchObject({
      severity: 'error',
      message: 'order-1 was paid twice: ₹100.00 too much',
      fix: 'this service pays again for a repeated reference: read the status of order-1 before it is sent again, and switch off what resends by itself',
      requests: [1, 2],
      amount: 100,
    });
  }
  expect(checkOf('expectation-missed', evidence, expecting(1)).reason).toBe(
    'part of what paid-more-often found',
  );
  // its requests may have been dropped from the journal
  expect(saidOf('paid-more-often', { ...evidence, requests: [], evicted: 2 })).toMatch(/^found error/);
});

test('one declared payout that was paid under two references is found from the ledger alone', () => {
  const payouts = [payoutOf('order-1-a', []), payoutOf('order-1-b', [])];
  const evidence = { ...evidenceOf([], { payouts }), evicted: 2000 };
  expect(saidOf('paid-twice', evidence, ORDERS)).toMatch(
    /^found error: order-1-a and order-1-b were both made/,
  );
});

test('one declared payout that was paid under two references is an error, however it came about', () => {
  const payouts = [payoutOf('order-1-a', []), payoutOf('order-1-b', [])];
  // the client was refused, and the service paid all the same
  const lines = [
    { reference: 'order-1-a', http: 402, change: { committed: true } },
    { reference: 'order-1-b', state: 'PENDING' },
  ];
  expect(saidOf('paid-more-often', evidenceOf(lines, { payouts }), ORDERS)).toBe(
    'found error: order-1-a and order-1-b were both made, for one payout: ₹100.00 too much; the service refused order-1-a, and paid it all the same',
  );
  const [undone, kept] = [payoutOf('order-1-a', [['REVERSED', 5]]), payouts[1]!];
  expect(saidOf('paid-more-often', evidenceOf(lines, { payouts: [undone, kept] }), ORDERS)).toBe('passed');
});

test('the same account paid the same amount after a lost response is a warning that names the flag', () => {
  const payouts = ['order-1', 'other-2'].map((reference) => payoutOf(reference, []));
  const renamed = { remarks: 'second try' };
  const evidence = (first: Line): Evidence =>
    evidenceOf([first, { reference: 'other-2', state: 'PENDING', body: renamed }], { payouts });
  expect(saidOf('paid-more-often', evidence(lost))).toBe(
    'found warning: a payout of ₹100.00 to 000123456789 was made twice (order-1 and other-2): --intent or --expect says whether that was meant',
  );
  // nothing tempted the client: two payouts to one account are normal, but nobody has said that they were meant
  expect(checkOf('paid-more-often', evidence({ state: 'PENDING' }))).toMatchObject({
    verdict: 'inconclusive',
    reason: expect.stringMatching(/^a payout of ₹100.00 to 000123456789 was made twice .*--intent/),
  });
  expect(saidOf('paid-more-often', evidence(lost), { intent: 'client_ref_id' })).toBe('passed');
});

test('an intent that matches nothing in a payout does not clear it', () => {
  const payouts = ['order-1', 'other-2'].map((reference) => payoutOf(reference, []));
  const paid = (first: Line): Evidence =>
    evidenceOf([first, { reference: 'other-2', state: 'PENDING' }], { payouts });
  expect(saidOf('paid-more-often', paid(lost), ORDERS)).toBe(
    'found warning: a payout of ₹100.00 to 000123456789 was made twice (order-1 and other-2): the intent does not match all of them',
  );
  for (const check of ['paid-twice', 'paid-more-often'] as const)
    expect(saidOf(check, paid({ state: 'PENDING' }), ORDERS)).toBe('inconclusive');
});

test('a double payment that is only guessed is a warning once the ledger shows both', () => {
  const payouts = ['order-1', 'other-2'].map((reference) => payoutOf(reference, []));
  const evidence = evidenceOf([lost, { reference: 'other-2', state: 'PENDING' }], { payouts });
  expect(saidOf('paid-twice', evidence)).toMatch(/^found warning: .*declare an intent/);
  const { checks, counts } = reportOn(evidence);
  expect(counts).toMatchObject({ error: 0, warning: 1, notice: 0 });
  expect(checks.find(({ id }) => id === 'never-asked')).toMatchObject({
    verdict: 'found',
    findings: [],
    reason: 'part of what paid-twice found',
  });
});

test('what nobody knows of some payouts is said beside what another check found of others', () => {
  const to = { beneficiary_account: '000333444555' };
  const payouts = [
    ...['order-1', 'other-2'].map((name) => payoutOf(name, [])),
    ...['leg-1', 'leg-2'].map((name) => payoutOf(name, [], to)),
  ];
  const legs = ['leg-1', 'leg-2'].map((reference): Line => ({ reference, state: 'PENDING', body: to }));
  const evidence = evidenceOf([lost, { reference: 'other-2', state: 'PENDING' }, ...legs], { payouts });
  expect(saidOf('paid-twice', evidence)).toMatch(/^found warning/);
  expect(checkOf('paid-more-often', evidence)).toMatchObject({
    verdict: 'inconclusive',
    reason: expect.stringContaining('(leg-1 and leg-2)'),
  });
});

test.each([409, 400, 402, 429])('a %d for a repetition does not say what became of the payout', (http) => {
  const again: Line = { http, change: { code: http === 429 ? null : 'DUPLICATE_REFERENCE' } };
  expect(saidOf('never-asked', evidenceOf([lost, again]))).toMatch(/^found warning: order-1 was made/);
  expect(saidOf('never-asked', evidenceOf([lost, again, { route: 'status', state: 'PENDING' }]))).toBe(
    'passed',
  );
  const notFound: Line = { route: 'status', http: 404 };
  expect(saidOf('not-found-believed', evidenceOf([lost, notFound, again]))).toMatch(/^found warning/);
});

/** A send of one payout, under one of its references, that hangs until its client leaves. */
const hang = (reference: string, atMs: number, tookMs = 300): Line => ({
  reference: `order-1-${reference}`,
  atMs,
  http: 0,
  tookMs,
  change: LEFT,
});

test('two sends of one payout that hang together are a race: the client knew nothing yet', () => {
  const race = evidenceOf([hang('a', 0), hang('b', 50)]);
  expect(saidOf('same-payout-at-once', race, ORDERS)).toBe(
    'found error: order-1-b was sent for the payout of order-1-a while that was under way: ₹100.00',
  );
  expect(saidOf('paid-twice', race, ORDERS)).toBe('passed');
});

testRows<readonly [lines: readonly Line[]]>([
  [[hang('a', 0, 500), hang('b', 300)]],
  // after 240 ms, and the first was noticed much later than the second
  [[hang('a', 0, 1000), hang('b', 240)]],
  // and the second got a slow response
  [[hang('a', 0, 1000), { reference: 'order-1-b', atMs: 200, tookMs: 3000, state: 'PENDING' }]],
])(
  'two sends of one payout are one after the other, though a busy server noticed late that the client had left',
  (lines) => {
    const oneByOne = evidenceOf(lines);
    expect(saidOf('same-payout-at-once', oneByOne, ORDERS)).not.toMatch(/^found/);
    expect(saidOf('paid-twice', oneByOne, ORDERS)).toMatch(/^found error/);
  },
);

test('a slow response that its client has left is not under way, although that was noticed after its next send', () => {
  const { answer } = evidenceOf([{ state: 'PENDING' }]).requests[0]!;
  const slow: Line = {
    atMs: 0,
    tookMs: 904,
    endedAfter: 2,
    change: { outcome: 'fault', fault: 'slow-body', answer, committed: true },
  };
  const again: Line = { atMs: 902, state: 'PENDING', change: { committed: false } };
  const resent = evidenceOf([slow, again]);
  expect(saidOf('same-reference-at-once', resent)).toBe('passed');
  expect(saidOf('no-timeout', resent)).toBe('passed');
  // not noticed at all before the client ended
  const change = { ...slow.change, outcome: 'pending', duration_ms: null, ended_after: null } as const;
  const open = { ...evidenceOf([{ ...slow, change }, again]), wall_now: '2026-01-15T10:30:00.930Z' };
  expect(saidOf('same-reference-at-once', open)).toBe('passed');
  // whoever reads it to its end has not left it
  const read: Line = { ...slow, change: { ...slow.change, outcome: 'answered' } };
  expect(saidOf('same-reference-at-once', evidenceOf([read, again]))).toMatch(/^found/);
});

/** Tries of one payout, each with a reference of its own, so many ms apart. */
const tries = (count: number, pauseMs: number, line: Line): Line[] =>
  Array.from({ length: count }, (_, nth) => ({ reference: `order-1-${nth}`, atMs: nth * pauseMs, ...line }));

test.each<[CheckId, string, Line[]]>([
  ['retry-after-ignored', 'found warning', tries(2, 1000, { http: 429, headers: { 'retry-after': '30' } })],
  ['refusal-repeated', 'found warning', tries(2, 1000, { http: 402 })],
])('%s counts the tries of one declared payout together', (check, verdict, lines) => {
  expect(saidOf(check, evidenceOf(lines), ORDERS)).toMatch(
    new RegExp(`^${verdict}: the payout of order-1-0 `),
  );
  expect(saidOf(check, evidenceOf(lines))).not.toMatch(/^found/);
  const others = lines.map((line, nth) => ({ ...line, reference: `order-${nth}` }));
  expect(saidOf(check, evidenceOf(others), ORDERS)).not.toMatch(/^found/);
});

test('a client that asks for the rest of a response throws away the whole one that it gets', () => {
  const truncated: Line = {
    http: 200,
    change: { fault: 'truncated-body', outcome: 'fault', committed: true },
  };
  const ranged: Line = { state: 'SUCCESS', sent: { range: 'bytes=120-', 'user-agent': 'undici' } };
  const resent = evidenceOf([truncated, { ...ranged, change: { committed: false, replayed: true } }]);
  expect(saidOf('never-asked', resent)).toMatch(/^found warning: order-1 was made/);
  expect(saidOf('resent-by-transport', resent)).toBe(
    'found notice: order-1 was sent again with Range (user-agent undici), probably by the HTTP library or a proxy, not the program',
  );
});

test('the same bytes right after a broken connection were sent by the library, or by a program that hardly pauses', () => {
  const sent = { 'user-agent': 'axios/1.21.0' };
  const again = (line: Line): Evidence =>
    evidenceOf([
      { ...broken, atMs: 0 },
      { state: 'PENDING', sent, ...line },
    ]);
  expect(saidOf('resent-by-transport', again({ atMs: 14 }))).toBe(
    'found notice: order-1 was sent again 4 ms after its connection broke (user-agent axios/1.21.0), by the HTTP library, a proxy, or a program that pauses for less than 90 ms',
  );
  expect(saidOf('resent-by-transport', again({ atMs: 90 }))).toMatch(/^found/); // on a busy machine
  // the shortest usual pause of a program, and a program that changed the request
  expect(saidOf('resent-by-transport', again({ atMs: 110 }))).toBe('passed');
  expect(saidOf('resent-by-transport', again({ atMs: 14, body: { amount: 5 } }))).toBe('passed');
});

const asksFor = (seconds: number, atMs: number, tookMs = 10): Line => ({
  http: 429,
  atMs,
  tookMs,
  headers: { 'retry-after': `${seconds}` },
});
const asksUntil = (time: string, tookMs: number): Line => ({
  ...asksFor(0, 0, tookMs),
  headers: { 'retry-after': `Thu, 15 Jan 2026 ${time} GMT` },
});
const tooEarly = (waited: string, asked: string): string =>
  `found warning: order-1 was sent again after ${waited}; Retry-After of the 429 was ${asked}`;

testRows<[said: string, lines: readonly Line[]]>([
  // it counts from the end of a slow response: 3.5 s after that began is half a second after it ended
  [tooEarly('500 ms', '2.0 s'), [asksFor(2, 0, 3000), { atMs: 3500 }]],
  // it counts for every 429, not only for the first
  [tooEarly('90 ms', '1.0 s'), [asksFor(1, 0), asksFor(1, 2000), { atMs: 2100 }]],
  // and for reads
  [
    'found warning: order-1 was read again after 90 ms; Retry-After of the 429 was 1.0 s',
    [
      { ...asksFor(1, 0), route: 'status' },
      { atMs: 100, route: 'status' },
    ],
  ],
  // one of nothing is obeyed by a client that sends again at once, also where a busy server noticed the end late
  ['passed', [asksFor(0, 0, 25), { atMs: 10 }]],
  // where a test stopped the clock of the world, the client waited all the same
  ['passed', [asksFor(2, 0), { atMs: 2100, change: { at: '2026-01-15T10:30:00.000Z' } }]],
  // until a date, however long the response took
  [
    'found warning: order-1 was sent again 1.0 s before the date in the Retry-After of the 429',
    [asksUntil('10:30:05', 3000), { atMs: 4000 }],
  ],
  // which is one of the world's clock, whatever that of the machine says
  ['passed', [asksUntil('10:31:00', 10), { atMs: 61_000, change: { wall_at: '2026-01-15T10:30:01.000Z' } }]],
])('a client waits as long as Retry-After says, from the end of each response that has it', (said, lines) => {
  expect(saidOf('retry-after-ignored', evidenceOf(lines))).toBe(said);
});

testRows<[CheckId, Evidence]>([
  ['retry-after-ignored', hourly({ http: 429, headers: { 'retry-after': '30' } })],
  ['retry-after-ignored', hourly({ http: 429, headers: { 'retry-after': 'Thu, 15 Jan 2026 10:30:30 GMT' } })],
  ['refusal-repeated', hourly({ http: 402 })],
  ['poll-storm', hourly({ route: 'status', state: 'PENDING' }, 31)],
])('%s judges a pause on a fast clock by wall time', (check, evidence) => {
  expect(saidOf(check, evidence)).toMatch(/^found warning/);
  expect(saidOf(check, { ...evidence, speed: 0 })).not.toMatch(/^found/); // a test moved a frozen clock on
});

test('one reference that is paid twice at once costs the second, unless its money came back', () => {
  const found = (second: number, ...states: ('SUCCESS' | 'FAILED')[]) => {
    const amounts = [100, second];
    const atOnce = amounts.map((amount, nth): Line => ({
      atMs: nth * 5,
      tookMs: 300,
      endedAfter: 2,
      body: { amount },
      change: { committed: true },
    }));
    const payouts = amounts.map((amount, nth) =>
      payoutOf('order-1', states[nth] === undefined ? [] : [[states[nth], 500]], { amount }),
    );
    const { findings } = checkOf('same-reference-at-once', evidenceOf(atOnce, { payouts }));
    const [{ severity, amount, message }] = findings as [Finding];
    return [severity, amount, message];
  };
  const sent = 'order-1 was sent while it was still under way';
  expect(found(70)).toEqual(['error', 70, `${sent}, and was made more than once`]);
  expect(found(70, 'SUCCESS', 'SUCCESS')).toEqual(['error', 70, `${sent}, and was paid more than once`]);
  expect(found(100, 'SUCCESS', 'FAILED')).toEqual(['warning', null, sent]);
});

test('the money at stake is what was paid too much, not the first payment', () => {
  const amounts = [100, 70, 50];
  const payouts = amounts.map((amount, nth) => payoutOf(`order-1-${nth}`, [], { amount }));
  const lines = amounts.map((amount, nth): Line => ({
    http: 500,
    change: { committed: true },
    reference: `order-1-${nth}`,
    body: { amount },
  }));
  const { findings } = checkOf('paid-twice', evidenceOf(lines, { payouts }), ORDERS);
  expect(findings).toHaveLength(1); // one cause
  expect(findings[0]).toMatchObject({
    message: 'order-1-1 and order-1-2 are further payments of order-1-0: ₹120.00 too much',
    amount: 120,
    requests: [1, 2, 3],
  });
});

/** The report on two journals of a world, whichever of them is the first. */
const mergedReports = (one: WorldReport, other: WorldReport) => [
  mergeReports([one, other]),
  mergeReports([other, one]),
];
const neverAskedIn = ({ checks }: WorldReport) => checks.find(({ id }) => id === 'never-asked')!;

test('a report on two journals counts the findings of both, and a check is as severe as the worst of its own', () => {
  const pair: Line[] = [lost, { reference: 'order-1-b', state: 'PENDING' }];
  const unpaid = pair.map((line) => ({ ...line, change: { committed: false } }));
  const parts = [reportOn(evidenceOf(unpaid)), reportOn(evidenceOf(pair), ORDERS)] as const;
  expect(parts.map(({ checks }) => checks[0]!.severity)).toEqual(['notice', 'error']);
  const [one, other] = parts;
  for (const { checks, counts } of mergedReports(one, other)) {
    expect(checks[0]!.severity).toBe('error');
    for (const severity of ['error', 'warning', 'notice'] as const)
      expect(counts[severity]).toBe(one.counts[severity] + other.counts[severity]);
  }
});

test('a report on two journals is inconclusive where one part is, even if the other passed', () => {
  const passed = reportOn(evidenceOf([lost, { state: 'PENDING' }]));
  const cut = reportOn({ ...evidenceOf([]), evicted: 3 });
  for (const { verdict, reason } of mergedReports(passed, cut).map(neverAskedIn)) {
    expect(verdict).toBe('inconclusive');
    expect(reason).toContain('3 older requests');
  }
});
