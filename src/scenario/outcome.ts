import type { During, Match } from '../contract/match.ts';
import type { NotFound, OutcomeDocument } from '../contract/scenario-document.ts';
import type { Draw, PlannedStep } from '../payout/settlement.ts';
import { plannedTimeline, reportIn, type Report } from './planned-timeline.ts';
import { compileCondition } from './rule-compiler.ts';
import type { RequestFacts } from './rule.ts';

interface WeightedTimeline {
  readonly weight: number;
  readonly steps: readonly PlannedStep[];
}

/** The future of a payout: chosen once, for the initiate that makes it. Rules decide what the client sees of it. */
export interface Outcome {
  /** `scenario/outcome` */
  readonly id: string;
  readonly document: unknown;
  readonly match: Match;
  readonly during: During | undefined;
  readonly matches: (facts: RequestFacts) => boolean;
  /** Whether it has steps of its own, or changes when the UTR is set. */
  readonly hasSteps: boolean;
  /** The steps of the payout. @param settled the steps of the settlement, for an outcome without a timeline */
  readonly steps: (settled: () => readonly PlannedStep[], draw: Draw) => readonly PlannedStep[];
  readonly notFound: NotFound | null;
}

/** One of the timelines, each as often as its weight says. */
function drawn(timelines: readonly WeightedTimeline[], draw: number): WeightedTimeline {
  let left = draw * timelines.reduce((sum, { weight }) => sum + weight, 0);
  const chosen = timelines.find(({ weight }) => (left -= weight) < 0);
  return chosen ?? timelines.at(-1)!; // the last one, when the sum of the weights was rounded up
}

/** The steps with the UTR as the outcome orders it, instead of where they set it. A payout that has failed gets none. */
function withUtr(steps: readonly PlannedStep[], utr: 'none' | number): readonly PlannedStep[] {
  const silent = steps.filter(({ to }) => to !== null).map(({ to, when }) => ({ to, when, utr: false }));
  if (utr === 'none') return silent;
  const later = silent.findIndex(({ when }) => !('afterMs' in when) || when.afterMs > utr);
  const place = later < 0 ? silent.length : later;
  if (silent.slice(0, place).some(({ to }) => to === 'FAILED')) return silent;
  return silent.toSpliced(place, 0, { to: null, utr: true, when: { afterMs: utr } });
}

export const outcomeName = ({ name }: OutcomeDocument, index: number): string =>
  name ?? `outcome-${index + 1}`;

/** Compiles an outcome. @param source the outcome as written @param id `scenario/outcome` */
export function compileOutcome(
  document: OutcomeDocument,
  source: unknown,
  id: string,
  report: Report,
): Outcome {
  const { match = {}, during, timeline, weighted, utr, not_found: notFound = null } = document;
  const matches = compileCondition({ ...match, route: 'initiate' }, during, reportIn(report, 'match'));
  const own = timeline !== undefined ? [{ weight: 1, timeline }] : (weighted ?? []);
  const timelines = own.map(({ weight, timeline: steps }, index): WeightedTimeline => {
    const place = timeline !== undefined ? ['timeline'] : ['weighted', index, 'timeline'];
    if (utr !== undefined && steps.some((step) => step.utr !== undefined)) {
      report(['utr'], 'must not be given where a step of a timeline has utr');
    }
    return { weight, steps: plannedTimeline(steps, reportIn(report, ...place)) };
  });
  /** Made once for the same steps, so that payouts with the same settlement still share their timeline. */
  const finished = new WeakMap<readonly PlannedStep[], readonly PlannedStep[]>();
  return {
    id,
    document: source,
    match,
    during,
    matches,
    hasSteps: timelines.length > 0 || utr !== undefined,
    steps(settled, draw) {
      const steps = timelines.length === 0 ? settled() : drawn(timelines, draw('timeline')).steps;
      if (utr === undefined) return steps;
      if (!finished.has(steps)) finished.set(steps, withUtr(steps, utr));
      return finished.get(steps)!;
    },
    notFound,
  };
}
