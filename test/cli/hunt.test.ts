import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { World } from '../../src/index.ts';
import { clientCommand, exitCodesOf, huntedCommand } from '../../src/cli/client-command.ts';
import { hasCurl, LASTING, lasting, PAYING_COMMAND, PAYING_TARGET } from '../support/paying-command.ts';
import { hasTerminal, onTerminal, runInProcess, runProgram } from '../support/program.ts';
import { PAYOUT } from '../support/sandbox.ts';
import { isLong } from '../support/size.ts';
import { fileWith, temporaryFolder } from '../support/temporary-folder.ts';
import { testRows } from '../support/test-rows.ts';

const COMMAND = ['--', ...PAYING_COMMAND];

test.skipIf(!hasCurl)(
  'hunt finds the failure that makes a command pay twice, and writes a scenario with which referee fails',
  async () => {
    const found = join(temporaryFolder(), 'found');
    const flags = ['--goal', 'paid-twice', '--depth', '1', '--patience', '300ms', ...PAYING_TARGET];
    const hunt = ['hunt', ...flags, '--write', found, ...COMMAND];
    const { code, stdout, stderr } = await runInProcess(hunt);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(
      /^paid-twice: 000123456789: paid ₹250.00 twice, expected once\nWhat fails:\n {2}1\. initiate/,
    );
    expect(stdout).toMatch(
      /\nwithout failures: 1 payout of ₹250.00\nfound paid-twice: \d+ runs in [\d.]+ s, \d+ a second; \d+ of \d+ single failures\nnot tried: \d+ of \d+ single failures, and anything that needs a second failure\n$/,
    );
    const [scenario, expected] = [join(found, 'paid-twice.yaml'), join(found, 'expected.json')];
    expect(stdout).toContain(`payout-sandbox referee --scenario ${scenario} --expect ${expected}`);
    expect(readFileSync(scenario, 'utf8')).toMatch(/^description: \|\n {2}paid-twice: 000123456789/);
    const repeated = ['referee', '--scenario', scenario, '--expect', expected, ...PAYING_TARGET, ...COMMAND];
    expect(await runInProcess(repeated)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('paid ₹250.00 twice, expected once'),
    });
  },
);

test.skipIf(!hasCurl)('hunt ends with 0 when it finds nothing', async () => {
  const few = ['--goal', 'conduct', '--runs', '4', '--workers', '2'];
  const nothing = await runInProcess(['hunt', ...few, ...PAYING_TARGET, ...COMMAND]);
  expect(nothing).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^without failures: 1 payout of ₹250.00\nfound nothing: 4 runs/),
  });
});

/** A client that pays under a reference of its own, which it keeps in a folder where it has one. Its argument is the body. */
const WORKER = `
file="$FOLDER/reference"
if [ -f "$file" ]; then reference=$(cat "$file"); else reference="job-$$"; fi
if [ -n "$FOLDER" ]; then echo "$reference" >"$file"; fi
curl -s -o /dev/null --max-time 30 "$PAYOUT_URL/payout/initiate" -H "Authorization: Bearer $PAYOUT_KEY" \\
  -H 'Content-Type: application/json' -d "$(echo "$0" | sed "s/REFERENCE/$reference/")" || true
`;

test.skipIf(!hasCurl).each<[string, readonly string[], number, string]>([
  [
    'that forgets its reference',
    [],
    1,
    'kills the client once the payout was made, and the client is run again',
  ],
  ['that keeps its reference in {dir}', ['--env', 'FOLDER={dir}'], 0, 'found nothing'],
  ['that must not be killed', ['--no-kill'], 0, 'the death of the client'],
])('a command %s is killed once its payout was made, and run again', async (_what, flags, code, words) => {
  const command = ['sh', '-c', WORKER, JSON.stringify({ ...PAYOUT, client_ref_id: 'REFERENCE' })];
  const hunt = ['--goal', 'paid-twice', '--depth', '1', '--patience', '500ms', ...flags, ...PAYING_TARGET];
  const ended = await runInProcess(['hunt', ...hunt, '--', ...command]);
  expect(ended).toMatchObject({ code, stdout: expect.stringContaining(words) });
});

/** It takes as long as the client may take, four times. */
test.each(isLong ? ['does not end'] : [])(
  'a command that %s is ended, with all that it has started',
  async () => {
    const flags = ['--goal', 'stuck', '--depth', '1', '--patience', '800ms', '--env', 'LOOP=1'];
    const command = ['--', 'sh', '-c', `${LASTING} & exec "$0" "$@"`, ...COMMAND.slice(1)];
    const { code, stdout } = await runProgram(['hunt', ...flags, ...PAYING_TARGET, ...command]);
    expect({ code, stdout }).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('the client did not finish'),
    });
    await expect.poll(lasting).toBe(''); // a process that was killed may take a moment to end
  },
);

test.skipIf(!hasTerminal)('a hunt whose terminal is closed ends its command', async () => {
  const program = onTerminal(['hunt', '--', LASTING]);
  await expect.poll(lasting, { timeout: 60_000 }).not.toBe('');
  program.child.kill('SIGKILL'); // that of `script`, with which the terminal ends
  await expect.poll(lasting, { timeout: 60_000 }).toBe('');
});

testRows([
  [[], 'hunt needs a command: payout-sandbox hunt'],
  [['--runs', 'many'], '--runs must be a whole number from 1 to 1000000'],
  [['--patience', '1h'], '--patience must be at most 50m'],
  [['--', 'sh', '-c', 'printf "no\\tkey"; exit 3'], 'it wrote: no key'],
])('wrong flags exit with 2 and say what is wrong', async (args, message) => {
  const command = args.includes('--') || args.length === 0 ? [] : ['--', 'true'];
  const { code, stderr } = await runInProcess(['hunt', ...args, ...command]);
  expect([code, stderr.trimEnd().split('\n').length]).toEqual([2, 1]);
  expect(stderr).toContain(message);
});

test.skipIf(!hasCurl).each(['hunt', 'matrix'])(
  '%s ends with 2, and names the table and the difference, when the command pays something else',
  async (name) => {
    const table = fileWith('typo.yaml', "- { account: '000123456788', amount: 250 }\n");
    const flags = ['--expect', table, ...PAYING_TARGET];
    expect(await runInProcess([name, ...flags, ...COMMAND])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        `differs from --expect ${table}: 000123456789: paid ₹250.00, not expected; 000123456788: not paid`,
      ),
    });
  },
);

test('a command that leaves a daemon with its output open has ended when its process ends', async () => {
  const begun = join(temporaryFolder(), 'begun'); // a pipe, so that the command ends only once the daemon has a session of its own
  const daemon = `mkfifo ${begun}; setsid sh -c 'echo > ${begun}; exec ${LASTING}' & read _ < ${begun}; exit 3`;
  onTestFinished(() => {
    for (const pid of lasting().trim().split('\n').filter(Boolean)) process.kill(Number(pid));
  });
  const client = huntedCommand(clientCommand(['sh', '-c', daemon], [], process.env));
  const ending = await client({ url: '', apiKey: '' } as World, new AbortController().signal, {});
  expect(ending).toMatchObject({ kind: 'failure', why: 'exit code 3' });
  await expect.poll(lasting).not.toBe('');
});

testRows<[text: string | undefined, expected: Readonly<Record<number, string>>]>([
  ['paid=0,failed=1,in-doubt=2', { 2: 'in-doubt', 75: 'failed' }],
  ['failed=0', { 0: 'failed' }],
  [undefined, { 0: 'paid', 1: 'failed', 75: 'in-doubt' }],
])('exit codes say what the client reports', (text, expected) => {
  const codes = exitCodesOf(text);
  for (const [code, reported] of Object.entries(expected))
    expect(codes.get(Number(code)) ?? 'failed').toBe(reported);
});
