import type { CheckReport, Finding, WorldReport } from '../../contract/conduct.ts';
import { counted } from '../../contract/words.ts';
import {
  countText,
  detailLines,
  foundChecks,
  foundWorlds,
  isNotJudged,
  nothingToTest,
  shortened,
  silentChecks,
  tallyOf,
  withDistinctNames,
  worldsText,
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

const silentLines = (worlds: readonly WorldReport[]): readonly string[] =>
  silentChecks(worlds).map(({ verdict, what, reason }) => `- ${verdict} **${what}**: ${literal(reason)}`);

function worldText(world: WorldReport): string {
  return [
    `### ${literal(world.name)}`,
    '',
    countText(world),
    '',
    ...foundChecks(world).map(checkText),
    ...silentLines([world]),
    '',
  ].join('\n');
}

/** How many worlds have each finding, why checks reached no verdict, and how many had nothing to test. */
function tallyText(worlds: readonly WorldReport[]): readonly string[] {
  const { found, untested } = tallyOf(worlds);
  const rows = found.map(({ id, severity, text }) => `| ${ICONS[severity]} ${id} | ${text} |`);
  const silent = silentLines(worlds);
  return [
    ...(rows.length === 0 ? [] : ['', '| found | worlds |', '| --- | --- |', ...rows]),
    ...(silent.length === 0 ? [] : ['', ...silent]),
    ...(untested === 0 ? [] : ['', `In every world, ${nothingToTest(untested)}.`]),
  ];
}

function titleOf({ passed, worlds, failure }: RunReports): string {
  if (failure !== undefined) return failure.title;
  if (!passed) return 'failed';
  if (worlds.every(isNotJudged)) return 'not judged';
  const warnings = worlds.reduce((sum, { counts }) => sum + counts.warning, 0);
  return warnings === 0 ? 'passed' : `passed, with ${counted(warnings, 'warning')}`;
}

/** The report as Markdown of less than 1 MiB: worlds with findings in full while there is room, then their number. */
export function markdownText(reports: RunReports): string {
  const worlds = withDistinctNames(reports.worlds);
  const shown = worlds.length === 1 ? worlds : foundWorlds(worlds);
  let text = [
    `## Payout referee: ${titleOf(reports)}`,
    '',
    ...(reports.failure?.reasons ?? []).flatMap((reason) => [literal(reason), '']),
    `${worldsText(worlds)}.`,
    ...(worlds.length > 1 ? tallyText(worlds) : []),
    ...reports.notes.flatMap((note) => ['', `Note: ${literal(note)}.`]),
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
