import { invariant } from '../payout/invariant.ts';
import { CREATED_AT_MS, DUE_MS, DueHeap, ID_KEY, NO_KEY, NO_RUN, POSITION, STEP_WIDTH } from './due-heap.ts';

/** The next step of a payout. */
export interface Due {
  readonly dueMs: number;
  readonly position: number;
}

/** Steps in their order. */
interface Run {
  steps: Float64Array;
  /** Where the first that is left begins. */
  at: number;
}

/** Few enough that all that a step moves among is close at hand for the processor. */
const MOST_NEW = 1024;
/** How many steps are set out at once: what is kept of so many payouts stays close at hand too, once it was looked at. */
const MOST_SET_OUT = 64;

/** The step on its way into a queue. */
const PUSHED = new Float64Array(STEP_WIDTH);

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
 * id, which does not depend on the order of arrival. What is new is in a small heap. When that is full it is put in order, as a
 * run, and another heap has the first of each run: a single heap of a million would wait for memory at each of its levels.
 */
export class DueQueue {
  readonly #new: DueHeap;
  readonly #firsts: DueHeap;
  readonly #runs = new Map<number, Run>();
  #runsMade = 0;
  /** The first of those that are set out, and all of them. */
  readonly #front: DueHeap;
  #setOut: Run | undefined;
  readonly #mostNew: number;

  /**
   * @param idAt the id of the payout at a position
   * @param mostNew how many steps are in no run
   */
  constructor(idAt: (position: number) => string, mostNew = MOST_NEW) {
    this.#mostNew = mostNew;
    this.#new = new DueHeap(idAt);
    this.#firsts = new DueHeap(idAt);
    this.#front = new DueHeap(idAt);
  }

  /** Whether steps are set out that were not taken yet. */
  get isSetOut(): boolean {
    return this.#front.length > 0;
  }

  push(dueMs: number, createdAtMs: number, txnId: string, position: number): void {
    if (this.#new.length === this.#mostNew) this.#makeRun();
    PUSHED[DUE_MS] = dueMs;
    PUSHED[CREATED_AT_MS] = createdAtMs;
    PUSHED[ID_KEY] = keyOf(txnId);
    PUSHED[POSITION] = position;
    this.#new.push(PUSHED, 0, NO_RUN);
  }

  peek(): Due | undefined {
    const heap = this.#heapOfFirst();
    return heap.length === 0 ? undefined : { dueMs: heap.first(DUE_MS), position: heap.first(POSITION) };
  }

  /** Takes the first away. */
  pop(): void {
    const heap = this.#heapOfFirst();
    if (heap === this.#new) return heap.pop();
    const nth = heap.firstRun;
    const run = nth === NO_RUN ? this.#setOut! : this.#runs.get(nth)!;
    run.at += STEP_WIDTH;
    if (run.at < run.steps.length) {
      heap.replaceFirst(run.steps, run.at);
      if (run.at * 2 >= run.steps.length && nth !== NO_RUN) shorten(run);
    } else {
      this.#runs.delete(nth);
      heap.pop();
    }
  }

  /** Sets out the next steps that are due by a time. @returns their positions */
  setOut(untilMs: number): readonly number[] {
    invariant(!this.isSetOut, 'what is set out is taken first');
    const positions: number[] = [];
    const steps = new Float64Array(MOST_SET_OUT * STEP_WIDTH);
    while (positions.length < MOST_SET_OUT) {
      const heap = this.#heapOfFirst();
      if (heap.length === 0 || heap.first(DUE_MS) > untilMs) break;
      heap.writeFirst(steps, positions.length * STEP_WIDTH);
      positions.push(heap.first(POSITION));
      this.pop();
    }
    if (positions.length > 0) {
      this.#setOut = { steps: steps.slice(0, positions.length * STEP_WIDTH), at: 0 };
      this.#front.push(steps, 0, NO_RUN);
    }
    return positions;
  }

  #heapOfFirst(): DueHeap {
    const heap = this.#new.isBefore(this.#firsts) ? this.#new : this.#firsts;
    return heap.isBefore(this.#front) ? heap : this.#front;
  }

  #makeRun(): void {
    const steps = this.#new.popAll();
    const run = this.#runsMade;
    this.#runsMade += 1;
    this.#runs.set(run, { steps, at: 0 });
    this.#firsts.push(steps, 0, run);
  }
}

/** Lets go of what was taken: some steps may be days away when all others of their run are past. */
function shorten(run: Run): void {
  run.steps = run.steps.slice(run.at);
  run.at = 0;
}
