import { bySeverity, type CheckId, type Finding, type Severity } from '../../contract/conduct.ts';
import { counted, silentChecks, tallyOf, withDistinctNames, worldsText, type RunReports } from './summary.ts';

/** GitHub keeps this many annotations of each step. */
const MOST = 10;

/** A workflow command of GitHub. @param title without a comma, which would end it */
export function annotation(severity: Severity, title: string, text: string): string {
  const escaped = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return `::${severity} title=${title}::${escaped}\n`;
}

/** The first finding of a check, of a world where it is most severe. */
interface Group {
  readonly severity: Severity;
  readonly world: string;
  readonly first: Finding;
}

/**
 * The report as workflow commands of GitHub: why the run failed, then one annotation for each check that found something, the most
 * severe first, then one on the checks that are inconclusive.
 */
export function githubAnnotations(reports: RunReports): string {
  const worlds = withDistinctNames(reports.worlds);
  const { failure } = reports;
  const groups = new Map<CheckId, Group>();
  for (const { name, checks } of worlds) {
    for (const { id, severity, findings } of checks) {
      const [first] = findings;
      const known = groups.get(id);
      if (first === undefined || (known !== undefined && bySeverity(known, { severity }) <= 0)) continue;
      groups.set(id, { severity, world: name, first });
    }
  }
  const whyFailed =
    failure === undefined ? [] : [annotation('error', 'payout referee', failure.reasons.join('\n'))];
  const found = tallyOf(worlds).found.map(({ id, text: inWorlds, findings }) => {
    const { severity, world, first } = groups.get(id)!;
    const text = [
      `world ${world}: ${first.message}`,
      ...first.lines,
      `fix: ${first.fix}`,
      ...(findings > 1 ? [`${counted(findings, 'finding')} in all: ${inWorlds}`] : []),
    ].join('\n');
    return annotation(severity, `payout referee (${id})`, text);
  });
  const inconclusive = silentChecks(worlds)
    .filter(({ verdict }) => verdict === 'inconclusive')
    .map(({ what, reason }) => `${what}: ${reason}`);
  const open =
    inconclusive.length === 0
      ? []
      : [
          annotation(
            'notice',
            'payout referee (inconclusive)',
            [worldsText(worlds), ...inconclusive].join('\n'),
          ),
        ];
  const notes = reports.notes.map((note) => annotation('notice', 'payout referee', note));
  const last = [...open, ...notes];
  return [...[...whyFailed, ...found].slice(0, MOST - last.length), ...last].join('');
}
