import { expect, test } from 'vitest';
import { entriesPage, findPayout, payoutsPage, recordEntry } from '../../src/world/ledger.ts';
import { credit } from '../../src/payout/money.ts';
import { Core, START_MS, timelines } from '../support/world/core.ts';

const FIRST = { order: 'oldest', limit: 1000 } as const;
type PayoutFilter = Partial<Parameters<typeof payoutsPage>[1]>;

test('lists come in pages, from either end, with nothing twice and nothing left out', () => {
  const world = new Core();
  const references = Array.from({ length: 25 }, (_, nth) => `r${nth}`);
  for (const reference of references) world.pay(reference, { amount: 0.01 });
  for (const order of ['oldest', 'newest'] as const) {
    const seen: string[] = [];
    for (let cursor: number | undefined; ;) {
      const page = payoutsPage(world.state, { order, limit: 10, cursor });
      seen.push(...page.items.map(({ clientRefId }) => clientRefId));
      if (page.next === null) break;
      cursor = page.next;
    }
    expect(seen).toEqual(order === 'newest' ? references.toReversed() : references);
  }
  const { items } = entriesPage(world.state, { ...FIRST, txn_id: world.payout('r7').txnId });
  expect(items).toMatchObject([{ kind: 'payout', amountPaise: -1 }]);
});

test('a page is full at its limit, and says where the next one begins', () => {
  const world = new Core();
  for (let nth = 0; nth < 4; nth += 1) world.submit({ kind: 'credit', amountPaise: 1 });
  const page = (cursor: number | undefined, limit: number, order: 'oldest' | 'newest' = 'oldest') => {
    const { items, next } = entriesPage(world.state, { order, limit, cursor });
    return [items.length, next];
  };
  expect([page(undefined, 3), page(3, 3), page(undefined, 5), page(undefined, 6)]).toEqual([
    [3, 3],
    [2, null],
    [5, null],
    [5, null],
  ]);
  expect([page(undefined, 3, 'newest'), page(1, 3, 'newest'), page(5, 3), page(-1, 3, 'newest')]).toEqual([
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
    const { items, next } = payoutsPage(world.state, { ...FIRST, ...filter, limit });
    return [items.map(({ clientRefId, nth }) => `${clientRefId}${nth}`).join(' '), next];
  };
  expect(listed({})).toEqual(['a1 b1 b2', null]);
  expect(listed({ status: 'FAILED' })).toEqual(['b1', null]);
  expect(listed({ client_ref_id: 'b' })).toEqual(['b1 b2', null]);
  expect(listed({ client_ref_id: 'b' }, 1)).toEqual(['b1', 2]);
  expect(listed({ client_ref_id: 'a' })).toEqual(['a1', null]);
  expect(listed({ client_ref_id: 'a', status: 'FAILED' })).toEqual(['', null]);
  expect(listed({ client_ref_id: 'c' })).toEqual(['', null]);
});

test('a list shows the payouts whose client was told of them, or the others', () => {
  const lost = { match: { client_ref_id: 'a' }, effect: { commit: true, respond: { status: 500 } } };
  const world = new Core({ rules: [{ name: 'lost', ...lost }] });
  for (const reference of ['a', 'b']) world.pay(reference);
  for (const [isAtRisk, reference] of [[true, 'a'] as const, [false, 'b'] as const]) {
    const { items } = payoutsPage(world.state, { ...FIRST, at_risk: isAtRisk });
    expect(items).toEqual([world.payout(reference)]);
  }
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

test('a payout that is named is found without a search, unless its reference has more than one', () => {
  const world = new Core();
  world.pay('a');
  // a page of nothing would not be full: this is answered without one
  expect(payoutsPage(world.state, { ...FIRST, client_ref_id: 'a', limit: 0 }).items).toHaveLength(1);
});

test('a payout is named by either id, or by both if both are its own', () => {
  const world = new Core();
  for (const reference of ['a', 'b']) world.pay(reference);
  const { txnId } = world.payout('b');
  const found = [{ txnId }, { clientRefId: 'b' }, { txnId, clientRefId: 'b' }];
  for (const key of found) expect(findPayout(world.state, key)).toBe(world.payout('b'));
  const none = [{ txnId, clientRefId: 'a' }, { txnId: 'T', clientRefId: 'b' }, { clientRefId: 'c' }, {}];
  for (const key of none) expect(findPayout(world.state, key)).toBeUndefined();
});
