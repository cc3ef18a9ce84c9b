import { STATES, TRANSFER_MODES, type State } from '../contract/payout.ts';
import { invariant } from '../payout/invariant.ts';
import type { Hidden, Progress, Step, Transaction } from '../payout/payout.ts';
import type { Sequence } from './ledger.ts';
import { joined, part, PART, PARTS } from './joined-texts.ts';
import { shortText, textLength, writeShortText } from './short-texts.ts';
import {
  dueMsIn,
  emptyPage,
  enlarge,
  PAGE,
  pictureOf,
  stamp,
  stepIn,
  withOwnRows,
  writeSteps,
  type Page,
} from './transaction-page.ts';

const { ROWS, BITS, WIDTH } = PAGE;
const { AMOUNT_PAISE, CREATED_AT_MS, COMPLETED_AT_MS, UTR_SERIAL, READS, NTH } = PAGE;
const { FIRST_STEP, STEPS, STEPS_DONE, STATE, MODE, PLANNED_BY } = PAGE;
const MASK = ROWS - 1;

const rowOf = (position: number): number => (position & MASK) * WIDTH;
const endsOf = (position: number): number => (position & MASK) * PARTS;

function writeTimeline(page: Page, row: number, timeline: readonly Step[]): void {
  const { rows } = page;
  rows[row + FIRST_STEP] = writeSteps(page, timeline, rows[row + FIRST_STEP]!, rows[row + STEPS]!);
  rows[row + STEPS] = timeline.length;
}

function writeProgress({ rows }: Page, row: number, { stepsDone, state, completedAtMs }: Progress): void {
  rows[row + STEPS_DONE] = stepsDone;
  rows[row + STATE] = STATES.indexOf(state);
  rows[row + COMPLETED_AT_MS] = completedAtMs ?? Number.NaN;
}

/**
 * The transactions of a book, by their position, in the order in which they were made. Each is a row of numbers and one text, not a
 * tree of objects: a fifth of the memory, and a collection of the heap finds next to nothing to look at.
 */
export class TransactionPages implements Sequence<Transaction> {
  #pages: Page[] = [];
  #length = 0;
  /** What decided timelines: few names, many transactions. */
  #planners: string[] = [];
  readonly #plannerNth = new Map<string, number>();
  /** By position: few are hidden, and none changes how. */
  #hidden = new Map<number, Hidden>();
  /** By position: UTRs of snapshots that somebody wrote himself. */
  #longUtrs = new Map<number, string>();

  get length(): number {
    return this.#length;
  }

  /** @returns its position */
  add(transaction: Transaction): number {
    const position = this.#length;
    const page = this.#pageToAddTo();
    const { rows, texts } = page;
    const row = rowOf(position);
    rows[row + AMOUNT_PAISE] = transaction.amountPaise;
    rows[row + CREATED_AT_MS] = transaction.createdAtMs;
    rows[row + UTR_SERIAL] = transaction.utrSerial;
    rows[row + READS] = transaction.reads;
    rows[row + NTH] = transaction.nth;
    rows[row + MODE] = TRANSFER_MODES.indexOf(transaction.transferMode);
    rows[row + PLANNED_BY] = this.#nthPlanner(transaction.plannedBy);
    texts.push(joined(transaction, page.ends, endsOf(position)));
    this.#writeUtr(page, position, transaction.utr);
    if (transaction.hidden !== null) this.#hidden.set(position, transaction.hidden);
    writeTimeline(page, row, transaction.timeline);
    writeProgress(page, row, transaction);
    this.#length += 1;
    return position;
  }

  /** With its keys in the order in which snapshots have always had them. */
  at(position: number): Transaction {
    const page = this.#pageOf(position);
    const { rows } = page;
    const row = rowOf(position);
    const text = page.texts[position & MASK]!;
    const ends = endsOf(position);
    const { stepsDone, state, utr, completedAtMs } = this.progressAt(position);
    return {
      txnId: part(text, page.ends, ends, PART.txnId),
      utrSerial: rows[row + UTR_SERIAL]!,
      clientRefId: part(text, page.ends, ends, PART.clientRefId),
      nth: rows[row + NTH]!,
      fingerprint: part(text, page.ends, ends, PART.fingerprint),
      amountPaise: rows[row + AMOUNT_PAISE]!,
      transferMode: TRANSFER_MODES[rows[row + MODE]!]!,
      beneficiaryName: part(text, page.ends, ends, PART.beneficiaryName),
      beneficiaryAccount: part(text, page.ends, ends, PART.beneficiaryAccount),
      beneficiaryIfsc: part(text, page.ends, ends, PART.beneficiaryIfsc),
      createdAtMs: rows[row + CREATED_AT_MS]!,
      plannedBy: this.#planners[rows[row + PLANNED_BY]!]!,
      timeline: this.timelineAt(position),
      hidden: this.#hidden.get(position) ?? null,
      stepsDone,
      reads: rows[row + READS]!,
      state,
      utr,
      completedAtMs,
    };
  }

  idAt(position: number): string {
    return this.#partAt(position, PART.txnId);
  }

  referenceAt(position: number): string {
    return this.#partAt(position, PART.clientRefId);
  }

  utrAt(position: number): string | null {
    const utr = shortText(this.#pageOf(position).utrs, position & MASK);
    return utr === undefined ? this.#longUtrs.get(position)! : utr;
  }

  stateAt(position: number): State {
    return STATES[this.#number(position, STATE)]!;
  }

  /** Which payout of its reference it is, from 1. */
  nthAt(position: number): number {
    return this.#number(position, NTH);
  }

  createdAtMsAt(position: number): number {
    return this.#number(position, CREATED_AT_MS);
  }

  amountPaiseAt(position: number): number {
    return this.#number(position, AMOUNT_PAISE);
  }

  /** What the UTR of a payout is made of. */
  utrPartsAt(position: number): Pick<Transaction, 'transferMode' | 'utrSerial'> {
    return {
      transferMode: TRANSFER_MODES[this.#number(position, MODE)]!,
      utrSerial: this.#number(position, UTR_SERIAL),
    };
  }

  progressAt(position: number): Progress {
    const page = this.#pageOf(position);
    const { rows } = page;
    const row = rowOf(position);
    const completedAtMs = rows[row + COMPLETED_AT_MS]!;
    return {
      stepsDone: rows[row + STEPS_DONE]!,
      state: STATES[rows[row + STATE]!]!,
      utr: this.utrAt(position),
      completedAtMs: Number.isNaN(completedAtMs) ? null : completedAtMs,
    };
  }

  timelineAt(position: number): readonly Step[] {
    const page = this.#pageOf(position);
    const row = rowOf(position);
    const first = page.rows[row + FIRST_STEP]!;
    return Array.from({ length: page.rows[row + STEPS]! }, (_, nth) => stepIn(page, first + nth));
  }

  /** The next step of a payout, or undefined when nothing is planned any more. */
  nextStepAt(position: number): Step | undefined {
    const page = this.#pageOf(position);
    const row = rowOf(position);
    const done = page.rows[row + STEPS_DONE]!;
    return done === page.rows[row + STEPS]! ? undefined : stepIn(page, page.rows[row + FIRST_STEP]! + done);
  }

  /** @param atMs when the last step that is done happened */
  setProgress(position: number, progress: Progress, atMs: number): void {
    const page = this.#pageToChange(position);
    const row = rowOf(position);
    this.#writeUtr(page, position, progress.utr);
    writeProgress(page, row, progress);
    stamp(page, page.rows[row + FIRST_STEP]! + progress.stepsDone - 1, atMs);
  }

  setTimeline(position: number, timeline: readonly Step[]): void {
    writeTimeline(this.#pageToChange(position), rowOf(position), timeline);
  }

  setReads(position: number, reads: number): void {
    this.#pageToChange(position).rows[rowOf(position) + READS] = reads;
  }

  /**
   * When the next step of a payout is due: its own time, and never before the step that it follows; null when none has a time.
   * It is asked so often that no step is made for it.
   */
  nextDueMsAt(position: number): number | null {
    const page = this.#pageOf(position);
    const row = rowOf(position);
    const done = page.rows[row + STEPS_DONE]!;
    if (done === page.rows[row + STEPS]!) return null;
    const next = page.rows[row + FIRST_STEP]! + done;
    const dueMs = dueMsIn(page, next);
    if (Number.isNaN(dueMs)) return null;
    return done === 0 ? dueMs : Math.max(dueMs, dueMsIn(page, next - 1));
  }

  /**
   * Looks at all that a step of each of some payouts will need, and does nothing else in between, so that a processor waits for
   * several of them at once, where step by step it would wait for one after another. Each has a timeline.
   *
   * @returns what it saw, added up: an engine may leave out what is looked at for nothing
   */
  look(positions: readonly number[]): number {
    let sum = 0;
    for (const position of positions) {
      const page = this.#pageOf(position);
      const { rows, texts, ends, utrs } = page;
      const row = rowOf(position);
      sum += rows[row + AMOUNT_PAISE]! + rows[row + STEPS_DONE]! + dueMsIn(page, rows[row + FIRST_STEP]!);
      sum += texts[position & MASK]!.length + ends[endsOf(position)]! + textLength(utrs, position & MASK);
    }
    return sum;
  }

  slice(from: number, to: number): readonly Transaction[] {
    const end = Math.min(to, this.#length);
    const transactions: Transaction[] = [];
    for (let position = from; position < end; position += 1) transactions.push(this.at(position));
    return transactions;
  }

  *[Symbol.iterator](): Generator<Transaction> {
    for (let position = 0; position < this.#length; position += 1) yield this.at(position);
  }

  /** The transactions as they are now, whatever becomes of them: a page is copied when one of its rows changes. */
  picture(): TransactionPages {
    const picture = new TransactionPages();
    picture.#planners = this.#planners;
    picture.#hidden = this.#hidden;
    picture.#longUtrs = this.#longUtrs;
    picture.#pages = this.#pages.map(pictureOf);
    picture.#length = this.#length;
    return picture;
  }

  #writeUtr({ utrs }: Page, position: number, utr: string | null): void {
    if (!writeShortText(utrs, position & MASK, utr)) this.#longUtrs.set(position, utr!);
  }

  #nthPlanner(plannedBy: string): number {
    let nth = this.#plannerNth.get(plannedBy);
    if (nth === undefined) {
      nth = this.#planners.push(plannedBy) - 1;
      this.#plannerNth.set(plannedBy, nth);
    }
    return nth;
  }

  #pageOf(position: number): Page {
    return this.#pages[position >>> BITS]!;
  }

  #pageToAddTo(): Page {
    const nth = this.#length >>> BITS;
    let page = this.#pages[nth];
    if (page === undefined) {
      page = emptyPage(nth === 0);
      this.#pages.push(page);
    } else if (page.rows.length === (this.#length & MASK) * WIDTH) {
      enlarge(page);
    }
    return page;
  }

  #pageToChange(position: number): Page {
    const page = this.#pageOf(position);
    if (page.isInPicture) withOwnRows(page);
    return page;
  }

  #partAt(position: number, nth: number): string {
    const page = this.#pageOf(position);
    return part(page.texts[position & MASK]!, page.ends, endsOf(position), nth);
  }

  #number(position: number, column: number): number {
    const value = this.#pageOf(position).rows[rowOf(position) + column];
    invariant(value !== undefined, 'a payout is looked up where there is one');
    return value;
  }
}
