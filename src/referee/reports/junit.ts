import type { CheckReport, ConductReports, WorldReport } from '../../contract/conduct.ts';
import { detailLines, isFailure, type FailOn } from './summary.ts';

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
      const text = xml(details(check));
      return inside(
        isFailure(check, failOn)
          ? `<failure type="${check.severity}" message="${xml(first?.message ?? '')}">${text}</failure>`
          : `<system-out>${text}</system-out>`,
      );
    }
    case 'passed':
      return `${open} />`;
    case 'no_occasion':
      return inside('<skipped message="no occasion: the situation never arose" />');
    default:
      return inside(`<skipped message="${xml(`${check.verdict}: ${check.reason}`)}" />`);
  }
}

const skippedOf = ({ no_occasion, inconclusive, off }: WorldReport['counts']): number =>
  no_occasion + inconclusive + off;

function suite({ name, counts, checks }: WorldReport, failOn: FailOn): string {
  const failures = checks.filter((check) => isFailure(check, failOn)).length;
  const properties = Object.entries(counts).map(
    ([count, value]) => `      <property name="${count}" value="${value}" />`,
  );
  return [
    `  <testsuite name="${xml(name)}" tests="${checks.length}" failures="${failures}" errors="0" skipped="${skippedOf(counts)}" time="0">`,
    '    <properties>',
    ...properties,
    '    </properties>',
    ...checks.map((check) => testCase(name, check, failOn)),
    '  </testsuite>',
  ].join('\n');
}

/** The report as JUnit XML: a world is a suite, a check is a case, and one that had no occasion is skipped. */
export function junitXml({ worlds }: ConductReports, failOn: FailOn = 'error'): string {
  const checks = worlds.flatMap((world) => world.checks);
  const failures = checks.filter((check) => isFailure(check, failOn)).length;
  const skipped = worlds.reduce((sum, { counts }) => sum + skippedOf(counts), 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="payout referee" tests="${checks.length}" failures="${failures}" errors="0" skipped="${skipped}" time="0">`,
    ...worlds.map((world) => suite(world, failOn)),
    '</testsuites>\n',
  ].join('\n');
}
