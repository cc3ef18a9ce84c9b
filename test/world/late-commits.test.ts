import { expect, test } from 'vitest';
import { journalEntry } from '../../src/world/journal/journal-entry.ts';
import { nowMs } from '../../src/world/state.ts';
import { testRows } from '../support/test-rows.ts';
import {
  advance,
  Core,
  DAY_MS,
  loadFile,
  oneRule,
  save,
  START_MS,
  steps,
  type RuleInput,
} from '../support/world/core.ts';

const LATE: RuleInput['effect'] = { commit: { after: '2s' }, respond: 504 };

/** A world whose first request is committed late. */
const world = (effect = LATE, dialect = {}) =>
  new Core({ ...oneRule(effect, { match: { route: 'initiate', attempt: 1 } }), dialect });

const commits = ({ state }: Core) =>
  state.requests.list.map((request) => journalEntry(request).commit).filter((one) => one !== undefined);

test('a late payout is made at its own time, with the timeline that was decided when it arrived', () => {
  const late = world({ ...LATE, timeline: steps('SUCCESS 1s') });
  late.pay('a');
  expect(late.read('a', 1999)).toMatchObject({ kind: 'refused' });
  expect(commits(late)).toEqual([{ due: '2026-01-15T10:30:02.000Z', after_requests: null, result: null }]);
  expect(late.state.wallet.balancePaise).toBe(1000);
  late.settle(60_000);
  expect(late.payout('a')).toMatchObject({ createdAtMs: START_MS + 2000, completedAtMs: START_MS + 3000 });
  expect(late.state.entries.at(-1)).toMatchObject({ kind: 'payout', atMs: START_MS + 2000 });
  expect(late.state.requests.list[0]).toMatchObject({ committed: true, txnId: late.payout('a').txnId });
  expect(commits(late)).toEqual([{ due: '2026-01-15T10:30:02.000Z', after_requests: null, result: 'made' }]);
  expect(late.events.findLast(({ type }) => type === 'request')).toMatchObject({
    request: { nth: 1, commit: { result: 'made' } },
    payout: { clientRefId: 'a' },
  });
  expect(nowMs(late.state)).toBe(START_MS + 60_000); // the time goes on
});

test('a late payout has its room in a sandbox that is full by then, also when its request is no longer listed', () => {
  const late = world();
  Object.assign(late, { maxTransactions: 1, keep: 1 });
  late.pay('a');
  for (let nth = 0; nth < 2; nth += 1) late.balance();
  late.settle(2000);
  expect(late.payout('a').createdAtMs).toBe(START_MS + 2000);
});

test('a commit after requests comes behind the next ones, whatever they ask', () => {
  const late = world({ commit: { after_requests: 2 }, fault: 'connection-reset' });
  late.pay('a');
  expect(late.read('a')).toMatchObject({ kind: 'refused' });
  expect(commits(late)).toMatchObject([{ due: null, after_requests: 1, result: null }]);
  expect(late.balance().paise).toBe(1000);
  expect(late.balance().paise).toBe(900);
});

testRows<[dialect: object, result: string, payouts: number]>([
  [{}, 'repeated', 1],
  [{ same_body: 409 }, 'REFERENCE_CONFLICT', 1],
  [{ same_body: 'second_payout' }, 'made', 2],
  [{ same_body: 'stored' }, 'repeated', 1],
])(
  'a late commit of a reference that was paid meanwhile is a repetition',
  (client_ref_id, result, payouts) => {
    const late = world(LATE, { client_ref_id });
    late.pay('a');
    expect(late.pay('a').committed).toBe(true);
    late.settle(2000);
    expect(commits(late)).toMatchObject([{ result }]);
    expect(late.state.payouts).toHaveLength(payouts);
  },
);

test('a late commit that the wallet does not cover at its time is refused in the journal only', () => {
  const late = world();
  late.pay('a', { amount: 8 });
  late.pay('b', { amount: 5 });
  late.pay('b', { amount: 5 });
  late.settle(2000);
  expect(commits(late).map((commit) => commit?.result)).toEqual(['INSUFFICIENT_BALANCE', 'repeated']);
  expect(late.state.requests.list[0]).toMatchObject({ committed: false });
  expect(late.state.wallet.balancePaise).toBe(500);
});

test('a request that is released after its late commit keeps what that made', () => {
  const late = world({ hold: 'committed', commit: { after: '2s' } });
  late.pay('a');
  late.settle(3000);
  late.submit({ kind: 'release', id: 1, order: { respond: null, fault: null } });
  const { txnId } = late.payout('a');
  expect(late.state.requests.list[0]).toMatchObject({ committed: true, txnId, commit: { result: 'made' } });
});

test('a reference is in flight until its late commit', () => {
  const late = world(LATE, { client_ref_id: { in_flight: 409 } });
  late.pay('a');
  expect(late.pay('a', {}, 1999).answer).toMatchObject({ refusal: { code: 'REQUEST_IN_PROGRESS' } });
  expect(late.pay('a', {}, 2000).answer).toMatchObject({ kind: 'payout', replayed: true });
});

test('a client that was told of a late payout before it was made still knows of it', () => {
  const late = world({ commit: { after: '2s' } });
  late.pay('a');
  late.settle(2000);
  expect(late.payout('a').told).toMatchObject({ request: 1, as: 'PENDING' });
  expect(late.state.index.atRisk.count).toBe(0);
});

test('a clock that moves on makes late payouts, an undo unmakes them, and a snapshot keeps them', () => {
  const late = world({ ...LATE, timeline: steps('FAILED 1s') });
  late.pay('a');
  const before = save(late.state);
  expect(late.submit(advance({ until: 'idle' })).nowMs).toBe(START_MS + 3000);
  expect(late.steps).toEqual(['a FAILED 3000']);
  late.submit({ kind: 'undo', isForced: false });
  expect(save(late.state)).toEqual(before);
  const restored = loadFile(before);
  expect(JSON.stringify(restored.late)).toBe(JSON.stringify(late.state.late)); // the same bytes at each server
  late.settle(DAY_MS);
  expect(late.payout('a')).toMatchObject({ state: 'FAILED', completedAtMs: START_MS + 3000 });
});

test('a world has a thousand payouts at most that wait for a late commit', () => {
  const late = world();
  for (let nth = 0; nth < 1000; nth += 1) late.pay(`order-${nth}`, { amount: 0.01 });
  expect(late.state.late).toHaveLength(1000);
  const message = expect.stringContaining('1000 payouts wait for a late commit') as string;
  expect(late.pay('more', { amount: 0.01 }).answer).toMatchObject({
    refusal: { code: 'SANDBOX_FULL', details: { message, limit: '1000 late commits' } },
  });
  expect(late.state.late).toHaveLength(1000);
  late.settle(2000);
  expect(late.state.payouts).toHaveLength(1000);
});

test('a stale balance is that of an earlier time, and never of a time before the wallet was opened', () => {
  const stale = new Core({ rules: [{ match: { route: 'balance' }, effect: { stale: '10m' } }] });
  stale.pay('a', {}, 60_000);
  expect(stale.balance(660_000 - 1)).toEqual({ paise: 1000, updatedMs: 0 });
  expect(stale.balance(660_000)).toEqual({ paise: 900, updatedMs: 60_000 });
});
