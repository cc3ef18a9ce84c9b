import type { PlannedStep } from '../contract/snapshot.ts';
import type { State } from '../contract/service.ts';
import type { StepDocument } from '../contract/scenario-document.ts';
import { mayMove } from '../payout/timeline.ts';

/** Called for an error that the schema cannot express. @param path from the part that is looked at */
export type Report = (path: readonly PropertyKey[], message: string) => void;

export const reportIn =
  (report: Report, ...above: readonly PropertyKey[]): Report =>
  (path, message) =>
    report([...above, ...path], message);

/** Converts the steps of a timeline, and reports the errors that the schema cannot express. */
export function plannedTimeline(steps: readonly StepDocument[], report: Report): readonly PlannedStep[] {
  let from: State = 'PENDING';
  let afterMs = 0;
  let polls = 0;
  return steps.map((step, index) => {
    if (step.to !== undefined) {
      if (!mayMove(from, step.to))
        report([index, 'to'], `cannot go to ${step.to}: the payout is ${from} at that point`);
      from = step.to;
    }
    if (step.after !== undefined) {
      if (step.after < afterMs) report([index, 'after'], 'must not be earlier than the previous step');
      afterMs = step.after;
    }
    if (step.polls !== undefined) {
      if (step.polls <= polls)
        report([index, 'polls'], 'must be a later read than that of the previous step');
      polls = step.polls;
    }
    return {
      when:
        step.after !== undefined
          ? { afterMs: step.after }
          : step.polls !== undefined
            ? { polls: step.polls }
            : typeof step.at === 'object'
              ? { atMinute: step.at.time, onNextWorkingDay: true }
              : { atMinute: step.at! },
      to: step.to ?? null,
      utr: step.utr === undefined ? null : step.utr === 'now',
    };
  });
}
