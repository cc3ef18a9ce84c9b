import { runningClock, type WorldClock } from '../../src/world/clock.ts';
import type { Change } from '../../src/payout/payout.ts';
import { WorldBook, type ClockMove } from '../../src/log/world-book.ts';
import type { BookHead, BookPiece } from '../../src/ledger/ledger.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import { ManualClock } from './manual-clock.ts';
import { newPayout, step } from './payouts.ts';

/** A book of its own, and what was told of it. */
export function bookFor({
  clock = runningClock,
  ledger = new MemoryLedger(100_000),
  wallClock = new ManualClock(),
} = {}) {
  const announced: Change[] = [];
  const failures: unknown[] = [];
  const observer = {
    settled: (change: Change) => void announced.push(change),
    failed: (error: unknown) => void failures.push(error),
  };
  const book = new WorldBook({ ledger, wallClock, observer }, 'w', 1_000_000, clock);
  let made = 0;
  /** Makes payouts that succeed so many ms later. */
  const pay = async (...afterMs: readonly number[]): Promise<void> => {
    for (const ms of afterMs) {
      await book.perform((of, ref, nowMs) => {
        const timeline = [step('SUCCESS', nowMs + ms)];
        const payout = newPayout(`p${made++}`, { createdAtMs: nowMs, amountPaise: 1, timeline });
        return of.initiate(ref, nowMs, payout, { rememberInsufficient: false });
      });
    }
  };
  const references = (changes: readonly Change[] = announced) =>
    changes.map(({ clientRefId }) => clientRefId);
  /** Moves the clock. @returns all that happened */
  const move = async (to: ClockMove): Promise<readonly Change[]> =>
    (await book.move(to, (changes) => changes)).flat();
  return { book, wallClock, announced, failures, pay, move, references, ledger };
}

export interface Kept {
  readonly head: BookHead;
  readonly pieces: readonly BookPiece[];
}

/** All of a book, as it is restored. */
export async function kept(book: WorldBook): Promise<Kept> {
  const { entries, transactions, ...head } = await book.perform((of, ref, ms) => of.inspect(ref, ms));
  return { head, pieces: [{ entries: [...entries] }, { transactions: [...transactions] }] };
}

/** Puts it into a book. */
export const put = (
  book: WorldBook,
  { head, pieces }: Kept,
  clock: WorldClock,
  placed = (): void => undefined,
) => book.restore(head, pieces, () => ({ clock, placed }));
