import type { PlannedStep } from '../contract/snapshot.ts';
import type { During, Match } from '../contract/match.ts';
import type { NotFound, OutcomeDocument } from '../contract/scenario-document.ts';
import type { Draw } from '../payout/settlement.ts';
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
  /** The steps of its timeline, or of the one that is drawn; null for those of the settlement. */
  readonly steps: ((draw: Draw) => readonly PlannedStep[]) | null;
  readonly notFound: NotFound | null;
}

/** One of the timelines, each as often as its weight says. */
function drawn(timelines: readonly WeightedTimeline[], draw: number): WeightedTimeline {
  let left = draw * timelines.reduce((sum, { weight }) => sum + weight, 0);
  const chosen = timelines.find(({ weight }) => (left -= weight) < 0);
  return chosen ?? timelines.at(-1)!; // the last one, when the sum of the weights was rounded up
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
  const { match = {}, during, timeline, weighted, not_found: notFound = null } = document;
  const matches = compileCondition({ ...match, route: 'initiate' }, during, reportIn(report, 'match'));
  const own = timeline !== undefined ? [{ weight: 1, timeline }] : (weighted ?? []);
  const timelines = own.map(({ weight, timeline: steps }, index): WeightedTimeline => {
    const place = timeline !== undefined ? ['timeline'] : ['weighted', index, 'timeline'];
    return { weight, steps: plannedTimeline(steps, reportIn(report, ...place)) };
  });
  return {
    id,
    document: source,
    match,
    during,
    matches,
    steps: timelines.length === 0 ? null : (draw) => drawn(timelines, draw('timeline')).steps,
    notFound,
  };
}
