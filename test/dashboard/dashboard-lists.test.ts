import { expect, onTestFinished, test } from 'vitest';
import { PayoutList } from '../../src/dashboard/store/payout-list.ts';
import { wantedPayouts, NO_FILTER } from '../../src/dashboard/payouts/payout-filter.ts';
import { sorted } from '../../src/dashboard/lists/list-filter.ts';
import { Together } from '../../src/dashboard/store/together.ts';
import { magicBeneficiaries } from '../../src/dashboard/actions/failure-kinds.ts';
import { WorldPages } from '../../src/dashboard/store/world-pages.ts';
import { payoutResponse } from '../support/payout-response.ts';
import { sandboxFor } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

test('new payouts come first and the oldest are dropped, but those that are marked stay known', () => {
  const list = new PayoutList(2);
  const ids = (rows: readonly { readonly txn_id: string }[]) => rows.map(({ txn_id: id }) => id).join('');
  list.begin({ transactions: [payoutResponse('C'), payoutResponse('B', { at_risk: true })], next: 0 });
  list.take([payoutResponse('D')], (id) => id === 'D');
  expect([ids(list.rows.value), list.before.value]).toEqual(['DC', 2]);
  expect(ids(list.marked.at_risk.value)).toBe('B');
  list.take([payoutResponse('A', { out_of_date: true }), payoutResponse('B')], () => false); // neither is loaded
  expect([ids(list.rows.value), ids(list.marked.at_risk.value)]).toEqual(['DC', '']);
  list.takeOlder({
    transactions: [payoutResponse('B'), payoutResponse('A', { out_of_date: true })],
    next: null,
  });
  expect([ids(list.rows.value), ids(list.marked.out_of_date.value)]).toEqual(['DCBA', 'A']);
});

testRows([
  ['a part of a reference, in any case', { text: ' ORDER-b ' }, ['B']],
  ['an account', { text: '99992' }, ['C']],
  ['a state', { state: 'FAILED' }, ['C']],
  ['a mark', { state: 'out_of_date' }, ['B']],
] as const)('payouts can be found by each of their texts', (_what, wanted, found) => {
  const rows = [
    payoutResponse('A'),
    payoutResponse('B', { out_of_date: true }),
    payoutResponse('C', { status: 'FAILED', beneficiary_account: '9999200001' }),
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

test('the menu of magic beneficiaries says of each response that it forces whether the payout is made', async () => {
  const { client } = await sandboxFor();
  const magic = magicBeneficiaries(await client().world.scenario());
  const textOf = (wanted: string) => magic.find(({ account }) => account === wanted)?.text;
  expect(textOf('9999000500')).toMatch(/, and no payout$/);
  expect(textOf('9999100500')).toMatch(/, after the payout$/);
  expect(textOf('9999100007')).toMatch(/, after the payout$/);
  expect(textOf('9999200001')).toBe('FAILED after 2 s');
  expect(new Set(magic.map(({ text }) => text)).size).toBe(magic.length);
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
