import fs, { existsSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { connectSandbox } from '../../src/index.ts';
import { logOptions } from '../../src/platform/log-line.ts';
import { standardLog } from '../../src/platform/logging.ts';
import { readSettings } from '../../src/settings.ts';
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

/** What a command line prints, as JSON. */
const answerTo = async (commandLine: string, environment: Readonly<Record<string, string>> = {}) =>
  JSON.parse(await paste(commandLine, '', environment)) as unknown;

test('lines are gathered until the log is flushed, as it is once the address is logged', async () => {
  const written: string[] = [];
  const take = (_fd: number, data: Buffer, done: (error: null, length: number) => void): void => {
    written.push(String(data));
    setImmediate(done, null, data.length);
  };
  const write = vi.spyOn(fs, 'write').mockImplementation(take as never);
  const { log, end } = await standardLog(readSettings({}, {}), false);
  for (const text of ['one', 'two']) log.info(text);
  expect(written).toEqual([]);
  log.flush();
  expect(written).toEqual([expect.stringMatching(/^.*"one".*\n.*"two".*\n$/)]);
  await end();
  write.mockRestore();
});

test('every request is logged as one line of JSON with its route, status, payout and refusal code', async () => {
  const { stop, url } = await serveInProcess({ SANDBOX_SETTLEMENT: 'manual' });
  const paid = await ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'ref-1' });
  await ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'ref-1' });
  await ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'ref-2', amount: 1e10 });
  await ask(`${url}/payout/initiate`, OTHER_KEY, {
    client_ref_id: 'ref-3',
    beneficiary_ifsc: 'x',
    amount: -1,
  });
  await ask(`${url}/payout/status?client_ref_id=ref-1`, KEY);
  await ask(`${url}/payout/status?client_ref_id=ref-9`, OTHER_KEY);
  await ask(`${url}/client/fetchbalance`, KEY);
  await ask(`${url}/client/fetchbalance`, WRONG_KEY);
  await ask(`${url}/elsewhere?token=${WRONG_KEY}`, KEY);
  const stdout = await stop();

  const lines = linesOf(stdout, 'request');
  const [world, otherWorld] = [lines[0]!['world'], lines[3]!['world']];
  const { txn_id: txnId } = await dataOf(paid);
  const initiate = { method: 'POST', route: 'initiate' };
  const status = { method: 'GET', route: 'status' };
  const balance = { method: 'GET', route: 'balance' };
  const found = { client_ref_id: 'ref-1', txn_id: txnId };
  const account = { beneficiary_account: '********6789' };
  expect(lines.map(({ level, time, msg, request_id, duration_ms, ...rest }) => rest)).toEqual([
    { world, ...initiate, status: 200, ...found, ...account },
    { world, ...initiate, status: 200, ...found, ...account, replayed: true },
    {
      world,
      ...initiate,
      status: 402,
      code: 'INSUFFICIENT_BALANCE',
      client_ref_id: 'ref-2',
      ...account,
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

test('every settlement is logged as one line', async () => {
  const { stop, url } = await serveInProcess({ SANDBOX_SETTLEMENT: 'instant' });
  await ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'ref-1' });
  await ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'ref-2' });
  const reads = await Promise.all(
    ['ref-1', 'ref-2', 'ref-1'].map((reference) =>
      ask(`${url}/payout/status?client_ref_id=${reference}`, KEY),
    ),
  );
  const [first, second] = (await Promise.all(reads.map(dataOf))) as [Payout, Payout];
  const stdout = await stop();
  const [request] = linesOf(stdout, 'request');
  const settled = { level: 30, time: expect.any(Number), world: request!['world'], msg: 'settlement' };
  const move = { from: 'PENDING', to: 'SUCCESS' };
  expect(linesOf(stdout, 'settlement')).toEqual([
    {
      ...settled,
      ...move,
      client_ref_id: 'ref-1',
      txn_id: first.txn_id,
      at: first.completed_at,
      utr: first.utr,
    },
    {
      ...settled,
      ...move,
      client_ref_id: 'ref-2',
      txn_id: second.txn_id,
      at: second.completed_at,
      utr: second.utr,
    },
  ]);
});

test.each([
  ['any test key is accepted', {}],
  ['only some keys are accepted', { SANDBOX_API_KEYS: `${KEY},${OTHER_KEY}` }],
])('the log contains no key when %s', async (_when, environment) => {
  const { stop, url } = await serveInProcess({
    LOG_LEVEL: 'trace',
    SANDBOX_SETTLEMENT: 'instant',
    ...environment,
  });
  const broken = {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  };
  const others = [`Basic ${KEY}`, `Bearer ${KEY} ${KEY}`, KEY, `bearer ${KEY}`];
  const statuses = [
    (await ask(`${url}/payout/initiate`, KEY, {})).status,
    (await ask(`${url}/payout/status?client_ref_id=order-1`, KEY)).status,
    (await ask(`${url}/client/fetchbalance`, WRONG_KEY)).status,
    (await ask(`${url}/elsewhere?api_key=${KEY}`, KEY)).status,
    (await ask(`${url}/payout/initiate?api_key=${KEY}`, KEY)).status,
    (await fetch(`${url}/payout/initiate`, { ...broken, body: '{"client_ref_id":' })).status,
    ...(await Promise.all(
      others.map(async (authorization) => {
        const response = await fetch(`${url}/client/fetchbalance`, { headers: { authorization } });
        return response.status;
      }),
    )),
  ];
  expect(statuses).toEqual([200, 200, 401, 404, 405, 400, 401, 401, 401, 200]);
  const log = await stop();
  expect(linesOf(log, 'request')).toHaveLength(statuses.length);
  for (const key of [KEY, OTHER_KEY, WRONG_KEY]) expect(log).not.toContain(key);
});

test('the log has the message and the stack of an error, and nothing else that its maker put into it', () => {
  let line = '';
  const log = pino(logOptions({ logLevel: 'info' }), { write: (text) => (line = text) });
  const error = new Error('WRONGPASS', { cause: new Error('the connection was closed') });
  log.error({ err: Object.assign(error, { command: { name: 'auth', args: ['a-password'] } }) });
  const [{ err }] = logLines(line) as [{ readonly err: object }];
  expect(Object.keys(err)).toEqual(['type', 'message', 'stack']);
  expect(err).toMatchObject({ message: 'WRONGPASS: the connection was closed' });
});

test.each([
  ['000123456789', '********6789'],
  ['12345', '*2345'],
  ['1234', '****'],
  ['7', '*'],
])('the log masks the account %s as %s', async (account, shown) => {
  const { stop, url } = await serveInProcess({ SANDBOX_SETTLEMENT: 'instant' });
  const secret = { beneficiary_account: account, amount: 10, remarks: `to ${account}` };
  expect((await ask(`${url}/payout/initiate`, KEY, secret)).status).toBe(200);
  await ask(`${url}/payout/initiate`, KEY, { ...secret, amount: 20 });
  await ask(`${url}/payout/initiate`, KEY, { ...secret, client_ref_id: 'order-2', amount: 1e10 });
  await ask(`${url}/payout/status?client_ref_id=order-1`, KEY);
  const stdout = await stop();
  const values = logLines(stdout).map(({ beneficiary_account }) => beneficiary_account);
  expect(values.filter((value) => value !== undefined)).toEqual([shown, shown, shown]);
  expect(stdout).not.toContain(`"${account}"`);
  if (account.length > 4) expect(stdout).not.toContain(account);
});

test.skipIf(!hasCurl)(`the ready line has a curl command that works${unless(hasCurl, 'curl')}`, async () => {
  const { ready, url } = await serveInProcess({ SANDBOX_SETTLEMENT: 'instant' });
  expect(ready).toMatchObject({
    url,
    key: 'sk_test_demo',
    settlement: 'instant',
    msg: 'payout sandbox ready',
  });
  expect(await answerTo(String(ready['try']))).toMatchObject({
    status: 'success',
    data: { balance: 1_000_000 },
  });
});

test.skipIf(!hasCurl)(
  `the curl command of the ready line reads a secret key from the shell${unless(hasCurl, 'curl')}`,
  async () => {
    const { ready } = await serveInProcess({ SANDBOX_API_KEYS: KEY });
    const curl = JSON.stringify(ready['try']).slice(1, -1); // as in the log
    expect(curl).toContain('$SANDBOX_KEY');
    expect(await answerTo(curl, { SANDBOX_KEY: KEY })).toMatchObject({ status: 'success' });
  },
);

test('a sandbox keeps answering when its log output is closed', async () => {
  const { program, url } = await startProgram();
  program.child.stdout!.destroy();
  for (let i = 0; i < 20; i += 1) {
    expect((await ask(`${url}/payout/initiate`, KEY, { client_ref_id: `ref-${i}` })).status).toBe(200);
  }
  expect(await program.stop()).toMatchObject({ code: 0, stderr: '' });
});

test.skipIf(!existsSync('/dev/full'))(
  'a sandbox keeps answering when the disk of its log is full',
  async () => {
    const port = await quietPort();
    const toFullDisk = ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, MAIN];
    const program = new Program('sh', toFullDisk, { PORT: String(port) });
    const url = `http://127.0.0.1:${port}`;
    expect(await runInProcess(['health', '--url', url, '--wait', '20s'])).toMatchObject({ code: 0 });
    expect((await ask(`${url}/payout/initiate`, KEY, {})).status).toBe(200);
    expect(await program.stop()).toMatchObject({ code: 0, stderr: '' });
  },
);

test.skipIf(!existsSync('/dev/full'))(
  'a sandbox whose state cannot be written at the stop ends although the disk of its log is full',
  async () => {
    const port = await quietPort();
    const folder = temporaryFolder();
    const toFullDisk = ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, MAIN];
    const SANDBOX_STATE = join(folder, 'sandbox.state');
    const program = new Program('sh', toFullDisk, { PORT: String(port), SANDBOX_STATE });
    const url = `http://127.0.0.1:${port}`;
    expect(await runInProcess(['health', '--url', url, '--wait', '20s'])).toMatchObject({ code: 0 });
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
  `on a terminal the welcome shows the address, the key and curl commands${noTerminal}`,
  async () => {
    const { program, url } = await startOnTerminal({ SANDBOX_SETTLEMENT: 'instant' });
    await program.says(/Wallet: .*\r\n/);
    await ask(`${url}/payout/initiate`, KEY, { client_ref_id: 'ref-1' });
    await program.says(/INFO.*: 200 {2}initiate {2}ref-1/);
    program.child.stdin!.write('\u0003'); // Ctrl-C
    const { code, stdout } = await program.ended;
    expect(code).toBe(0);
    expect(stdout).toContain(`Payout sandbox ready on ${url}\r\n`);
    expect(stdout).toContain('Key: sk_test_demo (any key that begins with sk_test_');
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

test.skipIf(!hasCurl)(`the curl commands of the welcome work${unless(hasCurl, 'curl')}`, async () => {
  const { said } = await serveInProcess({ SANDBOX_SETTLEMENT: 'instant' }, true);
  const [pay, watch, wallet, steer] = [...said.matchAll(/curl .*/g)].map(([curl]) => curl) as [
    string,
    string,
    string,
    string,
  ];
  expect(await answerTo(pay)).toMatchObject({ status: 'success', data: { client_ref_id: 'order-1' } });
  expect(await answerTo(watch)).toMatchObject({ data: { status: 'SUCCESS', utr: expect.any(String) } });
  expect(await answerTo(wallet)).toMatchObject({ data: { balance: 998_499.5 } });
  expect(await answerTo(steer)).toMatchObject({ transactions: { SUCCESS: 1 }, invariants: 'hold' });
  const [page] = /http\S+\/_sandbox\/(?=\n)/.exec(said)!;
  expect(await (await fetch(page)).text()).toContain('<title>');
});

test('on a terminal the welcome does not show fixed keys', async () => {
  const { said } = await serveInProcess({ SANDBOX_API_KEYS: `${KEY},${OTHER_KEY}` }, true);
  expect(said).toContain('Key: $SANDBOX_KEY (one of SANDBOX_API_KEYS');
  expect(said).toContain('-H "Authorization: Bearer $SANDBOX_KEY"');
  for (const key of [KEY, OTHER_KEY]) expect(said).not.toContain(key);
});

test('on a terminal the welcome is shown even with a silent log', async () => {
  const { said, stop, url } = await serveInProcess({ LOG_LEVEL: 'silent' }, true);
  await ask(`${url}/client/fetchbalance`, KEY);
  expect([said, await stop()]).toEqual([expect.stringMatching(/Admin: .*\n\n$/), '']);
});

test('the ready line has the scenario, the settlement and the port at every log level', async () => {
  const { ready } = await serveInProcess({ SANDBOX_SCENARIO: 'happy-fast', LOG_LEVEL: 'silent' });
  expect(ready).toMatchObject({ scenario: 'happy-fast', msg: 'payout sandbox ready' });
  expect(ready['settlement']).not.toBe('demo');
});

test('a generated admin token is logged once, at the start, and a set one never', async () => {
  const one = await serveInProcess();
  const token = String(one.ready['admin_token']);
  expect(token).toMatch(/^[\x21-\x7e]{16,}$/);
  expect((await ask(`${one.url}/_sandbox/worlds`, token)).status).toBe(200);
  expect((await one.stop()).split(token)).toHaveLength(2);
  const other = await serveInProcess({ SANDBOX_ADMIN_TOKEN: 'a-token-of-our-own' });
  expect((await ask(`${other.url}/_sandbox/worlds`, 'a-token-of-our-own')).status).toBe(200);
  expect(await other.stop()).not.toMatch(/a-token-of-our-own|admin_/);
  expect(token).not.toBe((await serveInProcess()).ready['admin_token']);
});

test('a control call that changes something is logged, and one that only reads is not', async () => {
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
  expect(linesOf(await stop(), 'request').map(({ method, path, status }) => [method, path, status])).toEqual([
    ['PUT', '/_sandbox/scenario', 200],
    ['POST', '/_sandbox/clock/freeze', 200],
    ['DELETE', '/_sandbox/requests', 200],
  ]);
});

test('the log warns of worlds that are dropped with their payouts for newer ones: of the first, the tenth and so on', async () => {
  const { stop, url } = await serveInProcess({ SANDBOX_MAX_WORLDS: '2', LOG_LEVEL: 'warn' });
  const nthWorld = (nth: number): string => `sk_test_world_${nth}`;
  for (let nth = 0; nth < 4; nth += 1) await ask(`${url}/client/fetchbalance`, nthWorld(nth)); // worlds without payouts
  for (let nth = 4; nth < 18; nth += 1) await ask(`${url}/payout/initiate`, nthWorld(nth), {});
  const warnings = logLines(await stop()).filter(({ level }) => level === 40);
  expect(warnings.map(({ worlds, msg }) => [worlds, msg])).toEqual(
    [1, 10].map((worlds) => [
      worlds,
      'worlds with payouts were dropped to make room for newer ones: raise SANDBOX_MAX_WORLDS',
    ]),
  );
});

const percent = (text: string): string =>
  Array.from(text, (character) => `%${character.charCodeAt(0).toString(16)}`).join('');
const UNREADABLE = 'x'.repeat(115); // the logged path is cut off within what follows

test.each([
  ['a fixed key', 'Red+Team_9f3c1e7a'],
  ['the admin token', 'the-operators-token'],
  ['a test key', 'sk_test_a.b~c!d'],
])('the log masks %s wherever a client puts it', async (_what, secret) => {
  const { stop, url } = await serveInProcess({
    LOG_LEVEL: 'trace',
    SANDBOX_API_KEYS: `${KEY},Red+Team_9f3c1e7a,Red`,
    SANDBOX_ADMIN_TOKEN: 'the-operators-token',
    SANDBOX_SETTLEMENT: 'instant',
  });
  const places = [secret, percent(secret), percent(percent(secret)), `${secret}/${percent(secret)}`];
  for (const place of places) {
    await ask(`${url}/nope/${place}`, KEY);
    await ask(`${url}/${UNREADABLE}${place}`, KEY);
    await ask(`${url}/_sandbox/rules/${place}`, KEY);
    await ask(`${url}/payout/initiate`, KEY, { client_ref_id: `to ${place}` });
    await ask(`${url}/payout/status?client_ref_id=${encodeURIComponent(`to ${place}`)}`, KEY);
  }
  const stdout = await stop();
  expect(linesOf(stdout, 'settlement').length).toBeGreaterThan(0);
  const log = decodeURIComponent(decodeURIComponent(stdout));
  expect(log).toContain('***');
  for (let length = secret.length; length > 11; length -= 1)
    expect(log).not.toContain(secret.slice(0, length));
});

const WITH_SLASH = 'sk_live_Ab/Cd+TAIL123=';

test.each([
  ['a fixed key', WITH_SLASH],
  ['a fixed key of which one character is encoded', WITH_SLASH.replace('+', '%2B')],
  ['a fixed key that is encoded', percent(WITH_SLASH)],
  ['a longer one than the fixed key', `${WITH_SLASH}TAIL4`],
])('the log masks the whole of a key with a slash: %s', async (_what, key) => {
  const { stop, url } = await serveInProcess({ SANDBOX_API_KEYS: WITH_SLASH });
  await ask(`${url}/x/${key}/then`, WITH_SLASH);
  await ask(`${url}/payout/initiate`, WITH_SLASH, { client_ref_id: `to ${key} again` });
  const stdout = await stop();
  expect(linesOf(stdout, 'request')).toMatchObject([
    { path: '/x/sk_***/then' },
    { client_ref_id: 'to sk_*** again' },
  ]);
});

test('the log masks keys and accounts in the name that a client gives its world', async () => {
  const { stop, url } = await serveInProcess({ SANDBOX_API_KEYS: `${KEY},Red+Team_9f3c1e7a` });
  for (const name of [`of ${KEY}`, 'Red+Team_9f3c1e7a', percent(KEY), '000123456789']) {
    const headers = { authorization: `Bearer ${KEY}`, 'x-sandbox-world-name': name };
    await fetch(`${url}/client/fetchbalance`, { headers });
  }
  const names = linesOf(await stop(), 'request').map((line) => line['world_name']);
  expect(names).toEqual(['of sk_***', '***', 'sk_***', '********6789']);
});

test('the log masks the whole of a key that begins with another one', async () => {
  const { stop, url } = await serveInProcess({ SANDBOX_API_KEYS: 'Red,Red+Team_9f3c1e7a' });
  await ask(`${url}/nope/Red+Team_9f3c1e7a`, 'Red');
  expect(linesOf(await stop(), 'request')[0]).toMatchObject({ path: '/nope/***' });
});

test.each(['123456789', '000123456789'])(
  'the log masks the account %s in a path and as a reference',
  async (account) => {
    const { stop, url } = await serveInProcess({ SANDBOX_SETTLEMENT: 'instant' });
    await ask(`${url}/accounts/${account}`, KEY);
    await ask(`${url}/accounts/${percent(account)}`, KEY);
    await ask(`${url}/payout/initiate`, KEY, { client_ref_id: account, beneficiary_account: account });
    await ask(`${url}/payout/status?client_ref_id=${account}`, KEY);
    const stdout = await stop();
    expect(linesOf(stdout, 'settlement')).toHaveLength(1);
    expect(decodeURIComponent(stdout)).not.toContain(account);
    expect(linesOf(stdout, 'request').map((line) => line['path'] ?? line['client_ref_id'])).toEqual([
      ...Array.from({ length: 2 }, () => `/accounts/${'*'.repeat(account.length - 4)}6789`),
      ...Array.from({ length: 2 }, () => `${'*'.repeat(account.length - 4)}6789`),
    ]);
  },
);

test.each([
  ['shows a long number unchanged', 'order-1700000000000 100%41'],
  ['masks the whole of any key with a slash', 'to sk_test_Ab/Cd+TAIL123= again', 'to sk_*** again'],
  [
    'escapes control characters, line separators and direction marks',
    'a\u0085b\u009b2Jc\u2028d\u2029e\u202ef\u007fg',
  ],
])('in a reference, the log %s', async (_what, reference, shown = reference) => {
  const { stop, url } = await serveInProcess();
  await ask(`${url}/payout/initiate`, KEY, { client_ref_id: reference });
  const stdout = await stop();
  expect(stdout).not.toMatch(/[\u007f-\u009f\u2028\u2029\u202e]/);
  expect(linesOf(stdout, 'request')[0]).toMatchObject({ client_ref_id: shown });
});
