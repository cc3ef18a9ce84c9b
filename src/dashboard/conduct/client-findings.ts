import { SEVERITIES } from '../../client/controlled-world.ts';
import type { Finding, WorldReport } from '../../contract/conduct.ts';
import type { JournalEntry } from '../../contract/control-responses.ts';
import { isFromPage } from '../control-bar/sending.ts';
import { plural } from '../ui/formats.ts';

/** A finding of the referee, with its check. */
export interface Found {
  readonly id: string;
  readonly finding: Finding;
}

type Counts = Pick<WorldReport['counts'], 'error' | 'warning' | 'notice'>;

interface Findings {
  /** The most severe first. */
  readonly all: readonly Found[];
  /** How many there are, also those that the report does not list. */
  readonly counts: Counts;
  /** How many are only about requests of this page, and left out. */
  readonly ofPage: number;
}

/** What the client does wrong: the findings of a report without those that are only about requests of this page. */
export function clientFindings(report: WorldReport | null, rows: readonly JournalEntry[]): Findings {
  const own = new Set(rows.filter(isFromPage).map(({ id }) => id));
  const all = (report?.checks ?? []).flatMap(({ id, findings }) =>
    findings.map((finding) => ({ id, finding })),
  );
  const isOfPage = ({ finding: { requests } }: Found): boolean =>
    requests.length > 0 && requests.every((request) => own.has(request));
  const left = all.filter(isOfPage);
  const { error = 0, warning = 0, notice = 0 } = report?.counts ?? {};
  const counts = { error, warning, notice };
  for (const { finding } of left) counts[finding.severity] -= 1;
  const rank = ({ finding }: Found): number => SEVERITIES.indexOf(finding.severity);
  const shown = all.filter((one) => !left.includes(one)).toSorted((a, b) => rank(a) - rank(b));
  return { all: shown, counts, ofPage: left.length };
}

/** The counts in words: `2 errors, 490 notices`. */
export const countsText = (counts: Counts): string =>
  SEVERITIES.flatMap((severity) => (counts[severity] === 0 ? [] : [plural(counts[severity], severity)])).join(
    ', ',
  ) || 'no findings';
