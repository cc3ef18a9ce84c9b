import { expect, test } from 'vitest';
import { entriesPage, type PayoutFilter, payoutsPage, recordEntry } from '../../src/world/ledger.ts';
import { credit } from '../../src/payout/money.ts';
import { Core, START_MS, timelines } from '../support/world/core.ts';

const FIRST = { from: null, newestFirst: false, limit: 1000 };

test('lists come in pages, from either end, with nothing twice and nothing left out', () => {
  const world = new Core();
  const references = Array.from({ length: 25 }, (_, nth) => `r${nth}`);
  for (const reference of references) world.pay(reference, { amount: 0.01 });
  for (const newestFirst of [false, true]) {
    const seen: string[] = [];
    for (let from: number | null = null; ;) {
      const page = payoutsPage(world.state, {}, { from, newestFirst, limit: 10 });
      seen.push(...page.items.map(({ clientRefId }) => clientRefId));
      if (page.next === null) break;
      from = page.next;
    }
    expect(seen).toEqual(newestFirst ? references.toReversed() : references);
  }
  const { items } = entriesPage(world.state, world.payout('r7').txnId, FIRST);
  expect(items).toMatchObject([{ kind: 'payout', amountPaise: -1 }]);
});

test('a page is full at its limit, and says where the next one begins', () => {
  const world = new Core();
  for (let nth = 0; nth < 4; nth += 1) world.submit({ kind: 'credit', amountPaise: 1 });
  const page = (from: number | null, limit: number, newestFirst = false) => {
    const { items, next } = entriesPage(world.state, null, { from, newestFirst, limit });
    return [items.length, next];
  };
  expect([page(null, 3), page(3, 3), page(null, 5), page(null, 6)]).toEqual([
    [3, 3],
    [2, null],
    [5, null],
    [5, null],
  ]);
  expect([page(null, 3, true), page(1, 3, true), page(5, 3), page(-1, 3, true)]).toEqual([
    [3, 1],
    [2, null],
    [0, null],
    [0, null],
  ]);
});

test('a list shows one state, or one reference with all its payouts', () => {
  const world = new Core({
    ...timelines({ b: [{ to: 'FAILED', after: '0ms' }] }),
    dialect: { client_ref_id: { same_body: 'second_payout' } },
  });
  for (const reference of ['a', 'b', 'b']) world.pay(reference);
  const listed = (filter: PayoutFilter, limit = 5) => {
    const { items, next } = payoutsPage(world.state, filter, { ...FIRST, limit });
    return [items.map(({ clientRefId, nth }) => `${clientRefId}${nth}`).join(' '), next];
  };
  expect(listed({})).toEqual(['a1 b1 b2', null]);
  expect(listed({ state: 'FAILED' })).toEqual(['b1', null]);
  expect(listed({ clientRefId: 'b' })).toEqual(['b1 b2', null]);
  expect(listed({ clientRefId: 'b' }, 1)).toEqual(['b1', 2]);
  expect(listed({ clientRefId: 'a' })).toEqual(['a1', null]);
  expect(listed({ clientRefId: 'a', state: 'FAILED' })).toEqual(['', null]);
  expect(listed({ clientRefId: 'c' })).toEqual(['', null]);
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
  const page = (from: number | null, newestFirst = false) =>
    entriesPage(state, txnId, { from, newestFirst, limit: 5 });
  expect(page(null)).toEqual({ items: [], next: 20_000 });
  expect(page(20_000)).toMatchObject({ items: [{ txnId }], next: null });
  expect(page(1)).toMatchObject({ items: [{ txnId }], next: null }); // the last of twenty thousand looks
  expect(page(null, true)).toMatchObject({ items: [{ txnId }], next: 0 });
  expect(page(0, true)).toEqual({ items: [], next: null });
  // of a payout that there is not, there are none, however long the list is
  expect(entriesPage(state, 'TXN0', FIRST)).toEqual({ items: [], next: null });
});

test('a payout that is named is found without a search, unless its reference has more than one', () => {
  const world = new Core();
  world.pay('a');
  // a page of nothing would not be full: this is answered without one
  expect(payoutsPage(world.state, { clientRefId: 'a' }, { ...FIRST, limit: 0 }).items).toHaveLength(1);
});
