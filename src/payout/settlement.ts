import type { ClockStart, PayoutStep, PlannedStep } from '../contract/snapshot.ts';
import type { Calendar, SETTLEMENTS } from '../contract/scenario-document.ts';
import type { State, TransferMode } from '../contract/service.ts';
import { nextTime } from './calendar.ts';
import { invariant } from './money.ts';
import { timelineFault } from './timeline.ts';

export type SettlementPreset = (typeof SETTLEMENTS)[number];

/** By default it runs in real time, or is frozen at the time that is given. */
export const startAt = (atMs: number | null, speed = atMs === null ? 1 : 0): ClockStart => ({ atMs, speed });

/** A number from 0 to 1, exclusive: the same for the same request and purpose, whatever was drawn before. */
export type Draw = (purpose: string) => number;

/** How payouts settle: by a preset, or by a timeline for each mode. */
export type Settlement =
  | SettlementPreset
  | Readonly<Record<TransferMode, SettlementPreset | readonly PlannedStep[]>>;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NEFT_BATCH = 30 * MINUTE; // IST is UTC+05:30, so its half-hours are those of UTC

const goTo = (to: State, afterMs: number): readonly PlannedStep[] => [{ when: { afterMs }, to, utr: null }];
const between = (low: number, high: number, draw: number): number =>
  low + Math.floor(draw * (high - low + 1));

const DEMO: Record<TransferMode, readonly PlannedStep[]> = {
  IMPS: goTo('SUCCESS', 2 * SECOND),
  UPI: goTo('SUCCESS', 2 * SECOND),
  RTGS: goTo('SUCCESS', 10 * SECOND),
  NEFT: goTo('SUCCESS', 20 * SECOND),
};

/** IMPS and UPI: seconds; 1.5 % are "deemed", and end one to three days later, either way. */
function realisticInstantRail(draw: Draw): readonly PlannedStep[] {
  if (draw('deemed') >= 0.015) return goTo('SUCCESS', between(2 * SECOND, 10 * SECOND, draw('delay')));
  return goTo(draw('outcome') < 0.5 ? 'SUCCESS' : 'FAILED', between(DAY, 3 * DAY, draw('delay')));
}

/** RTGS: within half an hour. NEFT: with the next half-hourly batch, and up to two hours after it. */
function realistic(mode: TransferMode, createdAtMs: number, draw: Draw): readonly PlannedStep[] {
  switch (mode) {
    case 'IMPS':
    case 'UPI':
      return realisticInstantRail(draw);
    case 'RTGS':
      return goTo('SUCCESS', between(5 * MINUTE, 30 * MINUTE, draw('delay')));
    case 'NEFT':
      return goTo('SUCCESS', NEFT_BATCH - (createdAtMs % NEFT_BATCH) + between(0, 2 * HOUR, draw('delay')));
  }
}

const INSTANT = goTo('SUCCESS', 0);
const MANUAL: readonly PlannedStep[] = [];

/** Our estimates, from what is known about the rails (docs/fidelity.md). */
const PRESETS: Record<SettlementPreset, typeof realistic> = {
  demo: (mode) => DEMO[mode],
  instant: () => INSTANT,
  realistic,
  manual: () => MANUAL,
};

export function plannedSteps(
  settlement: Settlement,
  mode: TransferMode,
  createdAtMs: number,
  draw: Draw,
): readonly PlannedStep[] {
  const ofMode = typeof settlement === 'object' ? settlement[mode] : settlement;
  return typeof ofMode === 'string' ? PRESETS[ofMode](mode, createdAtMs, draw) : ofMode;
}

/** What decides the timeline of a payout of this mode: a preset, or the scenario's own. */
export function settlementName(settlement: Settlement, mode: TransferMode, scenarioName: string): string {
  const ofMode = typeof settlement === 'object' ? settlement[mode] : settlement;
  return typeof ofMode === 'string' ? ofMode : scenarioName;
}

/** The timeline of a payout. @param utrOfFailed whether FAILED has a UTR, as SUCCESS and REVERSED always have */
export function timelineOf(
  steps: readonly PlannedStep[],
  createdAtMs: number,
  utrOfFailed: boolean,
  calendar: Calendar,
): readonly PayoutStep[] {
  const shared = utrOfFailed ? SHARED.withUtr : SHARED.withoutUtr;
  const known = shared.get(steps);
  if (known !== undefined) return known;
  let earliestMs = 0;
  const timeline = steps.map(({ when, to, utr }): PayoutStep => {
    const polls = 'polls' in when ? when.polls : null;
    if ('afterMs' in when) earliestMs = Math.max(earliestMs, when.afterMs);
    if ('atMinute' in when) earliestMs = nextTime(createdAtMs + earliestMs, when, calendar) - createdAtMs;
    return {
      afterMs: polls === null ? earliestMs : null,
      polls,
      to,
      utr: utr ?? (to === 'FAILED' ? utrOfFailed : to !== null),
      forced: false,
    };
  });
  const fault = timelineFault(timeline);
  invariant(fault === null, fault!);
  if (!steps.some(({ when }) => 'atMinute' in when)) shared.set(steps, timeline);
  return timeline;
}

/** Timelines that do not depend on the time of day, by the steps that they were made from: payouts share them. */
const SHARED = {
  withUtr: new WeakMap<readonly PlannedStep[], readonly PayoutStep[]>(),
  withoutUtr: new WeakMap<readonly PlannedStep[], readonly PayoutStep[]>(),
};
