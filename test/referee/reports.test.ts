import { expect, test } from 'vitest';
import {
  CHECK_IDS,
  RefereeSettings,
  type RefereeSettingsInput,
  type WorldReport,
} from '../../src/contract/conduct.ts';
import { judge } from '../../src/referee/judge.ts';
import { githubAnnotations } from '../../src/referee/reports/annotations.ts';
import { junitChecksXml, junitXml } from '../../src/referee/reports/junit.ts';
import { markdownText } from '../../src/referee/reports/markdown.ts';
import { reportsOf } from '../../src/referee/reports/summary.ts';
import { inColour, visible } from '../../src/actions/words.ts';
import { terminalText } from '../../src/referee/reports/terminal.ts';
import { evidenceOf, type Line } from './journal-of.ts';

const hang: Line = {
  http: 0,
  tookMs: 300,
  change: { fault: 'hang', outcome: 'fault', committed: true },
};

/** A client that pays again under a new reference after a hang. */
const worldOf = (
  name: string,
  settings: RefereeSettingsInput = { intent: 'beneficiary_account' },
  other: Partial<Line> = {},
): WorldReport =>
  judge(
    name,
    evidenceOf([
      { reference: 'order-7', ...hang },
      { reference: 'order-7-try1', state: 'PENDING', ...other },
    ]),
    RefereeSettings.parse(settings),
  );

/** How many checks have nothing to say about this client. */
const NOT_EXERCISED = CHECK_IDS.length - 5;

const calm = (name: string): WorldReport => judge(name, evidenceOf([]));

test('the report for people shows each finding with its requests and what to do instead', () => {
  const off = { intent: 'beneficiary_account', off: { 'never-asked': 'a nightly job asks' } } as const;
  expect(terminalText(reportsOf([worldOf('retries-after-timeout', off)]))).toBe(
    `world retries-after-timeout   1 error   3 passed   ${NOT_EXERCISED} not exercised   1 off
  error    paid-twice   order-7-try1 is a second payment of order-7: ₹100.00 too much
           #1 POST initiate order-7        hang, committed; client left after 300 ms
           #2 POST initiate order-7-try1   200 PENDING, committed
           what the client knew about order-7: outcome unknown (#1)
           fix: read the status of order-7, or send order-7 again
  off  never-asked: a nightly job asks
`,
  );
});

test('the report for people has colours only on a terminal', () => {
  const reports = reportsOf([worldOf('a')]);
  expect(terminalText(reports)).not.toContain('\u001b');
  const coloured = terminalText(reports, inColour);
  expect(coloured).toContain('\u001b[31merror  \u001b[39m');
  expect(visible(coloured, true)).toBe(coloured); // the terminal gets all of it
});

test('of a thousand worlds, only those with findings are shown', () => {
  const worlds = Array.from({ length: 1000 }, (_, index) =>
    index < 3 ? worldOf(`bad-${index}`) : calm(`calm-${index}`),
  );
  const text = terminalText(reportsOf(worlds));
  expect(text).toContain('1000 worlds, 997 without findings');
  expect(text).toContain('world bad-2');
  expect(text).not.toContain('calm-');
  expect(text.split('\n').length).toBeLessThan(50);
  const many = terminalText(reportsOf(Array.from({ length: 60 }, (_, index) => worldOf(`bad-${index}`))));
  expect(many).toContain('and 10 worlds more with findings');
});

test('of many worlds with findings, the most severe come first, and each check is counted', () => {
  const worlds = Array.from({ length: 60 }, (_, index) =>
    index < 59
      ? worldOf(`guessed-${index}`, {}, { body: { amount: index } })
      : worldOf('the gravest one', { intent: 'beneficiary_account' }),
  );
  const text = terminalText(reportsOf(worlds));
  expect(text).toMatch(/^world the gravest one {3}1 error/);
  expect(text).toContain('  error    paid-twice    in 1 world\n  warning  never-asked   in 59 worlds\n');
  expect(text).toMatch(/\n {2}not exercised in any world: .*poll-storm/);
  const markdown = markdownText(reportsOf(worlds));
  expect(markdown).toContain('| ❌ paid-twice | 1 |\n| ⚠️ never-asked | 59 |\n');
  expect(markdown.indexOf('### the gravest one')).toBeLessThan(markdown.indexOf('### guessed-0'));
});

test('a check that found something in several worlds has the severity of the worst', () => {
  const worlds = [worldOf('guessed', {}), worldOf('declared')];
  const tallies = [worlds, worlds.toReversed()].map((both) =>
    /(\w+) +paid-twice +in (\d)/.exec(terminalText(reportsOf(both)))?.slice(1),
  );
  expect(tallies).toEqual([
    ['error', '2'],
    ['error', '2'],
  ]);
});

test('in JUnit a world is a case, with its time and its checks, and the worst finding is its message', () => {
  const text = junitXml(reportsOf([worldOf('pays <once>'), calm('reads')]));
  const counts = 'tests="2" failures="1" errors="0" skipped="1" time="1.010"';
  expect(text).toContain(
    `<testsuites name="payout referee" ${counts}>\n  <testsuite name="payout referee" ${counts}>`,
  );
  expect(text).toContain('<testcase classname="payout referee" name="pays &lt;once&gt;" time="1.010">');
  expect(text).toContain('<property name="never-asked" value="found" />');
  expect(text).toMatch(
    /<failure type="error" message="paid-twice: order-7-try1 is a second .*>paid-twice\nerror: order/,
  );
  expect(text).toContain('<skipped message="not exercised: no check applied to these requests" />');
});

test('in JUnit with a case for each check, a world is a suite, a check is a case, and one that was not exercised is skipped', () => {
  const xml = junitChecksXml(reportsOf([worldOf('a <b> & "c"')]));
  const counts = `tests="${CHECK_IDS.length}" failures="1" errors="0" skipped="${NOT_EXERCISED}"`;
  expect(xml.split('\n').slice(0, 2)).toEqual([
    '<?xml version="1.0" encoding="UTF-8"?>',
    expect.stringMatching(new RegExp(`^<testsuites [^>]*${counts}`)),
  ]);
  expect(xml).toContain('what the client knew about order-7: outcome unknown (#1)');
  expect(xml).toContain(`<testsuite name="a &lt;b&gt; &amp; &quot;c&quot;" ${counts} time="1.010">`);
  expect(xml).toContain('<property name="error" value="1" />');
  expect(xml).toContain(
    '<failure type="error" message="order-7-try1 is a second payment of order-7: ₹100.00 too much">error: order-7-try1',
  );
  expect(xml.match(/<skipped /g)).toHaveLength(NOT_EXERCISED);
  expect(xml.match(/<testcase /g)).toHaveLength(CHECK_IDS.length);
});

test('in JUnit, which findings fail is chosen', () => {
  const reports = reportsOf([worldOf('a')]);
  const failures = (failOn: 'warning' | 'never') =>
    junitXml(reports, failOn).match(/<failure /g)?.length ?? 0;
  expect([failures('warning'), failures('never')]).toEqual([1, 0]);
  expect(junitXml(reports, 'never')).toContain('<system-out>');
});

test('in JUnit, what a client sent cannot break the XML', () => {
  const xml = junitXml(reportsOf([worldOf('a', {}, { reference: ']]>\u0000\ud800<x>' })]));
  // oxlint-disable-next-line no-control-regex -- the very thing under test
  expect(xml).not.toMatch(/[\u0000-\u0008]|<x>|\ud800/);
});

test('the Markdown report shows findings, and a client cannot write markup into it', () => {
  const text = markdownText(reportsOf([worldOf('a', undefined, { reference: '<b>```x' })]));
  expect(text).toContain('## Payout referee: failed');
  expect(text).toContain(
    '❌ **paid-twice** \\<b\\>\\`\\`\\`x is a second payment of order\\-7'.replace('\\-', '-'),
  );
  expect(text.match(/```/g)!.length % 2).toBe(0);
});

test('the Markdown report stays below the size of a step summary', () => {
  const bad = worldOf('bad', undefined, { reference: 'भुगतान'.repeat(9) }); // three bytes for each character
  const worlds = Array.from({ length: 3000 }, (_, index) => ({ ...bad, name: `bad-${index}` }));
  const text = markdownText(reportsOf(worlds));
  expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
  expect(text).toMatch(/\d+ worlds more with findings\.\n$/);
});

test('GitHub gets one annotation for each check, the most severe first', () => {
  const text = githubAnnotations(reportsOf([worldOf('a'), worldOf('b\n100%')]));
  const [first, ...others] = text.trimEnd().split('\n');
  // a comma would end the title: GitHub reads properties between commas
  expect(first).toMatch(
    /^::error title=payout referee \(paid-twice\)::world a: order-7-try1 is a second payment of order-7: ₹100.00 too much%0A#1 POST/,
  );
  expect(first).toMatch(/2 findings in all$/);
  expect(others).toEqual([]); // never-asked is part of it
  expect(githubAnnotations(reportsOf([calm('c')]))).toBe('');
});

test('several worlds pass together only when each of them does', () => {
  expect(reportsOf([calm('a'), worldOf('b')]).passed).toBe(false);
  expect(reportsOf([calm('a'), calm('b')]).passed).toBe(true);
});
