import fc from 'fast-check';
import { expect, test } from 'vitest';
import { STATES, type State } from '../../src/contract/payout.ts';
import { nextStep, type Progress, type Step, type Transaction } from '../../src/payout/payout.ts';
import type { Entry, EntryKind } from '../../src/payout/wallet.ts';
import { EntryPages } from '../../src/ledger/entry-pages.ts';
import { isTooLong, LONGEST_PART, PARTS } from '../../src/ledger/joined-texts.ts';
import {
  emptyPage,
  enlarge,
  PAGE as ROW,
  pictureOf,
  withOwnRows,
  writeSteps,
} from '../../src/ledger/transaction-page.ts';
import { TransactionPages } from '../../src/ledger/transaction-pages.ts';
import { anyMode, newPayout } from '../support/payouts.ts';

const PAGE = 4096;
const anyMs = fc.integer({ min: -1e15, max: 1e15 });
const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { freq: 2 });
const anyText = fc.string({ unit: 'binary', maxLength: 4 });

const anyStep: fc.Arbitrary<Step> = fc.record({
  to: orNull(fc.constantFrom<State>(...STATES)),
  dueMs: orNull(anyMs),
  polls: orNull(fc.nat(5)),
  utr: fc.boolean(),
  forced: fc.boolean(),
});

const happened = (step: Step): Step => ({ ...step, dueMs: step.dueMs ?? 0 });

/** Those of a snapshot may be of any length. */
const anyUtr = fc.oneof(anyText, fc.string({ unit: 'grapheme-ascii', minLength: 20, maxLength: 25 }));

type Planned = Progress & Pick<Transaction, 'timeline'>;

/** How far a payout may have come: what has happened has a time. */
const anyProgress: fc.Arbitrary<Planned> = fc
  .record({
    timeline: fc.array(anyStep, { maxLength: 6 }),
    done: fc.nat(6),
    state: fc.constantFrom<State>(...STATES),
    utr: orNull(anyUtr),
    completedAtMs: orNull(anyMs),
  })
  .map(({ timeline, done, state, utr, completedAtMs }) => ({
    timeline: timeline.map((step, nth) => (nth < done ? happened(step) : step)),
    stepsDone: Math.min(done, timeline.length),
    state,
    utr,
    completedAtMs,
  }));

const anyHidden = orNull(
  fc.oneof(
    fc.record({ reads: fc.nat(9), by: anyText }),
    fc.record({ untilMs: anyMs, by: fc.constantFrom('a/b', 'c/d') }),
  ),
);

const anyTransaction: fc.Arbitrary<Transaction> = fc
  .record({
    progress: anyProgress,
    rest: fc.record({
      txnId: anyText,
      clientRefId: anyText,
      fingerprint: anyText,
      beneficiaryName: anyText,
      beneficiaryAccount: anyText,
      beneficiaryIfsc: anyText,
      utrSerial: fc.nat(999_999_999),
      nth: fc.integer({ min: 1, max: 9 }),
      amountPaise: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      transferMode: anyMode,
      createdAtMs: anyMs,
      plannedBy: fc.constantFrom('demo', 'a/b', 'c/d'),
      hidden: anyHidden,
      reads: fc.nat(9),
    }),
  })
  .map(({ progress, rest }) => Object.assign(rest, progress));

type Deed =
  | { readonly add: Transaction }
  | { readonly of: number; readonly reads: number }
  | { readonly of: number; readonly timeline: readonly Step[] }
  | { readonly of: number; readonly progress: Progress; readonly atMs: number }
  | 'picture';

const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: anyTransaction }) },
  { weight: 1, arbitrary: fc.record({ of: fc.nat(), reads: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({ of: fc.nat(), timeline: fc.array(anyStep.map(happened), { maxLength: 6 }) }),
  },
  { weight: 3, arbitrary: fc.record({ of: fc.nat(), progress: anyProgress, atMs: anyMs }) },
  { weight: 1, arbitrary: fc.constant('picture' as const) },
);

/** A book's transactions, and beside them a list of objects that does the same. */
class Both {
  readonly pages = new TransactionPages();
  readonly list: Transaction[] = [];
  /** By how much each position that was told is another than that in the list. */
  readonly positions: number[] = [];
  readonly pictures: (readonly [TransactionPages, readonly Transaction[]])[] = [];

  do(deed: Deed): void {
    if (deed === 'picture') this.pictures.push([this.pages.picture(), [...this.list]]);
    else if ('add' in deed) this.positions.push(this.pages.add(deed.add) - this.list.push(deed.add) + 1);
    else if (this.list.length > 0) this.#change(deed.of % this.list.length, deed);
  }

  #change(position: number, deed: Exclude<Deed, 'picture' | { readonly add: Transaction }>): void {
    const before = this.list[position]!;
    if ('reads' in deed) {
      this.pages.setReads(position, deed.reads);
      this.list[position] = { ...before, reads: deed.reads };
      return;
    }
    if ('timeline' in deed) {
      // never shorter than what has happened of it
      const timeline = [...before.timeline.slice(0, before.stepsDone), ...deed.timeline];
      this.pages.setTimeline(position, timeline);
      this.list[position] = { ...before, timeline };
      return;
    }
    const { state, completedAtMs } = deed.progress;
    const utr = before.utr ?? deed.progress.utr; // none is ever changed for another
    if (before.stepsDone === before.timeline.length) return;
    const stepsDone = before.stepsDone + 1;
    const progress = { stepsDone, state, utr, completedAtMs };
    const timeline = before.timeline.with(stepsDone - 1, {
      ...before.timeline[stepsDone - 1]!,
      dueMs: deed.atMs,
    });
    this.pages.setProgress(position, progress, deed.atMs);
    this.list[position] = { ...before, ...progress, timeline };
  }

  /** What the pages show, and each picture of them. */
  get shown(): readonly unknown[] {
    return [this.pages, ...this.pictures.map(([picture]) => picture)].map(shownBy);
  }

  get listed(): readonly unknown[] {
    return [this.list, ...this.pictures.map(([, list]) => list)].map(listedIn);
  }
}

/** When the next step is due: its own time, and never before the step that it follows; null when none has a time. */
function nextDueMs(transaction: Transaction): number | null {
  const dueMs = nextStep(transaction)?.dueMs ?? null;
  if (dueMs === null || transaction.stepsDone === 0) return dueMs;
  return Math.max(dueMs, transaction.timeline[transaction.stepsDone - 1]!.dueMs!);
}

/** What is seen of a payout with a timeline, and of it and the first one. */
const lookedAt = (pages: TransactionPages, position: number): readonly number[] | null =>
  [0, position].every((one) => pages.timelineAt(one).length > 0)
    ? [pages.look([position]), pages.look([0, position])]
    : null;

function seenOf(transaction: Transaction, before: number): number {
  const { amountPaise, stepsDone, timeline, txnId, utr } = transaction;
  const { clientRefId, fingerprint, beneficiaryName, beneficiaryAccount, beneficiaryIfsc } = transaction;
  const texts = [txnId, clientRefId, fingerprint, beneficiaryName, beneficiaryAccount, beneficiaryIfsc];
  const isShort = utr !== null && utr.length <= 22 && /^[\0-\u007f]*$/.test(utr);
  const numbers = before + (amountPaise + stepsDone + (timeline[0]!.dueMs ?? Number.NaN));
  return numbers + (texts.join('').length + txnId.length + (isShort ? utr.length : 0));
}

const shownBy = (pages: TransactionPages) => ({
  all: [...pages],
  length: pages.length,
  one: Array.from({ length: pages.length }, (_, position) => [
    pages.idAt(position),
    pages.referenceAt(position),
    pages.utrAt(position),
    pages.stateAt(position),
    pages.nthAt(position),
    pages.createdAtMsAt(position),
    pages.amountPaiseAt(position),
    pages.nextDueMsAt(position),
    pages.utrPartsAt(position),
    pages.progressAt(position),
    pages.timelineAt(position),
    pages.nextStepAt(position),
  ]),
  looked: Array.from({ length: pages.length }, (_, position) => lookedAt(pages, position)),
});

const listedIn = (list: readonly Transaction[]) => ({
  all: list,
  length: list.length,
  one: list.map((transaction) => {
    const { txnId, clientRefId, utr, state, nth, createdAtMs, amountPaise } = transaction;
    const { timeline, stepsDone, completedAtMs, transferMode, utrSerial } = transaction;
    const parts = { transferMode, utrSerial };
    const progress = { stepsDone, state, utr, completedAtMs };
    const numbers = [state, nth, createdAtMs, amountPaise, nextDueMs(transaction)];
    return [txnId, clientRefId, utr, ...numbers, parts, progress, timeline, nextStep(transaction)];
  }),
  looked: list.map((transaction) =>
    [transaction, list[0]!].every(({ timeline }) => timeline.length > 0)
      ? [seenOf(transaction, 0), seenOf(transaction, seenOf(list[0]!, 0))]
      : null,
  ),
});

test('pages keep transactions as a list of objects does, and a picture what they were', () => {
  fc.assert(
    fc.property(fc.array(anyDeed, { maxLength: 40 }), (deeds) => {
      const both = new Both();
      for (const deed of deeds) both.do(deed);
      expect(both.positions.filter((difference) => difference !== 0)).toEqual([]);
      expect(both.shown).toEqual(both.listed);
    }),
    { numRuns: 60 },
  );
});

test('a part of the list is what it is of any list, wherever it begins and ends', () => {
  const both = new Both();
  for (let nth = 0; nth < 7; nth += 1) both.do({ add: stored(nth) });
  const entries = new EntryPages((position) => both.pages.idAt(position));
  for (let nth = 0; nth < 7; nth += 1) entries.add('credit', null, nth, nth, nth);
  fc.assert(
    fc.property(fc.nat(8), fc.nat(9), (from, to) => {
      expect(both.pages.slice(from, to)).toEqual(both.list.slice(from, to));
      expect(entries.slice(from, to)).toEqual([...entries].slice(from, to));
    }),
  );
});

const at = (dueMs: number): Step => ({ to: 'SUCCESS', dueMs, polls: null, utr: true, forced: false });

const stored = (nth: number): Transaction => ({
  ...newPayout('all the same', { nth, txnId: `TXN${nth}`, amountPaise: nth + 1, createdAtMs: nth }),
  timeline: [at(nth), at(nth + 1)],
  stepsDone: 0,
  reads: 0,
  state: 'PENDING',
  utr: null,
  completedAtMs: null,
});

test('what is in one page is kept apart from what is in another, in pictures too', () => {
  const both = new Both();
  const count = 2 * PAGE + 3;
  const edges = [0, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE - 1, 2 * PAGE, count - 1];
  for (let nth = 0; nth < count; nth += 1) {
    both.do({ add: stored(nth) });
    if (nth === PAGE - 1 || nth === PAGE || nth === PAGE + 5) both.do('picture');
  }
  both.do('picture');
  for (const [round, of] of edges.entries()) {
    both.do({ of, reads: round + 1 });
    both.do({ of, timeline: [at(round), at(round + 1), at(round + 2)] });
    const progress: Progress = { stepsDone: 1, state: 'SUCCESS', utr: `U${of}`, completedAtMs: of };
    both.do({ of, progress, atMs: 1000 + round });
    both.do('picture');
  }
  const shown = (pages: TransactionPages) =>
    edges.filter((of) => of < pages.length).map((of) => pages.at(of));
  const listed = (list: readonly Transaction[]) =>
    edges.filter((of) => of < list.length).map((of) => list[of]);
  for (const [pages, list] of [...both.pictures, [both.pages, both.list] as const]) {
    expect(pages.length).toBe(list.length);
    expect(shown(pages)).toEqual(listed(list));
  }
  const ids = [...both.pages].map(({ txnId }) => txnId);
  expect(ids).toEqual(both.list.map(({ txnId }) => txnId));
});

test.each([21, 22, 23, 24, 300])('a UTR of %i characters is kept as it is, in ASCII or not', (length) => {
  for (const end of ['Z', '\u007f', '\u0080', '\u00ff', '\u0100']) {
    const utr = 'A'.repeat(length - 1) + end;
    const pages = new TransactionPages();
    pages.add({ ...stored(0), utr });
    pages.add(stored(1));
    expect([pages.utrAt(0), pages.utrAt(1)]).toEqual([utr, null]);
    pages.setProgress(1, { stepsDone: 1, state: 'SUCCESS', utr, completedAtMs: 1 }, 1);
    expect([pages.at(0).utr, pages.at(1).utr]).toEqual([utr, utr]);
  }
});

test('a timeline that changes again and again takes the place of the one before it, and never that of another', () => {
  const both = new Both();
  for (const nth of [0, 1, 2]) both.do({ add: stored(nth) });
  const lengths = [2, 1, 2, 3, 3, 2, 0, 1, 4, 9, 9, 1, 40];
  for (const [round, length] of lengths.entries()) {
    const timeline = Array.from({ length }, (_, nth) => at(100 * round + nth));
    both.do({ of: 1, timeline });
    expect(both.shown).toEqual(both.listed);
  }
  both.do({ add: stored(3) });
  expect(both.shown).toEqual(both.listed);
});

test('a timeline that is no longer than the one before it takes no further room', () => {
  const page = emptyPage(true);
  const steps = (count: number) => Array.from({ length: count }, (_, nth) => at(nth));
  const room = page.steps;
  expect(writeSteps(page, steps(2), 0, 0)).toBe(0);
  expect(writeSteps(page, steps(2), 0, 0)).toBe(2);
  expect([page.stepsUsed, page.steps === room]).toEqual([4, true]); // filled, and no more
  expect(writeSteps(page, steps(2), 2, 2)).toBe(2);
  expect(writeSteps(page, steps(1), 2, 2)).toBe(2);
  expect([page.stepsUsed, page.steps === room]).toEqual([4, true]);
  expect(writeSteps(page, steps(3), 2, 1)).toBe(4);
  expect([page.stepsUsed, page.steps.length]).toEqual([7, 2 * room.length]);
  expect(writeSteps(page, steps(100), 4, 3)).toBe(7);
  expect([page.stepsUsed, page.steps.length]).toEqual([107, (107 * room.length) / 4]);
});

test('the first page of a book is small and grows as a whole, and every other has its size at once', () => {
  const [small, full] = [emptyPage(true), emptyPage(false)];
  const room = ({ rows, ends }: typeof small) => [rows.length / ROW.WIDTH, ends.length / PARTS];
  expect(room(full)).toEqual([PAGE, PAGE]);
  expect(full.steps.length).toBeGreaterThanOrEqual(PAGE);
  const [rows] = room(small);
  expect(room(small)).toEqual([rows, rows]);
  expect(rows).toBeLessThan(10);
  expect([small.stepsUsed, full.stepsUsed]).toEqual([0, 0]);
  small.rows[1] = 7;
  small.ends[1] = 8;
  enlarge(small);
  expect(room(small)).toEqual([2 * rows!, 2 * rows!]);
  expect([small.rows[1], small.ends[1]]).toEqual([7, 8]);
});

test('a page is copied once for each picture of it, and not before it changes', () => {
  const page = emptyPage(true);
  expect(page.isInPicture).toBe(false);
  const picture = pictureOf(page);
  expect([page.isInPicture, picture.rows === page.rows]).toEqual([true, true]);
  withOwnRows(page);
  expect(page.isInPicture).toBe(false);
  const own = [picture.rows !== page.rows, picture.steps !== page.steps, picture.utrs !== page.utrs];
  expect(own).toEqual([true, true, true]);
  expect([page.rows, page.steps, page.utrs]).toEqual([picture.rows, picture.steps, picture.utrs]);
});

test('a payout that there is not is our own fault, not a payout of nothing', () => {
  const pages = new TransactionPages();
  pages.add(stored(0));
  expect(() => pages.amountPaiseAt(PAGE - 1)).toThrow('a payout is looked up where there is one');
  for (const position of [1, PAGE - 1, PAGE]) expect(() => pages.look([0, position])).toThrow(TypeError);
});

test('texts of a payout may be so long, and no longer, each of them', () => {
  const texts = newPayout('a');
  expect(isTooLong(texts)).toBe(false);
  const names = [
    'txnId',
    'clientRefId',
    'fingerprint',
    'beneficiaryName',
    'beneficiaryAccount',
    'beneficiaryIfsc',
  ] as const;
  for (const name of names) {
    expect(isTooLong({ ...texts, [name]: 'x'.repeat(LONGEST_PART) })).toBe(false);
    expect(isTooLong({ ...texts, [name]: 'x'.repeat(LONGEST_PART + 1) })).toBe(true);
  }
  const long = Object.fromEntries(names.map((name, nth) => [name, String(nth).repeat(LONGEST_PART)]));
  const both = new Both();
  for (const nth of [0, 1]) both.do({ add: { ...stored(nth), ...long } });
  expect(both.shown).toEqual(both.listed);
});

const KINDS: readonly EntryKind[] = ['opening', 'payout', 'refund', 'credit', 'debit'];
const ID_OF = (position: number): string => `TXN${position}`;

const anyEntry = fc.record({
  kind: fc.constantFrom(...KINDS),
  of: orNull(fc.nat(3)),
  amountPaise: fc.integer(),
  balancePaise: fc.nat(),
  atMs: anyMs,
});

interface Listed extends Entry {
  readonly of: number | null;
}

const POSITIONS = [0, 1, 2, 3];

const entriesShown = (pages: EntryPages) => ({
  all: [...pages],
  sums: [pages.length, pages.balancePaise, pages.lastAtMs],
  payouts: Array.from({ length: pages.length }, (_, row) =>
    POSITIONS.filter((position) => pages.isOf(row, position)),
  ),
});

const entriesListed = (list: readonly Listed[]) => ({
  all: list.map(({ of: _of, ...entry }) => entry),
  sums: [list.length, list.at(-1)?.balancePaise ?? 0, list.at(-1)?.atMs],
  payouts: list.map(({ of }) => (of === null ? [] : [of])),
});

test('pages keep entries as a list of objects does, and a picture those that there were', () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 40 }), fc.nat(40), (entries, seenAfter) => {
      const pages = new EntryPages(ID_OF);
      const list: Listed[] = [];
      const seen: [EntryPages, typeof list][] = [];
      for (const { kind, of, amountPaise, balancePaise, atMs } of entries) {
        if (list.length === seenAfter) seen.push([pages.picture(ID_OF), [...list]]);
        pages.add(kind, of, amountPaise, balancePaise, atMs);
        list.push({ kind, of, amountPaise, balancePaise, atMs, txnId: of === null ? null : ID_OF(of) });
      }
      expect(entriesShown(pages)).toEqual(entriesListed(list));
      for (const [picture, then] of seen) expect(entriesShown(picture)).toEqual(entriesListed(then));
    }),
  );
});

test('entries of many pages are each where they were put', () => {
  const pages = new EntryPages(ID_OF);
  const pictures: EntryPages[] = [];
  const count = 2 * PAGE + 2;
  for (let nth = 0; nth < count; nth += 1) {
    if (nth % PAGE < 2) pictures.push(pages.picture(ID_OF));
    pages.add('credit', nth, nth, 2 * nth, 3 * nth);
  }
  expect([...pages].map(({ txnId }) => txnId)).toEqual(Array.from({ length: count }, (_, nth) => ID_OF(nth)));
  for (const picture of pictures) expect([...picture]).toEqual(pages.slice(0, picture.length));
  expect(pictures.map(({ length }) => length)).toEqual([0, 1, PAGE, PAGE + 1, 2 * PAGE, 2 * PAGE + 1]);
});
