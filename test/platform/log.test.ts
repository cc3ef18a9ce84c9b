import { existsSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { connectSandbox } from '../../src/index.ts';
import { logOptions } from '../../src/platform/logging.ts';
import {
  ask,
  hasTerminal,
  linesOf,
  logLines,
  MAIN,
  paste,
  Program,
  runInProcess,
  serveInProcess,
  startOnTerminal,
  startProgram,
} from '../support/program.ts';
import { hasCurl } from '../support/paying-command.ts';
import { quietPort } from '../support/http/quiet-port.ts';
import { sized } from '../support/size.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { testRows } from '../support/test-rows.ts';

const KEY = 'sk_test_NobodyMaySeeThis-7351';
const OTHER_KEY = 'sk_test_NorThis-8462';
const WRONG_KEY = 'sk_live_NorThisEither-9573';

const unless = (has: boolean, what: string): string => (has ? '' : ` (skipped: no ${what} here)`);

interface Payout {
  readonly txn_id: string;
  readonly utr: string;
  readonly completed_at: string;
}

const dataOf = async (response: Response): Promise<Payout> =>
  ((await response.json()) as { readonly data: Payout }).data;

test('every request, and at debug every settlement, is logged as one line of JSON, with its payout and refusal code', async () => {
  const { stop, url } = await serveInProcess({ SANDBOX_SETTLEMENT: 'instant', SANDBOX_LOG_LEVEL: 'debug' });
  const paid = await ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'ref-1' });
  await ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'ref-1' });
  await ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'ref-2', amount: 1e10 });
  await ask(`${url}/payout/initiate`, OTHER_KEY, {
    client_ref_id: 'ref-3',
    beneficiary_ifsc: 'x',
    amount: -1,
  });
  const read = await ask(`${url}/payout/status?client_ref_id=ref-1`, KEY);
  await ask(`${url}/payout/status?client_ref_id=ref-9`, OTHER_KEY);
  await ask(`${url}/client/fetchbalance`, KEY);
  await ask(`${url}/client/fetchbalance`, WRONG_KEY);
  await ask(`${url}/elsewhere?token=${WRONG_KEY}`, KEY);
  const stdout = await stop();

  const lines = linesOf(stdout, 'request');
  const [world, otherWorld] = [lines[0]!['world'], lines[3]!['world']];
  const { txn_id: txnId } = await dataOf(paid);
  const initiate = { route: 'initiate' };
  const status = { route: 'status' };
  const balance = { route: 'balance' };
  const found = { client_ref_id: 'ref-1', txn_id: txnId };
  expect(lines.map(({ level, time, msg, request_id, duration_ms, ...rest }) => rest)).toEqual([
    { world, ...initiate, status: 200, ...found },
    { world, ...initiate, status: 200, ...found, replayed: true },
    {
      world,
      ...initiate,
      status: 402,
      code: 'INSUFFICIENT_BALANCE',
      client_ref_id: 'ref-2',
      warnings: ['amount is above INR 5,00,000, the usual limit of IMPS'],
    },
    { world: otherWorld, ...initiate, status: 400, code: 'INVALID_REQUEST', client_ref_id: 'ref-3' },
    { world, ...status, status: 200, ...found },
    { world: otherWorld, ...status, status: 404, code: expect.any(String), client_ref_id: 'ref-9' },
    { world, ...balance, status: 200 },
    { ...balance, status: 401, code: 'UNAUTHORIZED' },
    { method: 'GET', path: '/elsewhere', status: 404, code: 'ROUTE_NOT_FOUND' },
  ]);
  expect(world).toMatch(/^[0-9a-f]{8}$/);
  expect(otherWorld).toMatch(/^[0-9a-f]{8}$/);
  expect(otherWorld).not.toBe(world);
  const perLine = lines.map((line) => [line['level'], typeof line['time'], typeof line['duration_ms']]);
  expect(perLine).toEqual(lines.map(() => [30, 'number', 'number']));
  expect(new Set(lines.map((line) => line['request_id'])).size).toBe(lines.length);

  const { completed_at: at, utr } = await dataOf(read);
  const settlement = {
    level: 20,
    time: expect.any(Number),
    msg: 'settlement',
    from: 'PENDING',
    to: 'SUCCESS',
  };
  expect(linesOf(stdout, 'settlement')).toEqual([{ ...settlement, world, ...found, at, utr }]);
});

test('the trace of a request is in the log, the journal and the findings of the referee, by its traceparent', async () => {
  const { stop, url } = await serveInProcess();
  const traced = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const world = connectSandbox({ url }).world(KEY);
  await world.rule({ name: 'lost', times: 1, effect: { commit: true, respond: { status: 500 } } });
  await world.pay({ client_ref_id: 'a' }, { headers: { traceparent: traced } });
  await world.pay({ client_ref_id: 'b' }, { headers: { traceparent: 'my own' } });
  const [entry] = await world.requests();
  expect(entry!.request.headers).toMatchObject({ traceparent: traced });
  const { checks } = await world.referee({ intent: 'beneficiary_account' });
  const lines = checks.flatMap(({ findings }) => findings).flatMap((finding) => finding.lines);
  expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^#1 .*; traceparent ${traced}$`)));
  const logged = logLines(await stop()).filter(({ route }) => route === 'initiate');
  expect(logged.map(({ traceparent }) => traceparent)).toEqual([traced, undefined]); // only what is one
});

/** The line that a sandbox with these fixed keys logs. */
function logged(fields: object, apiKeys: readonly string[] = []): string {
  let line = '';
  pino(logOptions({ logLevel: 'info', apiKeys }), { write: (text) => (line = text) }).info(fields);
  return line;
}

test('the log has the message and the stack of an error, and nothing else that its maker put into it', () => {
  const error = new Error('WRONGPASS', { cause: new Error('the connection was closed') });
  Object.assign(error, { command: { name: 'auth', args: ['a-password'] } });
  const [{ err }] = logLines(logged({ err: error })) as [{ readonly err: object }];
  expect(Object.keys(err)).toEqual(['type', 'message', 'stack']);
  expect(err).toMatchObject({ message: 'WRONGPASS: the connection was closed' });
});

test('the log does not show the account of a payout, whatever became of it', async () => {
  const { stop, url } = await serveInProcess({ SANDBOX_SETTLEMENT: 'instant' });
  const secret = { beneficiary_account: '000123456789', amount: 10, remarks: 'to 000123456789' };
  expect((await ask(`${url}/payout/initiate`, KEY, secret)).status).toBe(200);
  await ask(`${url}/payout/initiate`, KEY, { ...secret, amount: 20 });
  await ask(`${url}/payout/initiate`, KEY, { ...secret, client_ref_id: 'order-2', amount: 1e10 });
  await ask(`${url}/payout/status?client_ref_id=order-1`, KEY);
  expect(await stop()).not.toMatch(/123456789|6789"/);
});

test('the ready line has the address and a key, but no secret one', async () => {
  const { ready, url } = await serveInProcess({ SANDBOX_SETTLEMENT: 'instant' });
  const msg = 'payout sandbox ready';
  expect(ready).toMatchObject({ url, msg, key: 'sk_test_demo', settlement: 'instant' });
  const secret = await serveInProcess({ SANDBOX_API_KEYS: KEY, SANDBOX_LOG_LEVEL: 'silent' });
  expect(secret.ready).toMatchObject({ url: secret.url, msg, key: '$SANDBOX_KEY' });
  expect(JSON.stringify(secret.ready)).not.toContain(KEY);
});

test('a sandbox keeps answering when its log output is closed', async () => {
  const { program, url } = await startProgram();
  program.child.stdout!.destroy();
  for (let i = 0; i < 20; i += 1) {
    expect((await ask(`${url}/payout/initiate`, KEY, { client_ref_id: `ref-${i}` })).status).toBe(200);
  }
  expect(await program.stop()).toMatchObject({ code: 0, stderr: '' });
});

test.skipIf(!existsSync('/dev/full'))(
  'a sandbox whose disk of the log is full keeps answering, and reports a state that it cannot write at the stop',
  async () => {
    const port = await quietPort();
    const folder = temporaryFolder();
    const toFullDisk = ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, MAIN];
    const SANDBOX_STATE = join(folder, 'sandbox.state');
    const program = new Program('sh', toFullDisk, { SANDBOX_PORT: String(port), SANDBOX_STATE });
    const url = `http://127.0.0.1:${port}`;
    expect(await runInProcess(['health', '--url', url, '--wait', '20s'])).toMatchObject({ code: 0 });
    expect((await ask(`${url}/payout/initiate`, KEY, {})).status).toBe(200);
    rmSync(folder, { recursive: true });
    const { code, stderr } = await program.stop();
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `payout-sandbox: the state file ${SANDBOX_STATE} cannot be written (no such file or folder)\n`,
    });
  },
);

test('all log lines are written before SIGINT ends the program with exit code 0', async () => {
  const { program, url } = await startProgram({ SANDBOX_RATE_LIMIT: 'off' });
  const references = Array.from({ length: sized(30, 300) }, (_, i) => `ref-${i}`);
  await Promise.all(
    references.map((reference) => ask(`${url}/payout/initiate`, KEY, { client_ref_id: reference })),
  );
  const { code, stdout, stderr } = await program.stop('SIGINT');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(linesOf(stdout, 'stopped')).toHaveLength(1);
  const logged = linesOf(stdout, 'request').map((line) => line['client_ref_id']);
  expect(new Set(logged)).toEqual(new Set(references));
  expect(logged).toHaveLength(references.length);
  expect(logLines(stdout).at(-1)).toMatchObject({ msg: 'stopped' });
});

const noTerminal = unless(hasTerminal, 'script of util-linux');

test.skipIf(!hasTerminal)(
  `on a terminal the welcome is one address and what to do next${noTerminal}`,
  async () => {
    const { program, url } = await startOnTerminal({ SANDBOX_SETTLEMENT: 'instant' });
    await program.says(/Next: .*\r\n/);
    await ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'ref-1' });
    await program.says(/INFO.*: 200 {2}initiate {2}ref-1/);
    program.child.stdin!.write('\u0003'); // Ctrl-C
    const { code, stdout } = await program.ended;
    expect(code).toBe(0);
    const next = 'Next: open that address in a browser, or give it to your client with the key sk_test_demo';
    expect(stdout).toContain(`\r\n  Payout sandbox ready on ${url}\r\n  ${next}\r\n\r\n`);
    expect(stdout).not.toMatch(/^\{/m);
    expect(stdout).not.toContain(KEY);
    expect(stdout).toMatch(/INFO.*: stopped/);
  },
);

test('on a terminal the welcome shows what was restored', async () => {
  const state = join(temporaryFolder(), 'sandbox.state');
  const first = await serveInProcess({ SANDBOX_STATE: state }, true);
  await ask(`${first.url}/payout/initiate`, KEY, { client_ref_id: 'kept' });
  await ask(`${first.url}/client/fetchbalance`, OTHER_KEY);
  expect(first.said).not.toContain('Restored');
  await first.stop();
  utimesSync(state, 0, Date.now() / 1000 - 7201);
  const { said } = await serveInProcess({ SANDBOX_STATE: state }, true);
  expect(said).toContain(`  Restored: 2 worlds with 1 payout, written 2 h ago, from ${state}\n`);
});

test.skipIf(!hasCurl)(`the curl command of the welcome pays${unless(hasCurl, 'curl')}`, async () => {
  const { said, url } = await serveInProcess({}, true, true);
  const [pay] = /curl .*/.exec(said)!;
  expect(JSON.parse(await paste(pay, ''))).toMatchObject({
    status: 'success',
    data: { client_ref_id: 'order-1' },
  });
  const page = await fetch(url, { headers: { accept: 'text/html,*/*' } });
  expect(await page.text()).toContain('<title>'); // the dashboard
});

test('on a terminal the welcome is shown even with a silent log, without fixed keys', async () => {
  const settings = { SANDBOX_API_KEYS: `${KEY},${OTHER_KEY}`, SANDBOX_LOG_LEVEL: 'silent' };
  const { said, stop, url } = await serveInProcess(settings, true, true);
  await ask(`${url}/client/fetchbalance`, KEY);
  expect(await stop()).toBe('');
  expect(said).toContain('Key: $SANDBOX_KEY (one of SANDBOX_API_KEYS');
  expect(said).toContain('-H "Authorization: Bearer $SANDBOX_KEY"');
  expect(said).toMatch(/Admin: .*\n\n$/);
  for (const key of [KEY, OTHER_KEY]) expect(said).not.toContain(key);
});

test('a generated admin token is shown on a terminal, and neither it nor a set one is logged', async () => {
  const shown = async () => {
    const { said, stop, url } = await serveInProcess({}, true, true);
    const token = /Admin: +(\S{16,}) /.exec(said)![1]!;
    expect((await ask(`${url}/_sandbox/worlds`, token)).status).toBe(200);
    expect(await stop()).not.toContain(token);
    return token;
  };
  expect(await shown()).not.toBe(await shown());
  const other = await serveInProcess({ SANDBOX_ADMIN_TOKEN: 'a-token-of-our-own' });
  expect((await ask(`${other.url}/_sandbox/worlds`, 'a-token-of-our-own')).status).toBe(200);
  const generated = await serveInProcess();
  expect((await other.stop()) + (await generated.stop())).not.toMatch(/a-token-of-our-own|admin_/);
});

test('a sandbox that other machines can reach says so', async () => {
  const open = { SANDBOX_HOST: '0.0.0.0' };
  const { ready, url } = await serveInProcess(open);
  expect(ready).toMatchObject({ url, listens_on: '0.0.0.0', reachable_from: 'other machines' });
  expect((await serveInProcess(open, true)).said).toContain('so other machines can reach it');
  expect((await serveInProcess({}, true)).said).not.toContain('other machines');
});

test('a control call that changes something or has a wrong key is logged, and one that only reads is not', async () => {
  const { stop, url } = await serveInProcess();
  const calls = [
    ['PUT', '/_sandbox/scenario', { use: 'happy-fast' }],
    ['GET', '/_sandbox/scenario'],
    ['POST', '/_sandbox/clock/freeze'],
    ['DELETE', '/_sandbox/requests'],
    ['GET', '/_sandbox/requests'],
  ] as const;
  for (const [method, path, body] of calls) {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }
  await ask(`${url}/_sandbox/worlds`, 'a guess');
  expect(linesOf(await stop(), 'request').map(({ method, path, status }) => [method, path, status])).toEqual([
    ['PUT', '/_sandbox/scenario', 200],
    ['POST', '/_sandbox/clock/freeze', 200],
    ['DELETE', '/_sandbox/requests', 200],
    ['GET', '/_sandbox/worlds', 401],
  ]);
});

test('the log warns of worlds that are dropped with their payouts for newer ones: of the first, the tenth and so on', async () => {
  const { stop, url } = await serveInProcess({ SANDBOX_MAX_WORLDS: '2', SANDBOX_LOG_LEVEL: 'warn' });
  const nthWorld = (nth: number): string => `sk_test_world_${nth}`;
  for (let nth = 0; nth < 4; nth += 1) await ask(`${url}/client/fetchbalance`, nthWorld(nth)); // worlds without payouts
  for (let nth = 4; nth < 18; nth += 1) await ask(`${url}/payout/initiate`, nthWorld(nth), {});
  const warnings = logLines(await stop()).filter(({ level }) => level === 40);
  expect(warnings.map(({ worlds, msg }) => [worlds, msg])).toEqual(
    [1, 10].map((worlds) => [
      worlds,
      'worlds that had been used were dropped to make room for newer ones: raise SANDBOX_MAX_WORLDS',
    ]),
  );
});

const percent = (text: string): string =>
  Array.from(text, (character) => `%${character.charCodeAt(0).toString(16)}`).join('');
const UNREADABLE = 'x'.repeat(115); // the logged path is cut off within what follows

const FIXED = {
  SANDBOX_API_KEYS: `${KEY},Red+Team_9f3c1e7a,Red`,
  SANDBOX_ADMIN_TOKEN: 'the-operators-token',
};

test.each([
  ['a fixed key', 'Red+Team_9f3c1e7a', FIXED],
  ['the admin token', 'the-operators-token', FIXED],
  ['a test key', 'sk_test_a.b~c!d', {}],
  ['a key of another service', 'sk_live_NorThisEither-9573', {}],
])('the log masks %s wherever a client puts it', async (_what, secret, settings) => {
  const { stop, url } = await serveInProcess({
    SANDBOX_LOG_LEVEL: 'trace',
    SANDBOX_SETTLEMENT: 'instant',
    ...settings,
  });
  const places = [secret, percent(secret), percent(percent(secret)), `${secret}/${percent(secret)}`];
  for (const place of places) {
    await ask(`${url}/nope/${place}`, KEY);
    await ask(`${url}/${UNREADABLE}${place}`, KEY);
    await ask(`${url}/payout/initiate?api_key=${place}`, KEY);
    await ask(`${url}/_sandbox/rules/${place}`, KEY);
    await ask(`${url}/payout/initiate`, KEY, { client_ref_id: `to ${place}` });
    await ask(`${url}/payout/status?client_ref_id=${encodeURIComponent(`to ${place}`)}`, KEY);
    for (const authorization of [`Bearer ${place}`, `bearer ${place}`, `Basic ${place}`, place]) {
      await fetch(`${url}/client/fetchbalance`, { headers: { authorization } });
      const headers = { authorization, 'content-type': 'application/json' };
      await fetch(`${url}/payout/initiate`, { method: 'POST', headers, body: '{"client_ref_id":' });
    }
    const headers = { authorization: `Bearer ${KEY}`, 'x-sandbox-world-name': `of ${place}` };
    await fetch(`${url}/client/fetchbalance`, { headers });
  }
  const stdout = await stop();
  expect(linesOf(stdout, 'settlement').length).toBeGreaterThan(0);
  expect(linesOf(stdout, 'request')).toHaveLength(places.length * (7 + 4 * 2));
  expect(linesOf(stdout, 'request').at(-1)).toHaveProperty('world_name');
  const log = decodeURIComponent(decodeURIComponent(stdout));
  expect(log).toContain('***');
  for (let length = secret.length; length > 11; length -= 1)
    expect(log).not.toContain(secret.slice(0, length));
  expect(log).not.toContain(KEY);
});

const WITH_SLASH = 'sk_live_Ab/Cd+TAIL123=';

/** With the fixed keys WITH_SLASH, Red+Team_9f3c1e7a and its beginning, Red. */
testRows<[what: string, field: 'path' | 'client_ref_id' | 'world_name', text: string, shown?: string]>([
  ['a key with a slash', 'path', `/x/${WITH_SLASH}/then`, '/x/sk_***/then'],
  ['an encoded one', 'path', `/x/${percent(WITH_SLASH)}/then`, '/x/sk_***/then'],
  ['a key that begins with another', 'path', '/nope/Red+Team_9f3c1e7a', '/nope/***'],
  ['an account', 'path', '/accounts/123456789', '/accounts/*****6789'],
  ['an encoded account', 'path', `/accounts/${percent('000123456789')}`, '/accounts/********6789'],
  ['a key with a slash', 'client_ref_id', `to ${WITH_SLASH} again`, 'to sk_*** again'],
  ['an account of twelve digits', 'client_ref_id', '000123456789', '********6789'],
  [
    'a UPI handle and an account among words',
    'client_ref_id',
    'to 9876543210@upi or 000123456789',
    'to ******3210@upi or ********6789',
  ],
  ['another long number, which is shown', 'client_ref_id', 'order-1700000000000 100%41'],
  ['control characters, which are escaped', 'client_ref_id', 'a\u0085b\u009b2Jc\u2028d\u2029e\u202ef\u007fg'],
  ['a fixed key', 'world_name', 'Red+Team_9f3c1e7a', '***'],
])('the log masks keys and accounts in what a client chooses', (_what, field, text, shown = text) => {
  const line = logged({ [field]: text }, ['Red', 'Red+Team_9f3c1e7a', WITH_SLASH]);
  expect(line).not.toMatch(/[\u007f-\u009f\u2028\u2029\u202e]/);
  expect(logLines(line)).toMatchObject([{ [field]: shown }]);
});
