import type { CheckReport, Finding, WorldReport } from '../../contract/conduct.ts';
import {
  counted,
  countTexts,
  detailLines,
  foundChecks,
  foundWorlds,
  shortened,
  tallyOf,
  type RunReports,
} from './summary.ts';

/** A step summary of GitHub may have 1 MiB. */
const MOST_BYTES = 1_000_000;
const MOST_FINDINGS = 5;

const ICONS = { error: '❌', warning: '⚠️', notice: 'ℹ️' } as const;

/** Text of the client, which must not become markup. */
export const literal = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>()#|~&!]/g, '\\$&');

/** In a code block, only a fence could end it. */
export const fenced = (lines: readonly string[]): string =>
  ['```', ...lines.map((line) => line.replaceAll('```', "'''")), '```'].join('\n');

const findingText = (id: string, found: Finding): string =>
  [
    `- ${ICONS[found.severity]} **${id}** ${literal(found.message)}`,
    '',
    ...fenced(detailLines(found))
      .split('\n')
      .map((line) => `  ${line}`),
  ].join('\n');

function checkText(check: CheckReport): string {
  const { id, findings, more } = shortened(check, MOST_FINDINGS);
  return [
    ...findings.map((found) => findingText(id, found)),
    ...(more === 0 ? [] : [`- and ${more} more of ${id}`]),
  ].join('\n');
}

function worldText(world: WorldReport): string {
  const silent = world.checks
    .filter(({ verdict }) => verdict === 'inconclusive' || verdict === 'off')
    .map(({ id, verdict, reason }) => `- ${verdict} **${id}**: ${literal(reason ?? '')}`);
  return [
    `### ${literal(world.name)}`,
    '',
    countTexts(world).join(' · '),
    '',
    ...foundChecks(world).map(checkText),
    ...silent,
    '',
  ].join('\n');
}

/** How many worlds have each finding. */
const tallyTable = (worlds: readonly WorldReport[]): readonly string[] => [
  '',
  '| found | worlds |',
  '| --- | --- |',
  ...tallyOf(worlds).found.map(
    ({ id, severity, worlds: count }) => `| ${ICONS[severity]} ${id} | ${count} |`,
  ),
];

/** The report as Markdown of less than 1 MiB: worlds with findings in full while there is room, then their number. */
export function markdownText({ passed, worlds, failure }: RunReports): string {
  const found = foundWorlds(worlds);
  const shown = worlds.length === 1 ? worlds : found;
  let text = [
    `## Payout referee: ${failure?.title ?? (passed ? 'passed' : 'failed')}`,
    '',
    ...(failure?.reasons ?? []).flatMap((reason) => [literal(reason), '']),
    `${counted(worlds.length, 'world')}, ${worlds.length - found.length} without findings.`,
    ...(found.length > 1 ? tallyTable(worlds) : []),
    '\n',
  ].join('\n');
  let bytes = Buffer.byteLength(text);
  for (const [index, world] of shown.entries()) {
    const section = worldText(world);
    bytes += Buffer.byteLength(section) + 1;
    if (bytes > MOST_BYTES) return `${text}${counted(shown.length - index, 'world')} more with findings.\n`;
    text += `${section}\n`;
  }
  return text;
}
