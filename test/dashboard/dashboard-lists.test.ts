import { expect, onTestFinished, test } from 'vitest';
import type { ChangeResponse, TransactionResponse } from '../../src/contract/control-responses.ts';
import { PayoutList } from '../../src/dashboard/store/payout-list.ts';
import { wantedPayouts, NO_FILTER } from '../../src/dashboard/payouts/payout-filter.ts';
import { sorted } from '../../src/dashboard/lists/list-filter.ts';
import { Together } from '../../src/dashboard/store/together.ts';
import { magicBeneficiaries } from '../../src/dashboard/control-bar/failure-kinds.ts';
import { WorldPages } from '../../src/dashboard/store/world-pages.ts';
import { clientFor, sandboxFor } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

const EDGES = { PENDING: ['SUCCESS', 'FAILED', 'REVERSED'], SUCCESS: ['REVERSED'] } as const;
const SETTLED_AT = '2026-01-15T10:30:02.000Z';
const REVERSED_AT = '2026-01-18T10:30:00.000Z';

const step = (to: 'SUCCESS' | 'REVERSED', at: string) => ({
  to,
  at,
  polls: null,
  utr: true,
  done: false,
  forced: false,
});

/** A new payout: SUCCESS after two seconds, REVERSED after three days. */
const made = (id: string, change: Partial<TransactionResponse> = {}): TransactionResponse => ({
  txn_id: id,
  client_ref_id: `order-${id}`,
  status: 'PENDING',
  amount: 100,
  transfer_mode: 'IMPS',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  utr: null,
  created_at: '2026-01-15T10:30:00.000Z',
  completed_at: null,
  nth: 1,
  planned_by: 'magic/success-then-reversed',
  reason: 'PENDING',
  hidden_by: null,
  at_risk: false,
  told: null,
  legal: ['SUCCESS', 'FAILED', 'REVERSED'],
  timeline: [step('SUCCESS', SETTLED_AT), step('REVERSED', REVERSED_AT)],
  ...change,
});

const change = (
  id: string,
  from: ChangeResponse['from'],
  to: ChangeResponse['to'],
  at: string,
): ChangeResponse => ({
  txn_id: id,
  client_ref_id: `order-${id}`,
  from,
  to,
  at,
  utr: '601500000001',
});
const SETTLED = change('A', 'PENDING', 'SUCCESS', SETTLED_AT);
const REVERSED = change('A', 'SUCCESS', 'REVERSED', REVERSED_AT);

test('events that arrive before their payout are applied once it is loaded', () => {
  const list = new PayoutList(10);
  expect(list.takeChanges([SETTLED, REVERSED], EDGES)).toEqual([]);
  list.takeNewest({ transactions: [made('A')], next: null }, EDGES);
  expect(list.get('A')).toMatchObject({
    status: 'REVERSED',
    utr: '601500000001',
    completed_at: SETTLED_AT,
    legal: [],
  });
  expect(list.get('A')!.timeline.map(({ done }) => done)).toEqual([true, true]);
});

test('a response older than the events does not revert a payout', () => {
  const list = new PayoutList(10);
  list.takeNewest({ transactions: [made('A')], next: null }, EDGES);
  list.takeChanges([SETTLED], EDGES);
  list.takeNewest({ transactions: [made('B'), made('A')], next: null }, EDGES);
  list.renew([made('A')]);
  expect(list.rows.value.map(({ txn_id: id, status }) => [id, status])).toEqual([
    ['B', 'PENDING'],
    ['A', 'SUCCESS'],
  ]);
});

test('a repeated event changes nothing, and an unplanned one reloads the payout', () => {
  const list = new PayoutList(10);
  list.takeNewest({ transactions: [made('A')], next: null }, EDGES);
  expect(list.takeChanges([SETTLED, SETTLED], EDGES)).toEqual([]);
  expect(list.get('A')!.status).toBe('SUCCESS');
  expect(
    list.takeChanges(
      [change('A', 'SUCCESS', 'REVERSED', SETTLED_AT), change('A', 'PENDING', 'FAILED', REVERSED_AT)],
      EDGES,
    ),
  ).toEqual(['A']);
});

test('a forced step is not taken for the planned one to the same state', () => {
  const list = new PayoutList(10);
  list.takeNewest({ transactions: [made('A')], next: null }, EDGES);
  expect(list.takeChanges([change('A', 'PENDING', 'SUCCESS', '2026-01-15T10:30:01.000Z')], EDGES)).toEqual([
    'A',
  ]);
  expect(list.get('A')).toEqual(made('A'));
});

test('the oldest payouts are dropped from a full list, and can be loaded again', () => {
  const list = new PayoutList(2);
  list.takeNewest({ transactions: [made('C'), made('B')], next: 0 }, EDGES);
  expect(list.before.value).toBe(1);
  list.takeNewest({ transactions: [made('D'), made('C')], next: 1 }, EDGES);
  expect(list.rows.value.map(({ txn_id: id }) => id)).toEqual(['D', 'C']);
  expect(list.before.value).toBe(2);
  list.takeOlder({ transactions: [made('B'), made('A')], next: null }, EDGES);
  expect(list.rows.value.map(({ txn_id: id }) => id)).toEqual(['D', 'C', 'B', 'A']);
  expect(list.before.value).toBe(0);
});

testRows([
  ['a part of a reference, in any case', { text: ' ORDER-b ' }, ['B']],
  ['an account', { text: '99992' }, ['C']],
  ['a state', { state: 'FAILED' }, ['C']],
  ['a mode', { mode: 'UPI' }, ['B']],
  ['an amount in Indian grouping', { atLeast: '₹1,00,000' }, ['C']],
  ['amounts between two bounds', { atLeast: '150', atMost: '250.5' }, ['B']],
  ['a bound that is not a number, which is ignored', { atMost: 'much' }, ['A', 'B', 'C']],
  ['a time in IST', { from: '2026-01-15T16:01' }, ['B', 'C']],
  ['a time to the end of its minute', { to: '2026-01-15T16:02' }, ['A', 'B']],
  ['a time that is not one, which is ignored', { from: 'yesterday' }, ['A', 'B', 'C']],
] as const)('payouts can be found by each of their texts', (_what, wanted, found) => {
  const rows = [
    made('A'),
    made('B', { amount: 250.5, transfer_mode: 'UPI', created_at: '2026-01-15T10:32:59.999Z' }),
    made('C', {
      amount: 100_000,
      status: 'FAILED',
      beneficiary_account: '9999200001',
      created_at: '2026-01-15T10:33:00.000Z',
    }),
  ];
  expect(wantedPayouts(rows, { ...NO_FILTER, ...wanted }).map(({ txn_id: id }) => id)).toEqual(found);
});

test('a page of older payouts can be the oldest payout alone', async () => {
  const { client, url } = await sandboxFor();
  const world = client();
  for (const client_ref_id of ['first', 'second', 'third']) await world.pay({ client_ref_id });
  const { transactions, next } = await new WorldPages(url, world.apiKey).payouts(1);
  expect([transactions.map(({ client_ref_id }) => client_ref_id), next]).toEqual([['first'], null]);
});

test('what a client was told is taken from a response, although the payout has gone on since', () => {
  const list = new PayoutList(10);
  list.takeNewest({ transactions: [made('A', { at_risk: true })], next: null }, EDGES);
  list.takeChanges([SETTLED], EDGES);
  list.renew([made('A', { told: { request: 2, at: SETTLED_AT, as: 'PENDING' } })]);
  expect(list.get('A')).toMatchObject({ status: 'SUCCESS', at_risk: false, told: { request: 2 } });
});

test('a task that is requested while it runs is run once more, however often it was requested', async () => {
  let runs = 0;
  let finish = (): void => undefined;
  const task = new Together(() => {
    runs += 1;
    return new Promise<void>((resolve) => (finish = resolve));
  }, 1);
  onTestFinished(() => task.close());
  task.order();
  for (let nth = 0; nth < 3; nth += 1) task.order();
  expect(runs).toBe(1);
  finish();
  await expect.poll(() => runs).toBe(2);
  finish();
});

test('a magic failure or outcome that is switched on for every payout applies to every account', async () => {
  const { world, pay, status } = await clientFor({ settlement: 'manual' });
  const magic = magicBeneficiaries(await world.scenario());
  const switchOn = (called: string) => world.rule(magic.find(({ name }) => name === called)!.forEveryPayout);
  await switchOn('status-429');
  expect((await pay()).status).toBe(429);
  await world.removeRule('status-429');
  await switchOn('failed');
  await switchOn('pending-for-ever');
  await pay();
  expect((await world.payout('order-1')).planned_by).toBe('world/pending-for-ever');
  await world.removeRule('pending-for-ever');
  await switchOn('not-found-at-first');
  await pay({ client_ref_id: 'order-2' });
  expect((await status({ client_ref_id: 'order-2' })).status).toBe(404);
});

test('the menu of magic beneficiaries says of each whether it is paid and what the client sees', async () => {
  const { client } = await sandboxFor();
  const magic = magicBeneficiaries(await client().world.scenario());
  const kindOf = (wanted: string) => magic.find(({ account }) => account === wanted)?.kind;
  expect(kindOf('9999000402')).toBe('Not paid, the client sees');
  expect(kindOf('9999100500')).toBe('Paid, but the client sees');
  expect(kindOf('9999100007')).toBe('Paid, but the client sees');
  expect(kindOf('9999200001')).toBe('Normal response, then');
  expect(magic.filter(({ account }) => /^9999[012]00\d{3}$/.test(account))).toHaveLength(magic.length);
});

test('rows are sorted by the numbers in their references', () => {
  const columns = [{ key: 'reference', name: 'Reference', value: (row: string) => row }];
  const rows = ['order-10', 'order-9', 'refund-2', 'order-9-b'];
  expect(sorted(rows, columns, 'reference')).toEqual(['order-9', 'order-9-b', 'order-10', 'refund-2']);
  expect(sorted(rows, columns, '-reference')).toEqual(['refund-2', 'order-10', 'order-9-b', 'order-9']);
});
