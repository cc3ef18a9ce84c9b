import { describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/contract/dialect.ts';
import { transactionsHeld } from '../../src/world/state.ts';
import {
  Core,
  initiate,
  oneRule,
  sourceOf,
  START_MS,
  status,
  steps,
  timelines,
  type RuleInput,
} from '../support/world/core.ts';

type ReferenceRows = Partial<Dialect['client_ref_id']>;
const inDialect = (client_ref_id: ReferenceRows) => new Core({ dialect: { client_ref_id } });

test('an initiate debits the wallet and makes a payout that is PENDING, without a UTR', () => {
  const world = new Core();
  const { answer, committed, balances, attempt, effect } = world.pay('a', { amount: 1.5 }, 3);
  expect(answer).toMatchObject({
    kind: 'payout',
    replayed: false,
    payout: { clientRefId: 'a', amountPaise: 150, state: 'PENDING', utr: null, createdAtMs: START_MS + 3 },
  });
  expect({ committed, balances, attempt, effect }).toEqual({
    committed: true,
    balances: { beforePaise: 1000, afterPaise: 850 },
    attempt: 1,
    effect: null,
  });
  expect(world.balance(9)).toEqual({ paise: 850, updatedMs: 3 });
  expect(world.state.entries.at(-1)).toEqual({
    kind: 'payout',
    amountPaise: -150,
    balancePaise: 850,
    txnId: world.payout('a').txnId,
    atMs: START_MS + 3,
  });
});

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
    const { answer, balances } = world.pay('a');
    expect(balances).toEqual({ beforePaise, afterPaise: beforePaise - 100 });
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
    balances: { beforePaise: 100, afterPaise: 100 },
  });
  expect(world.state.payouts).toHaveLength(1);
});

test('a refund that is due pays for the next payout of the same instant', () => {
  const world = new Core(timelines({ a: 'FAILED 5ms' }));
  world.pay('a', { amount: 10 });
  expect(world.pay('b', { amount: 10 }, 4).committed).toBe(false);
  expect(world.pay('b', { amount: 10 }, 5).committed).toBe(true);
});

describe('a reference that was refused for the balance', () => {
  const remembering = () => inDialect({ after_402: 'remember', changed_body: 'second_payout' });

  test('is forgiven by one request in a dialect that forgets', () => {
    const world = remembering();
    world.pay('a', { amount: 11 });
    const scenario = sourceOf({ dialect: { client_ref_id: { after_402: 'forget' } } });
    expect(world.submit(initiate({}, { scenario })).answer).toMatchObject({ kind: 'payout' });
  });

  test('is answered by the payout it made before it was refused', () => {
    const world = remembering();
    world.pay('a');
    expect(world.pay('a', { amount: 11 }).answer).toMatchObject({ kind: 'refused' });
    expect(world.pay('a').answer).toMatchObject({ kind: 'payout', replayed: true });
    expect(world.pay('a', { amount: 2 }).answer).toMatchObject({
      refusal: { details: { message: expect.stringContaining('stays refused') } },
    });
  });

  test('takes the room of one payout, once; where there is no room, it is not remembered', () => {
    const world = remembering();
    world.maxTransactions = 1;
    for (let times = 0; times < 3; times += 1) world.pay('a', { amount: 11 });
    expect(transactionsHeld(world.state)).toBe(1);
    world.pay('b', { amount: 11 });
    expect([...world.state.refused]).toEqual(['a']);
    expect(world.pay('c').answer).toMatchObject({ refusal: { code: 'SANDBOX_FULL' } });
  });
});

test('a rule may refuse a request, break its response or delay it, and still make the payout', () => {
  const pays = (effect: RuleInput['effect']) => {
    const world = new Core(oneRule(effect));
    return { world, result: world.pay('a') };
  };
  expect(pays({ commit: true, respond: { status: 500 } }).result).toMatchObject({
    committed: true,
    answer: { kind: 'payout' },
    effect: { rule: 'test/r', respond: { status: 500 }, fault: null, delayMs: 0, garbage: [] },
    balances: { beforePaise: 1000, afterPaise: 900 },
  });
  expect(pays({ delay: '2s' }).result).toMatchObject({ committed: true, effect: { delayMs: 2000 } });
  const { world, result } = pays({ fault: 'connection-reset' });
  expect(result).toMatchObject({
    committed: false,
    answer: { kind: 'payout' }, // what would have been made
    effect: { fault: { kind: 'connection-reset' } },
    balances: null,
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
  expect(world.submit(status({ client_ref_id: 'a' }))).toMatchObject({ balances: null });
  expect(world.submit(status({}))).toMatchObject({ answer: { kind: 'none' }, balances: null });
  expect(world.submit(status({}))).toMatchObject({
    answer: { refusal: { code: 'INVALID_REQUEST' } },
    balances: null,
  });
});
