import type { Finding, Severity } from '../contract/conduct.ts';
import { toInr } from '../payout/money.ts';
import { withoutControls } from '../world/journal/journal-text.ts';
import { shortListed } from '../contract/words.ts';
import { requestLine, type Call } from './call.ts';
import { inGroups, type Case } from './case.ts';
import { knowledgeText, type Knowledge } from './knowledge.ts';
import { inSteps, type Steps } from '../world/steps.ts';

export interface Evaluation {
  /** False when the situation never arose, so that the client could not do it wrong. */
  readonly isExercised: boolean;
  readonly findings: readonly Mistake[];
  /** Why the absence of findings proves nothing here; null when it does. */
  readonly unproven?: string | null;
}

export interface Check {
  /** The severity of its findings, unless a finding has a lower one. */
  readonly severity: Severity;
  /** Set for a check of what became of one payout: one mistake shows in several of them. */
  readonly isOfOnePayout?: true;
  /** Set for one that looks for a second payment, which may be one for a payout that the journal no longer shows. */
  readonly isOfSecondPayments?: true;
  readonly evaluate: (facts: Case) => Steps<Evaluation>;
}

/** One thing that the client did wrong. */
export interface Mistake {
  /** When absent, the severity of the check. */
  readonly severity?: Severity;
  readonly message: string;
  readonly fix: string;
  readonly calls: readonly Call[];
  /** When absent, those of its calls. */
  readonly references?: readonly string[];
  readonly knew?: readonly [reference: string, known: Knowledge];
  readonly amountPaise?: number | null;
  /** The same apart for each reference that led to a part of it; when absent, its first reference led to all of it. */
  readonly parts?: readonly Mistake[];
}

/** Something of which nobody knows whether the client did it right. */
interface Open {
  /** Why, in words: `%` stands for the references for which that is so. */
  readonly why: string;
  readonly reference: string;
  /** Set where the client could not do it wrong. */
  readonly isUntested?: true;
}

/** Evaluates each item by itself: undefined where the situation did not arise, null where the client did well. */
export function* evaluateEach<Item>(
  items: Iterable<Item>,
  resultOf: (item: Item) => Mistake | Open | null | undefined,
): Steps<Evaluation> {
  const results = (yield* inSteps(items, resultOf)).filter((result) => result !== undefined);
  const open = results.flatMap((result) => (result !== null && 'why' in result ? result : []));
  const reasons = [...(yield* inGroups(open, ({ why }) => why))].map(([why, all]) =>
    why.replace('%', () => shortListed(all.map(({ reference }) => reference))),
  );
  return {
    isExercised: results.length > open.length || open.some(({ isUntested }) => isUntested !== true),
    findings: results.flatMap((result) => (result !== null && 'message' in result ? result : [])),
    unproven: because(...reasons),
  };
}

/** How many requests a finding shows: its first, and its last. */
const MOST_CALLS = 12;

export function findingOf(mistake: Mistake, severity: Severity): Finding {
  const { calls: all, knew, amountPaise } = mistake;
  const calls = all.length <= MOST_CALLS ? all : [...all.slice(0, MOST_CALLS - 1), all.at(-1)!];
  return {
    severity: mistake.severity ?? severity,
    message: withoutControls(mistake.message),
    knew: knew ? withoutControls(knowledgeText(...knew)) : null,
    fix: withoutControls(mistake.fix),
    requests: calls.map(({ id }) => id),
    lines: calls.map(requestLine),
    references: [...new Set(mistake.references ?? calls.flatMap(({ reference }) => reference ?? []))],
    amount: typeof amountPaise === 'number' ? toInr(amountPaise) : null,
  };
}

/** Added to messages about requests that count as one intended payout although nobody declared it. */
export const GUESSED = ' (a guess from identical bodies: declare an intent to be sure)';

/** Added to what to do about a second payment, where separate payouts may have the same intent. */
export const ifSeparate = ({ intents }: Case): string =>
  intents.isByField
    ? '; if these were meant to be separate payouts, use another intent, such as client_ref_id=^(order-\\d+)'
    : '';

/** How to learn what became of a payout, without another payment. */
export const askFor = ({ paysAgain }: Case, reference: string): string =>
  `read the status of ${reference}${paysAgain ? '' : `, or send ${reference} again`}`;

/** The reasons that apply, in one text; null when none does. */
export const because = (...reasons: readonly (string | false | null)[]): string | null =>
  reasons.filter((reason) => typeof reason === 'string').join('; ') || null;
