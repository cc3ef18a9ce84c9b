import { expect, test } from 'vitest';
import { STATES } from '../../../src/contract/service.ts';
import type { ScenarioInput } from '../../../src/index.ts';
import { after, ask, payoutIn } from '../../support/control.ts';
import { clientFor } from '../../support/sandbox.ts';
import { START } from '../../support/world/ways-in.ts';

const SETTINGS = { clock: START, settlement: 'manual', openingBalance: 1000 } as const;

test('the ledger entries explain every paisa, with kind, amount, balance and time', async () => {
  const world = await clientFor(SETTINGS);
  const kept = await payoutIn(world, 'SUCCESS', 'kept');
  await world.clock.advance('1s');
  const failed = await payoutIn(world, 'PENDING', 'failed');
  await world.clock.advance('1s');
  await world.world.fund(0.5);
  await world.world.transition(failed, 'FAILED');
  await world.pay({ client_ref_id: 'too-much', amount: 5000 });
  const entries = [
    { kind: 'opening', amount: 1000, balance: 1000, txn_id: null, at: START },
    { kind: 'payout', amount: -100, balance: 900, txn_id: kept, at: START },
    { kind: 'payout', amount: -100, balance: 800, txn_id: failed, at: after(1) },
    { kind: 'credit', amount: 0.5, balance: 800.5, txn_id: null, at: after(2) },
    { kind: 'refund', amount: 100, balance: 900.5, txn_id: failed, at: after(2) },
  ];
  expect((await ask(world, 'GET', '/wallet/entries?order=oldest')).body).toEqual({ entries, next: null });
  expect((await ask(world, 'GET', '/wallet/entries')).body.entries).toEqual(entries.toReversed());
  expect((await ask(world, 'GET', '/wallet')).body).toEqual({
    balance: 900.5,
    opening_balance: 1000,
    in_flight: 0,
    paid_out: 100,
    came_back: 100,
  });
});

test('the summary of a world has its balance, payouts by state, clock, scenario and invariants; a list has those of one state, or those out of date', async () => {
  const world = await clientFor(SETTINGS);
  for (const state of STATES) await payoutIn(world, state, state);
  await payoutIn(world, 'PENDING', 'another');
  expect((await ask(world, 'GET', '/world')).body).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{32}$/),
    balance: 700,
    opening_balance: 1000,
    transactions: { PENDING: 2, SUCCESS: 1, FAILED: 1, REVERSED: 1 },
    clock: { now: START, frozen: true, speed: 0, next_due: null },
    scenario: 'default',
    name: null,
    at_risk: { count: 0, amount: 0 },
    out_of_date: { count: 3, amount: 300 },
    last_action: { action: expect.any(Number), name: 'transition', at: START },
    invariants: 'hold',
  });
  expect(await world.world.wallet()).toMatchObject({ in_flight: 200, paid_out: 100, came_back: 200 });
  const listed = await world.world.transactions({ status: 'PENDING' });
  expect(listed.map(({ client_ref_id }) => client_ref_id)).toEqual(['PENDING', 'another']);
  const unseen = await world.world.transactions({ out_of_date: true });
  expect(unseen.map(({ status }) => status)).toEqual(['SUCCESS', 'FAILED', 'REVERSED']);
});

test('a payout is shown with its timeline and the reason for its state', async () => {
  const world = await clientFor({ ...SETTINGS, openingBalance: 10_000 });
  const slow: ScenarioInput = {
    settlement: {
      NEFT: [
        { to: 'SUCCESS', after: '1m', utr: 'none' },
        { utr: 'now', after: '2m' },
      ],
      UPI: [{ to: 'SUCCESS', polls: 2 }],
    },
  };
  await world.world.use(slow);
  const { txn_id } = (await world.pay({ transfer_mode: 'NEFT', amount: 100 })).body.data;
  const step = { polls: null, forced: false, after_request: null };
  const planned = {
    txn_id,
    client_ref_id: 'order-1',
    status: 'PENDING',
    amount: 100,
    transfer_mode: 'NEFT',
    beneficiary_name: 'Asha Rao',
    beneficiary_account: '000123456789',
    beneficiary_ifsc: 'SBIN0000001',
    utr: null,
    created_at: START,
    completed_at: null,
    nth: 1,
    planned_by: 'inline',
    reason: `PENDING: inline plans SUCCESS for ${after(60)}`,
    hidden_by: null,
    at_risk: false,
    out_of_date: false,
    told: { request: 1, at: START, as: 'PENDING' },
    legal: ['SUCCESS', 'FAILED', 'REVERSED'],
    timeline: [
      { ...step, to: 'SUCCESS', at: after(60), utr: false, done: false },
      { ...step, to: null, at: after(120), utr: true, done: false },
    ],
  };
  expect((await ask(world, 'GET', `/transactions/${txn_id}`)).body).toEqual(planned);
  await world.clock.advance('90s');
  expect(await world.world.transaction(txn_id)).toMatchObject({
    status: 'SUCCESS',
    utr: null,
    completed_at: after(60),
    reason: 'SUCCESS as planned by inline',
    legal: ['REVERSED'],
    timeline: [{ done: true }, { done: false }],
  });
  const upi = (await world.pay({ client_ref_id: 'upi', transfer_mode: 'UPI', amount: 1 })).body.data.txn_id;
  await world.status({ txn_id: upi });
  const reason = 'PENDING: inline plans SUCCESS at status read 2, and there were 1';
  expect(await world.world.transaction(upi)).toMatchObject({ reason, timeline: [{ polls: 2, at: null }] });
  await world.status({ txn_id: upi });
  expect((await world.world.transaction(upi)).reason).toBe('SUCCESS as planned by inline, at status read 2');
});
