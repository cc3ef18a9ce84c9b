import { expect, test } from 'vitest';
import { frozenClock, runningClock } from '../../src/world/clock.ts';
import type { Change } from '../../src/payout/payout.ts';
import type { BookRef, RestoreOutcome, Settled } from '../../src/ledger/ledger.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { bookFor, kept, put } from '../support/one-book.ts';

/** A clock whose alarms may be late: time goes on, and they have not rung yet. */
class LateClock extends ManualClock {
  lateMs = 0;
  turns = 0;
  readonly set: number[] = [];

  override nowMs(): number {
    return super.nowMs() + this.lateMs;
  }

  override alarm(atMs: number, ring: () => void): () => void {
    this.set.push(atMs);
    return super.alarm(atMs, ring);
  }

  override async letOthersRun(): Promise<void> {
    this.turns += 1;
  }
}

/** What waits until it is let go. */
function gate() {
  let go = (): void => undefined;
  const opened = new Promise<void>((resolve) => (go = resolve));
  return { opened, go };
}

/** A ledger that applies one step at a time, and can be held after it has done so, or after a book was dropped. */
class SlowLedger extends MemoryLedger {
  settles = 0;
  settling: Promise<void> | undefined;
  dropping: Promise<void> | undefined;

  override async settle(ref: BookRef, nowMs: number): Promise<Settled> {
    this.settles += 1;
    const settled = await super.settle(ref, nowMs, 1);
    const { settling } = this;
    this.settling = undefined;
    await settling;
    return settled;
  }

  override async drop(worldId: string): Promise<void> {
    await super.drop(worldId);
    await this.dropping;
  }
}

const slowBook = (clock = runningClock) => {
  const [ledger, wallClock] = [new SlowLedger(100), new LateClock()];
  return { ...bookFor({ clock, ledger, wallClock }), ledger, wallClock };
};

/** The code of the refusal that something ends with. */
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'not refused',
    ({ code }: { code: string }) => code,
  );

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what came due before its alarm rang is applied piece by piece, with a turn for others between', async () => {
  const { book, ledger, wallClock, pay, announced } = slowBook();
  await pay(5, 5, 5, 6);
  wallClock.lateMs = 5;
  await book.perform((of, ref, nowMs) => of.balance(ref, nowMs));
  expect([ledger.settles, wallClock.turns, announced.length]).toEqual([3, 2, 3]);
  wallClock.lateMs = 6;
  await book.perform((of, ref, nowMs) => of.balance(ref, nowMs));
  expect([ledger.settles, wallClock.turns, announced.length]).toEqual([4, 2, 4]);
});

test('what is applied for a book that is renewed meanwhile is not told, and the new one goes its own way', async () => {
  const { book, ledger, wallClock, pay, references } = slowBook();
  await pay(5, 5);
  wallClock.lateMs = 5;
  const { opened, go } = gate();
  ledger.settling = opened;
  const late = book.perform((of, ref, nowMs) => of.balance(ref, nowMs));
  await turn();
  await book.renew(1_000_000, runningClock);
  await pay(0);
  go();
  await late;
  expect(references()).toEqual(['p2']);
  expect(ledger.settles).toBe(2);
});

test('a book that is dropped while its alarm waits for its turn fails nobody', async () => {
  const { book, ledger, wallClock, pay, failures } = slowBook();
  await pay(5, 5);
  wallClock.lateMs = 5;
  const { opened, go } = gate();
  ledger.settling = opened;
  const asked = book.perform((of, ref, nowMs) => of.balance(ref, nowMs));
  const refused = codeOf(asked);
  await wallClock.pass(5); // its alarm rings
  await book.close('admin');
  go();
  expect(await refused).toBe('SANDBOX_FULL');
  await turn();
  expect(failures).toEqual([]);
});

test('changes of a book that is renewed while they are made are not told, and end its move', async () => {
  const { book, ledger, pay, announced, move } = slowBook(frozenClock(0));
  await pay(5);
  const { opened, go } = gate();
  ledger.settling = opened;
  const moved = codeOf(move({ byMs: 10 }));
  await turn();
  await book.renew(7, frozenClock(0));
  go();
  expect(await moved).toBe('WORLD_REPLACED');
  expect(announced).toEqual([]);
});

test('a move that was ended by a renewal lets nobody in before the old book is gone', async () => {
  const { book, ledger, pay, move } = slowBook(frozenClock(0));
  await pay(5);
  const [settling, dropping] = [gate(), gate()];
  ledger.settling = settling.opened;
  ledger.dropping = dropping.opened;
  const moved = codeOf(move({ byMs: 10 }));
  await turn();
  const renewed = book.renew(7, frozenClock(0));
  settling.go();
  expect(await moved).toBe('WORLD_REPLACED');
  let isDone = false;
  const asked = book.perform((of, ref, nowMs) => of.balance(ref, nowMs)).finally(() => (isDone = true));
  await turn();
  expect(isDone).toBe(false);
  dropping.go();
  await renewed;
  expect((await asked).balancePaise).toBe(7);
});

test('a renewed book has no alarm of the old one', async () => {
  const { book, wallClock, pay } = bookFor();
  await pay(5);
  await book.renew(7, runningClock);
  expect(wallClock.alarms).toBe(0);
});

test('the changes of a move are handed on when a thousand have come together, and at its end', async () => {
  const answers = [600, 600, 5];
  class Telling extends MemoryLedger {
    override async settle(): Promise<Settled> {
      const changes = Array.from({ length: answers.shift()! }, () => ({}) as Change);
      const nextDueMs = answers.length === 0 ? null : 10;
      return { changes, nextDueMs };
    }
  }
  const { book } = bookFor({ clock: frozenClock(0), ledger: new Telling(1) });
  expect(await book.move({ byMs: 10 }, ({ length }) => length)).toEqual([1200, 5]);
});

test('what is due next after a move is announced at its time by the clock that was moved', async () => {
  const { wallClock, pay, move, announced } = bookFor();
  await pay(5000);
  await move({ byMs: 1000 });
  await wallClock.pass(3999);
  expect(announced).toEqual([]);
  await wallClock.pass(1);
  expect(announced).toHaveLength(1);
});

test('the alarm is set by the clock that took over, even if wall time went on meanwhile', async () => {
  class Ticking extends LateClock {
    override nowMs(): number {
      this.lateMs += 1;
      return super.nowMs();
    }
  }
  const wallClock = new Ticking();
  const { book, pay } = bookFor({ wallClock });
  let dueMs = 0;
  await pay(5000);
  await book.perform(async (of, ref, nowMs) => {
    const balance = await of.balance(ref, nowMs);
    dueMs = balance.nextDueMs!;
    return balance;
  });
  await book.setClock({ frozenAtMs: null, aheadMs: 100 });
  expect(wallClock.set.at(-1)).toBe(dueMs - 100);
});

test('a clock that would be behind where the moving one ends is refused', async () => {
  const { book, ledger, pay, move } = slowBook(frozenClock(0));
  await pay(1, 9);
  const { opened, go } = gate();
  ledger.settling = opened;
  const moved = move({ until: 'idle' });
  const changed = codeOf(book.setClock(frozenClock(5)));
  await turn();
  go();
  await moved;
  expect(await changed).toBe('CLOCK_BACKWARDS');
  expect(book.nowMs).toBe(9);
});

test('a book that was opened anew keeps its new balance when its clock goes back', async () => {
  const { book } = bookFor({ clock: frozenClock(20) });
  await book.reopen(500, frozenClock(9));
  await book.setClock(frozenClock(5));
  const { balancePaise, lastUpdatedMs } = await book.perform((of, ref, nowMs) => of.balance(ref, nowMs));
  expect([balancePaise, lastUpdatedMs]).toEqual([500, 5]);
});

test('others have a turn after each piece of a state that is restored', async () => {
  const one = bookFor();
  await one.pay(5, 6);
  const state = await kept(one.book);
  const { book, wallClock } = slowBook();
  await put(book, { ...state, pieces: [...state.pieces, {}] }, runningClock);
  expect(wallClock.turns).toBe(state.pieces.length + 1);
});

test('the alarm of a book that is restored is set by its own clock, though its next step has the time of one before', async () => {
  const { book, wallClock, pay } = slowBook();
  await pay(5000);
  const dueMs = book.nowMs + 5000;
  await put(book, await kept(book), { frozenAtMs: null, aheadMs: 1000 });
  expect([wallClock.alarms, wallClock.set.at(-1)]).toEqual([1, dueMs - 1000]);
});

test('a state takes no place in a book that is renewed meanwhile', async () => {
  const { opened, go } = gate();
  class Restoring extends MemoryLedger {
    override async restore(ref: BookRef, draft: string): Promise<RestoreOutcome> {
      const outcome = await super.restore(ref, draft);
      await opened;
      return outcome;
    }
  }
  const state = await kept(bookFor().book);
  const { book } = bookFor({ clock: frozenClock(0), ledger: new Restoring(10) });
  let placed = 0;
  const restored = put(book, state, frozenClock(99), () => (placed += 1));
  const refused = codeOf(restored);
  await turn();
  const renewed = book.renew(7, frozenClock(1));
  go();
  expect(await refused).toBe('WORLD_REPLACED');
  await renewed;
  expect([placed, book.nowMs]).toEqual([0, 1]);
});
