import { SEVERITIES } from '../../client/controlled-world.ts';
import type { Finding, WorldReport } from '../../contract/conduct.ts';
import type { JournalEntry } from '../../contract/control-responses.ts';
import { isFromPage } from '../control-bar/sending.ts';
import { counted } from '../../contract/words.ts';

/** A finding of the referee, with its check. */
export interface Found {
  readonly id: string;
  readonly finding: Finding;
}

type Counts = Pick<WorldReport['counts'], 'error' | 'warning' | 'notice' | 'inconclusive'>;

/** Checks that are inconclusive for the same reason. */
interface Inconclusive {
  readonly reason: string;
  readonly ids: readonly string[];
}

interface Findings {
  /** The most severe first. */
  readonly all: readonly Found[];
  /** How many there are, also those that the report does not list. */
  readonly counts: Counts;
  /** How many are only about requests of this page, and left out. */
  readonly ofPage: number;
  readonly inconclusive: readonly Inconclusive[];
  /** Whether evidence is missing, so that no check can pass. A single check is often inconclusive before a client has ended. */
  readonly lacksEvidence: boolean;
}

function inconclusiveIn(report: WorldReport | null): readonly Inconclusive[] {
  const byReason = new Map<string, string[]>();
  for (const { id, verdict, reason } of report?.checks ?? []) {
    if (verdict !== 'inconclusive' || reason === null) continue;
    byReason.set(reason, [...(byReason.get(reason) ?? []), id]);
  }
  return [...byReason].map(([reason, ids]) => ({ reason, ids }));
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
  const { error = 0, warning = 0, notice = 0, inconclusive = 0 } = report?.counts ?? {};
  const counts = { error, warning, notice, inconclusive };
  for (const { finding } of left) counts[finding.severity] -= 1;
  const rank = ({ finding }: Found): number => SEVERITIES.indexOf(finding.severity);
  const shown = all.filter((one) => !left.includes(one)).toSorted((a, b) => rank(a) - rank(b));
  return {
    all: shown,
    counts,
    ofPage: left.length,
    inconclusive: inconclusiveIn(report),
    lacksEvidence: inconclusive > 0 && report?.counts.passed === 0 && report.counts.not_exercised === 0,
  };
}

/** The counts in words: `2 errors, 490 notices, 1 check inconclusive`. */
export const countsText = (counts: Counts): string =>
  [
    ...SEVERITIES.map((severity) => counts[severity] > 0 && counted(counts[severity], severity)),
    counts.inconclusive > 0 && `${counted(counts.inconclusive, 'check')} inconclusive`,
  ]
    .filter((part) => part !== false)
    .join(', ') || 'no findings';
