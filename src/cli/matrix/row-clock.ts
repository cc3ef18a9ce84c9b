import type { PlannedStep } from '../../contract/snapshot.ts';
import { instantMs } from '../../contract/times.ts';
import type { Match } from '../../contract/match.ts';
import { compileCondition } from '../../scenario/rule-compiler.ts';
import type { InitiateRequest } from '../../contract/service.ts';
import { plannedSteps, timelineOf } from '../../payout/settlement.ts';
import type { Scenario } from '../../scenario/scenario.ts';

/** The clock of a row: a program that ends within seconds meets what its scenario does at other hours, or days later. */

/** The last step of a payout comes so soon after it was made, in real time. */
const LAST_STEP_AFTER_S = 2;
const FASTEST = 86_400;
/** What is drawn for fewer than one payout in twenty is left out: the speed is for the others. */
const DRAWS = Array.from({ length: 19 }, (_, at) => (at + 1) / 20);
const TIMES_IN_MATCH: ReadonlySet<string> = new Set(['date', 'hours', 'weekday', 'working_day']);
const hasTimes = (match: Match): boolean => Object.keys(match).some((field) => TIMES_IN_MATCH.has(field));

const MIDNIGHT_MS = instantMs('2026-01-15T00:00')!;
/** Every run begins at 10:30, so that no result depends on the hour of the day. */
const START_MINUTE = 10 * 60 + 30;
/** What a condition of a scenario sees in a request at the beginning of a run. */
const REQUEST = { route: 'initiate', fields: {}, headers: {}, attempt: 1, payout: 1, ageMs: 0 } as const;

/** When a sandbox begins. A scenario for certain hours or days begins in them: otherwise nothing of it would be met. */
export function startMsOf({ outcomes, rules, calendar }: Scenario): number {
  const timed = [...outcomes, ...rules].find(({ match }) => hasTimes(match))?.match ?? {};
  const times: Match = Object.fromEntries(
    Object.entries(timed).filter(([field]) => TIMES_IN_MATCH.has(field)),
  );
  const isIn = compileCondition(times, undefined, () => undefined);
  const firstMs = MIDNIGHT_MS + (times.hours?.from ?? START_MINUTE) * 60_000;
  const days = Array.from({ length: 366 }, (_, day) => firstMs + day * 86_400_000);
  return days.find((nowMs) => isIn({ ...REQUEST, calendar, nowMs })) ?? firstMs;
}

const ownOf = <T extends { readonly id: string }>({ name }: Scenario, all: readonly T[]): readonly T[] =>
  all.filter(({ id }) => id.startsWith(`${name}/`));

/**
 * Whether requests depend on world time in other ways than by the steps of payouts. At another speed a client would meet a rate
 * limit less often, and a stale read or a window of time for less long.
 */
const hasWindows = (scenario: Scenario): boolean =>
  (scenario.hasOwnRateLimit && scenario.rateLimit !== 'off') ||
  ownOf(scenario, scenario.outcomes).some(({ notFound }) => notFound?.for !== undefined) ||
  ownOf(scenario, scenario.rules).some(
    ({ match, during, limit, effect: { staleMs, notFound } }) =>
      during !== undefined ||
      limit !== null ||
      staleMs !== null ||
      notFound?.for !== undefined ||
      hasTimes(match),
  );

/**
 * World seconds in a second of real time, from 1 to 86,400.
 *
 * @param payouts the bodies of the initiates of the baseline: the last step of any of these payouts decides
 * @param startMs world time at which the run begins
 */
export function speedOf(scenario: Scenario, payouts: readonly InitiateRequest[], startMs: number): number {
  if (hasWindows(scenario)) return 1;
  const { settlement, calendar } = scenario;
  const outcomes = ownOf(scenario, scenario.outcomes);
  const ofRules = ownOf(scenario, scenario.rules).map(({ effect }) => effect.timeline ?? []);
  const planned = payouts.flatMap((fields) => {
    const facts = { ...REQUEST, fields: { ...fields }, calendar, nowMs: startMs };
    const outcome = outcomes.find(({ matches }) => matches(facts));
    return DRAWS.map((drawn): readonly PlannedStep[] => {
      const draw = () => drawn;
      return outcome?.steps?.(draw) ?? plannedSteps(settlement, fields.transfer_mode, startMs, draw);
    });
  });
  const timelines = [...ofRules, ...planned].map((steps) => timelineOf(steps, startMs, false, calendar));
  const lastMs = timelines.flat().reduce((most, { afterMs }) => Math.max(most, afterMs ?? 0), 0);
  return Math.min(FASTEST, Math.max(1, lastMs / 1000 / LAST_STEP_AFTER_S));
}
