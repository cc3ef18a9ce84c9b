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
const NO_KEY = -1;
const OUR_ID = /^TXN([0-9A-F]{12})[0-9A-F]{12}$/;

/** A number in the order of ids as they are made here; `NO_KEY` for any other. */
function keyOf(txnId: string): number {
  const digits = OUR_ID.exec(txnId)?.[1];
  return digits === undefined ? NO_KEY : Number.parseInt(digits, 16);
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
  }

  push(dueMs: number, createdAtMs: number, txnId: string, position: number): void {
    const moving = this.#moving;
    moving[DUE_MS] = dueMs;
    moving[CREATED_AT_MS] = createdAtMs;
    moving[ID_KEY] = keyOf(txnId);
    moving[POSITION] = position;
    let row = this.#rows.add();
    while (row > 0) {
      const parent = (row - 1) >>> CHILDREN_BITS;
      if (!this.#isBefore(moving, 0, this.#rows.pageOf(parent), this.#rows.offsetOf(parent))) break;
      this.#copy(parent, row);
      row = parent;
    }
    this.#settle(row);
  }

  peek(): Due | undefined {
    if (this.#rows.length === 0) return undefined;
    const page = this.#rows.pageOf(0);
    return { dueMs: page[DUE_MS]!, position: page[POSITION]! };
  }

  /** Takes the first away. */
  pop(): void {
    const last = this.#rows.length - 1;
    const page = this.#rows.pageOf(last);
    const from = this.#rows.offsetOf(last);
    for (let column = 0; column < WIDTH; column += 1) this.#moving[column] = page[from + column]!;
    this.#rows.removeLast();
    if (last === 0) return;
    let row = 0;
    for (;;) {
      const child = this.#firstChild(row, last);
      if (child === undefined) break;
      if (!this.#isBefore(this.#rows.pageOf(child), this.#rows.offsetOf(child), this.#moving, 0)) break;
      this.#copy(child, row);
      row = child;
    }
    this.#settle(row);
  }

  /** The child of a row that comes before the other children. */
  #firstChild(row: number, length: number): number | undefined {
    const from = row * CHILDREN + 1;
    if (from >= length) return undefined;
    let first = from;
    let page = this.#rows.pageOf(first);
    let offset = this.#rows.offsetOf(first);
    for (let child = from + 1; child < Math.min(from + CHILDREN, length); child += 1) {
      const childPage = this.#rows.pageOf(child);
      const childOffset = this.#rows.offsetOf(child);
      if (!this.#isBefore(childPage, childOffset, page, offset)) continue;
      first = child;
      page = childPage;
      offset = childOffset;
    }
    return first;
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

  #copy(from: number, to: number): void {
    const source = this.#rows.pageOf(from);
    const target = this.#rows.pageOf(to);
    const atSource = this.#rows.offsetOf(from);
    const atTarget = this.#rows.offsetOf(to);
    for (let column = 0; column < WIDTH; column += 1) target[atTarget + column] = source[atSource + column]!;
  }

  /** Puts the row that is on its way down. */
  #settle(row: number): void {
    const page = this.#rows.pageOf(row);
    const to = this.#rows.offsetOf(row);
    for (let column = 0; column < WIDTH; column += 1) page[to + column] = this.#moving[column]!;
  }
}
