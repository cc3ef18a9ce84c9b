import type { CheckReport, WorldReport } from '../../contract/conduct.ts';
import {
  detailLines,
  foundChecks,
  isFailure,
  silentChecks,
  withDistinctNames,
  type FailOn,
  type RunReports,
} from './summary.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Text as XML can hold it. */
const xml = (text: string): string =>
  text
    .replaceAll(/[&<>"]/g, (character) => ESCAPES[character]!)
    .replaceAll(/[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');

/** One case of a report as JUnit XML. */
interface JunitCase {
  readonly classname: string;
  readonly name: string;
  /** How long it took; undefined where that is not known. */
  readonly ms?: number;
  readonly properties?: readonly Property[];
  readonly failure?: { readonly type: string; readonly message: string; readonly text: string } | undefined;
  /** Why it says nothing. */
  readonly skipped?: string | undefined;
  readonly output?: string | undefined;
}

export interface JunitSuite {
  readonly name: string;
  readonly cases: readonly JunitCase[];
  readonly output?: string | undefined;
}

type Property = readonly [name: string, value: string];

/** Seconds, as JUnit has them. */
const timeOf = (ms: number): string => `time="${(ms / 1000).toFixed(3)}"`;

function propertiesText(properties: readonly Property[]): readonly string[] {
  if (properties.length === 0) return [];
  const lines = properties.map(([name, value]) => `        <property name="${name}" value="${value}" />`);
  return ['      <properties>', ...lines, '      </properties>'];
}

function caseText({ classname, name, ms, properties = [], failure, skipped, output }: JunitCase): string {
  const time = ms === undefined ? '' : ` ${timeOf(ms)}`;
  const open = `    <testcase classname="${xml(classname)}" name="${xml(name)}"${time}`;
  const inside = [
    ...propertiesText(properties),
    failure !== undefined &&
      `      <failure type="${failure.type}" message="${xml(failure.message)}">${xml(failure.text)}</failure>`,
    skipped !== undefined && `      <skipped message="${xml(skipped)}" />`,
    ...outputText(output, '      '),
  ].filter((line) => line !== false);
  return inside.length === 0 ? `${open} />` : [`${open}>`, ...inside, '    </testcase>'].join('\n');
}

const outputText = (output: string | undefined, indent: string): readonly string[] =>
  output === undefined ? [] : [`${indent}<system-out>${xml(output)}</system-out>`];

function countsText(suites: readonly JunitSuite[]): string {
  const cases = suites.flatMap((suite) => suite.cases);
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const ms = cases.reduce((sum, one) => sum + (one.ms ?? 0), 0);
  return `tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}" ${timeOf(ms)}`;
}

/** A report as JUnit XML, whatever it is about. */
export const junitDocument = (name: string, suites: readonly JunitSuite[]): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${name}" ${countsText(suites)}>`,
    ...suites.flatMap((suite) => [
      `  <testsuite name="${xml(suite.name)}" ${countsText([suite])}>`,
      ...suite.cases.map(caseText),
      ...outputText(suite.output, '    '),
      '  </testsuite>',
    ]),
    '</testsuites>\n',
  ].join('\n');

const NAME = 'payout referee';

const details = ({ findings, more }: CheckReport): string =>
  [
    ...findings.map((found) => [`${found.severity}: ${found.message}`, ...detailLines(found)].join('\n')),
    ...(more === 0 ? [] : [`and ${more} more`]),
  ].join('\n\n');

function worldCase(world: WorldReport, failOn: FailOn): JunitCase {
  const { name, checks, duration_ms: ms } = world;
  const found = foundChecks(world);
  const text = found.map((check) => `${check.id}\n${details(check)}`).join('\n\n');
  const silent = silentChecks([world])
    .map(({ verdict, what, reason }) => `${verdict} ${what}: ${reason}`)
    .join('\n');
  const worst = found.find((check) => isFailure(check, failOn));
  const properties = checks.map(({ id, verdict }) => [id, verdict] as const);
  const about = { classname: NAME, name, ms, properties };
  if (worst !== undefined) {
    const message = `${worst.id}: ${worst.findings[0]!.message}`;
    return { ...about, failure: { type: worst.severity, message, text }, output: silent || undefined };
  }
  const output = [text, silent].filter((part) => part !== '').join('\n\n') || undefined;
  const isTested = checks.some(({ verdict }) => verdict === 'passed' || verdict === 'found');
  if (isTested) return { ...about, output };
  const open = checks.find(({ verdict }) => verdict === 'inconclusive');
  const why =
    open === undefined ? 'not exercised: no check applied to these requests' : `not judged: ${open.reason}`;
  return { ...about, skipped: why, output };
}

/** What a report says beside its worlds: a suite with one case, where a run failed for more than its findings, and one with the notes. */
function otherSuites({ failure, notes }: RunReports): readonly JunitSuite[] {
  const said = notes.length === 0 ? [] : [{ name: 'notes', cases: [], output: notes.join('\n') }];
  if (failure === undefined) return said;
  const { reasons } = failure;
  const failed = { type: 'error', message: reasons[0]!, text: reasons.join('\n') };
  return [{ name: 'command', cases: [{ classname: NAME, name: 'command', failure: failed }] }, ...said];
}

/** The report as JUnit XML: each world is a case, with the verdict of each check as a property. */
export const junitXml = (reports: RunReports, failOn: FailOn = 'error'): string =>
  junitDocument(NAME, [
    ...otherSuites(reports),
    { name: NAME, cases: withDistinctNames(reports.worlds).map((world) => worldCase(world, failOn)) },
  ]);
