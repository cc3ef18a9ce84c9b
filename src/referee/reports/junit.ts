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
  /** By default, as long as its cases. */
  readonly ms?: number;
  readonly properties?: readonly Property[];
  readonly cases: readonly JunitCase[];
  readonly output?: string | undefined;
}

type Property = readonly [name: string, value: string | number];

/** Seconds, as JUnit has them. */
const timeOf = (ms: number): string => `time="${(ms / 1000).toFixed(3)}"`;

function propertiesText(properties: readonly Property[], indent: string): readonly string[] {
  if (properties.length === 0) return [];
  const lines = properties.map(([name, value]) => `${indent}  <property name="${name}" value="${value}" />`);
  return [`${indent}<properties>`, ...lines, `${indent}</properties>`];
}

function caseText({ classname, name, ms, properties = [], failure, skipped, output }: JunitCase): string {
  const time = ms === undefined ? '' : ` ${timeOf(ms)}`;
  const open = `    <testcase classname="${xml(classname)}" name="${xml(name)}"${time}`;
  const inside = [
    ...propertiesText(properties, '      '),
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
  const sumOf = (all: readonly { readonly ms?: number }[]): number =>
    all.reduce((sum, { ms = 0 }) => sum + ms, 0);
  const ms = sumOf(suites.map((suite) => ({ ms: suite.ms ?? sumOf(suite.cases) })));
  return `tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}" ${timeOf(ms)}`;
}

/** A report as JUnit XML, whatever it is about. */
export const junitDocument = (name: string, suites: readonly JunitSuite[]): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${name}" ${countsText(suites)}>`,
    ...suites.flatMap((suite) => [
      `  <testsuite name="${xml(suite.name)}" ${countsText([suite])}>`,
      ...propertiesText(suite.properties ?? [], '    '),
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

function checkCase(classname: string, check: CheckReport, failOn: FailOn): JunitCase {
  const { id: name, verdict, severity, reason, findings } = check;
  if (verdict === 'passed') return { classname, name };
  if (verdict === 'not_exercised') {
    return { classname, name, skipped: 'not exercised: the situation never arose' };
  }
  if (verdict !== 'found') return { classname, name, skipped: `${verdict}: ${reason}` };
  const [first] = findings;
  const text = first === undefined ? String(reason) : details(check);
  if (first === undefined || !isFailure(check, failOn)) return { classname, name, output: text };
  return { classname, name, failure: { type: severity, message: first.message, text } };
}

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

/** A world as a suite, with a case for each check: one that was not exercised is skipped. */
const worldSuite = ({ name, duration_ms: ms, counts, checks }: WorldReport, failOn: FailOn): JunitSuite => ({
  name,
  ms,
  properties: Object.entries(counts),
  cases: checks.map((check) => checkCase(name, check, failOn)),
});

/** The report as JUnit XML. @param isVerbose a world is a suite of its checks; otherwise it is a case, with its checks as properties */
export function junitXml(reports: RunReports, failOn: FailOn = 'error', isVerbose = false): string {
  const worlds = withDistinctNames(reports.worlds);
  return junitDocument(NAME, [
    ...otherSuites(reports),
    ...(isVerbose
      ? worlds.map((world) => worldSuite(world, failOn))
      : [{ name: NAME, cases: worlds.map((world) => worldCase(world, failOn)) }]),
  ]);
}
