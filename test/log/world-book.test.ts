import { expect, test } from 'vitest';
import { frozenClock, runningClock } from '../../src/world/clock.ts';
import type { WorldBook } from '../../src/log/world-book.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import type { BookHead, BookPiece, Settled } from '../../src/ledger/ledger.ts';
import { bookFor, kept, put } from '../support/one-book.ts';

const YEAR_END = Date.parse('9999-12-31T23:59:59.999Z');

test('one alarm is set, for the step that is due next, and it is called off with what it was for', async () => {
  const { book, wallClock, pay, references } = bookFor();
  await pay(5000);
  expect(wallClock.alarms).toBe(1);
  await pay(2000, 9000);
  expect(wallClock.alarms).toBe(1);
  await wallClock.pass(2000);
  expect(references()).toEqual(['p1']);
  expect(wallClock.alarms).toBe(1);
  await book.freeze();
  expect([wallClock.alarms, book.isFrozen]).toEqual([0, true]);
  await wallClock.pass(60_000);
  await book.resume();
  expect([wallClock.alarms, book.isFrozen]).toEqual([1, false]);
  await wallClock.pass(3000);
  await wallClock.pass(4000);
  expect(references()).toEqual(['p1', 'p0', 'p2']);
  expect(wallClock.alarms).toBe(0);
});

test('a clock that is resumed late settles at once what came due by its time', async () => {
  const { book, wallClock, pay, references } = bookFor({ clock: frozenClock(0) });
  await pay(0, 10);
  expect(wallClock.alarms).toBe(0);
  await book.resume();
  expect(references()).toEqual(['p0']);
  await wallClock.pass(10);
  expect(references()).toEqual(['p0', 'p1']);
});

test('moved until idle, a clock stands at the last step, and tells all that happened', async () => {
  const { book, pay, references, announced, move } = bookFor({ clock: frozenClock(1000) });
  await pay(70, 5, 70);
  const changes = await move({ until: 'idle' });
  expect(changes.map(({ atMs }) => atMs)).toEqual([1005, 1070, 1070]);
  expect(references(changes)[0]).toBe('p1');
  expect(announced).toEqual(changes);
  expect(book.nowMs).toBe(1070);
  expect(await move({ until: 'idle' })).toEqual([]);
  expect(book.nowMs).toBe(1070);
});

test('a clock moves to a time, to now at the earliest', async () => {
  const { book, pay, references, move } = bookFor({ clock: frozenClock(1000) });
  await pay(50, 60);
  expect(references(await move({ toMs: 1050 }))).toEqual(['p0']);
  expect(book.nowMs).toBe(1050);
  expect(await move({ toMs: 1050 })).toEqual([]);
  await expect(move({ toMs: 1049 })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    details: {
      errors: [{ field: 'to', message: 'to must not be before 1970-01-01T00:00:01.050Z' }],
    },
  });
  expect(book.nowMs).toBe(1050);
  await expect(move({ toMs: YEAR_END + 1 })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  expect(references(await move({ toMs: YEAR_END }))).toEqual(['p1']);
});

test('while a clock moves, others have their turn after every 2000 steps, and what asks this world waits', async () => {
  const { book, wallClock, pay, move } = bookFor({ clock: frozenClock(0) });
  await pay(...Array.from({ length: 4001 }, (_, nth) => nth + 1));
  let turns = 0;
  wallClock.letOthersRun = async () => void (turns += 1);
  const moved = move({ until: 'idle' });
  const order: string[] = [];
  const asked = book
    .perform(async (ledger, ref, nowMs) => ledger.settle(ref, nowMs, 1))
    .then(() => order.push(`asked at ${book.nowMs}`));
  const changes = await moved.finally(() => order.push('moved'));
  await asked;
  expect(order).toEqual(['moved', 'asked at 4001']);
  expect([changes.length, turns]).toEqual([4001, 2]);
});

test('no more steps are asked for at once than are left of 2000', async () => {
  const limits: number[] = [];
  class Counting extends MemoryLedger {
    override settle(...[ref, nowMs, limit]: Parameters<MemoryLedger['settle']>): Promise<Settled> {
      limits.push(limit);
      return super.settle(ref, nowMs, limit);
    }
  }
  const { pay, move } = bookFor({ clock: frozenClock(0), ledger: new Counting(100_000) });
  await pay(...Array.from({ length: 1999 }, () => 1), 2, 3);
  await move({ until: 'idle' });
  expect(limits).toEqual([2000, 2000, 1, 2000]);
});

test('a book that is renewed while its clock moves ends the move, and begins with its new balance', async () => {
  const { book, wallClock, pay, announced, move } = bookFor({ clock: frozenClock(0) });
  await pay(...Array.from({ length: 2001 }, () => 1));
  let renewed: Promise<void> | undefined;
  wallClock.letOthersRun = async () => void (renewed ??= book.renew(7, frozenClock(50)));
  await expect(move({ byMs: 10 })).rejects.toMatchObject({ code: 'WORLD_REPLACED' });
  await renewed;
  expect(announced).toHaveLength(2000);
  const { balancePaise, lastUpdatedMs } = await book.perform((of, ref, nowMs) => of.balance(ref, nowMs));
  expect([balancePaise, lastUpdatedMs, book.nowMs]).toEqual([7, 50, 50]);
});

test('what a renewed book was still doing is not told of the new one', async () => {
  const { book, pay, announced, wallClock } = bookFor();
  await pay(5);
  await wallClock.pass(4);
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const late = book.perform(async (of, ref, nowMs) => {
    const settled = await of.settle(ref, nowMs + 10, 10);
    await held;
    return settled;
  });
  await book.renew(7, runningClock);
  go();
  expect((await late).changes).toHaveLength(1);
  expect(announced).toEqual([]);
});

test('another clock takes over where it is not behind; what came due by its time happens first', async () => {
  const { book, wallClock, pay, references } = bookFor();
  await pay(5000, 9000);
  const { nowMs } = book;
  await book.setClock({ frozenAtMs: null, aheadMs: 5000 });
  expect(references()).toEqual(['p0']);
  expect([book.nowMs - nowMs, wallClock.alarms]).toEqual([5000, 1]);
  await wallClock.pass(4000);
  expect(references()).toEqual(['p0', 'p1']);
  await book.setClock(frozenClock(book.nowMs));
  expect(book.isFrozen).toBe(true);
  expect(references()).toEqual(['p0', 'p1']);
});

test('a clock that is behind takes over only as long as nothing has happened', async () => {
  const { book, wallClock, pay } = bookFor();
  await book.setClock(frozenClock(5));
  expect(book.nowMs).toBe(5);
  await book.setClock(runningClock);
  await pay(1000);
  const now = new Date(book.nowMs).toISOString();
  await expect(book.setClock(frozenClock(5))).rejects.toMatchObject({
    code: 'CLOCK_BACKWARDS',
    message: expect.stringContaining(`from ${now} to 1970-01-01T00:00:00.005Z`),
  });
  expect([book.isFrozen, wallClock.alarms]).toEqual([false, 1]);
});

test('a book that nothing stands in is opened anew, at the time of its clock; another is left as it is', async () => {
  const { book, pay } = bookFor();
  expect(await book.reopen(500, frozenClock(9))).toBe(true);
  const read = () => book.perform((of, ref, nowMs) => of.balance(ref, nowMs));
  expect(await read()).toMatchObject({ balancePaise: 500, lastUpdatedMs: 9 });
  await pay(1);
  expect(await book.reopen(7, frozenClock(8))).toBe(false);
  expect([(await read()).balancePaise, book.nowMs]).toEqual([499, 9]);
});

test('a book that is restored goes on by the clock that it is given, with its next step', async () => {
  const one = bookFor({ clock: frozenClock(100) });
  await one.pay(50);
  const state = await kept(one.book);
  const { book, wallClock, references, ledger } = bookFor();
  let placed = 0;
  const wrong = { ...state, head: { ...state.head, openingBalancePaise: 1 } };
  const damaged = await put(book, wrong, frozenClock(1), () => (placed += 1));
  expect([damaged.kind, book.isFrozen, placed]).toEqual(['damaged', false, 0]);
  const aheadMs = 100 - wallClock.nowMs();
  const seen: unknown[] = [];
  const restored = await put(book, state, { frozenAtMs: null, aheadMs }, () => seen.push(book.nowMs));
  expect([restored.kind, seen]).toEqual(['restored', [100]]);
  expect([book.nowMs, wallClock.alarms, ledger.held]).toEqual([100, 1, 1]);
  await wallClock.pass(50);
  expect(references()).toEqual(['p0']);
});

test('what a book that was replaced was still doing is not told of the one in its place', async () => {
  const one = bookFor({ clock: frozenClock(100) });
  await one.pay(50);
  const { book, pay, wallClock, announced } = bookFor();
  await pay(5);
  await wallClock.pass(4);
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const late = book.perform(async (of, ref, nowMs) => {
    const settled = await of.settle(ref, nowMs + 10, 10);
    await held;
    return settled;
  });
  await put(book, await kept(one.book), frozenClock(100));
  go();
  expect((await late).changes).toHaveLength(1);
  expect(announced).toEqual([]);
});

test('a book that is closed has no alarm, does nothing more, and says why', async () => {
  const { book, wallClock, pay, ledger, announced, failures } = bookFor();
  await pay(5);
  expect([book.isClosed, ledger.held]).toEqual([false, 1]);
  await book.close('admin');
  expect([book.isClosed, ledger.held, wallClock.alarms]).toEqual([true, 0, 0]);
  await expect(pay(1)).rejects.toMatchObject({
    code: 'SANDBOX_FULL',
    details: { limit: 'DELETE /_sandbox/worlds' },
  });
  await wallClock.pass(10);
  expect([announced, failures]).toEqual([[], []]);
});

test('an operation that fails gives the clock free again', async () => {
  class Failing extends MemoryLedger {
    override settle(): Promise<never> {
      return Promise.reject(new Error('the store is gone'));
    }
  }
  const { wallClock, pay, failures, move } = bookFor({ ledger: new Failing(10) });
  await expect(move({ byMs: 1 })).rejects.toThrow('the store is gone');
  await pay(5);
  await wallClock.pass(5);
  expect(failures).toEqual([new Error('the store is gone')]);
});

/** A ledger that is slow to settle what is due, while it is held. */
class HeldLedger extends MemoryLedger {
  #held = Promise.resolve();

  /** @returns what lets it go on */
  hold(): () => void {
    let go = (): void => undefined;
    this.#held = new Promise((resolve) => (go = resolve));
    return go;
  }

  override async settle(...[ref, nowMs, limit]: Parameters<MemoryLedger['settle']>): Promise<Settled> {
    await this.#held;
    return super.settle(ref, nowMs, limit);
  }
}

test.each<[what: string, change: (book: WorldBook) => Promise<unknown>]>([
  ['an operation', (book) => book.perform((of, ref, nowMs) => of.balance(ref, nowMs))],
  ['to freeze it', (book) => book.freeze()],
  ['to resume it', (book) => book.resume()],
  ['another clock', (book) => book.setClock(frozenClock(99_999))],
  ['another move', (book) => book.move({ byMs: 1 }, () => null)],
  ['to open the book anew', (book) => book.reopen(1, frozenClock(0))],
  [
    'to restore it',
    async (book) => {
      const state = await kept(bookFor({ clock: frozenClock(0) }).book);
      return put(book, state, frozenClock(0));
    },
  ],
])('while a clock moves, %s waits', async (_what, change) => {
  const ledger = new HeldLedger(100);
  const { book, pay, announced, move } = bookFor({ clock: frozenClock(0), ledger });
  await pay(1, 2, 3);
  const go = ledger.hold();
  let settledBefore: number | undefined;
  const moved = move({ until: 'idle' });
  const changed = change(book).then(() => (settledBefore = announced.length));
  await new Promise((resolve) => setImmediate(resolve));
  expect(settledBefore).toBeUndefined();
  expect(book.clock).toEqual(frozenClock(0));
  go();
  await Promise.all([moved, changed]);
  expect(settledBefore).toBe(3);
});

test('a state of which a piece is not to be had leaves no draft behind', async () => {
  const drafts: string[] = [];
  class Noting extends MemoryLedger {
    override async draft(head: BookHead): Promise<string> {
      drafts.push(await super.draft(head));
      return drafts.at(-1)!;
    }
  }
  const ledger = new Noting(10);
  const { book } = bookFor({ clock: frozenClock(0), ledger });
  const { head } = await kept(book);
  function* broken(): Generator<BookPiece> {
    yield {};
    throw new Error('the text is cut off');
  }
  const placing = () => ({ clock: runningClock, placed: () => undefined });
  await expect(book.restore(head, broken(), placing)).rejects.toThrow('cut off');
  expect([book.isFrozen, drafts.length]).toEqual([true, 1]);
  await expect(ledger.extend(drafts[0]!, {})).rejects.toThrow('a draft is restored once');
});

test('a book that is closed while its clock moves ends the move, and takes no other state', async () => {
  const { book, wallClock, pay, move } = bookFor({ clock: frozenClock(0) });
  await pay(...Array.from({ length: 2001 }, () => 1));
  const state = await kept(book);
  let closed: Promise<unknown> | undefined;
  wallClock.letOthersRun = async () => void (closed ??= book.close('stop'));
  await expect(move({ byMs: 10 })).rejects.toMatchObject({ code: 'WORLD_REPLACED' });
  await closed;
  await expect(put(book, state, frozenClock(0))).rejects.toMatchObject({ code: 'SANDBOX_FULL' });
  expect([book.isClosed, wallClock.alarms]).toEqual([true, 0]);
});
