import type { CheckId, ExpectedPayout, RefereeSettings } from '../contract/conduct.ts';
import type { TransactionAnswer } from '../contract/control-answers.ts';
import { toPaise } from '../payout/money.ts';
import { caseOf, type Case, type Evidence } from '../referee/case.ts';
import { isOut } from '../referee/checks/expected-payments.ts';
import { judge } from '../referee/judge.ts';
import { knownAtEnd, type Knowledge } from '../referee/knowledge.ts';
import { HANG } from './failures.ts';
import { summed, tooLittleIn, tooMuchIn, type ToBePaid } from './to-be-paid.ts';

/** What a hunt looks for, the most severe first. */
export const GOALS = ['paid-twice', 'lost', 'stuck', 'conduct'] as const;
export type Goal = (typeof GOALS)[number];

/** How a run of the client ended. */
export type Ending =
  | { readonly kind: 'success' }
  /** The client says that it failed. `output` is the end of what it wrote. */
  | { readonly kind: 'failure'; readonly why: string; readonly output?: string }
  /** It was still running after this time, and was ended. */
  | { readonly kind: 'stuck'; readonly afterMs: number };

export const failureText = ({ why, output }: Extract<Ending, { kind: 'failure' }>): string =>
  output ? `${why}, and it wrote: ${output}` : why;

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
export interface Standard extends Pick<ToBePaid, 'mostTimes'> {
  readonly goals: readonly Goal[];
  /** For the referee; `expect` says what is to be paid. */
  readonly settings: RefereeSettings & { readonly expect: readonly ExpectedPayout[] };
  readonly patienceMs: number;
}

const PAYING_TWICE: ReadonlySet<CheckId> = new Set(['paid-twice', 'same-payout-at-once']);
/** A payout that the service failed is missing through no fault of the client; `lost` considers what the client was told. */
const NOT_CONDUCT: ReadonlySet<CheckId> = new Set([...PAYING_TWICE, 'expectation-missed']);

/** Those of these payouts that ended up paid, as a table of expected payouts. */
export function paidIn(payouts: readonly TransactionAnswer[]): readonly ExpectedPayout[] {
  const paid = payouts.filter(isOut);
  return summed(paid.map(({ beneficiary_account: account, amount }) => ({ account, amount, times: 1 })));
}

/**
 * For how many missing payouts of an account and amount the client's knowledge at the end is one of these. The references that it
 * sent last decide, since a later one takes the place of one that failed.
 */
export function knownAs(
  cases: readonly Case[],
  { account, amount, missing }: Pick<ExpectedPayout, 'account' | 'amount'> & { readonly missing: number },
  known: readonly Knowledge['of'][],
): number {
  const unpaid = cases.flatMap(({ sends, byReference, payouts }) =>
    [...sends].flatMap(([reference, [sent]]) => {
      const payout = payouts.get(reference);
      const isOfIt = sent?.body['beneficiary_account'] === account && sent.amountPaise === toPaise(amount);
      if (!isOfIt || (payout !== undefined && isOut(payout))) return [];
      return { beganMs: sent.beganMs, of: knownAtEnd(byReference.get(reference)!).of };
    }),
  );
  const last = unpaid.toSorted((a, b) => a.beganMs - b.beganMs).slice(-missing);
  return last.filter(({ of }) => known.includes(of)).length;
}

/** How the money of a run differs from what is to be paid. A payout that the client knows to have failed is not missing. */
export function differencesIn({ evidence }: Run, { settings, mostTimes }: Standard) {
  const { expect: expected } = settings;
  const facts = caseOf(evidence, settings);
  const paid = paidIn(evidence.ledger?.payouts ?? []);
  return {
    tooMuch: tooMuchIn(paid, { expected, mostTimes }),
    tooLittle: tooLittleIn(paid, expected, (payout) => knownAs([facts], payout, ['FAILED', 'REVERSED'])),
  };
}

/** Whether the client waited for an answer that never came until the sandbox gave up. */
export const waitedForEver = ({ calls }: Case, patienceMs: number): boolean =>
  calls.some(({ entry }) => entry.fault === HANG && (entry.duration_ms ?? 0) > patienceMs);

function stuckIn(facts: Case, { ending }: Run, { patienceMs }: Standard): string | null {
  if (waitedForEver(facts, patienceMs)) {
    return `the client waits for an answer that never comes, and had not given up after ${seconds(patienceMs)}`;
  }
  return ending.kind === 'stuck'
    ? `the client did not finish: it was ended after ${seconds(ending.afterMs)}`
    : null;
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

/** The goals that a run reached, the most severe first. */
export function hitsIn(run: Run, standard: Standard): readonly Hit[] {
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
    stuck: () => stuckIn(facts, run, standard),
    conduct: () => firstError((id) => !NOT_CONDUCT.has(id)),
  };
  return GOALS.filter((goal) => goals.includes(goal)).flatMap((goal) => {
    const message = messages[goal]();
    return message === null ? [] : [{ goal, message }];
  });
}
