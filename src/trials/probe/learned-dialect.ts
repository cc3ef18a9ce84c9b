import { SWITCHES } from '../../contract/dialect.ts';

type Choice = string | number;

/** What is known about one row of the dialect: its value with the evidence, or why it is not known. */
type LearnedRow =
  | { readonly value: Choice; readonly evidence: string }
  | { readonly value: null; readonly why: string };

const NEEDS_REFUSED = 'needs --level refused';
const NEEDS_PAY = 'needs --level pay';
const NO_RATE_LIMIT = 'the probe does not provoke a rate limit';

/** What is needed to learn a row. */
const NEEDS: Readonly<Record<string, string>> = {
  'client_ref_id.same_body': NEEDS_PAY,
  'client_ref_id.changed_body': NEEDS_PAY,
  'client_ref_id.after_402': NEEDS_PAY,
  'status.both': NEEDS_PAY,
  'status.completed_at_while_pending': NEEDS_PAY,
  'status.utr_of_failed': 'no payout of this probe FAILED',
  'requests.formats': NEEDS_REFUSED,
  'requests.mode_limits': NEEDS_REFUSED,
  'requests.unknown_fields': NEEDS_REFUSED,
  'requests.upi_beneficiary': NEEDS_REFUSED,
  'rate_limit.routes': NO_RATE_LIMIT,
  'rate_limit.retry_after': NO_RATE_LIMIT,
};

/** What a probe has learned, row by row. A row with contradictory responses is not known. */
export class LearnedDialect {
  readonly #rows = new Map<string, LearnedRow>();
  readonly #contradicted = new Set<string>();

  /** Records the value that a response shows. A value that is not a choice of the dialect makes the row unknown. */
  learn(row: string, value: Choice, evidence: string): void {
    const choices = SWITCHES.get(row) ?? [];
    const known = this.#rows.get(row);
    if (!choices.includes(value)) {
      this.#contradict(row, `${evidence}; the dialect has only ${choices.join(', ')}`);
    } else if (known !== undefined && known.value !== null && known.value !== value) {
      this.#contradict(row, `${known.evidence}, but ${evidence}`);
    } else if ((known?.value ?? null) === null && !this.#contradicted.has(row)) {
      this.#rows.set(row, { value, evidence });
    }
  }

  /** Records why a row is not known, unless it is. */
  unknown(row: string, why: string): void {
    if (this.valueOf(row) === null && !this.#contradicted.has(row)) this.#rows.set(row, { value: null, why });
  }

  #contradict(row: string, why: string): void {
    this.#contradicted.add(row);
    this.#rows.set(row, { value: null, why });
  }

  valueOf(row: string): Choice | null {
    return this.#rows.get(row)?.value ?? null;
  }

  get all(): readonly (readonly [row: string, learnedRow: LearnedRow])[] {
    return [...SWITCHES.keys()].map((row) => [
      row,
      this.#rows.get(row) ?? { value: null, why: NEEDS[row] ?? 'no response showed it' },
    ]);
  }
}

const LINE = 130;

/** A text for one line of a comment, without line breaks. */
function comment(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length <= LINE ? line : `${line.slice(0, LINE)}…`;
}

/** null in quotes, since YAML does not read a bare null as text. */
const valueText = (value: string | number): string => (value === 'null' ? "'null'" : String(value));

/** What a probe has learned, as a file for `serve --dialect FILE`: each row with its evidence, or why it is not known. */
export function dialectText(learned: LearnedDialect, description: string): string {
  const lines = [`description: ${JSON.stringify(description)}`];
  let part = '';
  let pending: string[] = [];
  const endPart = (): void => {
    const isEmpty = pending.every((line) => line.trimStart().startsWith('#'));
    if (part !== '') lines.push(isEmpty ? `${part}: {}` : `${part}:`, ...pending);
    pending = [];
  };
  for (const [row, learnedRow] of learned.all) {
    const [section = '', name = ''] = row.split('.');
    if (section !== part) endPart();
    part = section;
    pending.push(
      learnedRow.value === null
        ? `  # ${name} not learned: ${comment(learnedRow.why)}`
        : `  ${name}: ${valueText(learnedRow.value)} # ${comment(learnedRow.evidence)}`,
    );
  }
  endPart();
  return `${lines.join('\n')}\n`;
}
