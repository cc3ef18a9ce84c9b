import { expect, test } from 'vitest';
import {
  CHECK_IDS,
  RefereeSettings,
  type RefereeSettingsInput,
  type WorldReport,
} from '../../src/contract/conduct.ts';
import { judge } from '../../src/referee/judge.ts';
import { junitXml } from '../../src/referee/reports/junit.ts';
import { hasFailed, reportsOf } from '../../src/referee/reports/summary.ts';
import { inColour, visible } from '../../src/actions/text-output.ts';
import { markdownText, terminalText } from '../../src/referee/reports/terminal.ts';
import { evidenceOf, ORDERS, type Line } from './journal-of.ts';

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
  const off = { ...ORDERS, off: { 'never-asked': 'a nightly job asks' } } as const;
  expect(terminalText(reportsOf([worldOf('retries-after-timeout', off)]))).toBe(
    `world retries-after-timeout
  error    paid-twice   order-7-try1 is a second payment of order-7: ₹100.00 too much
           #1 POST initiate order-7        hang, committed; client left after 300 ms
           #2 POST initiate order-7-try1   200 PENDING, committed
           what the client knew about order-7: outcome unknown (#1)
           fix: read the status of order-7, or send order-7 again; store the reference before the first send
  1 error · 3 checks passed · ${NOT_EXERCISED} checks had nothing to test · 1 check off
`,
  );
});

test('the verbose report for people has each check, with its reason', () => {
  const off = { off: { 'never-asked': 'a nightly job asks' } } as const;
  const reports = reportsOf([unclear('a'), judge('b', evidenceOf([{ state: 'SUCCESS' }]), off)]);
  const text = terminalText(reports, undefined, true);
  expect(text).toContain('  inconclusive     paid-twice: the intent matches nothing in 1 reference');
  expect(text).toContain('  nothing to test  poll-storm\n');
  expect(text).toContain('  passed           amount-not-paise\n');
  expect(text).toContain('  off              never-asked: a nightly job asks\n');
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
  expect(text).toContain(`, 997 without findings · 3 checks passed · ${NOT_EXERCISED} checks had`);
  expect(text).toContain('world bad-2');
  expect(text).not.toContain('calm-');
});

test('of many worlds with findings, the first fifty are shown, the most severe before others', () => {
  const guessed = Array.from({ length: 59 }, (_, index) =>
    worldOf(`guessed-${index}`, {}, { body: { amount: index } }),
  );
  const text = terminalText(reportsOf([...guessed, worldOf('the gravest one')]));
  expect(text).toMatch(/^world the gravest one\n {2}error/);
  expect(text).toContain('\nand 10 worlds more with findings\n');
});

/** A client that the evidence says too little about: without a pattern that matches its reference, and without its requests. */
const unclear = (name: string, reference = 'order-7'): WorldReport =>
  judge(name, evidenceOf([{ reference, state: 'SUCCESS' }]), { intent: { client_ref_id: '^invoice-(.*)' } });
const notJudged = (name: string): WorldReport => judge(name, { ...evidenceOf([]), evicted: 2 });

const DROPPED =
  '2 older requests were dropped: raise SANDBOX_JOURNAL_ENTRIES, or SANDBOX_JOURNAL_TOTAL if all worlds have more';

test('what is inconclusive in several worlds is said once for each check and reason, with the number of worlds', () => {
  const reports = reportsOf([unclear('a'), unclear('b'), notJudged('c'), worldOf('d')]);
  const counts = '4 worlds, 2 without findings, 1 not judged, 3 with inconclusive checks · 4 checks passed';
  const matches = 'the intent matches nothing in 1 reference, such as order-7';
  const text = terminalText(reports);
  expect(text).toContain(`\n${counts}\n`);
  expect(text).toContain(`\n  inconclusive  paid-twice in 2 worlds: ${matches}`);
  expect(text).toContain(`, amount-not-paise, expectation-missed in 1 world: ${DROPPED}\n`);
});

test('a report without findings fails where requests are missing, unless nothing is to fail', () => {
  const reports = reportsOf([judge('a', { ...evidenceOf([{}]), evicted: 2 })]);
  expect(reports).toMatchObject({ passed: false, result: 'unknown', worlds: [{ unknown: DROPPED }] });
  for (const failOn of ['error', 'never'] as const) {
    const fails = failOn === 'error';
    expect(hasFailed(reports, failOn)).toBe(fails);
    expect(junitXml(reports, failOn).includes('<failure type="unknown"')).toBe(fails);
  }
});

test('every form of the reports of a run says that the intent reads no reference', () => {
  const reports = reportsOf([unclear('a'), unclear('b')]);
  const [note] = reports.notes;
  expect(note).toMatch(/^the intent reads none of 2 references, so .* of this client have$/);
  expect(reports).toMatchObject({ passed: false, result: 'unknown', notes: [note] });
  expect(terminalText(reports)).toContain(`\nnote: ${note}\n`);
  expect(markdownText(reports)).toContain(`## Payout referee: unknown\n\n\`\`\`\n${terminalText(reports)}`);
  const failures = /<failure type="unknown" message="the intent reads none of 1 reference, so/g;
  expect(junitXml(reports).match(failures)).toHaveLength(2);
});

test('an intent that reads references in one world of a run need not read any in the others', () => {
  const reports = reportsOf([unclear('a'), unclear('b', 'invoice-7')]);
  const worlds = [{ passed: true, unknown: null }, { passed: true }];
  expect(reports).toMatchObject({ passed: true, result: 'passed', worlds, notes: [] });
  expect(hasFailed(reports, 'error')).toBe(false);
});

test('worlds that could not be judged are not said to be without findings', () => {
  for (const worlds of [[notJudged('a')], [notJudged('a'), notJudged('b')]]) {
    expect(markdownText(reportsOf(worlds))).toMatch(/^## Payout referee: unknown\n/);
    const skipped = new RegExp(`name="paid-twice">\n *<skipped message="inconclusive: ${DROPPED}" />`, 'g');
    expect(junitXml(reportsOf(worlds)).match(skipped)).toHaveLength(worlds.length);
  }
});

test('reports show the ids of worlds that share a name', () => {
  const named = (id: string, name: string): WorldReport => ({ ...worldOf(id), name });
  const reports = reportsOf([named('1a2b', 'lost'), named('3c4d', 'lost'), named('5e6f', 'other')]);
  const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name);
  const names = ['lost (1a2b)', 'lost (3c4d)', 'other'];
  expect(all(terminalText(reports), /^world (.*)$/gm)).toEqual(names);
  expect(all(junitXml(reports), /<testsuite name="([^"]*)"/g)).toEqual(names);
});

test('in JUnit a world is a suite, and each of its checks that had something to test is a case', () => {
  const reports = reportsOf([worldOf('a <b> & "c"')]);
  const xml = junitXml(reports);
  const tested = CHECK_IDS.length - NOT_EXERCISED;
  const counts = `tests="${tested}" failures="1" errors="0" skipped="0" time="1.010"`;
  expect(xml).toContain(
    `<testsuites name="payout referee" ${counts}>\n  <testsuite name="a &lt;b&gt; &amp; &quot;c&quot;" ${counts}>`,
  );
  expect(xml).toContain('<property name="error" value="1" />');
  expect(xml).toMatch(
    /<failure type="error" message="order-7-try1 is a second payment .*"> {2}error {4}paid-twice {3}order-7-try1/,
  );
  const verbose = junitXml(reports, 'error', true);
  const skipped = /<skipped message="not_exercised: the situation never arose"/g;
  expect(verbose.match(skipped)).toHaveLength(NOT_EXERCISED);
  expect(verbose.match(/<testcase /g)).toHaveLength(CHECK_IDS.length);
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

test('the Markdown report shows the report for people, and a client cannot write markup into it', () => {
  const reports = reportsOf([worldOf('a', undefined, { reference: '<b>```x' })]);
  const text = terminalText(reports).replaceAll('```', "'''");
  expect(markdownText(reports)).toBe(`## Payout referee: failed\n\n\`\`\`\n${text}\`\`\`\n`);
});

test('the title of the Markdown report counts the warnings of a run that passed', () => {
  const title = (worlds: readonly WorldReport[]) => markdownText(reportsOf(worlds)).split('\n', 1)[0];
  const guessed = worldOf('b', {});
  expect(title([calm('a')])).toBe('## Payout referee: passed');
  expect(title([calm('a'), guessed])).toBe('## Payout referee: passed, with 1 warning');
  expect(title([guessed, guessed])).toBe('## Payout referee: passed, with 2 warnings');
  expect(title([guessed, worldOf('c')])).toBe('## Payout referee: failed');
});

test('the Markdown report stays below the size of a step summary', () => {
  const bad = worldOf('bad', undefined, { reference: 'भुगतान'.repeat(1000) }); // three bytes for each character
  const worlds = Array.from({ length: 60 }, (_, index) => ({ ...bad, name: `bad-${index}` }));
  const text = markdownText(reportsOf(worlds));
  expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
  expect(text).toMatch(/\nand \d+ lines more\n```\n$/);
});
