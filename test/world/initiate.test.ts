import { describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/contract/dialect.ts';
import type { Decided } from '../../src/world/journal/kept-request.ts';
import { transactionsHeld } from '../../src/world/state.ts';
import { Core, DAY_MS, oneRule, status, steps, timelines, type RuleInput } from '../support/world/core.ts';
import { testRows } from '../support/test-rows.ts';

type ReferenceRows = Partial<Dialect['client_ref_id']>;
const inDialect = (client_ref_id: ReferenceRows) => new Core({ dialect: { client_ref_id } });

test('the refusal of a repeated reference says whether its values were the same', () => {
  const world = inDialect({ same_body: 400 });
  world.pay('a');
  for (const [amount, values] of [[1, 'the same'] as const, [2, 'other'] as const]) {
    const message = `client_ref_id was used before, with ${values} values`;
    const errors = [{ field: 'client_ref_id', message }];
    expect(world.pay('a', { amount }).answer).toMatchObject({ refusal: { details: { errors } } });
  }
});

test('a reference may make a second payout and a third: each has its own debit, its own steps and its own refund', () => {
  const world = new Core({
    dialect: { client_ref_id: { same_body: 'second_payout' } },
    settlement: { IMPS: steps('SUCCESS 5ms') },
    ...oneRule({ timeline: steps('FAILED 5ms') }, { match: { route: 'initiate', attempt: 2 } }),
  });
  const made = [1000, 900, 800].map((beforePaise, earlier) => {
    const { answer, ...paid } = world.pay('a');
    expect(paid).toMatchObject({ balanceBeforePaise: beforePaise, balancePaise: beforePaise - 100 });
    expect(answer).toMatchObject({ kind: 'payout', replayed: false, payout: { nth: earlier + 1 } });
    return answer.kind === 'payout' ? answer.payout.txnId : '';
  });
  expect(new Set(made).size).toBe(3);
  expect(world.read('a')).toMatchObject({ payout: { nth: 3 } }); // the latest of its reference
  expect(world.balance(4).paise).toBe(700);
  const states = made.map((txn_id) => world.read({ txn_id }, 5));
  expect(states).toMatchObject([
    { payout: { nth: 1, state: 'SUCCESS' } },
    { payout: { nth: 2, state: 'FAILED' } },
    { payout: { nth: 3, state: 'SUCCESS' } },
  ]);
  expect(world.balance().paise).toBe(800);
});

test('a repeated body is compared with that of the latest payout', () => {
  const world = inDialect({ same_body: 'replay', changed_body: 'second_payout' });
  const paid = [1, 2, 2, 1].map((amount) => world.pay('a', { amount }).answer);
  expect(paid).toMatchObject([
    { replayed: false, payout: { nth: 1 } },
    { replayed: false, payout: { nth: 2 } },
    { replayed: true, payout: { nth: 2 } },
    { replayed: false, payout: { nth: 3 } },
  ]);
  expect(world.balance().paise).toBe(600);
});

test('a second payout needs the money and the room of any other', () => {
  const world = inDialect({ same_body: 'second_payout', changed_body: 'second_payout' });
  world.maxTransactions = 2;
  world.pay('a', { amount: 6 });
  expect(world.pay('a', { amount: 4.01 }).answer).toMatchObject({
    refusal: { code: 'INSUFFICIENT_BALANCE' },
  });
  expect(world.pay('a', { amount: 3 }).answer).toMatchObject({ payout: { nth: 2 } });
  expect(world.pay('a', { amount: 1 }).answer).toMatchObject({ refusal: { code: 'SANDBOX_FULL' } });
  expect(world.balance().paise).toBe(100);
});

test('refusals come in their order: a known reference, then the balance, then the room', () => {
  const world = new Core();
  world.maxTransactions = 1;
  world.pay('a', { amount: 9 });
  expect(world.pay('a', { amount: 99 }).answer).toMatchObject({ refusal: { code: 'DUPLICATE_REFERENCE' } });
  expect(world.pay('b', { amount: 1.01 }).answer).toMatchObject({
    refusal: {
      code: 'INSUFFICIENT_BALANCE',
      details: { message: 'The wallet balance of INR 1 cannot cover a payout of INR 1.01' },
    },
  });
  const message = 'The sandbox is full: SANDBOX_MAX_TRANSACTIONS is 1';
  expect(world.pay('c')).toMatchObject({
    answer: {
      refusal: { code: 'SANDBOX_FULL', details: { message, limit: 'SANDBOX_MAX_TRANSACTIONS' } },
    },
    committed: false,
    balanceBeforePaise: 100,
    balancePaise: 100,
  });
  expect(world.state.payouts).toHaveLength(1);
});

test('a refund that is due pays for the next payout of the same instant', () => {
  const world = new Core(timelines({ a: 'FAILED 5ms' }));
  world.pay('a', { amount: 10 });
  expect(world.pay('b', { amount: 10 }, 4).committed).toBe(false);
  expect(world.pay('b', { amount: 10 }, 5).committed).toBe(true);
});

describe('a dialect that sends the first response again', () => {
  const stored = (change: ReferenceRows = {}, rules: readonly RuleInput[] = []) =>
    new Core({ rules, dialect: { client_ref_id: { same_body: 'stored', ...change } } });
  const seen = ({ answer }: Decided) =>
    answer.kind === 'stored' ? answer.stored.response.status : (answer as { kind: string }).kind;

  test('repeats a 402 although the wallet was funded, refuses another body, and forgets both in time', () => {
    const world = stored({ valid_for: '1d', changed_body: 422 });
    world.pay('a', { amount: 11 });
    world.submit({ kind: 'credit', amountPaise: 10_000 });
    expect(seen(world.pay('a', { amount: 11 }, DAY_MS - 1))).toBe(402);
    expect(world.pay('a').answer).toMatchObject({ refusal: { code: 'REFERENCE_REUSED' } });
    expect(world.pay('a', { amount: 11 }, DAY_MS).committed).toBe(true);
  });

  testRows([true, false])('repeats what a rule answered, whether the payout was made or not', (commit) => {
    const respond = { status: 503, body: '{{now}}' };
    const world = stored({}, [{ times: 1, match: { route: 'initiate' }, effect: { commit, respond } }]);
    world.pay('a');
    const again = world.pay('a', {}, 5);
    expect(again).toMatchObject({
      committed: false,
      replayed: true,
      answer: { stored: { response: { status: 503, body: '2026-01-15T10:30:00.000Z' } } },
    });
    expect(world.state.payouts).toHaveLength(Number(commit));
  });

  testRows([400, 401, 413, 429])('never repeats a refusal that was no response to a payment', (status) => {
    const world = stored({}, [{ times: 1, match: { route: 'initiate' }, effect: { respond: status } }]);
    world.pay('a');
    expect(world.pay('a').committed).toBe(true);
  });

  test('repeats the 402 of one body and the payout of another', () => {
    const world = stored({ changed_body: 'second_payout' });
    world.pay('a');
    world.pay('a', { amount: 11 });
    expect(seen(world.pay('a', { amount: 11 }))).toBe(402);
    expect(world.pay('a').answer).toMatchObject({ kind: 'payout', replayed: true });
    expect(world.state.payouts).toHaveLength(1);
  });

  test('keeps a response in the room of one payout, once; where there is no room, it is not kept', () => {
    const world = stored();
    world.maxTransactions = 1;
    for (let times = 0; times < 3; times += 1) world.pay('a', { amount: 11 });
    expect(transactionsHeld(world.state)).toBe(1);
    world.pay('b', { amount: 11 });
    expect(world.state.stored.map(({ clientRefId }) => clientRefId)).toEqual(['a']);
    expect(world.pay('c').answer).toMatchObject({ refusal: { code: 'SANDBOX_FULL' } });
  });
});

test('a reference that has expired pays again; status finds the latest payout, and txn_id the first', () => {
  const world = inDialect({ valid_for: '1d' });
  world.pay('a');
  const first = world.payout('a');
  expect(world.pay('a', {}, DAY_MS - 1).answer).toMatchObject({ kind: 'payout', replayed: true });
  expect(world.pay('a', { amount: 2 }, DAY_MS).committed).toBe(true);
  expect(world.payout('a')).toMatchObject({ nth: 2, amountPaise: 200 });
  expect(world.read({ txn_id: first.txnId })).toMatchObject({ payout: { nth: 1 } });
  expect(world.pay('a', { amount: 2 }, 2 * DAY_MS - 1).committed).toBe(false);
});

testRows<[effect: RuleInput['effect'], busyMs: number]>([
  [{ delay: '2s' }, 2000],
  [{ commit: true, fault: { kind: 'hang', for: '3s' } }, 3000],
  [{ delay: '0s' }, 0],
])(
  'a request is in flight as long as its plan says, whether or not its end was recorded',
  (effect, busyMs) => {
    const rules = [{ match: { attempt: 1 }, effect }];
    const world = new Core({ rules, dialect: { client_ref_id: { in_flight: 409 } } });
    world.isAnswering = false;
    world.pay('a');
    const inProgress = { refusal: { code: 'REQUEST_IN_PROGRESS' } };
    if (busyMs > 0) expect(world.pay('a', {}, busyMs - 1).answer).toMatchObject(inProgress);
    expect(world.pay('b', {}, busyMs).committed).toBe(true);
    expect(world.pay('a', {}, busyMs).answer).toMatchObject({ kind: 'payout', replayed: true });
  },
);

test('a rule may refuse a request, break its response or delay it, and still make the payout', () => {
  const pays = (effect: RuleInput['effect']) => {
    const world = new Core(oneRule(effect));
    return { world, result: world.pay('a') };
  };
  expect(pays({ commit: true, respond: { status: 500 } }).result).toMatchObject({
    committed: true,
    answer: { kind: 'payout' },
    effect: { rule: 'test/r', respond: { status: 500 }, fault: null, delayMs: 0, garbage: [] },
    balanceBeforePaise: 1000,
    balancePaise: 900,
  });
  expect(pays({ delay: '2s' }).result).toMatchObject({ committed: true, effect: { delayMs: 2000 } });
  const { world, result } = pays({ fault: 'connection-reset' });
  expect(result).toMatchObject({
    committed: false,
    answer: { kind: 'payout' }, // what would have been made
    effect: { fault: { kind: 'connection-reset' } },
    balancePaise: undefined,
  });
  expect(world.read('a')).toMatchObject({ kind: 'refused' });
  expect(world.balance().paise).toBe(1000);
});

test('a payout that is only previewed is the one that is made', () => {
  const world = new Core({ settlement: 'demo', ...oneRule({ fault: 'truncated-body' }, { times: 1 }) });
  const previewed = world.pay('a').answer;
  expect(world.state.payouts).toEqual([]);
  expect(world.pay('a').answer).toEqual(previewed);
});

test('a response of a rule replaces a balance or a status, for which the ledger is not asked', () => {
  const world = new Core(
    oneRule({ respond: { status: 503 } }, { match: { route: ['status', 'balance'] }, times: 2 }),
  );
  world.pay('a');
  expect(world.submit(status({ client_ref_id: 'a' }))).toMatchObject({ balancePaise: undefined });
  expect(world.submit(status({}))).toMatchObject({ answer: { kind: 'none' }, balancePaise: undefined });
  expect(world.submit(status({}))).toMatchObject({
    answer: { refusal: { code: 'INVALID_REQUEST' } },
    balancePaise: undefined,
  });
});
