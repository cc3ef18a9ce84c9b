import { describe, expect, test } from 'vitest';
import {
  Core,
  DAY_MS,
  oneRule,
  START_MS,
  status,
  steps,
  timelines,
  type RuleInput,
} from '../support/world/core.ts';

const at = (ms: number): number => START_MS + ms;

/** A world with a payout `a` of this timeline. */
function paid(timeline: string, more: RuleInput['effect'] = {}): Core {
  const world = new Core(oneRule({ timeline: steps(timeline), ...more }));
  world.pay('a');
  return world;
}

test('a success that is reversed days later gives the money back once, and keeps its UTR and completion', () => {
  const world = paid('SUCCESS 5ms, REVERSED 3d');
  const utr = expect.stringMatching(/^\d{12}$/) as string;
  expect(world.read('a', 49)).toMatchObject({ payout: { state: 'SUCCESS', completedAtMs: at(5), utr } });
  const { utr: first } = world.payout('a');
  expect(world.balance()).toEqual({ paise: 900, updatedMs: 0 });
  const reversed = { state: 'REVERSED', completedAtMs: at(5), utr: first };
  expect(world.read('a', 3 * DAY_MS)).toMatchObject({ payout: reversed });
  expect(world.balance(6 * DAY_MS)).toEqual({ paise: 1000, updatedMs: 3 * DAY_MS });
});

test('of steps due at once, that of the older payout happens first', () => {
  const references = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'];
  const due = references.map((reference, nth) => [reference, `SUCCESS ${100 - nth}ms`]);
  const world = new Core(timelines(Object.fromEntries(due)));
  for (const [nth, reference] of references.entries()) world.pay(reference, {}, nth);
  world.settle(100);
  expect(world.steps).toEqual(references.map((reference) => `${reference} SUCCESS 100`));
});

test('of payouts of one instant, that with the lower id settles first, in whatever order they came', () => {
  const references = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
  for (const order of [references, references.toReversed()]) {
    const world = new Core({ settlement: { IMPS: steps('SUCCESS 9ms') } });
    for (const reference of order) world.pay(reference);
    world.settle(9);
    const ids = world.changes.map(({ txnId }) => txnId);
    expect(ids).toEqual(world.state.payouts.map(({ txnId }) => txnId).toSorted());
  }
});

describe('a step that waits for a status read', () => {
  test('happens at that read, by either name, once, and is stamped with its time', () => {
    const world = paid('FAILED read 3');
    for (const query of ['a', { txn_id: world.payout('a').txnId }])
      expect(world.read(query, 1)).toMatchObject({ payout: { state: 'PENDING' } });
    expect(world.settle(999).nextDueMs).toBeNull();
    expect(world.read('a', 1000)).toMatchObject({
      payout: { state: 'FAILED', completedAtMs: at(1000), utr: null },
    });
    world.read('a', 1001);
    expect(world.steps).toEqual(['a FAILED 1000']);
    expect(world.payout('a').reads).toBe(3); // no read is counted that no step waits for
    expect(world.balance()).toEqual({ paise: 1000, updatedMs: 1000 });
  });

  test('counts only reads of its own payout, from the initiate on', () => {
    const world = new Core(timelines({ a: 'SUCCESS read 1', b: 'SUCCESS read 2' }));
    world.read('a', 0);
    for (const reference of ['a', 'b', 'a']) world.pay(reference);
    expect(world.steps).toEqual([]);
    world.read('a');
    world.read('b');
    expect(world.steps).toEqual(['a SUCCESS 0']);
  });

  test('is followed by a step by time at its time, and never at an earlier one than its own', () => {
    const timeline = 'SUCCESS read 1, REVERSED 5ms';
    const early = paid(timeline);
    early.read('a', 3);
    expect(early.settle().nextDueMs).toBe(at(5));
    early.settle(9);
    expect(early.steps).toEqual(['a SUCCESS 3', 'a REVERSED 5']);

    const late = paid(timeline);
    expect(late.settle(20).nextDueMs).toBeNull();
    expect(late.read('a', 30)).toMatchObject({ payout: { state: 'REVERSED', completedAtMs: at(30) } });
    expect(late.steps).toEqual(['a SUCCESS 30', 'a REVERSED 30']);
    expect(late.balance(40)).toEqual({ paise: 1000, updatedMs: 30 });
  });

  test('counts the reads that came while an earlier step waited for its time', () => {
    const world = paid('UTR 5ms, SUCCESS read 1, REVERSED read 2');
    world.read('a', 1);
    world.read('a', 7); // one read for all steps that it completes
    expect(world.steps).toEqual(['a PENDING 5', 'a SUCCESS 7', 'a REVERSED 7']);
  });
});

describe('a payout that a rule hides', () => {
  const notFound = (code = 'TRANSACTION_NOT_FOUND', details: object = { rule: 'test/r' }) => ({
    kind: 'refused',
    refusal: { code, details },
  });

  test('for two reads is found at the third; it was debited from the start', () => {
    const world = paid('SUCCESS read 3', { not_found: { reads: 2 } });
    expect(world.balance(1).paise).toBe(900);
    for (const query of ['a', { txn_id: world.payout('a').txnId }])
      expect(world.read(query)).toEqual(notFound());
    expect(world.pay('a').answer).toMatchObject({ kind: 'payout', replayed: true });
    expect(world.read('a')).toMatchObject({ payout: { state: 'SUCCESS' } });
    expect(world.balance().paise).toBe(900);
  });

  test('for a time settles unseen, and is found from then on', () => {
    const world = paid('FAILED 5ms', { not_found: { for: '10ms' } });
    expect(world.read('a', 9)).toEqual(notFound());
    expect(world.steps).toEqual(['a FAILED 5']);
    expect(world.balance().paise).toBe(1000);
    expect(world.read('a', 10)).toMatchObject({ payout: { state: 'FAILED' } });
  });

  test('is unknown in the words of the dialect', () => {
    const world = new Core({
      dialect: { status: { unknown: 400 } },
      ...oneRule({ not_found: { reads: 1 } }),
    });
    world.pay('a');
    expect(world.read('a')).toEqual(notFound('TRANSACTION_UNKNOWN'));
    expect(world.read('b')).toEqual(notFound('TRANSACTION_UNKNOWN', {}));
  });
});

/** What a read shows that is stale by so many ms: state, whether it has a UTR, and when it was completed. */
const shown = (world: Core, ms: number, atMs: number) => {
  world.put({ name: 'stale', match: { route: 'status' }, times: 1, effect: { stale: `${ms}ms` } });
  const answer = world.read('a', atMs);
  if (answer.kind !== 'payout') return answer.kind;
  const { state, utr, completedAtMs } = answer.payout;
  return [state, utr !== null, completedAtMs && completedAtMs - START_MS];
};

test('a stale read shows the payout as it was, and changes nothing', () => {
  const world = paid('SUCCESS 5ms, REVERSED 50ms');
  expect([1060, 56, 55, 11, 10, 1].map((ms) => shown(world, ms, 60))).toEqual([
    ['PENDING', false, null], // before there was the payout
    ['PENDING', false, null],
    ['SUCCESS', true, 5],
    ['SUCCESS', true, 5],
    ['REVERSED', true, 5],
    ['REVERSED', true, 5],
  ]);
  expect(world.read('a')).toMatchObject({ payout: { state: 'REVERSED' } });
  expect(world.balance().paise).toBe(1000);
});

test('a stale read counts like any other, and does not show the step it triggers', () => {
  const world = paid('SUCCESS read 1');
  expect(shown(world, 1, 10)).toEqual(['PENDING', false, null]);
  expect(world.steps).toEqual(['a SUCCESS 10']);
  expect(shown(world, 1, 11)).toEqual(['SUCCESS', true, 10]);
});

test('a UTR may come before the payout has ended, and stays the same', () => {
  const world = paid('UTR 2ms, FAILED 5ms');
  world.settle(3);
  const { utr } = world.payout('a');
  expect(utr).toMatch(/^\d{12}$/);
  expect(world.changes).toMatchObject([{ from: 'PENDING', to: 'PENDING', atMs: at(2), utr }]);
  expect(world.payout('a')).toMatchObject({ state: 'PENDING', completedAtMs: null });
  expect(world.balance()).toEqual({ paise: 900, updatedMs: 0 });
  expect(world.read('a', 5)).toMatchObject({ payout: { state: 'FAILED', utr } });
});

test('a UTR may come after a success, which is not completed anew', () => {
  const world = new Core(
    oneRule({ timeline: [{ to: 'SUCCESS', after: '5ms', utr: 'none' }, ...steps('UTR 9ms')] }),
  );
  world.pay('a');
  const success = { state: 'SUCCESS', completedAtMs: at(5) };
  expect(world.read('a', 8)).toMatchObject({ payout: { ...success, utr: null } });
  expect(world.read('a', 9)).toMatchObject({ payout: { ...success, utr: expect.any(String) } });
});

test('a status read by two names of the same payout finds it; a wrong pair counts for neither', () => {
  const world = new Core(oneRule({ not_found: { reads: 1 } }));
  for (const reference of ['a', 'b']) world.pay(reference);
  const { txnId: txn_id } = world.payout('a');
  const found = ['b', 'a', 'a'].map((client_ref_id) => world.read({ txn_id, client_ref_id }).kind);
  expect(found).toEqual(['refused', 'refused', 'payout']); // the second one is its first read
});

test('a status read shows the balance around it, and commits nothing', () => {
  const world = paid('FAILED read 1');
  expect(world.submit(status({ client_ref_id: 'a' }))).toMatchObject({
    committed: undefined,
    balanceBeforePaise: 900,
    balancePaise: 1000,
  });
});
