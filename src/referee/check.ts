import type { CheckId, Finding, Severity } from '../contract/conduct.ts';
import { toInr } from '../payout/money.ts';
import { withoutControls } from '../world/journal/journal-text.ts';
import type { Call } from './call.ts';
import type { Case } from './case.ts';
import { knowledgeText, type Knowledge } from './knowledge.ts';
import { requestLine } from './request-line.ts';

/** What a check makes of a case. */
interface Looked {
  /** False when the situation never arose, so that the client could not do it wrong. */
  readonly hadOccasion: boolean;
  readonly findings: readonly Found[];
  /** Why no findings prove nothing here; null when they do. */
  readonly unproven?: string | null;
}

export interface Check {
  readonly id: CheckId;
  /** That of its findings, unless they have a lesser one. */
  readonly severity: Severity;
  readonly look: (facts: Case) => Looked;
}

/** One thing that the client did wrong. */
export interface Found {
  /** That of the check when absent. */
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

/** Said of requests that count as one intended payout although nobody declared it. */
export const GUESSED = ' (a guess from identical bodies: name an intent to be sure)';

/** ₹2,50,000.00. Formatted with no formatter kept: to make one at the start would delay it by a sixth. */
export const rupees = (amountPaise: number): string =>
  toInr(amountPaise).toLocaleString('en-IN', { style: 'currency', currency: 'INR' });
