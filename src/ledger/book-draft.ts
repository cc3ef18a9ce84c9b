import type { State } from '../contract/payout.ts';
import { isMoneyBack, mayMove, type Transaction } from '../payout/payout.ts';
import type { Entry } from '../payout/wallet.ts';
import { brokenInvariants } from './book-audit.ts';
import { blankBook, heldBy, positionOf, take, type Book } from './book.ts';
import { isTooLong, LONGEST_PART } from './joined-texts.ts';
import type { BookHead, BookPiece } from './ledger.ts';
import { TextIndex } from './text-index.ts';

const isWhole = (value: number): boolean => Number.isSafeInteger(value);

const isInOrder = (times: readonly (number | null)[]): boolean => {
  const known = times.filter((time) => time !== null);
  return known.every((time, index) => index === 0 || known[index - 1]! <= time);
};

/** Whether a payout is where its steps have led it, and can go on along those that are left. */
function isFollowed({ timeline, stepsDone, state, createdAtMs }: Transaction): boolean {
  const states: State[] = ['PENDING'];
  for (const { to } of timeline) {
    const from = states.at(-1)!;
    if (to !== null && !mayMove(from, to)) return false;
    states.push(to ?? from);
  }
  const [done, ahead] = [timeline.slice(0, stepsDone), timeline.slice(stepsDone)];
  return (
    states[stepsDone] === state &&
    done.every(({ dueMs }) => dueMs !== null) &&
    ahead.every(({ dueMs, polls }) => (dueMs === null) !== (polls === null)) &&
    isInOrder([createdAtMs, ...done.map(({ dueMs }) => dueMs)]) &&
    isInOrder([createdAtMs, ...ahead.map(({ dueMs }) => dueMs)])
  );
}

/** What the entries say of a payout. */
interface Moved {
  readonly txnId: string;
  readonly amountPaise: number;
  isBack: boolean;
}

/**
 * A book that is made of a state which comes in pieces, the entries before the transactions. Everything is audited as it comes:
 * every entry, every edge, every sum.
 */
export class BookDraft {
  readonly #book: Book;
  readonly #head: BookHead;
  /** By position: the nth payout that the entries tell of is the nth that was made. */
  readonly #moved: Moved[] = [];
  readonly #movedIds = new TextIndex((position) => this.#moved[position]!.txnId);
  #fault: string | null = null;

  constructor(head: BookHead) {
    this.#head = head;
    this.#book = {
      ...blankBook(head.openingBalancePaise, head.nowMs),
      wallet: { ...head.wallet },
      refused: new Set(head.refused),
    };
  }

  /** Transactions and remembered refusals. */
  get held(): number {
    return heldBy(this.#book);
  }

  /** Takes in a piece, as long as nothing was found wrong. */
  extend({ entries = [], transactions = [] }: BookPiece): void {
    for (const entry of entries) this.#fault ??= this.#addEntry(entry);
    for (const transaction of transactions) this.#fault ??= this.#addTransaction(transaction);
  }

  /** @returns the book, or the first thing that was wrong with the state */
  finish(): Book | { readonly what: string } {
    const fault = this.#fault ?? this.#faultOfWhole();
    return fault === null ? this.#book : { what: fault };
  }

  #addEntry({ kind, amountPaise, balancePaise, txnId, atMs }: Entry): string | null {
    const { entries } = this.#book;
    if (this.#book.transactions.length > 0) return 'an entry comes after the payouts';
    if ((kind === 'opening') !== (entries.length === 0)) return 'a book begins with its opening, and has one';
    if (!isWhole(amountPaise)) return 'an entry is whole paise';
    if (entries.balancePaise + amountPaise !== balancePaise || balancePaise < 0)
      return 'the entries do not explain the balance';
    if ((txnId !== null) !== (kind === 'payout' || kind === 'refund'))
      return 'an entry names the wrong payout';
    let of: number | null = null;
    if (txnId !== null) {
      const moved = kind === 'payout' ? this.#payOut(txnId, amountPaise) : this.#giveBack(txnId, amountPaise);
      if (typeof moved === 'string') return moved;
      of = moved;
    }
    entries.add(kind, of, amountPaise, balancePaise, atMs);
    return null;
  }

  /** @returns the position of the payout, or what is wrong */
  #payOut(txnId: string, amountPaise: number): number | string {
    if (this.#movedIds.has(txnId)) return `the money of ${txnId} went out twice`;
    const position = this.#moved.push({ txnId, amountPaise: -amountPaise, isBack: false }) - 1;
    this.#movedIds.set(txnId, position);
    return position;
  }

  #giveBack(txnId: string, amountPaise: number): number | string {
    const position = this.#movedIds.find(txnId) ?? -1;
    const moved = this.#moved[position];
    if (moved === undefined || moved.amountPaise !== amountPaise || moved.isBack)
      return `the money of ${txnId} came back without having gone out`;
    moved.isBack = true;
    return position;
  }

  #addTransaction(transaction: Transaction): string | null {
    const { txnId, clientRefId, nth, amountPaise, state } = transaction;
    const book = this.#book;
    const moved = this.#moved[book.transactions.length];
    if (book.ids.has(txnId)) return `${txnId} is there twice`;
    if (isTooLong(transaction)) return `a text of ${txnId} has more than ${LONGEST_PART} characters`;
    const earlier = positionOf(book, { clientRefId });
    if (nth !== (earlier === undefined ? 0 : book.transactions.nthAt(earlier)) + 1)
      return `the payouts of ${clientRefId} are not counted without a gap`;
    if (!isWhole(amountPaise) || amountPaise <= 0) return `the amount of ${txnId} is no whole paise above 0`;
    if (!isFollowed(transaction)) return `the state of ${txnId} is not where its steps lead`;
    if (moved?.txnId !== txnId || moved.amountPaise !== amountPaise || moved.isBack !== isMoneyBack(state))
      return `the entries of ${txnId} do not fit it`;
    take(book, transaction);
    return null;
  }

  #faultOfWhole(): string | null {
    const { transactions, entries, tallies, wallet } = this.#book;
    if (transactions.length !== this.#moved.length) return 'an entry names a payout that there is not';
    if (entries.length === 0 || entries.at(0).amountPaise !== this.#head.openingBalancePaise)
      return 'the opening balance is another';
    const [broken] = brokenInvariants(this.#book);
    const isPaidOut = wallet.paidOutPaise === tallies.PENDING.paise + tallies.SUCCESS.paise;
    return broken === undefined && isPaidOut ? null : `it does not hold that ${broken ?? 'the wallet fits'}`;
  }
}
