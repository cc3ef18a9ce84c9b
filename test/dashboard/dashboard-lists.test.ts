import { expect, onTestFinished, test } from 'vitest';
import { PayoutList } from '../../src/dashboard/store/payout-list.ts';
import { wantedPayouts, NO_FILTER } from '../../src/dashboard/payouts/payout-filter.ts';
import { sorted } from '../../src/dashboard/lists/list-filter.ts';
import { Together } from '../../src/dashboard/store/together.ts';
import { magicBeneficiaries } from '../../src/dashboard/control-bar/failure-kinds.ts';
import { WorldPages } from '../../src/dashboard/store/world-pages.ts';
import { payoutResponse } from '../support/payout-response.ts';
import { clientFor, sandboxFor } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

test('the oldest payouts are dropped from a full list, and can be loaded again', () => {
  const list = new PayoutList(2);
  list.takeNewest({ transactions: [payoutResponse('C'), payoutResponse('B')], next: 0 });
  expect(list.before.value).toBe(1);
  list.takeNewest({ transactions: [payoutResponse('D'), payoutResponse('C')], next: 1 });
  expect(list.rows.value.map(({ txn_id: id }) => id)).toEqual(['D', 'C']);
  expect(list.before.value).toBe(2);
  list.takeOlder({ transactions: [payoutResponse('B'), payoutResponse('A')], next: null });
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
    payoutResponse('A'),
    payoutResponse('B', { amount: 250.5, transfer_mode: 'UPI', created_at: '2026-01-15T10:32:59.999Z' }),
    payoutResponse('C', {
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

test('rows of one moment are sorted in the order in which they were made', () => {
  const columns = [{ key: 'created', name: 'Created', value: () => '2026-01-15T10:30:00.000Z' }];
  const newestFirst = ['third', 'second', 'first'];
  expect(sorted(newestFirst, columns, 'created')).toEqual(['first', 'second', 'third']);
  expect(sorted(newestFirst, columns, '-created')).toEqual(newestFirst);
});
