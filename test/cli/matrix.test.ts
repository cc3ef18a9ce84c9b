import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { sandboxRows, settingsOf } from '../../src/cli/matrix-command.ts';
import { SOME_PAYOUT } from '../../src/client/controlled-world.ts';
import type { InitiateRequest } from '../../src/contract/service.ts';
import { readSettings } from '../../src/settings.ts';
import { hasCurl, PAYING_COMMAND, PAYING_TARGET } from '../support/paying-command.ts';
import { MAIN, Program, runInProcess, type Ended } from '../support/program.ts';
import { isLong } from '../support/size.ts';
import { fileWith, temporaryFolder } from '../support/temporary-folder.ts';
import { testRows } from '../support/test-rows.ts';

const PAGE = readFileSync(new URL('../../docs/matrix.md', import.meta.url), 'utf8');
const EXAMPLES = fileURLToPath(new URL('../../docs/examples/', import.meta.url));

/** The first block of docs/matrix.md in a language. */
const blockOf = (language: string): string =>
  [...PAGE.matchAll(/^```(\w*)\n(.*?)\n```$/gms)].find(([, name]) => name === language)![2]!;

/** Runs a command line that begins with payout-sandbox, as it is pasted into a shell. */
const paste = (line: string, inFolder = EXAMPLES): Promise<Ended> => {
  const shell = line.replace(/^payout-sandbox/, `"${process.execPath}" "${MAIN}"`);
  return new Program('sh', ['-c', shell], {}, inFolder).ended;
};

const withoutTimes = (text: string): string => text.replaceAll(/ +[\d.]+ m?s\b/g, ' N s').trimEnd();
const againIn = (text: string): readonly string[] =>
  [...text.matchAll(/run again: (.*)/g)].map(([, line]) => line!);

test.skipIf(!hasCurl)(
  'matrix shows where a command pays twice, writes reports, and says how to repeat that',
  async () => {
    const [markdown, junit] = [join(temporaryFolder(), 'matrix.md'), join(temporaryFolder(), 'matrix.xml')];
    const rows = ['--dialects', 'strict', '--scenarios', 'fails-late,server-error-after-commit'];
    const reports = ['--report', `markdown=${markdown}`, '--report', `junit=${junit}`];
    const flags = [...rows, ...reports, '--intent', 'beneficiary_account', ...PAYING_TARGET];
    const { code, stdout, stderr } = await runInProcess(['matrix', ...flags, '--', ...PAYING_COMMAND]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/\n\nscenario server-error-after-commit +money /);
    expect(stdout).toContain('3 runs: 2 not exercised, 1 with wrong money');
    const text = readFileSync(markdown, 'utf8');
    expect(text).toMatch(/^## Payout matrix: failed\n\n```\nscenario server-error-after-commit +money /);
    expect(readFileSync(junit, 'utf8')).toContain('<testsuites name="payout matrix" tests="3" failures="1"');
    const [, line] = /run again: ([^]*)\n\n3 runs/.exec(stdout)!;
    expect(text).toContain(line);
    const again = await paste(line!);
    expect(again).toMatchObject({ code: 1, stdout: expect.stringMatching(/^1 run: 1 with wrong money/m) });
    expect(again.stdout).toContain(line);
  },
);

test.each(isLong ? ['docs/matrix.md'] : [])('the run of %s shows what the page says', async () => {
  const { code, stdout, stderr } = await paste(blockOf('sh'));
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(withoutTimes(stdout)).toBe(withoutTimes(blockOf('')));
});

const AGAIN = againIn(blockOf(''));

test.each(isLong ? AGAIN : [])(
  'the command below a failing run of docs/matrix.md repeats it: %s',
  async (line) => {
    const { code, stdout } = await paste(line);
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^1 run: 1 with /m) });
    expect(againIn(stdout)).toEqual([line]);
  },
);

test.each(isLong ? ['docs/matrix.md'] : [])('after the fix in %s, the run is only warned', async () => {
  const fixed = temporaryFolder();
  const [before, after] = blockOf('diff')
    .split('\n')
    .map((line) => line.slice(1));
  const source = readFileSync(join(EXAMPLES, 'salary-checks.mjs'), 'utf8');
  expect(source).toContain(before);
  writeFileSync(join(fixed, 'salary-checks.mjs'), source.replace(before!, after!));
  expect(await paste(AGAIN.at(-1)!, fixed)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 run: 1 with warnings'),
  });
});

testRows([
  [[], 'matrix needs a command: payout-sandbox matrix'],
  [['--dialects', 'stict'], '--dialects: there is no stict (did you mean strict?)'],
  [['--scenarios', 'slow-bnk'], 'there is no scenario slow-bnk (did you mean slow-bank?)'],
  [['--dialects', 'none', '--scenarios', 'none'], 'there is nothing to run'],
  [['--exit-codes', 'paid=0,failed=0'], '--exit-codes gives 0 two meanings'],
  [['--report', 'html=x'], '--report must be one of markdown, junit, json, not html'],
  [
    ['--limit', '60d', '--', 'sh', '-c', 'echo no key; exit 3'], // longer than the longest timer of Node.js
    'without any failure the client must succeed in time, but it failed: exit code 3, and it wrote: no key',
  ],
])('wrong flags of matrix exit with 2 and say what is wrong', async (args, message) => {
  const command = args.includes('--') || args.length === 0 ? [] : ['--', 'true'];
  const { code, stdout, stderr } = await runInProcess(['matrix', ...args, ...command]);
  expect([code, stdout, stderr.trimEnd().split('\n').length]).toEqual([2, '', 1]);
  expect(stderr).toContain(message);
});

const namesOf = (dialects: string, scenarios: string): readonly string[] =>
  sandboxRows(dialects, scenarios, readSettings({}, {})).map(({ name }) => name);

test('all dialects are the shipped ones, and a row that is named twice is run once', () => {
  expect(namesOf('terse,all', 'none')).toEqual(['terse', 'lenient', 'strict']);
  const scenarios = namesOf('none', 'fails-late,all');
  expect(scenarios).not.toContain('two-workers'); // holds requests
  expect(scenarios.filter((name) => name === 'fails-late')).toHaveLength(1);
});

const OWN_CLOCK = 'clock: { speed: 60 }\nsettlement: [{ to: FAILED, after: 2h }]';
const IN_A_WINDOW =
  'settlement: [{ to: FAILED, after: 2h }]\nrules: [{ during: { for: 1m }, effect: { respond: { status: 500 } } }]';

testRows<[scenario: string, mode: string, speed: number | undefined]>([
  ['pending-then-reversed', 'IMPS', 1800], // one hour in two seconds
  ['success-then-reversed', 'IMPS', 86_400],
  ['night-cut-off', 'NEFT', 21_600],
  ['night-cut-off', 'IMPS', undefined],
  ['slow-bank', 'RTGS', 862.5],
  ['bank-has-a-bad-day', 'RTGS', undefined], // a rate limit
  [OWN_CLOCK, 'IMPS', undefined],
  [IN_A_WINDOW, 'IMPS', undefined],
])(
  'a row is as fast as its last due step needs, unless it has a clock, or counts in world time',
  (scenario, mode, speed) => {
    const name = scenario.includes(':') ? fileWith('own.yaml', scenario) : scenario;
    const settings = readSettings({ settlement: 'instant' }, {});
    const [row] = sandboxRows('none', name, settings);
    const payout = { ...SOME_PAYOUT, client_ref_id: 'order-1', transfer_mode: mode } as InitiateRequest;
    expect(settingsOf(row!, settings, [payout]).clockSpeed).toBe(speed);
    expect(settingsOf(row!, { ...settings, clockSpeed: 7 }, [payout]).clockSpeed).toBe(7);
  },
);

testRows<[flags: string[], began: RegExp]>([
  [[], /"now":"2026-01-15T05:00:/], // 10:30 in India
  [['--scenario', 'night-cut-off'], /"now":"2026-01-15T13:30:/],
  [['--scenario', 'bank-holiday-cut-off'], /"now":"2026-01-18T05:00:/], // a Sunday
])(
  'matrix begins each run at the same time of day, or in the hours or days of its scenario',
  async (flags, began) => {
    const now = 'curl -s "$PAYOUT_URL/_sandbox/clock" -H "Authorization: Bearer $PAYOUT_KEY" >&2; exit 1';
    const { stderr } = await runInProcess(['matrix', ...flags, ...PAYING_TARGET, '--', 'sh', '-c', now]);
    expect(stderr).toMatch(hasCurl ? began : /curl/);
  },
);
