import type { CheckId, ExpectedPayout, RefereeSettings } from '../contract/conduct.ts';
import type { TransactionAnswer } from '../contract/control-answers.ts';
import { toPaise } from '../payout/money.ts';
import { caseOf, type Case, type Evidence } from '../referee/case.ts';
import { rupees } from '../referee/check.ts';
import { isOut } from '../referee/checks/expected-payments.ts';
import { judge } from '../referee/judge.ts';
import { knownAtEnd, type Knowledge } from '../referee/knowledge.ts';
import { HANG } from './failures.ts';
import { tooMuchIn, type ToBePaid } from './to-be-paid.ts';

/** What a hunt looks for, the gravest first. */
export const GOALS = ['paid-twice', 'lost', 'stuck', 'conduct'] as const;
export type Goal = (typeof GOALS)[number];

/** How a run of the client ended. */
export type Ending =
  | { readonly kind: 'success' }
  /** The client says that it failed. `output` is the end of what it wrote. */
  | { readonly kind: 'failure'; readonly why: string; readonly output?: string }
  /** It was ended, since it had not ended by itself within this time. */
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

/** What every run is judged by. */
export interface Standard extends Pick<ToBePaid, 'mostTimes'> {
  readonly goals: readonly Goal[];
  /** For the referee; `expect` says what is to be paid. */
  readonly settings: RefereeSettings & { readonly expect: readonly ExpectedPayout[] };
  readonly patienceMs: number;
}

const PAYING_TWICE: ReadonlySet<CheckId> = new Set(['paid-twice', 'same-payout-at-once']);
/** A payout that the service lets fail is missed through no fault of the client: `lost` asks what the client was told. */
const NOT_CONDUCT: ReadonlySet<CheckId> = new Set([...PAYING_TWICE, 'expectation-missed']);

/** What of these payouts ended up paid, as a table of expected payouts. */
export function paidIn(payouts: readonly TransactionAnswer[]): readonly ExpectedPayout[] {
  const table = new Map<string, ExpectedPayout>();
  for (const { beneficiary_account: account, amount } of payouts.filter(isOut)) {
    const key = `${amount} ${account}`;
    table.set(key, { account, amount, times: (table.get(key)?.times ?? 0) + 1 });
  }
  return [...table.values()];
}

/** For how many references of such a payout the client ends with one of these in mind. */
export const knownAs = (
  { sends, byReference }: Case,
  { account, amount }: Pick<ExpectedPayout, 'account' | 'amount'>,
  known: readonly Knowledge['of'][],
): number =>
  [...sends].filter(
    ([reference, [sent]]) =>
      sent?.body['beneficiary_account'] === account &&
      sent.amountPaise === toPaise(amount) &&
      known.includes(knownAtEnd(byReference.get(reference)!).of),
  ).length;

/** A payout that the client takes for made, although its money is not out: nobody told it so. */
function lostIn(facts: Case, { ending, evidence }: Run, { settings: { expect } }: Standard): string | null {
  if (ending.kind !== 'success') return null;
  const paid = paidIn(evidence.ledger?.payouts ?? []);
  for (const { account, amount, times } of expect) {
    const found = paid.find((one) => one.account === account && one.amount === amount)?.times ?? 0;
    if (found >= times) continue;
    if (found + knownAs(facts, { account, amount }, ['FAILED', 'REVERSED']) >= times) continue;
    return `the client ends with success, but ${account} was not paid ${rupees(toPaise(amount))}`;
  }
  return null;
}

/** Whether the client waited for an answer that never came until the sandbox gave up. */
export const waitedForEver = ({ calls }: Case, patienceMs: number): boolean =>
  calls.some(({ entry }) => entry.fault === HANG && (entry.duration_ms ?? 0) > patienceMs);

function stuckIn(facts: Case, { ending }: Run, { patienceMs }: Standard): string | null {
  if (waitedForEver(facts, patienceMs)) {
    return `the client waits for an answer that never comes, and had not given up after ${seconds(patienceMs)}`;
  }
  return ending.kind === 'stuck'
    ? `the client does not end: it was ended after ${seconds(ending.afterMs)}`
    : null;
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

/** The goals that a run reached, the gravest first. */
export function hitsIn(run: Run, standard: Standard): readonly Hit[] {
  const { goals, settings, mostTimes } = standard;
  const facts = caseOf(run.evidence, settings);
  const { checks } = judge('run', run.evidence, settings);
  const firstError = (isMeant: (id: CheckId) => boolean): string | null => {
    const errors = checks.filter(({ id }) => isMeant(id)).flatMap(({ findings }) => findings);
    return errors.find(({ severity }) => severity === 'error')?.message ?? null;
  };
  /** The referee compares amounts, and so does not see that an account was paid again in another one. */
  const otherAmounts = (): string | null => {
    if (settings.off?.['paid-twice'] !== undefined) return null;
    const paid = paidIn(run.evidence.ledger?.payouts ?? []);
    return tooMuchIn(paid, { expected: settings.expect, mostTimes })[0] ?? null;
  };
  const messages: Readonly<Record<Goal, () => string | null>> = {
    'paid-twice': () => firstError((id) => PAYING_TWICE.has(id)) ?? otherAmounts(),
    lost: () => lostIn(facts, run, standard),
    stuck: () => stuckIn(facts, run, standard),
    conduct: () => firstError((id) => !NOT_CONDUCT.has(id)),
  };
  return GOALS.filter((goal) => goals.includes(goal)).flatMap((goal) => {
    const message = messages[goal]();
    return message === null ? [] : [{ goal, message }];
  });
}
