import type { CheckReport, ConductReports, WorldReport } from '../../contract/conduct.ts';
import { detailLines, foundChecks, isFailure, type FailOn } from './summary.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Text as XML can hold it. */
export const xml = (text: string): string =>
  text
    .replaceAll(/[&<>"]/g, (character) => ESCAPES[character]!)
    .replaceAll(/[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');

const details = ({ findings, more }: CheckReport): string =>
  [
    ...findings.map((found) => [`${found.severity}: ${found.message}`, ...detailLines(found)].join('\n')),
    ...(more === 0 ? [] : [`and ${more} more`]),
  ].join('\n\n');

function testCase(world: string, check: CheckReport, failOn: FailOn): string {
  const open = `    <testcase classname="${xml(world)}" name="${check.id}"`;
  const inside = (element: string): string => `${open}>\n      ${element}\n    </testcase>`;
  switch (check.verdict) {
    case 'found': {
      const [first] = check.findings;
      const text = xml(first === undefined ? String(check.reason) : details(check));
      return inside(
        first !== undefined && isFailure(check, failOn)
          ? `<failure type="${check.severity}" message="${xml(first.message)}">${text}</failure>`
          : `<system-out>${text}</system-out>`,
      );
    }
    case 'passed':
      return `${open} />`;
    case 'not_exercised':
      return inside('<skipped message="not exercised: the situation never arose" />');
    default:
      return inside(`<skipped message="${xml(`${check.verdict}: ${check.reason}`)}" />`);
  }
}

const skippedOf = ({ not_exercised, inconclusive, off }: WorldReport['counts']): number =>
  not_exercised + inconclusive + off;

/** Seconds, as JUnit has them. */
export const junitTime = (ms: number): string => (ms / 1000).toFixed(3);

function suite(world: WorldReport, failOn: FailOn): string {
  const { name, counts, checks, duration_ms } = world;
  const failures = checks.filter((check) => isFailure(check, failOn)).length;
  const properties = Object.entries(counts).map(
    ([count, value]) => `      <property name="${count}" value="${value}" />`,
  );
  return [
    `  <testsuite name="${xml(name)}" tests="${checks.length}" failures="${failures}" errors="0" skipped="${skippedOf(counts)}" time="${junitTime(duration_ms)}">`,
    '    <properties>',
    ...properties,
    '    </properties>',
    ...checks.map((check) => testCase(name, check, failOn)),
    '  </testsuite>',
  ].join('\n');
}

/** The checks that make a world fail, the most severe first. */
const failuresOf = (world: WorldReport, failOn: FailOn): readonly CheckReport[] =>
  foundChecks(world).filter((check) => isFailure(check, failOn));

function worldCase(world: WorldReport, failOn: FailOn): string {
  const { name, checks, duration_ms } = world;
  const [failure] = failuresOf(world, failOn);
  const text = foundChecks(world)
    .map((check) => `${check.id}\n${details(check)}`)
    .join('\n\n');
  const isUntested = checks.every(({ verdict }) => verdict === 'not_exercised' || verdict === 'off');
  return [
    `    <testcase classname="payout referee" name="${xml(name)}" time="${junitTime(duration_ms)}">`,
    '      <properties>',
    ...checks.map(({ id, verdict }) => `        <property name="${id}" value="${verdict}" />`),
    '      </properties>',
    ...(failure === undefined
      ? []
      : [
          `      <failure type="${failure.severity}" message="${xml(`${failure.id}: ${failure.findings[0]!.message}`)}">${xml(text)}</failure>`,
        ]),
    ...(isUntested ? ['      <skipped message="not exercised: no check applied to these requests" />'] : []),
    ...(failure === undefined && text !== '' ? [`      <system-out>${xml(text)}</system-out>`] : []),
    '    </testcase>',
  ].join('\n');
}

const countsText = (tests: number, failures: number, skipped: number, ms: number): string =>
  `tests="${tests}" failures="${failures}" errors="0" skipped="${skipped}" time="${junitTime(ms)}"`;

const totalMs = (worlds: readonly WorldReport[]): number =>
  worlds.reduce((sum, { duration_ms }) => sum + duration_ms, 0);

/** The report as JUnit XML: a world is a case, with its checks as properties. */
export function junitXml({ worlds }: ConductReports, failOn: FailOn = 'error'): string {
  const cases = worlds.map((world) => worldCase(world, failOn));
  const failures = worlds.filter((world) => failuresOf(world, failOn).length > 0).length;
  const skipped = cases.filter((text) => text.includes('<skipped ')).length;
  const counts = countsText(worlds.length, failures, skipped, totalMs(worlds));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="payout referee" ${counts}>`,
    `  <testsuite name="payout referee" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>\n',
  ].join('\n');
}

/** The report as JUnit XML with more detail: a world is a suite, a check is a case, and one that was not exercised is skipped. */
export function junitChecksXml({ worlds }: ConductReports, failOn: FailOn = 'error'): string {
  const checks = worlds.flatMap((world) => world.checks);
  const failures = checks.filter((check) => isFailure(check, failOn)).length;
  const skipped = worlds.reduce((sum, { counts }) => sum + skippedOf(counts), 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="payout referee" ${countsText(checks.length, failures, skipped, totalMs(worlds))}>`,
    ...worlds.map((world) => suite(world, failOn)),
    '</testsuites>\n',
  ].join('\n');
}
