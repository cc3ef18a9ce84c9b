import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasCurl, PAYING_COMMAND, PAYING_TARGET } from '../support/paying-command.ts';
import { MAIN, Program, runInProcess, runProgram, serveInProcess } from '../support/program.ts';
import { fileWith, folderWith, temporaryFolder } from '../support/temporary-folder.ts';
import { testRows } from '../support/test-rows.ts';

const ADMIN = 'the-token-of-the-admin';
const COMMAND = ['--', ...PAYING_COMMAND];
const LOST = ['--scenario', 'server-error-after-commit', '--intent', 'client_ref_id=^(order-\\d+)'];

/** Judges the command that pays again after a 500. */
const judged = (flags: readonly string[], environment = {}) =>
  runInProcess(['referee', ...flags, ...PAYING_TARGET, ...COMMAND], environment);

/** Runs a command, with a report in each format. */
async function reportsOn(flags: readonly string[], command: readonly string[]) {
  const folder = folderWith({ markdown: '# Tests\n' });
  const formats = ['junit', 'markdown', 'json', 'text'] as const;
  const reports = formats.map((format) => `${format}=${join(folder, format)}`);
  const words = [...flags, ...reports.flatMap((report) => ['--report', report]), ...PAYING_TARGET, '--'];
  const summary = { GITHUB_STEP_SUMMARY: join(folder, 'markdown') };
  const ended = await runInProcess(['referee', ...words, ...command], summary);
  const written = formats.map((format) => [format, readFileSync(join(folder, format), 'utf8')]);
  return { ...ended, ...(Object.fromEntries(written) as Record<(typeof formats)[number], string>) };
}

test.skipIf(!hasCurl)(
  'referee runs a command against a sandbox of its own, fails for a client that paid twice, and writes that in every format',
  async () => {
    const { code, stdout, stderr, junit, markdown, json, text } = await reportsOn(LOST, PAYING_COMMAND);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toContain(text);
    expect(text).toMatch(/^world [0-9a-f]{8}\n/);
    expect(text).toContain(
      `  error    paid-twice   order-7-again is a second payment of order-7: ₹250.00 too much
           #1 POST initiate order-7         500, committed
           #2 POST initiate order-7-again   500, committed
           what the client knew about order-7: outcome unknown (#1)
           fix: read the status of order-7, or send order-7 again; store the reference before the first send
`,
    );
    expect(junit).toContain('<testsuites ');
    expect(markdown).toMatch(/^# Tests\n## Payout referee: failed/); // it is added to a summary
    expect(JSON.parse(json)).toMatchObject({ passed: false, worlds: [{ passed: false }] });
  },
);

test.each([
  [['--key', 'sk_test_b', '--api-keys', 'sk_test_a,sk_test_b'], 'sk_test_b'],
  [['--api-keys', 'sk_test_a,sk_test_b'], 'sk_test_a'],
  [[], 'sk_test_referee'],
])('referee %j gives its command the key %s', async (flags, key) => {
  const command = ['sh', '-c', '[ "$0" = "$1" ] && exit 7', '{key}', key];
  expect(await runInProcess(['referee', ...flags, '--', ...command])).toMatchObject({ code: 7 });
});

test('with --json, standard output has nothing but the reports', async () => {
  const command = ['sh', '-c', 'echo the command'];
  const { code, stdout, stderr } = await runProgram(['referee', '--json', '--', ...command]);
  expect({ code, reports: JSON.parse(stdout) }).toMatchObject({
    code: 2,
    reports: { passed: false, worlds: [] },
  });
  expect(stderr).toMatch(/^the command\npayout-sandbox: no request with a valid key/);
});

test.each([
  ['SIGINT', 'exits with 130', 130],
  ['SIGTERM', 'exits with the code of the command that it ended', 143],
] as const)('%s stops the referee, which says only that, and %s', async (signal, _how, code) => {
  const waits = "console.log('the command runs'); process.stdin.resume()";
  const program = new Program(process.execPath, [MAIN, 'referee', '--', process.execPath, '-e', waits], {});
  await program.says(/the command runs/);
  expect(await program.stop(signal)).toMatchObject({ code, stderr: 'payout-sandbox: stopped\n' });
});

const OFF = ['paid-twice', 'paid-more-often'].flatMap((check) => ['--off', `${check}=another job does that`]);
const OFF_SHOWN = '  off              paid-more-often: another job does that\n';
const TYPO = ['--scenario', 'server-error-after-commit', '--intent', 'client_ref_id=^invoice-([0-9]+)'];

test.skipIf(!hasCurl).each<[string, readonly string[], number, string, string]>([
  ['0 for good conduct', ['--intent', 'beneficiary_account'], 0, ' passed', ''],
  [
    '0 with --fail-on never, also if a required check found something',
    [...LOST, '--fail-on', 'never', '--require', 'paid-twice'],
    0,
    'paid-twice',
    '',
  ],
  ['0 when what it found is off', [...LOST, ...OFF], 0, 'checks had nothing to test · 2 checks off\n', ''],
  ['0 with --verbose, which gives the reason for what is off', [...OFF, '--verbose'], 0, OFF_SHOWN, ''],
  [
    '1 when a required check is inconclusive',
    [...TYPO, '--require', 'paid-twice'],
    1,
    '',
    'paid-twice is required, and is inconclusive: the intent matches nothing in 2 references, such as order-7, whose intended payout is not known',
  ],
  [
    '1 when the intent reads no reference at all',
    TYPO,
    1,
    '\nnote: the intent reads none of 2 references, so a second payment under another reference would not be seen: declare one that the references of this client have\n',
    '',
  ],
])('referee ends with %s', async (_what, flags, code, shown, complaint) => {
  const stderr = complaint === '' ? '' : `payout-sandbox: ${complaint}\n`;
  expect(await judged(flags)).toMatchObject({ code, stdout: expect.stringContaining(shown), stderr });
});

const READS = 'curl -s -o /dev/null "$PAYOUT_URL/client/fetchbalance" -H "Authorization: Bearer $PAYOUT_KEY"';

type End = readonly [flags: string[], command: string[], code: number, title: string, reason: string];
const shell = (script: string): string[] => ['sh', '-c', script];

/** How a command ends, and what the reports say then. */
const ENDS: readonly End[] = [
  [[], shell('kill -9 $$'), 137, 'the command failed', 'the command was ended by SIGKILL'],
  [[], ['true'], 2, 'no requests', 'no request with a valid key reached the sandbox'],
];
const ENDS_WITH_CURL: readonly End[] = [
  [LOST, shell(`(${PAYING_COMMAND[2]}); exit 75`), 75, 'failed', 'the command ended with exit code 75'],
  [
    ['--require', 'poll-storm'],
    shell(READS),
    1,
    'failed',
    'poll-storm is required, and was not exercised in any world',
  ],
];

testRows([...ENDS, ...(hasCurl ? ENDS_WITH_CURL : [])])(
  'what makes referee fail is also in its reports',
  async (flags, command, code, title, reason) => {
    const ended = await reportsOn(flags, command);
    expect(ended.code).toBe(code);
    for (const output of [ended.stderr, ended.text, ended.markdown]) expect(output).toContain(reason);
    expect(ended.markdown).toContain(`## Payout referee: ${title}\n\n`);
    expect(ended.junit).toContain('<testsuite name="command" tests="1" failures="1"');
    expect(ended.junit).toContain(`message="${reason}`);
    expect(JSON.parse(ended.json)).toMatchObject({ passed: false, failure: { title } });
  },
);

const OTHERS = '{ match: { client_ref_id: order-8 }, effect: { respond: 500 } }';
const UNMET =
  'note: no request matched a rule, an outcome or the rate limit of the scenario mine, so none of it was tested\n';
const RESET =
  'curl -s -o /dev/null -X POST "$PAYOUT_URL/_sandbox/reset" -H "Authorization: Bearer $PAYOUT_KEY"';

if (hasCurl)
  testRows<[scenario: string, end: string, note: boolean]>([
    [`rules: [${OTHERS}]`, 'true', true],
    [`rules: [${OTHERS}, { effect: { delay: 1ms } }]`, 'true', false],
    [`rules: [${OTHERS}]`, RESET, false], // what came before the reset is not known
    [`{ rules: [${OTHERS}], wallet: { opening_balance: 5 } }`, 'true', false],
    ['rate_limit: { max: 5, per: 1m }', 'true', true],
    ['rate_limit: { max: 1, per: 1m }', PAYING_COMMAND[2], false],
    ['outcomes: [{ match: { transfer_mode: NEFT }, timeline: [] }]', 'true', true],
  ])('referee notes that no request met what the scenario of the run is for', async (scenario, end, note) => {
    const file = fileWith('mine.yaml', scenario);
    const script = `( ${PAYING_COMMAND[2]} ); ${end}`;
    const flags = ['referee', '--fail-on', 'never', '--scenario', file, ...PAYING_TARGET];
    const { code, stdout } = await runInProcess([...flags, '--', 'sh', '-c', script]);
    expect(code).toBe(0);
    expect(stdout.includes(UNMET)).toBe(note);
  });

test.skipIf(!hasCurl)('referee judges the clients of a sandbox that runs', async () => {
  const { url } = await serveInProcess({
    SANDBOX_ADMIN_TOKEN: ADMIN,
    SANDBOX_SCENARIO: 'server-error-after-commit',
  });
  const where = ['--url', url, '--intent', 'beneficiary_account'];
  expect(await judged([...where, '--admin-token', ADMIN])).toMatchObject({ code: 1, stderr: '' });
  const own = await judged([...where, '--key', 'sk_test_shop']);
  expect(own).toMatchObject({ code: 1, stdout: expect.stringContaining('paid-twice') });
  const nobody = await runInProcess(['referee', '--url', url, '--key', 'sk_test_nobody']);
  expect(nobody).toMatchObject({
    code: 2,
    stderr:
      'payout-sandbox: no request used the key sk_test_nobody: let the client use it, or judge every world with --admin-token\n',
  });
  const looking = await runInProcess(['referee', ...where, '--key', 'sk_test_shop']);
  expect(looking).toMatchObject({ code: 1, stdout: expect.stringContaining('paid-twice') });
});

test.skipIf(!hasCurl)(
  'a command that resets its world in the end is judged by what it did before',
  async () => {
    const { url } = await serveInProcess({ SANDBOX_SCENARIO: 'server-error-after-commit' });
    const table = fileWith('expected.json', '[{"account":"000123456789","amount":250}]');
    const flags = ['--url', url, '--key', 'sk_test_shop', '--expect', table, ...PAYING_TARGET];
    const run = (script: string) =>
      runInProcess(['referee', '--intent', 'beneficiary_account', ...flags, '--', 'sh', '-c', script]);
    const { code, stdout } = await run(`( ${PAYING_COMMAND[2]} ); ${RESET}`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('paid-twice') });
    expect(stdout).not.toMatch(/error +expectation-missed/); // it was not missed before the reset
    // without a command and settings, no new verdict begins
    const look = ['referee', '--url', url, '--key', 'sk_test_shop'];
    expect(await runInProcess(look)).toMatchObject({ code: 2 });
  },
);

test('a table that does not fit into one request is refused by its name', async () => {
  const payouts = Array.from({ length: 1600 }, (_, nth) => ({ account: String(1e11 + nth), amount: 1234.5 }));
  const table = fileWith('payroll.json', JSON.stringify(payouts));
  expect(await runInProcess(['referee', '--expect', table, '--', 'true'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`--expect ${table} is too long for referee: `),
  });
});

test.skipIf(!existsSync('/dev/full'))(
  'a report on a full disk does not keep others from theirs',
  async () => {
    const other = join(temporaryFolder(), 'report.json');
    const reports = ['--report', 'junit=/dev/full', '--report', `json=${other}`];
    expect(await runInProcess(['referee', ...reports, '--', process.execPath, '-e', ''])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--report: /dev/full cannot be written (no space left on the disk)\n'),
    });
    expect(JSON.parse(readFileSync(other, 'utf8'))).toMatchObject({ passed: false, worlds: [] });
  },
);

test('referee listens on this machine alone, whatever SANDBOX_HOST and PORT say', async () => {
  const elsewhere = { SANDBOX_HOST: '192.0.2.1', PORT: '1' }; // an address of documentation
  const { stderr } = await runInProcess(['referee', '--', process.execPath, '-e', ''], elsewhere);
  expect(stderr).toMatch(/^payout-sandbox: no request with a valid key reached the sandbox/);
});

test('without a command there is nothing to judge', async () => {
  expect(await runInProcess(['referee'])).toMatchObject({
    code: 2,
    stderr: 'payout-sandbox: referee needs a command: payout-sandbox referee -- npm test\n',
  });
});

/** What is seen before the command runs. */
testRows<[readonly string[], string]>([
  [
    ['--report', 'junit=/nonexistent/x.xml'],
    '--report: /nonexistent/x.xml cannot be written (no such file or folder)',
  ],
  [['--report', 'junit'], '--report junit needs a file: --report junit=FILE'],
  [['--report', 'pdf=x'], '--report must be one of junit, markdown, json, text, not pdf'],
  [['--url', 'http://127.0.0.1:9'], '--url needs --key or --admin-token'],
  [
    ['--url', 'http://127.0.0.1:9', '--key', 'k', '--scenario', 'strict'],
    '--scenario cannot be set with --url: that sandbox already has its own settings',
  ],
  [
    ['--env', 'A={uurl}'],
    '--env: {uurl} in A={uurl} is not known: the names are {url}, {key}, {dir}, {cert}',
  ],
  [['--env', 'A={cert}'], '{cert} is the certificate of referee --tls self-signed'],
  [['--intent', ''], '--intent must not be empty'],
  [['--intent', 'order-[0-9]+'], '--intent must be FIELD=PATTERN, such as client_ref_id=^(order-[0-9]+), or'],
  [['--intent', 'amount=1'], '--intent must be a regular expression with one group, such as ^(order-[0-9]+'],
  [['--require', 'paid-twise'], '--require: there is no check paid-twise (did you mean paid-twice?)'],
  [['--off', 'paid-twice'], '--off must be CHECK=REASON, not "paid-twice"'],
  [['--fail-on', 'all'], '--fail-on must be one of'],
  [['--expect', 'package.json'], 'package.json:1:1 must be a list'],
  [[], '/no/such/program cannot be run (no such program)'],
])('wrong flags exit with 2 and say what is wrong, before the command runs', async (flags, message) => {
  const { code, stdout, stderr } = await runInProcess(['referee', ...flags, '--', '/no/such/program']);
  expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 2, stdout: '', lines: 2 });
  expect(stderr).toContain(`payout-sandbox: ${message}`);
});

test.skipIf(!hasCurl)(
  'a command gets the certificate of its sandbox, and no proxy for this machine',
  async () => {
    const script =
      'curl -fsS --cacert "$CERT" -H "Authorization: Bearer $PAYOUT_KEY" "$PAYOUT_URL/client/fetchbalance" >&2 && echo "$NO_PROXY"';
    const flags = ['--tls', 'self-signed', '--env', 'CERT={cert}', ...PAYING_TARGET];
    const env = { https_proxy: 'http://127.0.0.1:9', no_proxy: 'example.com' };
    const args = [MAIN, 'referee', ...flags, '--', 'sh', '-c', script];
    expect(await new Program(process.execPath, args, env).ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^example\.com,localhost,127\.0\.0\.1\n/),
    });
  },
);

test.skipIf(!hasCurl)('a command that only sends requests that are refused learns why', async () => {
  const script = 'curl -s -o /dev/null -H "Authorization: Bearer wrong" "$PAYOUT_URL/client/fetchbalance"';
  const { code, stderr } = await runInProcess(['referee', ...PAYING_TARGET, '--', 'sh', '-c', script]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^payout-sandbox: no request with a valid key reached the sandbox \(balance got /);
  expect(stderr).toContain('401 UNAUTHORIZED: The API key is missing or not accepted');
});
