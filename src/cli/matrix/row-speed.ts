import type { InitiateRequest } from '../../contract/service.ts';
import { plannedSteps, timelineOf, type PlannedStep } from '../../payout/settlement.ts';
import type { Scenario } from '../../scenario/scenario.ts';

/** How fast the clock of a row runs, so that a program that ends within seconds meets what its scenario does days later. */

/** The last step of a payout comes so soon after it was made, in real time. */
const LAST_STEP_AFTER_S = 2;
const FASTEST = 86_400;
/** What is drawn for fewer than one payout in twenty is left out: the speed is for the others. */
const DRAWS = Array.from({ length: 19 }, (_, at) => (at + 1) / 20);
const TIMES_IN_MATCH: ReadonlySet<string> = new Set(['date', 'hours', 'weekday', 'working_day']);

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
      Object.keys(match).some((field) => TIMES_IN_MATCH.has(field)),
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
    const request = { route: 'initiate', fields: { ...fields }, headers: {}, attempt: 1, payout: 1 } as const;
    const outcome = outcomes.find(({ matches }) =>
      matches({ ...request, calendar, nowMs: startMs, ageMs: 0 }),
    );
    return DRAWS.map((drawn): readonly PlannedStep[] => {
      const draw = () => drawn;
      return outcome?.steps?.(draw) ?? plannedSteps(settlement, fields.transfer_mode, startMs, draw);
    });
  });
  const dueMs = [...ofRules, ...planned].flatMap((steps) =>
    timelineOf(steps, startMs, false, calendar).map(({ afterMs }) => afterMs ?? 0),
  );
  const lastMs = dueMs.reduce((most, afterMs) => Math.max(most, afterMs), 0);
  return Math.min(FASTEST, Math.max(1, lastMs / 1000 / LAST_STEP_AFTER_S));
}
