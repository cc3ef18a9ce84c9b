import { expect, test } from 'vitest';
import {
  afterStep,
  nextStep,
  asOf,
  born,
  countsReads,
  type Step,
  type Transaction,
} from '../../src/payout/payout.ts';
import { entriesPage, transactionsPage } from '../../src/ledger/book-pages.ts';
import { apply, nextDueOf, openBook, take, type Book } from '../../src/ledger/book.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import {
  atRead,
  bookOf,
  inspect,
  look,
  newPayout,
  OPENED_AT_MS,
  pay,
  restore,
  step,
  utrAt,
} from '../support/payouts.ts';

const at = (ms: number): number => OPENED_AT_MS + ms;

const TXN1 = newPayout('a').txnId;

/** A book of so many entries after its opening, the last of which is of a payout. */
function bookOfEntries(count: number): Book {
  const book = openBook(bookOf(0));
  for (let nth = 1; nth < count; nth += 1) book.entries.add('credit', null, 0, 0, at(0));
  take(book, born(newPayout('a')));
  book.entries.add('payout', 0, 0, 0, at(0));
  return book;
}

/** The same payout after its next step. */
const stepped = (transaction: Transaction, atMs: number, utr: string | null): Transaction => ({
  ...transaction,
  ...afterStep(transaction, nextStep(transaction), atMs, utr),
});

test('a search through a long list stops after twenty thousand, and says where it goes on', () => {
  const book = bookOfEntries(20_000);
  const page = (from: number | null, newestFirst = false) =>
    entriesPage(book, TXN1, { from, newestFirst, limit: 5 });
  expect(page(null)).toEqual({ items: [], next: 20_000 });
  expect(page(20_000)).toMatchObject({ items: [{ txnId: TXN1 }], next: null });
  expect(page(1)).toMatchObject({ items: [{ txnId: TXN1 }], next: null }); // the last of twenty thousand looks
  expect(page(null, true)).toMatchObject({ items: [{ txnId: TXN1 }], next: 0 });
  expect(page(0, true)).toEqual({ items: [], next: null });
  // of a payout that there is not, there are none, however long the list is
  const none = { from: null, newestFirst: false, limit: 5 };
  expect(entriesPage(book, 'TXN0', none)).toEqual({ items: [], next: null });
});

test('a page is full at its limit, and says where the next one begins', () => {
  const book = bookOfEntries(4);
  const page = (from: number | null, limit: number, newestFirst = false) => {
    const { items, next } = entriesPage(book, null, { from, newestFirst, limit });
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

test('a payout that is named is found without a search, unless its reference has more than one', () => {
  const book = openBook(bookOf(1000));
  const [a, b1, b2] = [newPayout('a'), newPayout('b'), newPayout('b', { nth: 2 })].map(born);
  for (const transaction of [a!, b1!, b2!]) take(book, transaction);
  const list = (filter: Parameters<typeof transactionsPage>[1], limit = 5) => {
    const { items, next } = transactionsPage(book, filter, { from: null, newestFirst: false, limit });
    return [items.map(({ clientRefId, nth }) => `${clientRefId}${nth}`).join(' '), next];
  };
  expect(list({})).toEqual(['a1 b1 b2', null]);
  expect(list({ clientRefId: 'b' }, 1)).toEqual(['b1', 2]);
  expect(list({ clientRefId: 'b' })).toEqual(['b1 b2', null]);
  // a page of nothing would not be full: these are answered without one
  expect(list({ clientRefId: 'a' }, 0)).toEqual(['a1', null]);
  expect(list({ txnId: b2!.txnId }, 0)).toEqual(['b2', null]);
  expect(list({ txnId: b1!.txnId, clientRefId: 'a' })).toEqual(['', null]);
  expect(list({ txnId: b1!.txnId, clientRefId: 'b' })).toEqual(['b1', null]);
  expect(list({ txnId: 'TXN0' }, 0)).toEqual(['', null]);
  expect(list({ clientRefId: 'c' }, 0)).toEqual(['', null]);
  expect(list({ clientRefId: 'a', state: 'FAILED' })).toEqual(['', null]);
});

test('of steps that are due at once, those of the older payout come first', async () => {
  const payouts = [0, 1, 2, 3, 4, 5].map((nth) =>
    newPayout(`p${nth}`, { timeline: [step('SUCCESS', at(100))] }),
  );
  const byId = payouts.toSorted((a, b) => (a.txnId < b.txnId ? 1 : -1)); // the highest id is the oldest
  for (const order of [byId, byId.toReversed(), payouts]) {
    const [ledger, book] = [new MemoryLedger(10), bookOf(1000)];
    for (const payout of order) {
      await pay(ledger, book, at(50), { ...payout, createdAtMs: at(byId.indexOf(payout)) });
    }
    const { changes } = await ledger.settle(book, at(100), 10);
    expect(changes.map(({ txnId }) => txnId)).toEqual(byId.map(({ txnId }) => txnId));
  }
});

test('payouts of one instant settle in the order of their ids, in whatever order they came', async () => {
  const payouts = Array.from({ length: 9 }, (_, nth) =>
    newPayout(`p${nth}`, { timeline: [step('SUCCESS', at(9))] }),
  );
  const ids = payouts.map(({ txnId }) => txnId);
  for (const order of [
    payouts,
    payouts.toReversed(),
    payouts.toSorted((a, b) => (a.txnId < b.txnId ? -1 : 1)),
  ]) {
    const [ledger, book] = [new MemoryLedger(10), bookOf(1000)];
    for (const payout of order) await pay(ledger, book, at(0), payout);
    const { changes } = await ledger.settle(book, at(9), 10);
    expect(changes.map(({ txnId }) => txnId)).toEqual(ids.toSorted());
  }
});

test('a step that is called off is thrown away when its turn comes; any other that does not fit is a fault', async () => {
  const [ledger, ref] = [new MemoryLedger(10), bookOf(1000)];
  const { txnId } = newPayout('a');
  await pay(
    ledger,
    ref,
    at(0),
    newPayout('a', { timeline: [step('SUCCESS', at(2)), step('REVERSED', at(9))] }),
  );
  await ledger.transition(ref, at(3), txnId, 'REVERSED', true);
  expect(await ledger.settle(ref, at(10), 5)).toEqual({ changes: [], nextDueMs: null });
  expect(await ledger.summary(ref, at(10))).toMatchObject({ lastUpdatedMs: at(3), entries: 3 });

  const book = openBook(ref);
  take(book, born(newPayout('a', { timeline: [step('SUCCESS', at(5))] })));
  book.due.push(at(1), at(0), txnId, 0);
  expect(() => nextDueOf(book)).toThrow('only a forced step calls off what was planned');
  const idle = openBook(ref);
  take(idle, born(newPayout('a')));
  idle.due.push(at(1), at(0), txnId, 0);
  expect(() => nextDueOf(idle)).toThrow('only a forced step calls off what was planned');
  expect(() => apply(idle, 0, at(1))).toThrow('goes no further');
  const other = openBook(ref);
  other.due.push(at(1), at(0), txnId, 0); // of a payout that there is not
  expect(() => nextDueOf(other)).toThrow(TypeError);
});

test.each([
  ['nothing', {}],
  ['an id of nobody', { txnId: 'TXN0' }],
  ['a reference of nobody', { clientRefId: 'b' }],
  ['an id of nobody with the reference of a payout', { txnId: 'TXN0', clientRefId: 'a' }],
  ['a reference of nobody with the id of a payout', { txnId: TXN1, clientRefId: 'b' }],
])('a status read that names %s finds nothing, in an empty book and in another', async (_what, key) => {
  const [ledger, book] = [new MemoryLedger(10), bookOf(1000)];
  expect((await look(ledger, book, at(0), key)).transaction).toBeNull();
  await pay(ledger, book, at(0), newPayout('a'));
  expect((await look(ledger, book, at(0), key)).transaction).toBeNull();
});

test('a book in which a refusal is remembered is not opened anew, and is kept with it', async () => {
  const [ledger, book] = [new MemoryLedger(2), bookOf(10)];
  await ledger.initiate(book, at(0), newPayout('a'), { rememberInsufficient: true });
  expect(ledger.held).toBe(1);
  expect(await ledger.reopen(book)).toBe(false);
  const { changes: _changes, nextDueMs: _next, ...state } = await inspect(ledger, book, at(0));
  expect(state.refused).toEqual(['a']);
  const other = new MemoryLedger(1);
  expect(await restore(other, book, state)).toMatchObject({ kind: 'restored' });
  expect(other.held).toBe(1);
  expect(await restore(other, bookOf(10, 'another'), state)).toMatchObject({ kind: 'full' });
  expect(await restore(other, book, state)).toMatchObject({ kind: 'restored' });
  const again = await other.initiate(book, at(0), newPayout('a', { amountPaise: 1 }), {
    rememberInsufficient: true,
  });
  expect(again).toMatchObject({ kind: 'insufficient', remembered: true });
});

test('reads are counted while something waits for them, and no longer', async () => {
  const payout = (...timeline: Step[]) => born(newPayout('a', { timeline }));
  expect(countsReads(payout())).toBe(false);
  expect(countsReads(payout(step('SUCCESS', at(1))))).toBe(false);
  expect(countsReads(payout(step('SUCCESS', at(1)), atRead('REVERSED', 2)))).toBe(true);
  expect(countsReads(stepped(payout(atRead('SUCCESS', 1), step('REVERSED', at(9))), at(1), null))).toBe(
    false,
  );
  expect(countsReads({ ...payout(), hidden: { reads: 1, by: 'r' } })).toBe(true);
  expect(countsReads({ ...payout(), hidden: { untilMs: 1, by: 'r' } })).toBe(false);
  const [ledger, book] = [new MemoryLedger(10), bookOf(1000)];
  await pay(ledger, book, at(0), newPayout('a', { timeline: [atRead('SUCCESS', 1)] }));
  for (let nth = 0; nth < 3; nth += 1) await look(ledger, book, at(1), { clientRefId: 'a' });
  expect((await inspect(ledger, book, at(1))).transactions[0]!.reads).toBe(1);
});

test('a payout as it was knows of its UTR from the step on at which it came, and no step that is ahead', () => {
  const timeline = [utrAt(at(5)), step('SUCCESS', at(10)), utrAt(at(15)), step('REVERSED', at(20))];
  let transaction = born(newPayout('a', { timeline }));
  for (const ms of [5, 10, 15]) transaction = stepped(transaction, at(ms), 'UTR1');
  const seen = (ms: number) => {
    const { state, utr, completedAtMs, stepsDone } = asOf(transaction, at(ms));
    return [state, utr, completedAtMs, stepsDone];
  };
  expect(seen(4)).toEqual(['PENDING', null, null, 0]);
  expect(seen(5)).toEqual(['PENDING', 'UTR1', null, 1]);
  expect(seen(10)).toEqual(['SUCCESS', 'UTR1', at(10), 2]);
  expect(seen(15)).toEqual(['SUCCESS', 'UTR1', at(10), 3]);
  expect(asOf(transaction, at(17))).toBe(transaction);
  const known = [step('SUCCESS', at(1)), step('REVERSED', at(2)), utrAt(at(3))];
  let reversed = born(newPayout('a', { timeline: known }));
  for (const ms of [1, 2, 3]) reversed = stepped(reversed, at(ms), 'UTR1');
  expect(asOf(reversed, at(2))).toMatchObject({ state: 'REVERSED', stepsDone: 2 });
});
