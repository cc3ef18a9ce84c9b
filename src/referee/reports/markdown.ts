import { counted } from '../../contract/words.ts';
import { isNotJudged, type RunReports } from './summary.ts';
import { terminalText } from './terminal.ts';

/** A step summary of GitHub may have 1 MiB. */
const MOST_BYTES = 1_000_000;

/** In a code block, only a fence could end it. */
export const fenced = (lines: readonly string[]): string =>
  ['```', ...lines.map((line) => line.replaceAll('```', "'''")), '```'].join('\n');

function titleOf({ result, worlds, failure }: RunReports): string {
  if (failure !== undefined) return failure.title;
  if (result !== 'passed') return result;
  if (worlds.every(isNotJudged)) return 'not judged';
  const warnings = worlds.reduce((sum, { counts }) => sum + counts.warning, 0);
  return warnings === 0 ? 'passed' : `passed, with ${counted(warnings, 'warning')}`;
}

/** The first of these lines that fit, and a last one that says how many do not. */
function fitting(lines: readonly string[]): readonly string[] {
  let bytes = 0;
  const end = lines.findIndex((line) => (bytes += Buffer.byteLength(line) + 1) > MOST_BYTES);
  return end === -1 ? lines : [...lines.slice(0, end), `and ${counted(lines.length - end, 'line')} more`];
}

/** The report as Markdown of less than 1 MiB: a title, and the report for people in a block, where no text of a client is markup. */
export function markdownText(reports: RunReports): string {
  const lines = terminalText(reports).trimEnd().split('\n');
  const reasons = reports.failure?.reasons ?? [];
  return [`## Payout referee: ${titleOf(reports)}`, '', fenced(fitting([...reasons, ...lines])), ''].join(
    '\n',
  );
}
