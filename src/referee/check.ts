import type { CheckId, Finding, Severity } from '../contract/conduct.ts';
import { toInr } from '../payout/money.ts';
import { withoutControls } from '../world/journal/journal-text.ts';
import type { Call } from './call.ts';
import type { Case } from './case.ts';
import { knowledgeText, type Knowledge } from './knowledge.ts';
import { requestLine } from './request-line.ts';

/** The result of a check on a case. */
interface Evaluation {
  /** False when the situation never arose, so that the client could not do it wrong. */
  readonly isExercised: boolean;
  readonly findings: readonly Found[];
  /** Why the absence of findings proves nothing here; null when it does. */
  readonly unproven?: string | null;
}

export interface Check {
  readonly id: CheckId;
  /** The severity of its findings, unless a finding has a lower one. */
  readonly severity: Severity;
  readonly evaluate: (facts: Case) => Evaluation;
}

/** One thing that the client did wrong. */
export interface Found {
  /** When absent, the severity of the check. */
  readonly severity?: Severity;
  readonly message: string;
  readonly fix: string;
  readonly calls: readonly Call[];
  readonly knew?: readonly [reference: string, known: Knowledge];
  readonly amountPaise?: number | null;
}

/** A finding as the report shows it. */
export const findingOf = (found: Found, severity: Severity): Finding => ({
  severity: found.severity ?? severity,
  message: withoutControls(found.message),
  knew: found.knew ? withoutControls(knowledgeText(...found.knew)) : null,
  fix: withoutControls(found.fix),
  requests: found.calls.map(({ id }) => id),
  lines: found.calls.map(requestLine),
  references: [...new Set(found.calls.flatMap(({ reference }) => reference ?? []))],
  amount: typeof found.amountPaise === 'number' ? toInr(found.amountPaise) : null,
});

/** Added to messages about requests that count as one intended payout although nobody declared it. */
export const GUESSED = ' (a guess from identical bodies: --intent says for sure)';

/** `order-1`, `order-1 and order-2`, `order-1, order-2 and 3 more` */
export function listed(names: readonly string[]): string {
  if (names.length > 3) return `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
