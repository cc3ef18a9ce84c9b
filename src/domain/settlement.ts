import type { State, TransferMode } from '../contract/payout.ts';
import type { Step } from './transaction.ts';

export const SETTLEMENTS = ['demo', 'instant', 'realistic', 'manual'] as const;
/** The name of a preset that says how payouts go on after initiate. */
export type Settlement = (typeof SETTLEMENTS)[number];

/** A number from 0 to 1, exclusive: the same for the same payout and purpose, whatever came before. */
export type Draw = (purpose: string) => number;

interface Plan {
  readonly to: State;
  readonly afterMs: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NEFT_BATCH = 30 * MINUTE; // IST is UTC+05:30, so its half-hours are those of UTC

const success = (afterMs: number): readonly Plan[] => [{ to: 'SUCCESS', afterMs }];
const between = (low: number, high: number, draw: number): number =>
  low + Math.floor(draw * (high - low + 1));

const DEMO: Record<TransferMode, readonly Plan[]> = {
  IMPS: success(2 * SECOND),
  UPI: success(2 * SECOND),
  RTGS: success(10 * SECOND),
  NEFT: success(20 * SECOND),
};

/** IMPS and UPI: seconds; 1.5 % are "deemed", and end one to three days later, either way. */
function realisticInstantRail(draw: Draw): readonly Plan[] {
  if (draw('deemed') >= 0.015) return success(between(2 * SECOND, 10 * SECOND, draw('delay')));
  return [
    { to: draw('outcome') < 0.5 ? 'SUCCESS' : 'FAILED', afterMs: between(DAY, 3 * DAY, draw('delay')) },
  ];
}

/** RTGS: within half an hour. NEFT: with the next half-hourly batch, and up to two hours after it. */
function realistic(mode: TransferMode, createdAtMs: number, draw: Draw): readonly Plan[] {
  switch (mode) {
    case 'IMPS':
    case 'UPI':
      return realisticInstantRail(draw);
    case 'RTGS':
      return success(between(5 * MINUTE, 30 * MINUTE, draw('delay')));
    case 'NEFT':
      return success(NEFT_BATCH - (createdAtMs % NEFT_BATCH) + between(0, 2 * HOUR, draw('delay')));
  }
}

function plans(settlement: Settlement, mode: TransferMode, createdAtMs: number, draw: Draw): readonly Plan[] {
  switch (settlement) {
    case 'demo':
      return DEMO[mode];
    case 'instant':
      return success(0);
    case 'realistic':
      return realistic(mode, createdAtMs, draw);
    case 'manual':
      return [];
  }
}

/**
 * The timeline of a payout, decided once at initiate. The presets are our judgement, drawn from what is known of
 * the rails (docs/fidelity.md).
 *
 * @param createdAtMs world time of the initiate, ms since the epoch
 */
export const planTimeline = (
  settlement: Settlement,
  mode: TransferMode,
  createdAtMs: number,
  draw: Draw,
): readonly Step[] =>
  plans(settlement, mode, createdAtMs, draw).map(({ to, afterMs }) => ({ to, dueMs: createdAtMs + afterMs }));
