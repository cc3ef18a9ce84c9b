import type { Entry, EntryKind } from '../payout/wallet.ts';
import type { Sequence } from './ledger.ts';
import { NumberRows } from './number-rows.ts';

const KINDS: readonly EntryKind[] = ['opening', 'payout', 'refund', 'credit', 'debit'];

// columns
const KIND = 0;
/** The position of the payout that it belongs to; `NONE` for an entry of none. */
const OF = 1;
const AMOUNT_PAISE = 2;
const BALANCE_PAISE = 3;
const AT_MS = 4;
const WIDTH = 5;

const NONE = -1;

/** The entries of a book, as rows of numbers. They are only added to. */
export class EntryPages implements Sequence<Entry> {
  readonly #rows: NumberRows;
  readonly #idAt: (position: number) => string;

  /** @param idAt the id of the payout at a position */
  constructor(idAt: (position: number) => string, rows = new NumberRows(WIDTH)) {
    this.#idAt = idAt;
    this.#rows = rows;
  }

  get length(): number {
    return this.#rows.length;
  }

  /** @param of the position of the payout that it belongs to; null for none */
  add(kind: EntryKind, of: number | null, amountPaise: number, balancePaise: number, atMs: number): void {
    const row = this.#rows.add();
    const page = this.#rows.pageOf(row);
    const offset = this.#rows.offsetOf(row);
    page[offset + KIND] = KINDS.indexOf(kind);
    page[offset + OF] = of ?? NONE;
    page[offset + AMOUNT_PAISE] = amountPaise;
    page[offset + BALANCE_PAISE] = balancePaise;
    page[offset + AT_MS] = atMs;
  }

  at(row: number): Entry {
    const page = this.#rows.pageOf(row);
    const offset = this.#rows.offsetOf(row);
    const of = page[offset + OF]!;
    return {
      kind: KINDS[page[offset + KIND]!]!,
      amountPaise: page[offset + AMOUNT_PAISE]!,
      balancePaise: page[offset + BALANCE_PAISE]!,
      txnId: of === NONE ? null : this.#idAt(of),
      atMs: page[offset + AT_MS]!,
    };
  }

  /** Whether an entry belongs to the payout at a position. */
  isOf(row: number, position: number): boolean {
    return this.#rows.pageOf(row)[this.#rows.offsetOf(row) + OF] === position;
  }

  /** The balance after all of them; 0 when there is none. */
  get balancePaise(): number {
    return this.#ofLast(BALANCE_PAISE) ?? 0;
  }

  /** World time of the newest; undefined when there is none. */
  get lastAtMs(): number | undefined {
    return this.#ofLast(AT_MS);
  }

  slice(from: number, to: number): readonly Entry[] {
    const end = Math.min(to, this.length);
    const entries: Entry[] = [];
    for (let row = from; row < end; row += 1) entries.push(this.at(row));
    return entries;
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (let row = 0; row < this.length; row += 1) yield this.at(row);
  }

  /** The entries that there are now, whatever is added. @param idAt as it is now */
  picture(idAt: (position: number) => string): EntryPages {
    return new EntryPages(idAt, this.#rows.picture());
  }

  #ofLast(column: number): number | undefined {
    const row = this.#rows.length - 1;
    return row < 0 ? undefined : this.#rows.pageOf(row)[this.#rows.offsetOf(row) + column];
  }
}
