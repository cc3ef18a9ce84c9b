import type { CheckId, ExpectedPayout, RefereeSettings } from '../../contract/conduct.ts';
import { timeText } from '../../contract/times.ts';
import { caseOf, type Case, type Evidence } from '../../referee/case.ts';
import { judge } from '../../referee/judge.ts';
import { HANG } from './failures.ts';
import { misreportedIn, moneyDifferences, type ToBePaid } from '../run-money.ts';
import type { Run } from '../run.ts';

/** What a hunt looks for, the most severe first. */
export const GOALS = ['paid-twice', 'lost', 'misreported', 'stuck', 'conduct'] as const;
export type Goal = (typeof GOALS)[number];

/** A run of a hunt is about one world. */
export interface HuntRun extends Run {
  /** Whether a payout stayed PENDING to the end. */
  readonly isPending: boolean;
  /** Whether the client started its sandbox itself. */
  readonly isJoined: boolean;
  readonly worlds: readonly [Evidence];
}

/** A goal that a run reached. */
export interface Hit {
  readonly goal: Goal;
  /** What went wrong, as a sentence. */
  readonly message: string;
}

export interface RunRules extends Pick<ToBePaid, 'usual'> {
  readonly goals: readonly Goal[];
  /** For the referee; `expect` says what is to be paid. */
  readonly settings: RefereeSettings & { readonly expect: readonly ExpectedPayout[] };
  readonly patienceMs: number;
}

const PAYING_TWICE: ReadonlySet<CheckId> = new Set(['paid-twice', 'same-payout-at-once', 'paid-more-often']);
/** A payout that the service failed is missing through no fault of the client; `lost` considers what the client was told. */
const NOT_CONDUCT: ReadonlySet<CheckId> = new Set([...PAYING_TWICE, 'expectation-missed']);

/** What a client may know of a payout that is missing through no fault of its own. */
export const NOT_PAID = ['FAILED', 'REVERSED'] as const;

/** Whether the client waited for a response that never came until the sandbox gave up. */
export const waitedForEver = ({ calls }: Case, patienceMs: number): boolean =>
  calls.some(({ entry }) => entry.fault === HANG && (entry.duration_ms ?? 0) > patienceMs);

/** @param isPending whether a payout stayed PENDING to the end: a client may ask for as long as it likes */
function stuckIn(facts: Case, { ending, isPending }: HuntRun, { patienceMs }: RunRules): string | null {
  if (waitedForEver(facts, patienceMs)) {
    return `the client waits for a response that never comes, and had not given up after ${timeText(patienceMs)}`;
  }
  return ending.kind === 'stuck' && !isPending
    ? `the client did not finish: it was ended after ${timeText(ending.afterMs)}`
    : null;
}

/** The goals that a run reached, the most severe first. */
export function hitsIn(run: HuntRun, rules: RunRules): readonly Hit[] {
  const { goals, settings, usual } = rules;
  const [evidence] = run.worlds;
  const facts = caseOf(evidence, settings);
  const { checks } = judge('run', evidence, settings);
  const firstError = (isMeant: (id: CheckId) => boolean): string | null => {
    const errors = checks.filter(({ id }) => isMeant(id)).flatMap(({ findings }) => findings);
    return errors.find(({ severity }) => severity === 'error')?.message ?? null;
  };
  const { tooMuch, tooLittle } = moneyDifferences(run, { expected: settings.expect, usual }, NOT_PAID);
  /** The check compares amounts, so it misses an account that was paid again in another amount. */
  const otherAmounts = settings.off?.['paid-twice'] === undefined ? (tooMuch[0] ?? null) : null;
  const [missing] = run.ending.kind === 'success' ? tooLittle : [];
  const messages: Readonly<Record<Goal, () => string | null>> = {
    'paid-twice': () => firstError((id) => PAYING_TWICE.has(id)) ?? otherAmounts,
    lost: () => (missing === undefined ? null : `the client ends with success, but ${missing}`),
    misreported: () => misreportedIn(run, settings.expect, true),
    stuck: () => stuckIn(facts, run, rules),
    conduct: () => firstError((id) => !NOT_CONDUCT.has(id)),
  };
  return GOALS.filter((goal) => goals.includes(goal)).flatMap((goal) => {
    const message = messages[goal]();
    return message === null ? [] : [{ goal, message }];
  });
}
