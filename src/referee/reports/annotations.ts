import { bySeverity, type CheckId, type Finding, type Severity } from '../../contract/conduct.ts';
import { counted, type RunReports } from './summary.ts';

/** GitHub keeps this many annotations of each step. */
const MOST = 10;

/** A workflow command of GitHub. @param title without a comma, which would end it */
export function annotation(severity: Severity, title: string, text: string): string {
  const escaped = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return `::${severity} title=${title}::${escaped}\n`;
}

interface Group {
  readonly id: CheckId;
  readonly severity: Severity;
  readonly world: string;
  readonly first: Finding;
  count: number;
}

/** The report as workflow commands of GitHub: why the run failed, then one annotation for each check that found something, the most severe first. */
export function githubAnnotations({ worlds, failure }: RunReports): string {
  const groups = new Map<CheckId, Group>();
  for (const { name, checks } of worlds) {
    for (const { id, severity, findings, more } of checks) {
      const [first] = findings;
      if (first === undefined) continue;
      const known = groups.get(id);
      const count = (known?.count ?? 0) + findings.length + more;
      const isMoreSevere = known === undefined || bySeverity({ severity }, known) < 0;
      groups.set(id, isMoreSevere ? { id, severity, world: name, first, count } : { ...known, count });
    }
  }
  const whyFailed =
    failure === undefined ? [] : [annotation('error', 'payout referee', failure.reasons.join('\n'))];
  const found = [...groups.values()].toSorted(bySeverity).map(({ id, severity, world, first, count }) => {
    const text = [
      `world ${world}: ${first.message}`,
      ...first.lines,
      `fix: ${first.fix}`,
      ...(count > 1 ? [`${counted(count, 'finding')} in all`] : []),
    ].join('\n');
    return annotation(severity, `payout referee (${id})`, text);
  });
  return [...whyFailed, ...found].slice(0, MOST).join('');
}
