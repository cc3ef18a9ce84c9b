import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox, type SettingsInput, type World } from '../../src/index.ts';
import { ManualClock } from '../support/world/manual-clock.ts';
import {
  ask as askProgram,
  hasTerminal,
  linesOf,
  MAIN,
  Program,
  runInProcess,
  serveInProcess,
  startOnTerminal,
  startProgram,
} from '../support/program.ts';
import { clientOf, sandboxFor, type Client } from '../support/sandbox.ts';
import { futureIn } from '../support/world/snapshot-lines.ts';
import { fileWith, keptWorlds, temporaryFolder } from '../support/temporary-folder.ts';
import { serverFor } from '../support/server.ts';
import { isLong } from '../support/size.ts';
import { testRows } from '../support/test-rows.ts';

const START = '2026-01-15T10:30:00.000Z';
const KEY = 'sk_test_of_the_state_file';

/** Starts a sandbox, runs `act` in one world, and closes the sandbox. */
async function during<T>(options: SettingsInput, act: (client: Client) => Promise<T>): Promise<T> {
  const sandbox = await startSandbox({ rateLimit: 'off', ...options });
  try {
    return await act(clientOf(sandbox.world(KEY)));
  } finally {
    await sandbox.close();
  }
}

/** Everything that can be read of a world except its journal, which is not saved. */
const stateOf = async (world: World) => [
  futureIn(await world.snapshot()),
  await world.transactions(),
  await world.entries(),
  await world.scenario(),
  await world.clock.read(),
];

/** Gives a world one of each kind of record. */
async function fillWorld({ world, pay, status, clock }: Client): Promise<void> {
  const refuse = { effect: { respond: { status: 500 } }, match: { client_ref_id: 'refused' }, times: 3 };
  await world.rule({ name: 'refuse', ...refuse });
  await world.use({
    description: 'kept with the world',
    wallet: { opening_balance: 5000 },
    settlement: {
      IMPS: [
        { to: 'SUCCESS', after: '1h' },
        { to: 'REVERSED', after: '3d' },
      ],
      UPI: [{ to: 'SUCCESS', polls: 2 }],
      NEFT: [{ to: 'FAILED', after: '1m' }],
    },
    dialect: { client_ref_id: { same_body: 'stored' } },
  });
  for (const transfer_mode of ['IMPS', 'UPI', 'NEFT'])
    await pay({ client_ref_id: transfer_mode, transfer_mode, amount: 100 });
  await pay({ client_ref_id: 'refused', amount: 1 });
  await pay({ client_ref_id: 'too-much', amount: 9000 });
  await status({ client_ref_id: 'UPI' });
  await world.fund(0.5);
  await clock.advance('2h');
}

test('a restart restores every world, with its planned steps, from a file without keys that only its owner may read', async () => {
  const state = join(temporaryFolder(), 'sandbox.state');
  const [before, id] = await during({ state, clock: START }, async (client) => {
    await fillWorld(client);
    return [await stateOf(client.world), (await client.world.summary()).id];
  });
  const text = readFileSync(state, 'utf8');
  expect(text).not.toContain(KEY);
  expect(text.replaceAll('"authorization":"***"', '')).not.toMatch(/sk_test|bearer|authorization/i);
  expect(keptWorlds(state)).toMatchObject([{ id }]);
  if (process.platform !== 'win32') expect(statSync(state).mode & 0o777).toBe(0o600);
  await during({ state }, async (client) => {
    const { world } = client;
    expect(await stateOf(world)).toEqual(before);
    expect(await world.summary()).toMatchObject({ balance: 4800.5, invariants: 'hold' });
    expect((await client.status({ client_ref_id: 'UPI' })).body.data.status).toBe('SUCCESS');
    expect(await world.clock.advance('idle')).toMatchObject({
      now: '2026-01-18T10:30:00.000Z',
      changes: [{ client_ref_id: 'IMPS', to: 'REVERSED', at: '2026-01-18T10:30:00.000Z' }],
    });
    expect(await world.balance()).toBe(4900.5);
    const answers = [];
    for (let nth = 0; nth < 3; nth += 1)
      answers.push((await client.pay({ client_ref_id: 'refused', amount: 1 })).status);
    expect(answers).toEqual([500, 500, 500]); // the last is the first response again: the rule applies 3 times
    expect((await client.pay({ client_ref_id: 'too-much', amount: 9000 })).status).toBe(402);
  });
});

test.each<[string, SettingsInput, RegExp]>([
  ['transactions', { maxTransactions: 1 }, /cannot be used: world .*SANDBOX_MAX_TRANSACTIONS/],
  ['worlds', { maxWorlds: 1 }, /cannot be used: it has 2 worlds, and SANDBOX_MAX_WORLDS is 1/],
])('a state file with more %s than the limit is refused whole', async (_what, limit, message) => {
  const state = join(temporaryFolder(), 'sandbox.state');
  await during({ state }, async ({ pay, url }) => {
    for (const client_ref_id of ['a', 'b']) await pay({ client_ref_id, amount: 1 });
    await askProgram(`${url}/client/fetchbalance`, `${KEY}_of_another_world`);
  });
  const before = readFileSync(state);
  await expect(startSandbox({ state, ...limit })).rejects.toThrow(message);
  expect(readFileSync(state)).toEqual(before);
});

test('a full sandbox starts again from its state', async () => {
  const settings = { state: join(temporaryFolder(), 'sandbox.state'), clock: START, maxTransactions: 8 };
  const before = await during(settings, async ({ world, pay }) => {
    for (let nth = 0; (await pay({ client_ref_id: `p${nth}`, amount: 1 })).status === 200; nth += 1);
    return stateOf(world);
  });
  await during(settings, async ({ world, pay }) => {
    expect(await stateOf(world)).toEqual(before);
    expect(await pay({ client_ref_id: 'more' })).toMatchObject({ body: { code: 'SANDBOX_FULL' } });
  });
});

test('SIGTERM writes the state, and the next start restores it; both are logged', async () => {
  const state = join(temporaryFolder(), 'sandbox.state');
  const first = await startProgram({ SANDBOX_STATE: state });
  await askProgram(`${first.url}/payout/initiate`, KEY, { client_ref_id: 'kept' });
  const ended = await first.program.stop('SIGTERM');
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(linesOf(ended.stdout, 'state written')).toMatchObject([{ file: state, worlds: 1 }]);
  const again = await serveInProcess({ SANDBOX_STATE: state, SANDBOX_SCENARIO: 'happy-fast' });
  expect((await askProgram(`${again.url}/payout/status?client_ref_id=kept`, KEY)).status).toBe(200);
  expect(again.ready).toMatchObject({
    restored: 1,
    restored_payouts: 1,
    restored_from: state,
    restored_age_s: expect.any(Number),
    msg: 'payout sandbox ready',
  });
});

test.skipIf(!hasTerminal)('closing the terminal that a sandbox runs on writes its state', async () => {
  const state = join(temporaryFolder(), 'sandbox.state');
  const { program, url } = await startOnTerminal({ SANDBOX_STATE: state });
  await askProgram(`${url}/client/fetchbalance`, KEY);
  program.child.kill('SIGKILL'); // that of `script`, with which the terminal ends
  await expect.poll(() => existsSync(state)).toBe(true);
});

/** A sandbox that writes its state every 30 s of a clock that only the test moves. */
async function keptEvery30s() {
  const state = join(temporaryFolder(), 'sandbox.state');
  const wallClock = new ManualClock();
  const server = await serverFor({ state, stateEvery: '30s' }, wallClock);
  const pay = () => askProgram(`${server.url}/payout/initiate`, KEY, { client_ref_id: 'kept', amount: 1 });
  return { ...server, state, wallClock, pay, payouts: () => keptWorlds(state)?.[0]?.payouts.length };
}

test('the state is written at each interval with requests, and when the sandbox stops', async () => {
  const { state, wallClock, logged, pay, payouts, close } = await keptEvery30s();
  const written = () => logged.filter(({ msg }) => msg === 'state written').length;
  await pay();
  await wallClock.pass(29_999);
  expect(readdirSync(join(state, '..'))).toEqual(['sandbox.state.lock1']);
  await wallClock.pass(1);
  await expect.poll(written).toBe(1);
  expect(payouts()).toBe(1);
  await expect.poll(() => wallClock.pass(30_000).then(() => wallClock.timers)).toBeGreaterThan(1);
  await close();
  expect(written()).toBe(2); // no request came after the first
});

test('a failed write of the state is repeated at the next interval, without another request', async () => {
  const { state, wallClock, logged, pay, payouts } = await keptEvery30s();
  mkdirSync(state);
  await pay();
  await wallClock.pass(30_000);
  const failed = expect.objectContaining({ msg: expect.stringContaining('the state could not be written') });
  await expect.poll(() => logged).toContainEqual(failed);
  expect(readdirSync(join(state, '..')).toSorted()).toEqual(['sandbox.state', 'sandbox.state.lock1']);
  rmdirSync(state);
  await expect.poll(() => wallClock.pass(30_000).then(payouts)).toBe(1);
});

test('a state that does not fit on the disk does not replace the last good one', async () => {
  const folder = temporaryFolder();
  const state = join(folder, 'sandbox.state');
  await during({ state }, ({ pay }) => pay());
  const before = readFileSync(state);
  const limited = ['-c', 'ulimit -f 1 && exec "$@"', 'sh', process.execPath, MAIN]; // 512 bytes
  const program = new Program('sh', limited, { SANDBOX_STATE: state });
  const { url } = JSON.parse(await program.says(/.*payout sandbox ready.*\n/)) as { url: string };
  await askProgram(`${url}/client/fetchbalance`, KEY);
  const { code, stderr } = await program.stop();
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/cannot be written \(EFBIG\)\n$/),
  });
  expect(readFileSync(state)).toEqual(before);
  expect(readdirSync(folder)).toEqual(['sandbox.state']);
});

test('a second sandbox with the same state file is refused, also by another path, until the first is gone', async () => {
  const folder = temporaryFolder();
  const state = join(folder, 'sandbox.state');
  const link = join(temporaryFolder(), 'link.state');
  symlinkSync(state, link);
  const { program, url } = await startProgram({ SANDBOX_STATE: state, SANDBOX_STATE_EVERY: '1ms' });
  await askProgram(`${url}/payout/initiate`, KEY, { client_ref_id: 'one', amount: 1 });
  await expect.poll(() => keptWorlds(state)?.[0]?.payouts.length).toBe(1);
  for (const path of [state, link]) {
    await expect(startSandbox({ state: path })).rejects.toThrow(
      `the state file ${path} is used by another sandbox`,
    );
  }
  await program.stop('SIGKILL'); // a start ignores what is left of it
  await during({ state: link }, async ({ pay }) => void (await pay({ client_ref_id: 'two' })));
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(keptWorlds(state)?.[0]?.payouts).toHaveLength(2);
  expect(readdirSync(folder)).toEqual(['sandbox.state']);
});

testRows<[where: string, folder: string]>([
  ['anywhere', ''],
  ['in a folder whose name is too long for a socket', 'long'.repeat(25)],
])('of two sandboxes that start at once with the same state file, one is refused', async (_where, name) => {
  const folder = join(temporaryFolder(), name);
  mkdirSync(folder, { recursive: true });
  const options = { state: join(folder, 'sandbox.state') };
  const starts = await Promise.allSettled([startSandbox(options), startSandbox(options)]);
  for (const start of starts) if (start.status === 'fulfilled') await start.value.close();
  expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(readdirSync(folder)).toEqual(['sandbox.state']);
});

test('a start and a write remove the unfinished file, and never follow a link in its place', async () => {
  const [outside, folder] = [fileWith('outside', 'untouched'), temporaryFolder()];
  const [state, unfinished] = [join(folder, 'sandbox.state'), join(folder, 'sandbox.state.tmp')];
  writeFileSync(unfinished, '{');
  const { stop } = await serveInProcess({ SANDBOX_STATE: state });
  expect(readdirSync(folder)).toEqual(['sandbox.state.lock1']);
  symlinkSync(outside, unfinished);
  await stop();
  expect(readdirSync(folder)).toEqual(['sandbox.state']);
  expect(lstatSync(state).isFile()).toBe(true);
  expect(readFileSync(outside, 'utf8')).toBe('untouched');
});

/** What a state file is, and why it cannot be used. */
testRows<[name: string, why: string, prepare?: (file: string) => unknown]>([
  ['nowhere/sandbox.state', 'written (no such file or folder)'],
  [
    'file/sandbox.state',
    'written (part of its path is not a folder)',
    (file) => writeFileSync(dirname(file), ''),
  ],
  ['folder.state', 'read (it is a folder)', (file) => mkdirSync(file)],
  ['pipe.state', 'read (it is a pipe)', (file) => spawnSync('mkfifo', [file])],
  [`${'long'.repeat(62)}.state`, 'written (its name is too long)'], // that of the unfinished file is longer
])(
  'a state file that cannot be used ends the program with exit code 2 and one line',
  async (name, why, prepare) => {
    const file = join(temporaryFolder(), name);
    prepare?.(file);
    const { code, stdout, stderr } = await runInProcess(['--state', file]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.split('\n')).toEqual([expect.stringContaining(`state file ${file} cannot be ${why}`), '']);
  },
);

testRows<[what: string, damage: (text: string) => string, why: RegExp]>([
  ['empty', () => '', /is empty/],
  ['a text', () => 'hello\nworld\n', /is neither a snapshot/],
  [
    'of another version',
    (text) => text.replace('"version":6', '"version":2'),
    /has version 2; this sandbox reads version 6/,
  ],
  [
    'damaged in its last world',
    (text) => text.replace(/(.*)"opening"/s, '$1"credit"'),
    / cannot be used: This snapshot is damaged at line \d+: its checksum is that of another text\. /,
  ],
  [
    'cut off',
    (text) => text.slice(0, text.lastIndexOf('{"end"')),
    / cannot be used: This snapshot ends too early\. /,
  ],
])('a state file that is %s stops the program, and is not changed', async (_what, damage, why) => {
  const file = join(temporaryFolder(), 'sandbox.state');
  await during({ state: file }, async ({ pay, url }) => {
    await pay();
    await askProgram(`${url}/client/fetchbalance`, `${KEY}_of_another_world`);
  });
  const damaged = damage(readFileSync(file, 'utf8'));
  writeFileSync(file, damaged);
  const { code, stdout, stderr } = await runInProcess(['--state', file]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(
    /: the state file \S+sandbox\.state [^\n]+\. Move it away to start without its worlds\n$/,
  );
  expect(stderr).toMatch(why);
  expect(readFileSync(file, 'utf8')).toBe(damaged);
  expect(readdirSync(dirname(file))).toEqual(['sandbox.state']);
});

/** Not every machine lets a test mount a file, so only the long form has this one. */
const CANNOT_MOUNT = isLong && spawnSync('unshare', ['-rm', 'true']).status !== 0;

test.skipIf(CANNOT_MOUNT).each(isLong ? ['mounted by itself'] : [])(
  'a state file that is %s is refused, since it cannot be replaced (skipped where unshare cannot mount)',
  async () => {
    const folder = temporaryFolder();
    const [outside, file] = [join(folder, 'outside'), join(folder, 'sandbox.state')];
    await during({ state: outside }, ({ pay }) => pay());
    writeFileSync(file, '');
    const script = 'mount --bind "$1" "$2" && exec "$3" "$4" --port 0 --state "$2"';
    const args = ['-rm', 'sh', '-c', script, 'sh', outside, file, process.execPath, MAIN];
    expect(await new Program('unshare', args, {}).ended).toMatchObject({
      code: 2,
      stderr: `payout-sandbox: the state file ${file} is a mount and cannot be replaced: mount its folder\n`,
    });
  },
);

test('a start on a port that is taken lets go of its state file', async () => {
  const file = join(temporaryFolder(), 'state.ndjson');
  const { url } = await sandboxFor({});
  const taken = { port: Number(new URL(url).port), state: file };
  await expect(startSandbox(taken)).rejects.toThrow('EADDRINUSE');
  expect(await during({ state: file }, async ({ pay }) => (await pay()).status)).toBe(200);
});
