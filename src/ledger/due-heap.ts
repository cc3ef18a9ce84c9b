/** A step in a queue, as numbers: when it is due, when its payout was made, what of its id a number can say, and where it stands. */
export const DUE_MS = 0;
export const CREATED_AT_MS = 1;
export const ID_KEY = 2;
export const POSITION = 3;
export const STEP_WIDTH = 4;
/** Where the step is from. */
const RUN = 4;
const WIDTH = 5;

/** The run of a step that is in none. */
export const NO_RUN = -1;

/** The key of an id that no number stands for. */
export const NO_KEY = -1;

const CHILDREN_BITS = 2;
const CHILDREN = 2 ** CHILDREN_BITS;
/** The row that is on its way to its place. */
const MOVING = 0;
const FIRST = 1;
const FIRST_ROWS = 8;
/** What a heap has until something is added: most stay empty. */
const NO_ROWS = new Float64Array(0);

/** A heap of steps, the first one first, in which each has four children. */
export class DueHeap {
  #rows = NO_ROWS;
  #end = FIRST;
  /** Whether the steps came in their order, and none has gone. */
  #isSorted = true;
  readonly #idAt: (position: number) => string;

  /** @param idAt the id of the payout at a position: asked for where numbers do not say which of two steps is first */
  constructor(idAt: (position: number) => string) {
    this.#idAt = idAt;
  }

  get length(): number {
    return this.#end - FIRST;
  }

  /** A number of the first step. There must be one. */
  first(column: number): number {
    return this.#rows[FIRST * WIDTH + column]!;
  }

  get firstRun(): number {
    return this.first(RUN);
  }

  /** Whether the first step here is before the first one there. */
  isBefore(other: DueHeap): boolean {
    if (other.length === 0) return true;
    return this.length > 0 && this.#isBefore(FIRST, other, FIRST);
  }

  /**
   * Adds a step.
   *
   * @param steps rows of `STEP_WIDTH` numbers
   * @param at where the row of this one begins
   */
  push(steps: Float64Array, at: number, run: number): void {
    if (this.#end * WIDTH >= this.#rows.length) {
      const larger = new Float64Array(Math.max(FIRST_ROWS * WIDTH, this.#rows.length * 2));
      larger.set(this.#rows);
      this.#rows = larger;
    }
    this.#move(steps, at, run);
    let row = this.#end;
    this.#isSorted = row === FIRST || (this.#isSorted && !this.#isBefore(MOVING, this, row - 1));
    this.#end += 1;
    while (row > FIRST) {
      const parent = ((row - FIRST - 1) >>> CHILDREN_BITS) + FIRST;
      if (!this.#isBefore(MOVING, this, parent)) break;
      this.#copy(parent, row);
      row = parent;
    }
    this.#copy(MOVING, row);
  }

  /** Takes the first away. */
  pop(): void {
    this.#end -= 1;
    this.#isSorted = false;
    this.#copy(this.#end, MOVING);
    this.#sink();
  }

  /** Takes all away. @returns their rows, in order */
  popAll(): Float64Array {
    const { length } = this;
    const steps = new Float64Array(length * STEP_WIDTH);
    for (let nth = 0; nth < length; nth += 1) {
      this.#write(this.#isSorted ? FIRST + nth : FIRST, steps, nth * STEP_WIDTH);
      if (!this.#isSorted) this.pop();
    }
    this.#end = FIRST;
    return steps;
  }

  /** Puts another step of the same run in the place of the first. */
  replaceFirst(steps: Float64Array, at: number): void {
    this.#isSorted = false;
    this.#move(steps, at, this.firstRun);
    this.#sink();
  }

  /** Writes the first step down elsewhere. */
  writeFirst(steps: Float64Array, at: number): void {
    this.#write(FIRST, steps, at);
  }

  /** Finds the place of the step that is on its way, from the first on. */
  #sink(): void {
    const end = this.#end;
    let row = FIRST;
    for (;;) {
      const from = (row - FIRST) * CHILDREN + FIRST + 1;
      if (from >= end) break;
      const to = Math.min(from + CHILDREN, end);
      let first = from;
      for (let child = from + 1; child < to; child += 1) {
        if (this.#isBefore(child, this, first)) first = child;
      }
      if (!this.#isBefore(first, this, MOVING)) break;
      this.#copy(first, row);
      row = first;
    }
    this.#copy(MOVING, row);
  }

  #isBefore(row: number, other: DueHeap, otherRow: number): boolean {
    const a = this.#rows;
    const b = other.#rows;
    const atA = row * WIDTH;
    const atB = otherRow * WIDTH;
    const byDue = a[atA + DUE_MS]! - b[atB + DUE_MS]!;
    if (byDue !== 0) return byDue < 0;
    const byCreation = a[atA + CREATED_AT_MS]! - b[atB + CREATED_AT_MS]!;
    if (byCreation !== 0) return byCreation < 0;
    const keyA = a[atA + ID_KEY]!;
    const keyB = b[atB + ID_KEY]!;
    if (keyA !== keyB && keyA !== NO_KEY && keyB !== NO_KEY) return keyA < keyB;
    return this.#idAt(a[atA + POSITION]!) < this.#idAt(b[atB + POSITION]!);
  }

  #move(steps: Float64Array, at: number, run: number): void {
    const rows = this.#rows;
    for (let column = 0; column < STEP_WIDTH; column += 1) rows[column] = steps[at + column]!;
    rows[RUN] = run;
  }

  #write(row: number, steps: Float64Array, at: number): void {
    for (let column = 0; column < STEP_WIDTH; column += 1) {
      steps[at + column] = this.#rows[row * WIDTH + column]!;
    }
  }

  #copy(from: number, to: number): void {
    const rows = this.#rows;
    for (let column = 0; column < WIDTH; column += 1)
      rows[to * WIDTH + column] = rows[from * WIDTH + column]!;
  }
}
