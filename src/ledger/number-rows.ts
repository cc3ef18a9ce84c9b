/** How many rows a page has, but for the first, which begins small: most worlds stay small. */
const PAGE_BITS = 12;
const ROWS_A_PAGE = 2 ** PAGE_BITS;
const ROW_MASK = ROWS_A_PAGE - 1;
const FIRST_ROWS = 8;

/**
 * A list of rows of numbers, all of the same width, that is only added to. It lies outside the heap, so that a collection need not
 * look at it, and in pages, so that growing never copies much at once.
 */
export class NumberRows {
  readonly #width: number;
  readonly #pages: Float64Array[] = [];
  #length = 0;

  constructor(width: number) {
    this.#width = width;
  }

  get length(): number {
    return this.#length;
  }

  /** The page that a row is in. */
  pageOf(row: number): Float64Array {
    return this.#pages[row >>> PAGE_BITS]!;
  }

  /** Where a row begins in its page. */
  offsetOf(row: number): number {
    return (row & ROW_MASK) * this.#width;
  }

  /** Makes room for one more row. @returns which it is */
  add(): number {
    const row = this.#length;
    const nth = row >>> PAGE_BITS;
    const page = this.#pages[nth];
    if (page === undefined) {
      this.#pages.push(new Float64Array((nth === 0 ? FIRST_ROWS : ROWS_A_PAGE) * this.#width));
    } else if (this.offsetOf(row) === page.length) {
      const larger = new Float64Array(page.length * 2);
      larger.set(page);
      this.#pages[nth] = larger;
    }
    this.#length += 1;
    return row;
  }

  /** The rows that there are now, whatever is added. */
  picture(): NumberRows {
    const picture = new NumberRows(this.#width);
    picture.#pages.push(...this.#pages);
    picture.#length = this.#length;
    return picture;
  }
}
