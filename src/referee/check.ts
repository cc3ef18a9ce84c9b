import type { CheckId, Finding, Severity } from '../contract/conduct.ts';
import { toInr } from '../payout/money.ts';
import type { Call } from './call.ts';
import type { Case } from './case.ts';
import { knowledgeText, type Knowledge } from './knowledge.ts';
import { requestLine, withoutControls } from './request-line.ts';

/** What a check makes of a case. */
interface Looked {
  /** False when the situation never arose, so that the client could not do it wrong. */
  readonly hadOccasion: boolean;
  readonly findings: readonly Finding[];
  /** Why no findings prove nothing here; null when they do. */
  readonly unproven?: string | null;
}

export interface Check {
  readonly id: CheckId;
  /** The gravest that it can find. */
  readonly severity: Severity;
  readonly look: (facts: Case) => Looked;
}

interface Found {
  readonly severity: Severity;
  readonly message: string;
  readonly instead: string;
  readonly calls: readonly Call[];
  readonly knew?: readonly [reference: string, known: Knowledge] | null;
  readonly amountPaise?: number | null;
}

/** A finding as the report shows it. */
export const finding = ({
  severity,
  message,
  instead,
  calls,
  knew = null,
  amountPaise = null,
}: Found): Finding => ({
  severity,
  message: withoutControls(message),
  knew: knew === null ? null : withoutControls(knowledgeText(...knew)),
  instead: withoutControls(instead),
  requests: calls.map(({ id }) => id),
  lines: calls.map(requestLine),
  references: [...new Set(calls.map(({ reference }) => reference).filter((reference) => reference !== null))],
  amount: amountPaise === null ? null : toInr(amountPaise),
});

/** Said of requests that count as one intended payout although nobody declared it. */
export const GUESSED = ' (judged by their identical bodies)';

/** ₹2,50,000.00. Formatted with no formatter kept: to make one at the start would delay it by a sixth. */
export const rupees = (amountPaise: number): string =>
  toInr(amountPaise).toLocaleString('en-IN', { style: 'currency', currency: 'INR' });
