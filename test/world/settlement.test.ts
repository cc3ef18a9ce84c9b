import { describe, expect, test } from 'vitest';
import { Core, START_MS, status, timelines, type RuleInput } from '../support/world/core.ts';

const at = (ms: number): number => START_MS + ms;
const SETTLE = { kind: 'settle' } as const;

/** A world with a payout `a` of this timeline. */
function paid(timeline: NonNullable<RuleInput['effect']['timeline']>, more: RuleInput['effect'] = {}): Core {
  const world = new Core({
    rules: [{ name: 'r', match: { route: 'initiate' }, effect: { timeline, ...more } }],
  });
  world.pay('a');
  return world;
}

test('a payout that fails gives the money back once, and gets no UTR', () => {
  const world = paid([{ to: 'FAILED', after: '5ms' }]);
  expect(world.balance(4)).toEqual({ paise: 900, updatedMs: 0 });
  expect(world.balance(9)).toEqual({ paise: 1000, updatedMs: 5 });
  expect(world.balance(99)).toEqual({ paise: 1000, updatedMs: 5 });
  expect(world.payout('a')).toMatchObject({ state: 'FAILED', utr: null, completedAtMs: at(5) });
});

test('a success that is reversed days later gives the money back once, and keeps its UTR and completion', () => {
  const world = paid([
    { to: 'SUCCESS', after: '5ms' },
    { to: 'REVERSED', after: '3d' },
  ]);
  expect(world.read('a', 49)).toMatchObject({
    payout: { state: 'SUCCESS', completedAtMs: at(5), utr: expect.stringMatching(/^\d{12}$/) },
  });
  const { utr } = world.payout('a');
  expect(world.balance()).toEqual({ paise: 900, updatedMs: 0 });
  const threeDays = 3 * 86_400_000;
  expect(world.read('a', threeDays)).toMatchObject({
    payout: { state: 'REVERSED', completedAtMs: at(5), utr },
  });
  expect(world.balance(2 * threeDays)).toEqual({ paise: 1000, updatedMs: threeDays });
});

describe('the order of steps', () => {
  test('of steps due at once, that of the older payout happens first', () => {
    const references = Array.from({ length: 6 }, (_, nth) => `p${nth}`);
    const due = Object.fromEntries(
      references.map((reference, nth) => [reference, [{ to: 'SUCCESS' as const, after: `${100 - nth}ms` }]]),
    );
    const world = new Core(timelines(due));
    for (const [nth, reference] of references.entries()) world.pay(reference, {}, nth);
    world.submit(SETTLE, 100);
    expect(world.changes.map(({ clientRefId, atMs }) => [clientRefId, atMs])).toEqual(
      references.map((reference) => [reference, at(100)]),
    );
  });

  test('of payouts of one instant, that with the lower id settles first, in whatever order they came', () => {
    const references = Array.from({ length: 9 }, (_, nth) => `p${nth}`);
    for (const order of [references, references.toReversed()]) {
      const world = new Core({ settlement: { IMPS: [{ to: 'SUCCESS', after: '9ms' }] } });
      for (const reference of order) world.pay(reference);
      world.submit(SETTLE, 9);
      const ids = world.changes.map(({ txnId }) => txnId);
      expect(ids).toHaveLength(9);
      expect(ids).toEqual(ids.toSorted());
    }
  });
});

test('payouts that draw the same serial get different UTRs, the first to settle the one of its number', () => {
  const world = new Core(
    timelines({ a: [{ to: 'SUCCESS', after: '5ms' }], b: [{ to: 'SUCCESS', after: '6ms' }] }),
  );
  for (const reference of ['a', 'b']) {
    world.pay(reference);
    const position = world.state.payouts.length - 1;
    world.state.payouts[position] = { ...world.state.payouts[position]!, utrSerial: 999_999_999 };
  }
  world.submit(SETTLE, 9);
  expect(world.changes.map(({ utr }) => utr)).toEqual(['601599999999', '601500000000']);
});

describe('a step that waits for a status read', () => {
  test('happens at that read, by either name, and is stamped with its time', () => {
    const world = paid([{ to: 'FAILED', polls: 3 }]);
    expect(world.read('a', 1)).toMatchObject({ payout: { state: 'PENDING' } });
    expect(world.read({ txn_id: world.payout('a').txnId }, 2)).toMatchObject({
      payout: { state: 'PENDING' },
    });
    expect(world.submit(SETTLE, 999).nextDueMs).toBeNull();
    expect(world.changes).toEqual([]);
    expect(world.read('a', 1000)).toMatchObject({
      payout: { state: 'FAILED', completedAtMs: at(1000), utr: null },
    });
    expect(world.changes).toMatchObject([{ from: 'PENDING', to: 'FAILED', atMs: at(1000) }]);
    world.read('a', 1001);
    expect(world.changes).toHaveLength(1);
    expect(world.balance()).toEqual({ paise: 1000, updatedMs: 1000 });
  });

  test('counts only reads of its own payout, from the initiate on', () => {
    const world = new Core(timelines({ a: [{ to: 'SUCCESS', polls: 1 }], b: [{ to: 'SUCCESS', polls: 2 }] }));
    world.read('a', 0);
    for (const reference of ['a', 'b', 'a']) world.pay(reference);
    world.submit(SETTLE, 2);
    expect(world.changes).toEqual([]);
    expect(world.read('a')).toMatchObject({ payout: { state: 'SUCCESS' } });
    expect(world.read('b')).toMatchObject({ payout: { state: 'PENDING' } });
  });

  test('is followed by a step by time at its time, and never at an earlier one than its own', () => {
    const timeline = [
      { to: 'SUCCESS' as const, polls: 1 },
      { to: 'REVERSED' as const, after: '5ms' },
    ];
    const early = paid(timeline);
    expect(early.read('a', 3)).toMatchObject({ payout: { state: 'SUCCESS', completedAtMs: at(3) } });
    expect(early.submit(SETTLE).nextDueMs).toBe(at(5));
    early.submit(SETTLE, 9);
    expect(early.changes.at(-1)).toMatchObject({ to: 'REVERSED', atMs: at(5) });

    const late = paid(timeline);
    expect(late.submit(SETTLE, 20).nextDueMs).toBeNull();
    expect(late.read('a', 30)).toMatchObject({ payout: { state: 'REVERSED', completedAtMs: at(30) } });
    expect(late.changes).toMatchObject([
      { to: 'SUCCESS', atMs: at(30) },
      { to: 'REVERSED', atMs: at(30) },
    ]);
    expect(late.balance(40)).toEqual({ paise: 1000, updatedMs: 30 });
  });

  test('counts the reads that came while an earlier step waited for its time', () => {
    const world = paid([
      { utr: 'now', after: '5ms' },
      { to: 'SUCCESS', polls: 1 },
      { to: 'REVERSED', polls: 2 },
    ]);
    expect(world.read('a', 1)).toMatchObject({ payout: { state: 'PENDING' } });
    world.read('a', 7); // one read for all steps that it completes
    const changes = world.changes.map(({ to, atMs }) => `${to} ${atMs - START_MS}`);
    expect(changes).toEqual(['PENDING 5', 'SUCCESS 7', 'REVERSED 7']);
  });

  test('is counted only while a step waits for it', () => {
    const world = paid([{ to: 'SUCCESS', polls: 1 }]);
    for (let nth = 0; nth < 3; nth += 1) world.read('a');
    expect(world.payout('a').reads).toBe(1);
  });
});

describe('a payout that a rule hides', () => {
  const notFound = (code = 'TRANSACTION_NOT_FOUND') => ({
    kind: 'refused',
    refusal: { code, details: { rule: 'test/r' } },
  });

  test('for two reads is found at the third; it was debited from the start', () => {
    const world = paid([{ to: 'SUCCESS', polls: 3 }], { not_found: { reads: 2 } });
    expect(world.balance(1).paise).toBe(900);
    expect(world.read('a')).toEqual(notFound());
    expect(world.read({ txn_id: world.payout('a').txnId })).toEqual(notFound());
    expect(world.pay('a').answer).toMatchObject({ kind: 'payout', replayed: true });
    expect(world.read('a')).toMatchObject({ payout: { state: 'SUCCESS' } });
    expect(world.balance().paise).toBe(900);
  });

  test('for a time settles unseen, and is found from then on', () => {
    const world = paid([{ to: 'FAILED', after: '5ms' }], { not_found: { for: '10ms' } });
    expect(world.read('a', 9)).toEqual(notFound());
    expect(world.changes).toMatchObject([{ to: 'FAILED', atMs: at(5) }]);
    expect(world.balance().paise).toBe(1000);
    expect(world.read('a', 10)).toMatchObject({ payout: { state: 'FAILED' } });
  });

  test('is unknown in the words of the dialect', () => {
    const world = new Core({
      dialect: { status: { unknown: 400 } },
      rules: [{ name: 'r', match: { route: 'initiate' }, effect: { not_found: { reads: 1 } } }],
    });
    world.pay('a');
    expect(world.read('a')).toEqual(notFound('TRANSACTION_UNKNOWN'));
    expect(world.read('b')).toEqual({
      kind: 'refused',
      refusal: { code: 'TRANSACTION_UNKNOWN', details: {} },
    });
  });
});

describe('a stale read', () => {
  const stale = (ms: number): RuleInput => ({
    name: `stale-${ms}`,
    match: { route: 'status', header: { 'x-stale': String(ms) } },
    effect: { stale: `${ms}ms` },
  });
  const AGES = [1060, 60 - 4, 60 - 5, 60 - 49, 60 - 50, 1];
  const readStale = (world: Core, ms: number, atMs: number) =>
    world.submit(status({ client_ref_id: 'a' }, { headers: { 'x-stale': String(ms) } }), atMs).answer;

  test.each([
    ['before there was the payout', 1060, { state: 'PENDING', utr: null, completedAtMs: null }],
    ['just before it succeeded', 56, { state: 'PENDING', utr: null, completedAtMs: null }],
    ['when it succeeded', 55, { state: 'SUCCESS', utr: expect.any(String), completedAtMs: at(5) }],
    ['just before it was reversed', 11, { state: 'SUCCESS', utr: expect.any(String), completedAtMs: at(5) }],
    ['when it was reversed', 10, { state: 'REVERSED', utr: expect.any(String), completedAtMs: at(5) }],
    ['a moment ago', 1, { state: 'REVERSED', utr: expect.any(String), completedAtMs: at(5) }],
  ])('shows the payout as it was %s', (_when, ms, shown) => {
    const timeline: RuleInput = {
      name: 'r',
      match: { route: 'initiate' },
      effect: {
        timeline: [
          { to: 'SUCCESS', after: '5ms' },
          { to: 'REVERSED', after: '50ms' },
        ],
      },
    };
    const rules = AGES.map((age) => stale(age));
    const world = new Core({ rules: [timeline, ...rules] });
    world.pay('a');
    expect(readStale(world, ms, 60)).toMatchObject({ kind: 'payout', payout: shown });
    expect(world.read('a')).toMatchObject({ payout: { state: 'REVERSED' } });
    expect(world.balance().paise).toBe(1000);
  });

  test('counts like any other, and does not show the step it triggers', () => {
    const world = new Core({ rules: [...timelines({ a: [{ to: 'SUCCESS', polls: 1 }] }).rules!, stale(1)] });
    world.pay('a');
    expect(readStale(world, 1, 10)).toMatchObject({
      payout: { state: 'PENDING', utr: null, completedAtMs: null },
    });
    expect(world.changes).toMatchObject([{ to: 'SUCCESS', atMs: at(10) }]);
    expect(readStale(world, 1, 11)).toMatchObject({ payout: { state: 'SUCCESS' } });
  });
});

test('a UTR may come before the payout has ended, and stays the same', () => {
  const world = paid([
    { utr: 'now', after: '2ms' },
    { to: 'FAILED', after: '5ms' },
  ]);
  world.submit(SETTLE, 3);
  const { utr } = world.payout('a');
  expect(utr).toMatch(/^\d{12}$/);
  expect(world.changes).toMatchObject([{ from: 'PENDING', to: 'PENDING', atMs: at(2), utr }]);
  expect(world.payout('a')).toMatchObject({ state: 'PENDING', completedAtMs: null });
  expect(world.balance()).toEqual({ paise: 900, updatedMs: 0 });
  expect(world.read('a', 5)).toMatchObject({ payout: { state: 'FAILED', utr } });
});

test('a UTR may come after a success, which is not completed anew', () => {
  const world = paid([
    { to: 'SUCCESS', after: '5ms', utr: 'none' },
    { utr: 'now', after: '9ms' },
  ]);
  expect(world.read('a', 8)).toMatchObject({ payout: { state: 'SUCCESS', utr: null, completedAtMs: at(5) } });
  expect(world.read('a', 9)).toMatchObject({
    payout: { state: 'SUCCESS', utr: expect.any(String), completedAtMs: at(5) },
  });
});

describe('a status read', () => {
  test('by two names of the same payout finds it; a wrong pair counts for neither', () => {
    const world = paid([], { not_found: { reads: 1 } });
    world.pay('b');
    const { txnId: txn_id } = world.payout('a');
    expect(world.read({ txn_id, client_ref_id: 'b' })).toMatchObject({ kind: 'refused' });
    expect(world.read({ txn_id, client_ref_id: 'a' })).toMatchObject({ kind: 'refused' }); // its first read
    expect(world.read({ txn_id, client_ref_id: 'a' })).toMatchObject({ payout: { txnId: txn_id } });
  });

  test('shows the balance around it, and commits nothing', () => {
    const world = paid([{ to: 'FAILED', polls: 1 }]);
    expect(world.submit(status({ client_ref_id: 'a' }))).toMatchObject({
      committed: false,
      balances: { beforePaise: 900, afterPaise: 1000 },
    });
  });
});
