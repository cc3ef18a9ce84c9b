import { expect, test } from 'vitest';
import { recordEntry } from '../../src/world/ledger.ts';
import { entriesPage, payoutsPage } from '../../src/world/pages.ts';
import { credit } from '../../src/payout/money.ts';
import { Core, START_MS, steps } from '../support/world/core.ts';

const FIRST = { order: 'oldest', limit: 1000 } as const;
type PayoutFilter = Partial<Parameters<typeof payoutsPage>[1]>;

test('a list comes in pages from either end; a page is full at its limit, and says where the next one begins', () => {
  const world = new Core();
  for (const amountPaise of [1, 2, 3, 4]) world.submit({ kind: 'credit', amountPaise });
  const page = (cursor: number | undefined, limit: number, order: 'oldest' | 'newest' = 'oldest') => {
    const { items, next } = entriesPage(world.state, { order, limit, cursor });
    return [...items.map(({ amountPaise }) => amountPaise), next];
  };
  expect([page(undefined, 3), page(3, 3)]).toEqual([
    [1000, 1, 2, 3],
    [3, 4, null],
  ]);
  expect([page(undefined, 3, 'newest'), page(1, 3, 'newest')]).toEqual([
    [4, 3, 2, 1],
    [1, 1000, null],
  ]);
  for (const limit of [5, 6]) expect(page(undefined, limit)).toEqual([1000, 1, 2, 3, 4, null]);
  expect([page(5, 3), page(-1, 3, 'newest')]).toEqual([[null], [null]]);
});

test('a list shows one state, one reference with all its payouts, or the payouts of which no client was told', () => {
  const world = new Core({
    rules: [
      { name: 'lost', match: { client_ref_id: 'a' }, effect: { commit: true, respond: { status: 500 } } },
      { name: 'fails', match: { client_ref_id: 'b' }, effect: { timeline: steps('FAILED 0ms') } },
    ],
    dialect: { client_ref_id: { same_body: 'second_payout' } },
  });
  for (const reference of ['a', 'b', 'b']) world.pay(reference);
  const listed = (filter: PayoutFilter, limit = 5) => {
    const { items, next } = payoutsPage(world.state, { ...FIRST, ...filter, limit });
    return [items.map(({ clientRefId, nth }) => `${clientRefId}${nth}`).join(' '), next];
  };
  expect(listed({})).toEqual(['a1 b1 b2', null]);
  expect(listed({ order: 'newest' }, 2)).toEqual(['b2 b1', 0]);
  expect(listed({ status: 'FAILED' })).toEqual(['b1', null]);
  expect(listed({ client_ref_id: 'b' })).toEqual(['b1 b2', null]);
  expect(listed({ client_ref_id: 'b' }, 1)).toEqual(['b1', 2]);
  expect(listed({ client_ref_id: 'a' }, 0)).toEqual(['a1', null]); // found without a search, for which there is no room
  expect(listed({ client_ref_id: 'a', status: 'FAILED' })).toEqual(['', null]);
  expect(listed({ client_ref_id: 'c' })).toEqual(['', null]);
  expect(listed({ at_risk: true })).toEqual(['a1', null]);
  expect(listed({ at_risk: false })).toEqual(['b1 b2', null]);
});

test('a search through a long list stops after twenty thousand, and says where it goes on', () => {
  const world = new Core();
  const { state } = world;
  for (let nth = 1; nth < 20_000; nth += 1) {
    state.wallet = credit(state.wallet, 1);
    recordEntry(state, 'credit', 1, null, START_MS);
  }
  world.pay('a');
  const { txnId } = world.payout('a');
  const page = (cursor?: number, order: 'oldest' | 'newest' = 'oldest') =>
    entriesPage(state, { txn_id: txnId, order, limit: 5, cursor });
  expect(page()).toEqual({ items: [], next: 20_000 });
  expect(page(20_000)).toMatchObject({ items: [{ txnId }], next: null });
  expect(page(1)).toMatchObject({ items: [{ txnId }], next: null }); // the last of twenty thousand looks
  expect(page(undefined, 'newest')).toMatchObject({ items: [{ txnId }], next: 0 });
  expect(page(0, 'newest')).toEqual({ items: [], next: null });
  // of a payout that there is not, there are none, however long the list is
  expect(entriesPage(state, { ...FIRST, txn_id: 'TXN0' })).toEqual({ items: [], next: null });
});
