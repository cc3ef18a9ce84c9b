import { NumberRows } from './number-rows.ts';

/** The next step of a payout. */
export interface Due {
  readonly dueMs: number;
  readonly position: number;
}

// columns
const DUE_MS = 0;
const CREATED_AT_MS = 1;
const ID_KEY = 2;
const POSITION = 3;
const WIDTH = 4;

const CHILDREN_BITS = 2;
const CHILDREN = 2 ** CHILDREN_BITS;
/** Empty rows before the first: with them, the four children of a row lie side by side in one page. */
const ROWS_BEFORE = CHILDREN - 1;

const FIRST = ROWS_BEFORE;

const NO_KEY = -1;
const PREFIX = 'TXN';
const DIGITS = 12; // of an id, as many as a number holds exactly

/** A number in the order of ids as they are made here, as far as it goes; `NO_KEY` for any other. */
function keyOf(txnId: string): number {
  const end = PREFIX.length + DIGITS;
  if (txnId.length < end || !txnId.startsWith(PREFIX)) return NO_KEY;
  let key = 0;
  for (let index = PREFIX.length; index < end; index += 1) {
    const code = txnId.charCodeAt(index);
    const isLetter = code >= 0x41 && code <= 0x46;
    if (!isLetter && (code < 0x30 || code > 0x39)) return NO_KEY;
    key = key * 16 + (isLetter ? code - 0x37 : code - 0x30);
  }
  return key;
}

/**
 * The next steps of the payouts of one book, the first one first: by due time, then creation; payouts of one instant by their
 * id, which does not depend on the order of arrival. A heap of numbers, in which each has four children.
 */
export class DueQueue {
  readonly #rows = new NumberRows(WIDTH);
  readonly #idAt: (position: number) => string;
  /** The row that is on its way to its place. */
  readonly #moving = new Float64Array(WIDTH);

  /** @param idAt the id of the payout at a position */
  constructor(idAt: (position: number) => string) {
    this.#idAt = idAt;
    for (let row = 0; row < ROWS_BEFORE; row += 1) this.#rows.add();
  }

  push(dueMs: number, createdAtMs: number, txnId: string, position: number): void {
    const moving = this.#moving;
    moving[DUE_MS] = dueMs;
    moving[CREATED_AT_MS] = createdAtMs;
    moving[ID_KEY] = keyOf(txnId);
    moving[POSITION] = position;
    let row = this.#rows.add();
    while (row > FIRST) {
      const parent = ((row - FIRST - 1) >>> CHILDREN_BITS) + FIRST;
      if (!this.#isBefore(moving, 0, this.#rows.pageOf(parent), this.#rows.offsetOf(parent))) break;
      this.#copy(this.#rows.pageOf(parent), this.#rows.offsetOf(parent), row);
      row = parent;
    }
    this.#settle(row);
  }

  peek(): Due | undefined {
    if (this.#rows.length === FIRST) return undefined;
    const page = this.#rows.pageOf(FIRST);
    const offset = this.#rows.offsetOf(FIRST);
    return { dueMs: page[offset + DUE_MS]!, position: page[offset + POSITION]! };
  }

  /** Takes the first away. */
  pop(): void {
    const rows = this.#rows;
    const end = rows.length - 1;
    const lastPage = rows.pageOf(end);
    const last = rows.offsetOf(end);
    for (let column = 0; column < WIDTH; column += 1) this.#moving[column] = lastPage[last + column]!;
    rows.removeLast();
    let row = FIRST;
    for (;;) {
      const child = (row - FIRST) * CHILDREN + 1 + FIRST;
      if (child >= end) break;
      // the children are in one page, whichever it is
      const page = rows.pageOf(child);
      const from = rows.offsetOf(child);
      const to = from + Math.min(end - child, CHILDREN) * WIDTH;
      let first = from;
      for (let other = from + WIDTH; other < to; other += WIDTH) {
        if (this.#isBefore(page, other, page, first)) first = other;
      }
      if (!this.#isBefore(page, first, this.#moving, 0)) break;
      this.#copy(page, first, row);
      row = child + (first - from) / WIDTH;
    }
    this.#settle(row);
  }

  #isBefore(a: Float64Array, atA: number, b: Float64Array, atB: number): boolean {
    const byDue = a[atA + DUE_MS]! - b[atB + DUE_MS]!;
    if (byDue !== 0) return byDue < 0;
    const byCreation = a[atA + CREATED_AT_MS]! - b[atB + CREATED_AT_MS]!;
    if (byCreation !== 0) return byCreation < 0;
    const keyA = a[atA + ID_KEY]!;
    const keyB = b[atB + ID_KEY]!;
    if (keyA !== keyB && keyA !== NO_KEY && keyB !== NO_KEY) return keyA < keyB;
    return this.#idAt(a[atA + POSITION]!) < this.#idAt(b[atB + POSITION]!);
  }

  #copy(source: Float64Array, from: number, to: number): void {
    const target = this.#rows.pageOf(to);
    const offset = this.#rows.offsetOf(to);
    for (let column = 0; column < WIDTH; column += 1) target[offset + column] = source[from + column]!;
  }

  /** Puts the row that is on its way down. */
  #settle(row: number): void {
    const page = this.#rows.pageOf(row);
    const to = this.#rows.offsetOf(row);
    for (let column = 0; column < WIDTH; column += 1) page[to + column] = this.#moving[column]!;
  }
}
