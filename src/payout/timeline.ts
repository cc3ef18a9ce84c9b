import type { Payout, PayoutStep } from '../contract/snapshot.ts';
import type { State } from '../contract/service.ts';
import { invariant } from './money.ts';

/** How a payout goes through the steps of its timeline. */

/** The legal transitions. The payout API shows the states, but only the transition to PENDING: the others are our choice. */
const NEXT: Record<State, readonly State[]> = {
  PENDING: ['SUCCESS', 'FAILED', 'REVERSED'],
  SUCCESS: ['REVERSED'],
  FAILED: [],
  REVERSED: [],
};

export const mayMove = (from: State, to: State): boolean => NEXT[from].includes(to);

export const legalNext = (from: State): readonly State[] => NEXT[from];

/** What is wrong with a timeline; null for a sound one. @param from the state before its first step */
export function timelineFault(timeline: readonly PayoutStep[], from: State = 'PENDING'): string | null {
  let state = from;
  let earliestMs = 0;
  for (const { to, afterMs, polls } of timeline) {
    if (to !== null && !mayMove(state, to)) return `a timeline has legal edges only, not ${state} to ${to}`;
    if ((afterMs === null) === (polls === null)) return 'a step waits either for its time or for reads';
    if (afterMs !== null && afterMs < earliestMs) return 'a timeline is in order of due time';
    state = to ?? state;
    earliestMs = afterMs ?? earliestMs;
  }
  return null;
}

export const nextStep = ({ timeline, stepsDone }: Payout): PayoutStep | undefined => timeline[stepsDone];

/** The payout after its next step. @param atMs world time of the step @param utr the UTR from now on */
export function afterStep(payout: Payout, atMs: number, utr: string | null): Payout {
  const { timeline, stepsDone, state, completedAtMs, createdAtMs } = payout;
  const step = timeline[stepsDone];
  invariant(step !== undefined, 'a timeline that has ended goes no further');
  invariant(step.to === null || mayMove(state, step.to), `no edge from ${state} to ${step.to}`);
  const afterMs = atMs - createdAtMs;
  return {
    ...payout,
    timeline: step.afterMs === afterMs ? timeline : timeline.with(stepsDone, { ...step, afterMs }),
    stepsDone: stepsDone + 1,
    state: step.to ?? state,
    utr,
    completedAtMs: step.to === null ? completedAtMs : (completedAtMs ?? atMs),
  };
}

/** The payout with one step to a state instead of everything that was planned. @param requests how many its world has counted */
export const withForcedStep = (
  payout: Payout,
  to: State,
  atMs: number,
  utr: boolean,
  requests: number,
): Payout => ({
  ...payout,
  timeline: [
    ...payout.timeline.slice(0, payout.stepsDone),
    { afterMs: atMs - payout.createdAtMs, polls: null, to, utr, forced: true, requests },
  ],
});

/** True while status reads trigger something, so that they have to be counted. */
export const countsReads = ({ hidden, timeline, stepsDone }: Payout): boolean =>
  (hidden !== null && 'reads' in hidden) ||
  timeline.some(({ polls }, index) => index >= stepsDone && polls !== null);

/** Whether the payout is hidden from a status read, the `reads`th one. */
export const isHidden = ({ hidden, reads }: Pick<Payout, 'hidden' | 'reads'>, nowMs: number): boolean =>
  hidden !== null && ('reads' in hidden ? reads <= hidden.reads : nowMs < hidden.untilMs);

/** The payout as it was at a world time; as it was created, for any time before that. */
export function asOf(payout: Payout, atMs: number): Payout {
  const done = payout.timeline.slice(0, payout.stepsDone);
  const seen = done.filter(({ afterMs }) => payout.createdAtMs + afterMs! <= atMs);
  if (seen.length === done.length) return payout;
  const states = seen.map(({ to }) => to).filter((to) => to !== null);
  return {
    ...payout,
    stepsDone: seen.length,
    state: states.at(-1) ?? 'PENDING',
    utr: seen.some(({ utr }) => utr) ? payout.utr : null,
    completedAtMs: states.length > 0 ? payout.completedAtMs : null,
  };
}
