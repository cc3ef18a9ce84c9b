import { STATES } from '../contract/payout.ts';
import type { Step } from '../payout/payout.ts';
import { PARTS } from './joined-texts.ts';
import { noShortTexts } from './short-texts.ts';

/** How many transactions a page has, and which number of each stands where in its row. */
export const PAGE = {
  /** Two to the power of `BITS`. */
  ROWS: 4096,
  BITS: 12,
  AMOUNT_PAISE: 0,
  CREATED_AT_MS: 1,
  /** NaN while there is none. */
  COMPLETED_AT_MS: 2,
  UTR_SERIAL: 3,
  READS: 4,
  NTH: 5,
  /** Its timeline: the first of its steps in the page, how many they are, and how many have happened. */
  FIRST_STEP: 6,
  STEPS: 7,
  STEPS_DONE: 8,
  STATE: 9,
  MODE: 10,
  PLANNED_BY: 11,
  WIDTH: 12,
} as const;

const FIRST_ROWS = 4;

// a step as numbers; NaN for null
const DUE_MS = 0;
const POLLS = 1;
const FLAGS = 2;
const STEP_WIDTH = 3;
const HAS_UTR = 8; // above what says the state
const IS_FORCED = 16;

/** Some transactions: their numbers, their texts, and the UTRs that they have. */
export interface Page {
  rows: Float64Array;
  steps: Float64Array;
  stepsUsed: number;
  readonly texts: string[];
  /** Where the parts of each text end. */
  ends: Uint16Array;
  utrs: Buffer;
  /** Whether somebody has a picture of it, so that no row may be changed in place. */
  isInPicture: boolean;
}

/** @param isSmall for the first of a book: most have few transactions */
export function emptyPage(isSmall: boolean): Page {
  const rows = isSmall ? FIRST_ROWS : PAGE.ROWS;
  return {
    rows: new Float64Array(rows * PAGE.WIDTH),
    steps: new Float64Array(rows * STEP_WIDTH),
    stepsUsed: 0,
    texts: [],
    ends: new Uint16Array(rows * PARTS),
    utrs: noShortTexts(rows),
    isInPicture: false,
  };
}

/** The page as it is now. What is added to it, the picture does not show; for what changes, it needs rows of its own. */
export function pictureOf(page: Page): Page {
  page.isInPicture = true;
  return { ...page };
}

/** Makes room for twice as many. */
export function enlarge(page: Page): void {
  const { rows, ends, utrs } = page;
  page.utrs = Buffer.concat([utrs, Buffer.alloc(utrs.length)]);
  page.rows = new Float64Array(rows.length * 2);
  page.rows.set(rows);
  page.ends = new Uint16Array(ends.length * 2);
  page.ends.set(ends);
}

/** Leaves its rows to the picture, and goes on with others. Texts are never changed: they may stay in both. */
export function withOwnRows(page: Page): void {
  page.rows = page.rows.slice();
  page.steps = page.steps.slice();
  page.utrs = Buffer.from(page.utrs);
  page.isInPicture = false;
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** When a step is due; NaN for one that waits for something else. */
export const dueMsIn = ({ steps }: Page, step: number): number => steps[step * STEP_WIDTH + DUE_MS]!;

export function stepIn({ steps }: Page, step: number): Step {
  const offset = step * STEP_WIDTH;
  const flags = steps[offset + FLAGS]!;
  return {
    to: STATES[(flags & (HAS_UTR - 1)) - 1] ?? null,
    polls: orNull(steps[offset + POLLS]!),
    dueMs: orNull(steps[offset + DUE_MS]!),
    utr: (flags & HAS_UTR) !== 0,
    forced: (flags & IS_FORCED) !== 0,
  };
}

/** Writes down when a step happened. */
export function stamp({ steps }: Page, step: number, atMs: number): void {
  steps[step * STEP_WIDTH + DUE_MS] = atMs;
}

/**
 * Writes a timeline: in the place of the one before it, if it is no longer, or else behind all others.
 *
 * @returns the first of its steps
 */
export function writeSteps(
  page: Page,
  timeline: readonly Step[],
  before: number,
  stepsBefore: number,
): number {
  const isPlace = timeline.length <= stepsBefore;
  const first = isPlace ? before : page.stepsUsed;
  if (!isPlace) page.stepsUsed += timeline.length;
  if (page.stepsUsed * STEP_WIDTH > page.steps.length) {
    const larger = new Float64Array(Math.max(page.steps.length * 2, page.stepsUsed * STEP_WIDTH));
    larger.set(page.steps);
    page.steps = larger;
  }
  for (const [nth, { dueMs, polls, to, utr, forced }] of timeline.entries()) {
    const offset = (first + nth) * STEP_WIDTH;
    page.steps[offset + DUE_MS] = dueMs ?? Number.NaN;
    page.steps[offset + POLLS] = polls ?? Number.NaN;
    const state = to === null ? 0 : STATES.indexOf(to) + 1;
    page.steps[offset + FLAGS] = state | (utr ? HAS_UTR : 0) | (forced ? IS_FORCED : 0);
  }
  return first;
}
