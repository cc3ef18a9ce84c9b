import type { CheckId, Finding, Severity } from '../contract/conduct.ts';
import { toInr } from '../payout/money.ts';
import { withoutControls } from '../world/journal/journal-text.ts';
import type { Call } from './call.ts';
import type { Case } from './case.ts';
import { knowledgeText, type Knowledge } from './knowledge.ts';
import { requestLine } from './request-line.ts';

/** The result of a check on a case. */
interface Looked {
  /** False when the situation never arose, so that the client could not do it wrong. */
  readonly hadOccasion: boolean;
  readonly findings: readonly Found[];
  /** Why the absence of findings proves nothing here; null when it does. */
  readonly unproven?: string | null;
}

export interface Check {
  readonly id: CheckId;
  /** The severity of its findings, unless a finding has a lower one. */
  readonly severity: Severity;
  readonly look: (facts: Case) => Looked;
}

/** One thing that the client did wrong. */
export interface Found {
  /** When absent, the severity of the check. */
  readonly severity?: Severity;
  readonly message: string;
  readonly instead: string;
  readonly calls: readonly Call[];
  readonly knew?: readonly [reference: string, known: Knowledge];
  readonly amountPaise?: number | null;
}

/** A finding as the report shows it. */
export const findingOf = (found: Found, severity: Severity): Finding => ({
  severity: found.severity ?? severity,
  message: withoutControls(found.message),
  knew: found.knew ? withoutControls(knowledgeText(...found.knew)) : null,
  instead: withoutControls(found.instead),
  requests: found.calls.map(({ id }) => id),
  lines: found.calls.map(requestLine),
  references: [...new Set(found.calls.flatMap(({ reference }) => reference ?? []))],
  amount: typeof found.amountPaise === 'number' ? toInr(found.amountPaise) : null,
});

/** Added to messages about requests that count as one intended payout although nobody declared it. */
export const GUESSED = ' (a guess from identical bodies: name an intent to be sure)';

/** ₹2,50,000.00. No formatter is kept: creating one at the start would make the start a sixth slower. */
export const rupees = (amountPaise: number): string =>
  toInr(amountPaise).toLocaleString('en-IN', { style: 'currency', currency: 'INR' });
