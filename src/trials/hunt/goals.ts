import type { CheckId, ExpectedPayout, RefereeSettings } from '../../contract/conduct.ts';
import { timeText } from '../../contract/duration.ts';
import { caseOf, type Case, type Evidence } from '../../referee/case.ts';
import { judge } from '../../referee/judge.ts';
import { HANG } from './failures.ts';
import { misreportedIn, moneyDifferences, type Reported, type ToBePaid } from '../run-money.ts';

/** What a hunt looks for, the most severe first. */
export const GOALS = ['paid-twice', 'lost', 'misreported', 'stuck', 'conduct'] as const;
export type Goal = (typeof GOALS)[number];

/** How a run of the client ended. */
export type Ending =
  | { readonly kind: 'success' }
  /** The client says that it failed, or that it does not know. `output` is the end of what it wrote. */
  | { readonly kind: 'failure'; readonly why: string; readonly output?: string; readonly isInDoubt?: boolean }
  /** It was still running after this time, and was ended. */
  | { readonly kind: 'stuck'; readonly afterMs: number };

export const failureText = ({ why, output }: Extract<Ending, { kind: 'failure' }>): string =>
  output ? `${why}, and it wrote: ${output}` : why;

export const reportedBy = (ending: Ending): Reported =>
  ending.kind === 'success' ? 'paid' : ending.kind === 'failure' && !ending.isInDoubt ? 'failed' : 'in-doubt';

/** One run of the client. */
export interface Run {
  readonly ending: Ending;
  readonly evidence: Evidence;
  readonly durationMs: number;
}

/** A goal that a run reached. */
export interface Hit {
  readonly goal: Goal;
  /** What went wrong, as a sentence. */
  readonly message: string;
}

/** The standard by which every run is judged. */
export interface RunRules extends Pick<ToBePaid, 'mostTimes'> {
  readonly goals: readonly Goal[];
  /** For the referee; `expect` says what is to be paid. */
  readonly settings: RefereeSettings & { readonly expect: readonly ExpectedPayout[] };
  readonly patienceMs: number;
}

const PAYING_TWICE: ReadonlySet<CheckId> = new Set(['paid-twice', 'same-payout-at-once', 'paid-more-often']);
/** A payout that the service failed is missing through no fault of the client; `lost` considers what the client was told. */
const NOT_CONDUCT: ReadonlySet<CheckId> = new Set([...PAYING_TWICE, 'expectation-missed']);

/** What a client may know of a payout that is missing through no fault of its own. */
const NOT_PAID = ['FAILED', 'REVERSED'] as const;

/** How the money of a run differs from what is to be paid. A payout that the client knows to have failed is not missing. */
export const differencesIn = ({ evidence }: Run, { settings, mostTimes }: RunRules) =>
  moneyDifferences([evidence], { expected: settings.expect, mostTimes }, NOT_PAID);

/** Whether the client waited for a response that never came until the sandbox gave up. */
export const waitedForEver = ({ calls }: Case, patienceMs: number): boolean =>
  calls.some(({ entry }) => entry.fault === HANG && (entry.duration_ms ?? 0) > patienceMs);

function stuckIn(facts: Case, { ending }: Run, { patienceMs }: RunRules): string | null {
  if (waitedForEver(facts, patienceMs)) {
    return `the client waits for a response that never comes, and had not given up after ${timeText(patienceMs)}`;
  }
  return ending.kind === 'stuck'
    ? `the client did not finish: it was ended after ${timeText(ending.afterMs)}`
    : null;
}

/** The goals that a run reached, the most severe first. */
export function hitsIn(run: Run, standard: RunRules): readonly Hit[] {
  const { goals, settings } = standard;
  const facts = caseOf(run.evidence, settings);
  const { checks } = judge('run', run.evidence, settings);
  const firstError = (isMeant: (id: CheckId) => boolean): string | null => {
    const errors = checks.filter(({ id }) => isMeant(id)).flatMap(({ findings }) => findings);
    return errors.find(({ severity }) => severity === 'error')?.message ?? null;
  };
  const { tooMuch, tooLittle } = differencesIn(run, standard);
  /** The check compares amounts, so it misses an account that was paid again in another amount. */
  const otherAmounts = settings.off?.['paid-twice'] === undefined ? (tooMuch[0] ?? null) : null;
  const [missing] = run.ending.kind === 'success' ? tooLittle : [];
  const messages: Readonly<Record<Goal, () => string | null>> = {
    'paid-twice': () => firstError((id) => PAYING_TWICE.has(id)) ?? otherAmounts,
    lost: () => (missing === undefined ? null : `the client ends with success, but ${missing}`),
    misreported: () => misreportedIn([run.evidence], reportedBy(run.ending)),
    stuck: () => stuckIn(facts, run, standard),
    conduct: () => firstError((id) => !NOT_CONDUCT.has(id)),
  };
  return GOALS.filter((goal) => goals.includes(goal)).flatMap((goal) => {
    const message = messages[goal]();
    return message === null ? [] : [{ goal, message }];
  });
}
