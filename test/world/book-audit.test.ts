import { expect, test } from 'vitest';
import { brokenInvariants } from '../../src/ledger/book-audit.ts';
import { BookDraft } from '../../src/ledger/book-draft.ts';
import { settleDue, type Book } from '../../src/ledger/book.ts';
import { EntryPages } from '../../src/ledger/entry-pages.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import {
  atRead,
  bookOf,
  inspect,
  look,
  newPayout,
  OPENED_AT_MS,
  pay,
  step,
  type WholeState,
} from '../support/payouts.ts';

const at = (ms: number): number => OPENED_AT_MS + ms;

type Loose<T> = T extends object ? { -readonly [K in keyof T]: Loose<T[K]> } : T;
type State = Loose<WholeState>;

/**
 * A book as it is kept. Its payouts: 0 was reversed after its success, 1 failed, 2 waits for two steps by reads and one by
 * time, 3 is the second one of its reference, 4 succeeded at a read, and is to be reversed at a time that has gone by.
 */
async function kept(): Promise<State> {
  const ledger = new MemoryLedger(10);
  const book = bookOf(1000);
  const timelines = [
    [step('SUCCESS', at(1)), step('REVERSED', at(2))],
    [step('FAILED', at(1))],
    [atRead('SUCCESS', 2), atRead('REVERSED', 3)],
    [step('SUCCESS', at(50))],
    [atRead('SUCCESS', 1), step('REVERSED', at(90))],
  ];
  for (const [nth, timeline] of timelines.entries()) {
    const payout = newPayout(nth === 3 ? 'p1' : `p${nth}`, { timeline, nth: nth === 3 ? 2 : 1 });
    await pay(ledger, book, at(0), payout);
  }
  await ledger.move(book, at(3), 'credit', 70);
  await ledger.move(book, at(3), 'debit', 20);
  await look(ledger, book, at(4), { clientRefId: 'p4' });
  const { changes: _changes, nextDueMs: _next, ...state } = await inspect(ledger, book, at(10));
  return structuredClone(state) as State;
}

/** The book that is made of a state which comes in pieces of so many items, or what is wrong with it. */
function drafted({ entries, transactions, ...head }: State, items = 2): Book | { readonly what: string } {
  const draft = new BookDraft(head);
  for (let from = 0; from < entries.length; from += items)
    draft.extend({ entries: entries.slice(from, from + items) });
  for (let from = 0; from < transactions.length; from += items)
    draft.extend({ transactions: transactions.slice(from, from + items) });
  return draft.finish();
}

/** What the audit finds; undefined for nothing. It is the same wherever the pieces end. */
function found(state: State): string | undefined {
  const [what, ...others] = [1, 2, 5, 100].map((items) => {
    const book = drafted(state, items);
    return 'what' in book ? book.what : undefined;
  });
  expect(others).toEqual([what, what, what]);
  return what;
}

const payout = (state: State, nth: number) => state.transactions[nth]!;
const timeline = (state: State, nth: number) => payout(state, nth).timeline;
const entry = (state: State, kind: string) => state.entries.find((one) => one.kind === kind)!;
const write = (state: State, change: Partial<State['entries'][number]>) =>
  void state.entries.push({
    ...state.entries.at(-1)!,
    kind: 'credit',
    amountPaise: 0,
    txnId: null,
    ...change,
  });

test('a book that is kept passes its audit, and is the same again', async () => {
  const state = await kept();
  expect(state.transactions.map((one) => [one.state, one.nth, one.stepsDone])).toEqual([
    ['REVERSED', 1, 2],
    ['FAILED', 1, 1],
    ['PENDING', 1, 0],
    ['PENDING', 2, 0],
    ['SUCCESS', 1, 1],
  ]);
  const book = drafted(state) as Book;
  expect(book).toMatchObject({
    nowMs: at(10),
    openingBalancePaise: 1000,
    wallet: { balancePaise: 750, putInPaise: 1050, paidOutPaise: 300 },
    tallies: {
      PENDING: { count: 2, paise: 200 },
      SUCCESS: { count: 1, paise: 100 },
      FAILED: { count: 1, paise: 100 },
      REVERSED: { count: 1, paise: 100 },
    },
  });
  expect([...book.entries]).toEqual(state.entries);
  expect([...book.transactions]).toEqual(state.transactions);
  expect(['p0', 'p1', 'p2', 'p3', 'p4'].map((reference) => book.references.find(reference))).toEqual([
    0,
    3, // the latest of its reference
    2,
    undefined,
    4,
  ]);
  expect(state.transactions.map(({ txnId }) => book.ids.find(txnId))).toEqual([0, 1, 2, 3, 4]);
  expect([book.ids.size, book.references.size, book.utrs.size]).toEqual([5, 4, 2]);
  expect([0, 4].map((nth) => book.utrs.find(payout(state, nth).utr!))).toEqual([0, 4]);
  expect(brokenInvariants(book)).toEqual([]);
  expect(book.due.peek()).toEqual({ dueMs: at(50), position: 3 });
  book.nowMs = at(90);
  expect(settleDue(book, 10).changes.map(({ txnId, atMs }) => [txnId, atMs])).toEqual([
    [payout(state, 3).txnId, at(50)],
    [payout(state, 4).txnId, at(90)],
  ]);
});

test('a book is its own: what becomes of it leaves the state that it was made of as it was', async () => {
  const state = { ...(await kept()), refused: ['never'] };
  const before = structuredClone(state);
  const book = drafted(state) as Book;
  expect([...book.refused]).toEqual(['never']);
  book.refused.add('neither');
  book.nowMs = at(90);
  settleDue(book, 10);
  expect(state).toEqual(before);
});

test('a draft counts what it holds, and takes nothing more once something was wrong', async () => {
  const { entries, transactions, ...head } = await kept();
  const draft = new BookDraft({ ...head, refused: ['a', 'b'] });
  expect(draft.held).toBe(2);
  draft.extend({ entries });
  draft.extend({ transactions: transactions.slice(0, 1) });
  draft.extend({});
  expect(draft.held).toBe(3);
  draft.extend({ entries: entries.slice(0, 1) });
  draft.extend({ transactions: transactions.slice(1) });
  expect(draft.held).toBe(3);
  expect(draft.finish()).toEqual({ what: 'an entry comes after the payouts' });
});

const UNLIKE = 'the entries of TXN\\w+ do not fit it';
const MISLED = 'the state of TXN\\w+ is not where its steps lead';
const UNPAID = 'the money of \\w+ came back without having gone out';
const TWICE = 'the money of TXN\\w+ went out twice';
const NO_AMOUNT = 'the amount of TXN\\w+ is no whole paise above 0';
const OPENING = 'a book begins with its opening, and has one';
const UNEXPLAINED = 'the entries do not explain the balance';
const MISNAMED = 'an entry names the wrong payout';

test.each<[what: string, why: string, damage: (state: State) => void]>([
  ['no entries', UNLIKE, (state) => void (state.entries = [])],
  [
    'nothing at all',
    'the opening balance is another',
    (state) => {
      state.entries = [];
      state.transactions = [];
    },
  ],
  ['an opening in its middle', OPENING, (state) => write(state, { kind: 'opening' })],
  ['something before its opening', OPENING, (state) => void (entry(state, 'opening').kind = 'credit')],
  [
    'half a paisa in its entries',
    'an entry is whole paise',
    (state) => {
      write(state, { amountPaise: 0.5, balancePaise: 750.5 });
      state.wallet.balancePaise += 0.5;
      state.wallet.putInPaise += 0.5;
    },
  ],
  ['a gap between entries', UNEXPLAINED, (state) => write(state, { amountPaise: 1 })],
  [
    'a balance that was below 0 for a while',
    UNEXPLAINED,
    (state) => {
      write(state, { kind: 'debit', amountPaise: -751, balancePaise: -1 });
      write(state, { amountPaise: 751, balancePaise: 750 });
    },
  ],
  ['a credit to a payout', MISNAMED, (state) => write(state, { txnId: payout(state, 0).txnId })],
  ['a refund of nothing', MISNAMED, (state) => void (entry(state, 'refund').txnId = null)],
  ['a payment for nothing', MISNAMED, (state) => void (entry(state, 'payout').txnId = null)],
  [
    'a payment for a stranger',
    'an entry names a payout that there is not',
    (state) => write(state, { kind: 'payout', txnId: 'stranger' }),
  ],
  [
    'a refund to a stranger',
    'the money of stranger came back without having gone out',
    (state) => {
      const first = state.entries.findIndex(({ kind }) => kind === 'refund');
      const refund = { ...state.entries[first]!, txnId: 'stranger' };
      for (const one of state.entries.slice(first)) one.balancePaise += refund.amountPaise;
      state.entries.splice(first, 0, refund);
    },
  ],
  ['a payout dearer than what was paid', UNLIKE, (state) => void (payout(state, 4).amountPaise += 1)],
  [
    'a refund of a payout under way',
    UNLIKE,
    (state) =>
      write(state, { kind: 'refund', txnId: payout(state, 2).txnId, amountPaise: 100, balancePaise: 850 }),
  ],
  [
    'a refund that came twice',
    UNPAID,
    (state) =>
      write(state, { kind: 'refund', txnId: payout(state, 1).txnId, amountPaise: 100, balancePaise: 850 }),
  ],
  [
    'a payment that went out twice',
    TWICE,
    (state) =>
      write(state, { kind: 'payout', txnId: payout(state, 4).txnId, amountPaise: -100, balancePaise: 650 }),
  ],
  ['a payout twice', 'TXN\\w+ is there twice', (state) => void state.transactions.push(payout(state, 0))],
  [
    'a first payout that is the second',
    'of p0 are not counted without a gap',
    (state) => void (payout(state, 0).nth = 2),
  ],
  [
    'a second payout that is the third',
    'of p1 are not counted without a gap',
    (state) => void (payout(state, 3).nth = 3),
  ],
  [
    'a second payout that is the first',
    'of p1 are not counted without a gap',
    (state) => void (payout(state, 3).nth = 1),
  ],
  [
    'payouts in another order than their entries',
    UNLIKE,
    (state) => void state.transactions.push(...state.transactions.splice(2, 1)),
  ],
  [
    'a refund of another amount',
    UNPAID,
    (state) => {
      entry(state, 'refund').amountPaise -= 1;
      for (const one of state.entries.slice(state.entries.indexOf(entry(state, 'refund'))))
        one.balancePaise -= 1;
    },
  ],
  [
    'a name longer than any that can come in',
    'a text of TXN\\w+ has more than 1023 characters',
    (state) => void (payout(state, 1).beneficiaryName = 'x'.repeat(1024)),
  ],
  ['half a paisa in a payout', NO_AMOUNT, (state) => void (payout(state, 2).amountPaise = 0.5)],
  ['a payout of nothing', NO_AMOUNT, (state) => void (payout(state, 2).amountPaise = 0)],
  ['a payout of less than nothing', NO_AMOUNT, (state) => void (payout(state, 2).amountPaise = -100)],
  ['a payout that has not done its steps', MISLED, (state) => void (payout(state, 0).stepsDone = 1)],
  ['a payout that has done what is not planned', MISLED, (state) => void (payout(state, 0).stepsDone = 3)],
  ['a payout that is elsewhere', MISLED, (state) => void (payout(state, 2).state = 'SUCCESS')],
  [
    'an edge ahead that there is not',
    MISLED,
    (state) => void timeline(state, 4).push(step('FAILED', at(91))),
  ],
  ['a step that happened at no time', MISLED, (state) => void (timeline(state, 0)[0]!.dueMs = null)],
  ['a step ahead that waits for nothing', MISLED, (state) => void (timeline(state, 2)[1]!.polls = null)],
  ['a step ahead that waits for two things', MISLED, (state) => void (timeline(state, 2)[1]!.dueMs = at(99))],
  ['a step before its payout', MISLED, (state) => void (timeline(state, 1)[0]!.dueMs = at(-1))],
  ['steps that happened in another order', MISLED, (state) => void (timeline(state, 0)[1]!.dueMs = at(0))],
  ['a step ahead before its payout', MISLED, (state) => void (timeline(state, 3)[0]!.dueMs = at(-1))],
  [
    'steps ahead in another order',
    MISLED,
    (state) => void (payout(state, 3).timeline = [step('SUCCESS', at(60)), step('REVERSED', at(59))]),
  ],
  [
    'another opening balance',
    'the opening balance is another',
    (state) => void (state.openingBalancePaise += 1),
  ],
  ['money that nobody put in', 'balance \\+ PENDING', (state) => void (state.wallet.putInPaise += 1)],
  ['money that is out twice', 'the wallet fits', (state) => void (state.wallet.paidOutPaise += 1)],
  [
    'a balance that its entries do not show',
    'the newest entry shows the balance',
    (state) => {
      state.wallet.balancePaise += 1;
      state.wallet.putInPaise += 1;
    },
  ],
])('an audit finds %s', async (_what, why, damage) => {
  const state = await kept();
  damage(state);
  expect(found(state)).toMatch(new RegExp(why));
});

test.each<[what: string, change: (state: State) => void]>([
  ['a step ahead whose time has gone by', (state) => void (timeline(state, 4)[1]!.dueMs = at(0))],
  ['the longest name', (state) => void (payout(state, 1).beneficiaryName = 'x'.repeat(1023))],
  ['two steps of one instant', (state) => void (timeline(state, 0)[1]!.dueMs = at(1))],
  ['a step at which only the UTR comes', (state) => void (timeline(state, 3)[0]!.to = null)],
])('an audit allows %s', async (_what, change) => {
  const state = await kept();
  change(state);
  expect(found(state)).toBeUndefined();
});

/** Pages of these entries, whatever they say. */
function pagesOf(book: Book, entries: readonly (readonly [balancePaise: number, of: number | null])[]) {
  const pages = new EntryPages((position) => book.transactions.idAt(position));
  for (const [balancePaise, of] of entries) pages.add('credit', of, 0, balancePaise, at(0));
  return pages;
}
const manyOf = (book: Book, count: number, balancePaise = 750) =>
  pagesOf(
    book,
    Array.from({ length: count }, () => [balancePaise, null] as const),
  );

test.each<[broken: string, damage: (book: Book) => Partial<Book> | void]>([
  ['the balance is never below 0', ({ wallet }) => ({ wallet: { ...wallet, balancePaise: -1 } })],
  ['balance + PENDING + SUCCESS = money put in', (book) => void (book.tallies.PENDING.paise += 1)],
  ['balance + PENDING + SUCCESS = money put in', (book) => void (book.tallies.SUCCESS.paise += 1)],
  [
    'balance + PENDING + SUCCESS = money put in',
    ({ wallet }) => ({ wallet: { ...wallet, putInPaise: wallet.putInPaise + 1 } }),
  ],
  ['the newest entry shows the balance', (book) => ({ entries: manyOf(book, 20, 751) })],
  ['every transaction is in one state', (book) => void (book.tallies.PENDING.count += 1)],
  ['every transaction is in one state', (book) => void (book.tallies.SUCCESS.count -= 1)],
  ['every transaction is in one state', (book) => void (book.tallies.FAILED.count += 1)],
  ['every transaction is in one state', (book) => void (book.tallies.REVERSED.count -= 1)],
  ['every transaction was made once', (book) => book.ids.set('TXN of nobody', 0)],
  [
    'one entry for each payout, one for each that gave its money back',
    (book) => ({ entries: manyOf(book, 7) }), // five payouts, two of which gave it back, and the opening
  ],
])('a book that is wrong says that it does not hold that %s', async (broken, damage) => {
  const book = drafted(await kept()) as Book;
  expect(brokenInvariants({ ...book, entries: manyOf(book, 8) })).toEqual([]);
  const damaged = { ...book, ...damage(book) };
  expect(brokenInvariants(damaged)).toEqual(
    broken.startsWith('the balance is never') ? expect.arrayContaining([broken]) : [broken],
  );
});

test('a balance of nothing is no broken one', async () => {
  const ledger = new MemoryLedger(10);
  await pay(ledger, bookOf(100), at(0), newPayout('a', { timeline: [step('FAILED', at(1))] }));
  expect(await ledger.summary(bookOf(100), at(0))).toMatchObject({ wallet: { balancePaise: 0 }, broken: [] });
  const { changes: _changes, nextDueMs: _next, ...state } = await inspect(ledger, bookOf(100), at(0));
  const book = drafted(structuredClone(state) as State) as Book;
  expect([book.wallet.balancePaise, brokenInvariants(book)]).toEqual([0, []]);
});
