import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess, serveInProcess } from '../support/program.ts';
import { otherService, WAYS } from '../support/http/other-service.ts';
import { fileWith, temporaryFolder } from '../support/temporary-folder.ts';
import { testRows } from '../support/test-rows.ts';

test('probe --dry-run shows every request of its level and sends none', async () => {
  const { code, stdout } = await runInProcess(['probe', 'http://127.0.0.1:1', '--level', 'pay', '--dry-run']);
  const sent = stdout.split('\n').filter((line) => /^ {2}(GET|POST) /.test(line));
  expect(code).toBe(0);
  expect(sent.filter((line) => line.includes('POST /payout/initiate'))).toHaveLength(6 + 9);
  expect(sent.filter((line) => line.includes('without a key'))).toHaveLength(1);
  const amounts = [...stdout.matchAll(/"amount":(\d+)/g)].map(([, amount]) => Number(amount));
  expect(new Set(amounts)).toEqual(new Set([600_000, 1, 2]));
  expect(stdout).toMatch(/^level pay would send at most:\n/);
  expect(stdout).toContain('Nothing was sent.');
});

test('probe never prints the key, and exits with 1 when it has to stop', async () => {
  const service = await otherService(WAYS);
  const args = ['probe', `${service.url}/`, '--key-env', 'KEY'];
  const good = await runInProcess(args, { KEY: service.key });
  expect(good).toMatchObject({ code: 0, stdout: expect.stringContaining('without_key: 401') });
  expect(good.stdout + good.stderr).not.toContain(service.key);
  const wrong = await runInProcess(args, { KEY: 'no-such-key' });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('the key is not accepted (401)') });
  const nobody = await runInProcess(['probe', 'http://127.0.0.1:1', '--key-env', 'KEY'], { KEY: 'any' });
  expect(nobody).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('stopped: no response to GET'),
  });
  expect(nobody.stderr).toContain('0 of 18 rows learned with 1 request;');
});

test('what probe prints is a dialect that serve accepts, and nothing else', async () => {
  const service = await otherService(WAYS);
  const { stdout, stderr } = await runInProcess(['probe', service.url, '--key-env', 'KEY'], {
    KEY: service.key,
  });
  expect(stderr).toContain('rows learned');
  const file = fileWith('real.yaml', stdout);
  const { url } = await serveInProcess({ SANDBOX_DIALECT: file });
  const response = await fetch(`${url}/payout/status?client_ref_id=none`);
  expect(response.status).toBe(401); // without_key, as the service has it
});

test('probe prints the dialect when it can no longer write the file', async () => {
  const folder = join(temporaryFolder(), 'folder');
  mkdirSync(folder);
  const errorBody: typeof WAYS.errorBody = (status, message) => {
    rmSync(folder, { recursive: true, force: true }); // once the probe has begun
    return WAYS.errorBody(status, message);
  };
  const service = await otherService({ ...WAYS, errorBody });
  const args = ['probe', service.url, '--key-env', 'KEY', '--write', join(folder, 'real.yaml')];
  expect(await runInProcess(args, { KEY: service.key })).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('without_key: 401'),
    stderr: expect.stringContaining('real.yaml cannot be written (no such file or folder)'),
  });
});

const PAY = ['pay', '--account', '000123456789', '--ifsc', 'SBIN0000001', '--yes'];
const MADE = { status: 'success', data: { txn_id: 'T1', status: 'PENDING' } };
const UNKNOWN_600000 = '₹0 moved, and ₹600000 more may have moved';

// level pay begins after six POSTs of level refused; the status 0 is a reset
testRows<[level: string[], post: number, status: number, body: object | string, says: string[]]>([
  [['refused'], 1, 500, '', [UNKNOWN_600000, '₹600000 first  unknown: 500 without a body']],
  [['refused'], 1, 0, '', [UNKNOWN_600000, '₹600000 first  unknown: no response (…)']],
  [['refused'], 2, 504, '', [UNKNOWN_600000, '₹600000 format  unknown: 504 without a body']],
  [['refused'], 2, 302, '', [UNKNOWN_600000, '₹600000 format  unknown: 302 without a body']],
  [['refused'], 2, 202, MADE, ['₹600000 moved', '₹600000 format T1']],
  [['refused'], 1, 201, 'made', ['₹600000 moved', '₹600000 first ?']],
  [['refused'], 2, 429, '', ['₹0 moved']],
  [PAY, 7, 200, '<html>', ['₹1 moved', '₹1 payout ?']],
  [PAY, 7, 500, '', ['₹0 moved, and ₹1 more may have moved', '₹1 payout  unknown: 500 without a body']],
  [
    PAY,
    9,
    504,
    '',
    ['₹1 moved, and ₹2 more may have moved', '₹1 payout P1', '₹2 payout  unknown: 504 without a body'],
  ],
])('probe stops at what it did not expect, and says what moved and what may have', async (...row) => {
  const [level, nth, status, body, says] = row;
  let posts = 0;
  const sent: typeof WAYS.sent = (post, reply) => ((posts = post) === nth ? [status, body] : reply);
  const service = await otherService({ ...WAYS, sent, readsToSettle: 1 }); // a probe pauses before it reads again
  const args = ['probe', service.url, '--key-env', 'KEY', '--level', ...level];
  const { code, stderr } = await runInProcess(args, { KEY: service.key });
  const [, end] = /\nstopped: .*\n.* requests; ([^]*)/.exec(stderr) ?? [];
  const [moved, ...lines] = end?.trimEnd().split('\n') ?? [];
  expect({ code, posts }).toEqual({ code: 1, posts: nth });
  const shown = lines.map((line) =>
    line
      .replace(/probe-\w+-/, '')
      .replace(/\(.*\)/, '(…)')
      .trim(),
  );
  const told = says.map((line) => line.replace(/ {2}unknown.*/, '$&: look at the status of this reference'));
  expect([moved, ...shown]).toEqual(told);
});

testRows([
  [
    ['http://x', '--level', 'all'],
    "option '--level <level>' argument 'all' is invalid. Allowed choices are read, refused, pay.",
  ],
  [['ftp://x'], 'the address must begin with http:// or https://, not "ftp://x"'],
  [['http://x:99999'], 'the address must have a host, and a port of at most 65535'],
  [['http://x', '--account', '12345678'], '--account is not 9 to 18 digits'],
  [['http://x', '--ifsc', 'SBIN1000001'], '--ifsc is not an IFSC'],
  [['http://x', '--key-env', 'KEY', '--write', '/no/such.yaml'], '--write: /no/such.yaml cannot be written'],
  [['http://x'], '--key-env must name the variable that has the API key'],
  [['http://x', '--key-env', 'NOPE'], '--key-env: the variable NOPE is not set'],
  [['http://x', '--key-env', 'KEY', '--level', 'pay'], '--account and --ifsc must name who gets them'],
  [
    ['http://x', '--key-env', 'KEY', '--level', 'pay', '--account', '000123456789', '--ifsc', 'SBIN0000001'],
    'confirm with --yes',
  ],
])('probe refuses wrong flags', async (args, message) => {
  expect(await runInProcess(['probe', ...args], { KEY: 'any' })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(message),
  });
});
