import { SEVERITIES } from '../../client/controlled-world.ts';
import type { Finding, WorldReport } from '../../contract/conduct.ts';
import { counted } from '../../contract/words.ts';

/** A finding of the referee, with its check. */
export interface Found {
  readonly id: string;
  readonly finding: Finding;
}

/** The checks that are inconclusive, by their reason, and the result, where it is unknown for another one. */
export function inconclusiveIn({ checks, unknown }: WorldReport): ReadonlyMap<string, readonly string[]> {
  const byReason = new Map<string, string[]>();
  for (const { id, verdict, reason } of checks) {
    if (verdict !== 'inconclusive' || reason === null) continue;
    byReason.set(reason, [...(byReason.get(reason) ?? []), id]);
  }
  if (unknown !== null && !byReason.has(unknown)) byReason.set(unknown, ['result']);
  return byReason;
}

/** The findings of a report, the most severe first. */
export function foundIn({ checks }: WorldReport): readonly Found[] {
  const all = checks.flatMap(({ id, findings }) => findings.map((finding) => ({ id, finding })));
  const rank = ({ finding }: Found): number => SEVERITIES.indexOf(finding.severity);
  return all.toSorted((a, b) => rank(a) - rank(b));
}

/** The counts of a report in words: `2 errors, 490 notices, 1 check inconclusive`. */
export function countsText({ counts }: WorldReport): string {
  const parts = [
    ...SEVERITIES.map((severity) => counts[severity] > 0 && counted(counts[severity], severity)),
    counts.inconclusive > 0 && `${counted(counts.inconclusive, 'check')} inconclusive`,
  ].filter((part) => part !== false);
  if (parts.length > 0) return parts.join(', ');
  return counts.passed > 0 ? 'no findings' : 'nothing to judge yet';
}
