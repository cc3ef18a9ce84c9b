import type { Dialect, DialectChange, TextRule } from '../contract/dialect.ts';
import type { InitiateRequest, RailProblem } from '../contract/service.ts';
import { linearPattern } from './pattern.ts';
import type { Report } from './planned-timeline.ts';

/** What a dialect wants of the texts of a request beyond the payout API. */

const FIELDS = ['client_ref_id', 'remarks'] as const;

/** A longer text than a pattern reads matches none. Its message has nothing of the pattern, which a header may not hold. */
function problemOf(text: string, { max = Infinity, pattern }: TextRule, field: string): string | undefined {
  if (text.length > max) return `is longer than ${max} characters`;
  const made = pattern === undefined ? undefined : linearPattern(pattern);
  if (made === undefined || ('test' in made && made.test(text))) return undefined;
  return `does not match the pattern of dialect.requests.${field}`;
}

export const textProblems = (body: InitiateRequest, rows: Dialect['requests']): readonly RailProblem[] =>
  FIELDS.flatMap((field): RailProblem | [] => {
    const [text, rule] = [body[field], rows[field]];
    return text === undefined || rule === null
      ? []
      : { field, row: rule.when, problem: problemOf(text, rule, field) };
  });

/** Reports patterns that are no regular expressions. */
export function reportTextPatterns({ requests = {} }: DialectChange, report: Report): void {
  for (const field of FIELDS) {
    const pattern = requests[field]?.pattern;
    const made = pattern === undefined ? undefined : linearPattern(pattern);
    if (made !== undefined && 'error' in made) report(['requests', field, 'pattern'], made.error);
  }
}
