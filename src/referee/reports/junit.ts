import type { CheckReport, WorldReport } from '../../contract/conduct.ts';
import { isFailure, plain, withDistinctNames, type FailOn, type RunReports } from './summary.ts';
import { checkLines } from './terminal.ts';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

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
  readonly failure?: { readonly type: string; readonly message: string; readonly text: string } | undefined;
  /** Why it says nothing. */
  readonly skipped?: string | undefined;
  readonly output?: string | undefined;
}

export interface JunitSuite {
  readonly name: string;
  /** By default, as long as its cases. */
  readonly ms?: number;
  readonly properties?: Readonly<Record<string, number>>;
  readonly cases: readonly JunitCase[];
  readonly output?: string | undefined;
}

/** Seconds, as JUnit has them. */
const timeOf = (ms: number): string => `time="${(ms / 1000).toFixed(3)}"`;

function propertiesText(properties: JunitSuite['properties'] = {}): readonly string[] {
  const lines = Object.entries(properties).map(
    ([name, value]) => `      <property name="${name}" value="${value}" />`,
  );
  return lines.length === 0 ? [] : ['    <properties>', ...lines, '    </properties>'];
}

function caseText({ classname, name, ms, failure, skipped, output }: JunitCase): string {
  const time = ms === undefined ? '' : ` ${timeOf(ms)}`;
  const open = `    <testcase classname="${xml(classname)}" name="${xml(name)}"${time}`;
  const inside = [
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
      ...propertiesText(suite.properties),
      ...suite.cases.map(caseText),
      ...outputText(suite.output, '    '),
      '  </testsuite>',
    ]),
    '</testsuites>\n',
  ].join('\n');

const NAME = 'payout referee';

function checkCase(classname: string, check: CheckReport, failOn: FailOn): JunitCase {
  const { id: name, verdict, severity, reason, findings } = check;
  if (verdict === 'passed') return { classname, name };
  if (verdict !== 'found')
    return { classname, name, skipped: `${verdict}: ${reason ?? 'the situation never arose'}` };
  const [first] = findings;
  const text = first === undefined ? String(reason) : checkLines(check, plain).join('\n');
  if (first === undefined || !isFailure(check, failOn)) return { classname, name, output: text };
  return { classname, name, failure: { type: severity, message: first.message, text } };
}

/** What a report says beside its worlds: a suite with one case, where a run failed for more than its findings, and one with the notes. */
function otherSuites({ failure, notes }: RunReports): readonly JunitSuite[] {
  const said = notes.length === 0 ? [] : [{ name: 'notes', cases: [], output: notes.join('\n') }];
  if (failure === undefined) return said;
  const { reasons } = failure;
  const failed = { type: 'error', message: reasons[0]!, text: reasons.join('\n') };
  return [{ name: 'command', cases: [{ classname: NAME, name: 'command', failure: failed }] }, ...said];
}

/** A world is a suite, a check is a case. @param isVerbose whether checks that had nothing to test are in it, as skipped cases */
export function junitXml(reports: RunReports, failOn: FailOn = 'error', isVerbose = false): string {
  const suiteOf = (world: WorldReport): JunitSuite => {
    const { name, duration_ms: ms, counts, checks, unknown } = world;
    const shown = checks.filter(({ verdict }) => isVerbose || verdict !== 'not_exercised');
    const cases = shown.map((check) => checkCase(name, check, failOn));
    if (unknown !== null && failOn !== 'never') {
      const failure = { type: 'unknown', message: unknown, text: unknown };
      cases.unshift({ classname: name, name: 'evidence', failure });
    }
    return { name, ms, properties: counts, cases };
  };
  return junitDocument(NAME, [...otherSuites(reports), ...withDistinctNames(reports.worlds).map(suiteOf)]);
}
