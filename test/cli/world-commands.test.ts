import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { connectSandbox } from '../../src/index.ts';
import { listening } from '../support/http/raw-socket.ts';
import { runInProcess } from '../support/program.ts';
import { PAYOUT, sandboxFor } from '../support/sandbox.ts';
import { fileWith, temporaryFolder } from '../support/temporary-folder.ts';
import { testRows } from '../support/test-rows.ts';

const CLOCK = '2026-01-15T10:30:00Z'; // 16:00 in India

/** A world, and the program with its address and key. */
async function companion() {
  const { client, url } = await sandboxFor({ clock: CLOCK });
  const { apiKey, pay } = client();
  const world = connectSandbox({ url }).world(apiKey);
  const at = { SANDBOX_URL: url, SANDBOX_KEY: apiKey };
  const run = (...args: string[]) => runInProcess(args, at);
  /** Its output, when it succeeds. */
  const output = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  return { world, pay, url, apiKey, run, output };
}

test('status shows the clock in Indian time and the balance in Indian grouping', async () => {
  const { output, url } = await companion();
  const shown = await output('status');
  expect(shown).toContain(`Sandbox   ${url}\n`);
  expect(shown).toContain('Clock     2026-01-15 16:00:00 IST, frozen; nothing is scheduled\n');
  expect(shown).toContain('Balance   ₹10,00,000.00, of ₹10,00,000.00 at the start\n');
  expect(shown).toContain('Scenario  default\nPayouts   none\n');
});

test('a payout made with pay is listed, and settles when the clock is advanced', async () => {
  const { output, world } = await companion();
  const paid = await output('pay', '1500.50', '--reference', 'order-1', '--mode', 'NEFT');
  const { txn_id: txnId } = await world.payout('order-1');
  expect(paid).toBe(`200  PENDING  order-1  ₹1,500.50  ${txnId}\n`);
  expect(await output('payouts')).toBe(
    [
      `created (IST)        reference     amount  mode  state    UTR  next (IST)                   txn_id`,
      `2026-01-15 16:00:00  order-1    ₹1,500.50  NEFT  PENDING       SUCCESS 2026-01-15 16:00:20  ${txnId}`,
      '',
    ].join('\n'),
  );
  const [clock, , step] = (await output('advance', '2h')).split('\n');
  expect(clock).toBe('2026-01-15 18:00:00 IST, frozen; 1 step applied');
  expect(step).toMatch(/^2026-01-15 16:00:20 {2}order-1 {4}SUCCESS {2}\w+$/);
  expect(await output('status')).toContain('Payouts   1 SUCCESS\n');
});

test('journal prints what the library and the control API do, with what is not shown and days that change', async () => {
  const { output, world, pay } = await companion();
  await pay();
  await pay({ client_ref_id: 'two\u001b[2J', amount: 12.505 }); // refused: no rupees and paise
  expect(await output('journal')).toBe(`${await world.journalText()}\n`);
  expect(await output('journal', '--status', '400')).toMatch(
    /#2 .* two\ufffd\[2J 12\.505 IMPS → 400 .*\n1 other request not shown\n$/,
  );
  expect(await output('journal', '--status', '500')).toMatch(/^No such request in the journal/);
  await output('advance', '1d');
  await pay({ client_ref_id: 'three' });
  const days = (await output('journal')).match(/\d{4}-\d\d-\d\d(?=:?$)|#\d/gm);
  expect(days).toEqual(['2026-01-15', '#1', '#2', '2026-01-16', '#3']);
});

test('pay shows the response and the rule that was applied, and fails unless the payout is accepted', async () => {
  const { run } = await companion();
  const lost =
    '500  INTERNAL_ERROR  payout-1  Internal server error\n  rule: magic/status-500-after-commit\n';
  expect(await run('pay', '500', '--account', '9999100500')).toMatchObject({
    code: 1,
    stdout: lost,
    stderr: '',
  });
  const broken = /^the connection broke before the response \(.+\); the journal says why.*\n$/;
  expect(await run('pay', '--account', '9999000002')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(broken),
    stderr: '',
  });
  expect((await run('explain')).stdout).toMatch(/^initiate payout-2, attempt 2, /);
});

test('pay --times makes payouts one after the other, as a loop would, and fails if one is refused', async () => {
  const { run, world } = await companion();
  await world.withdraw((await world.balance()) - 2000);
  const { code, stdout } = await run('pay', '--times', '3');
  const statuses = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/).slice(0, 3).join(' '));
  expect(statuses).toEqual([
    '200 PENDING payout-1',
    '200 PENDING payout-2',
    '402 INSUFFICIENT_BALANCE payout-3',
  ]);
  expect(code).toBe(1);
});

test('times of several words need no quotes', async () => {
  const { output } = await companion();
  expect(await output('advance', '2', 'hours')).toBe('2026-01-15 18:00:00 IST, frozen; nothing was due\n');
  await output('pay', '--mode', 'NEFT');
  expect(await output('advance', 'idle')).toContain('2026-01-15 18:00:20 IST, frozen; 1 step applied\n');
});

test('times are accepted as they are printed, in IST', async () => {
  const { output, pay } = await companion();
  for (const reference of ['first', 'second', 'third']) {
    await pay({ client_ref_id: reference });
    await output('advance', '12h');
  }
  // 16:00 on the 15th, 04:00 and 16:00 on the 16th; now it is 04:00 on the 17th
  const listed = async (since: string) =>
    (await output('journal', '--since', since)).match(/(?:first|second|third)(?= )/g);
  for (const time of ['2026-01-16 04:00:00 IST', '2026-01-16', '#1'])
    expect({ time, listed: await listed(time) }).toEqual({ time, listed: ['second', 'third'] });
  expect(await output('advance', '2026-01-17 05:30')).toMatch(/^2026-01-17 05:30:00 IST, frozen; /);
});

test('a list says that there is more than --limit shows', async () => {
  const { output } = await companion();
  for (let nth = 0; nth < 3; nth += 1) await output('fund', '1');
  expect(await output('entries', '--limit', '3')).toMatch(/\nthere are older ones: --limit shows more\n$/);
});

test('amounts are accepted as they are printed', async () => {
  const { output } = await companion();
  expect(await output('fund', '₹1,00,000.00')).toBe('+₹1,00,000.00: the balance is ₹11,00,000.00\n');
  expect(await output('fund', '1,500.50', '--withdraw')).toBe('−₹1,500.50: the balance is ₹10,98,499.50\n');
  expect(await output('entries', '--txn', 'none')).toBe('this world has no such entry\n');
  expect(await output('clock', 'resume')).toContain(' IST, running; ');
  expect(await output('clock', 'freeze')).toContain(' IST, frozen; ');
  expect(await output('reset')).toContain('Balance   ₹10,00,000.00, of ');
});

test('a client reads a payout that is then forced, a held request is released, and the world gets a name', async () => {
  const { output, run, world } = await companion();
  await output('pay', '100', '--reference', 'a');
  expect(await output('force', 'a', 'FAILED')).toBe('a is FAILED: ₹100.00\n');
  expect(await output('read', 'a')).toMatch(/^200 {2}FAILED {2}a {2}₹100\.00 {2}TXN\w+\n$/);
  expect(await output('balance')).toBe('200  ₹10,00,000.00\n');
  expect(await run('force', 'a', 'SUCCESS')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^payout-sandbox: TXN\w+ is FAILED and cannot become SUCCESS: FAILED is final\n$/,
    ),
  });
  expect(await run('read', 'b')).toMatchObject({ code: 1, stdout: expect.stringMatching(/^404 /) });
  expect(await run('release')).toMatchObject({ code: 1, stdout: 'no such request is held\n' });
  await world.rule({ name: 'wait', effect: { hold: 'arrived' } });
  const held = world.pay({ client_ref_id: 'c' });
  expect(await output('held', '--count', '1')).toBe('held as 1: initiate c, arrived, by world/wait\n');
  expect(await output('release', '1')).toBe('released 1\n');
  expect(await held).toMatchObject({ status: 200 });
});

test('use chooses a scenario by name or from a file, and without an argument that of the server', async () => {
  const { output, world } = await companion();
  expect(await output('use', 'strict')).toMatch(/^strict: .+\n$/);
  const file = fileWith('mine.yaml', 'rules:\n  - name: busy\n    effect: { respond: { status: 503 } }\n');
  expect(await output('use', file)).toBe('mine (1 rule)\n');
  expect((await world.rules('scenario')).map(({ name }) => name)).toEqual(['busy']);
  const both = fileWith('both.yaml', 'rules: [{ effect: { delay: 1s } }]\noutcomes: [{ timeline: [] }]\n');
  expect(await output('use', both)).toBe('both (1 rule, 1 outcome)\n');
  expect(await output('use')).toMatch(/^default: /);
});

test('rules of a file become overrides, which are listed and removed', async () => {
  const { output, world } = await companion();
  const file = fileWith(
    'rules.yaml',
    'rules: [{ name: first, effect: { delay: 1s } }, { name: second, effect: { respond: 503 } }]\n',
  );
  expect(await output('rule', 'add', file)).toBe('added world/first\nadded world/second\n');
  expect((await world.rules('world')).map(({ name }) => name)).toEqual(['first', 'second']);
  expect(await output('scenario')).toMatch(
    /^default: .*\nrule +matched +applied +description\nworld\/first +0 +0\n/,
  );
  expect(await output('rule', 'remove', 'world/second')).toBe('world/second is removed; 1 override\n');
  expect(await output('rule', 'remove', '--all')).toBe('every override is removed; no override\n');
  expect(await world.rules('world')).toEqual([]);
});

test('explain has a line for each rule and outcome, with the reason why it applies or not', async () => {
  const { output, world } = await companion();
  const timeline = [{ to: 'SUCCESS', at: '08:30' }] as const;
  const lost = { commit: true, respond: 500 };
  await world.use({
    outcomes: [
      { name: 'neft-late', match: { transfer_mode: 'NEFT' }, timeline },
      { name: 'all-others', timeline: [] },
    ],
    rules: [{ name: 'lost', match: { route: 'initiate', attempt: 1 }, effect: lost }],
  });
  const explained = await output('explain', '--mode', 'NEFT', '--reference', 'order-1', '--attempt', '2');
  expect(explained.split('\n')).toEqual([
    'initiate order-1, attempt 2, 2026-01-15 16:00:00 IST',
    'rules',
    '    lost  attempt must be 1, and it is 2',
    '  → none: the normal response',
    'outcomes',
    '  → neft-late   is the first that matches',
    '    all-others  matches, but inline/neft-late is before it',
    'payout: SUCCESS at 08:30 IST on 2026-01-16 (planned by inline/neft-late)',
    '',
  ]);
});

test('undo takes back an advance, and asks for --force when the client has sent requests since then', async () => {
  const { output, run, world, pay } = await companion();
  expect(await run('undo')).toMatchObject({ code: 1, stderr: 'payout-sandbox: There is nothing to undo\n' });
  await output('advance', '2h');
  await pay({ client_ref_id: 'order-1' });
  const refused = await run('undo');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('#1 initiate order-1. With force, undo takes it back too');
  const done = 'took back the last action: advance, at 2026-01-15 16:00:00 IST\n';
  expect(await output('undo', '--force')).toBe(done);
  expect(await world.transactions()).toEqual([]);
});

test('status shows that the response to a payout was lost', async () => {
  const { output, pay } = await companion();
  await pay({ client_ref_id: 'told' });
  expect(await output('status')).not.toContain('At risk');
  await pay({ client_ref_id: 'lost', amount: 1500, beneficiary_account: '9999100500' });
  expect(await output('status')).toContain(
    'At risk   1 payout, ₹1,500.00: made, but the client was not told\n',
  );
});

test('snapshot save writes a world, and snapshot load brings it back', async () => {
  const { output, world } = await companion();
  const file = `${temporaryFolder()}/world.ndjson`;
  await output('pay', '1000');
  expect(await output('snapshot', 'save', file)).toBe(`${file} holds the world as it is\n`);
  await output('pay', '500');
  expect(await output('snapshot', 'load', file)).toContain('Payouts   1 PENDING\n');
  expect(await world.balance()).toBe(999_000);
});

test('a page of a proxy, and a wrong path in --url, are reported in one line with what was requested', async () => {
  const { url, run } = await companion();
  const said = async (address: string): Promise<unknown> => {
    const { code, stdout, stderr } = await run('status', '--url', address);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    return stderr;
  };
  const badGateway = createServer((_request, response) => {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
  });
  const proxy = await listening(badGateway);
  expect(await said(proxy)).toBe(
    `payout-sandbox: ${proxy}/_sandbox/world returned 502 (text/html), which is not a response of a sandbox: the address ${proxy} leads elsewhere; start one with payout-sandbox, or give the address of another with --url or SANDBOX_URL\n`,
  );
  expect(await said(`${url}/foo`)).toContain(
    `${url}/foo/_sandbox/world returned 404 (application/json), which is not a response of a sandbox: the address ${url}/foo leads elsewhere`,
  );
});

testRows<[readonly string[], RegExp]>([
  [
    ['status', '--url', 'http://127.0.0.1:9'],
    /^no sandbox responds at http:\/\/127\.0\.0\.1:9 \(.+\); start one with payout-sandbox, or give/,
  ],
  [
    ['status', '--key', 'wrong'],
    /^The API key is not accepted: use a key that begins with .*; --key or SANDBOX_KEY names another key$/,
  ],
  [['fund', 'much'], /^amount must be INR such as 1500\.50 or ₹1,500\.50, not "much"$/],
  [['rule', 'add', '/nowhere'], /^rule add: \/nowhere cannot be read \(no such file or folder\)$/],
  [['rule', 'remove'], /^rule remove takes the name of one override, or --all$/],
  [['release', '--status', '503', '--fault', 'hang'], /^release takes --status or --fault, not both$/],
  [['advance', 'tomorow'], /^time must be a duration such as 2h 30m, a time such as .*, or idle/],
  [['clock', '100000'], /^change must be freeze, resume or a speed from 0 to 86400$/],
  [['journal', '--since', '25:00'], /^since must be the id of a request or an ISO 8601 time/],
])('a wrong command is refused with exit code 2 and says why', async (args, complaint) => {
  const { run } = await companion();
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^payout-sandbox: .+\n$/s);
  expect(stderr.slice('payout-sandbox: '.length, -1)).toMatch(complaint);
});

test('a flag overrides the variable, and --url accepts the address of the dashboard', async () => {
  const { url, apiKey, pay } = await companion();
  await pay(PAYOUT);
  const other = { SANDBOX_URL: 'http://127.0.0.1:9', SANDBOX_KEY: 'sk_test_other' };
  const { stdout } = await runInProcess(['payouts', '--url', `${url}/_sandbox/`, '--key', apiKey], other);
  expect(stdout).toContain('order-1');
});

test('verdict says which settings are in force, and which findings are from before a reset', async () => {
  const { run, world, pay } = await companion();
  const verdict = async (...args: string[]) => (await run('verdict', ...args)).stdout;
  await pay({ client_ref_id: 'a' });
  expect(await verdict()).not.toContain('judged by');
  await pay({ client_ref_id: 'b' });
  const given = await verdict('--intent', 'beneficiary_account');
  expect(given).toContain('b is a second payment of a: ₹1,500.50 too much\n');
  expect(given).not.toContain('judged by');
  await world.reset();
  const kept = await verdict();
  expect(kept).toContain('b is a second payment of a: ₹1,500.50 too much (from before a reset)\n');
  expect(kept).toMatch(/\njudged by intent beneficiary_account, set earlier\n$/);
  expect(await verdict('--intent', 'beneficiary_account')).not.toContain('second payment');
});
