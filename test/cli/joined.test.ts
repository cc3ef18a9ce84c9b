import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openJoinPoint } from '../../src/cli/join-point.ts';
import { JOIN_VARIABLE } from '../../src/client/joined-sandbox.ts';
import { hunt, startSandbox } from '../../src/index.ts';
import { readSettings } from '../../src/settings.ts';
import { runInProcess, runProgram } from '../support/program.ts';
import { isLong } from '../support/size.ts';
import { fileWith, temporaryFolder } from '../support/temporary-folder.ts';

const LIBRARY = new URL('../../dist/index.js', import.meta.url).href;

/** A test in the style of the README, without a runner. It ends without closing its sandbox, as one that is killed. */
function suite(): readonly string[] {
  const file = join(temporaryFolder(), 'suite.mjs');
  const code = `
    import { startSandbox } from '${LIBRARY}';
    const { OPTIONS = '{}', USE, SECOND, POLL } = process.env;
    const sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z', ...JSON.parse(OPTIONS) });
    const world = sandbox.world({ name: 'an order is paid once' });
    if (USE) await world.use(USE);
    const { status } = await world.pay({ client_ref_id: 'order-7', amount: 250 });
    if (status >= 500) await world.pay({ client_ref_id: 'order-7-again', amount: 250 });
    if (SECOND) await sandbox.world().pay();
    const get = { headers: { authorization: 'Bearer ' + world.apiKey } };
    const read = async () => (await fetch(world.url + '/payout/status?client_ref_id=order-7', get)).json();
    if (POLL) {
      while ((await read()).data.status === 'PENDING') await new Promise((resolve) => setTimeout(resolve, 100));
      process.exit(0);
    }
    if ((await world.clock.read()).now !== '2026-01-15T10:30:00.000Z') throw new Error('its own clock was not followed');
    process.exit(0);`;
  writeFileSync(file, code);
  return ['--', process.execPath, file];
}

const INTENT = ['--intent', 'beneficiary_account'];

test('referee judges the sandbox that a test starts itself, and says which of its options it does not follow', async () => {
  const flags = ['--scenario', 'server-error-after-commit', ...INTENT];
  const OPTIONS = JSON.stringify({ scenario: 'fails-late', openingBalance: 5000 });
  const { code, stdout, stderr } = await runInProcess(['referee', ...flags, ...suite()], { OPTIONS });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'payout-sandbox: startSandbox({ scenario }) has no effect here: the flags of referee decide\n',
  });
  expect(stdout).toMatch(/^world an order is paid once\n {2}error +paid-twice /);
  expect(stdout).toContain('order-7-again is a second payment of order-7: ₹250.00 too much');
});

const HUNT = ['--goal', 'paid-twice', '--depth', '1', '--patience', '200ms'];
const MATRIX = ['--dialects', 'none', '--scenarios', 'server-error-after-commit'];

test.each(
  isLong
    ? [
        ['hunt', HUNT, /paid ₹250.00 twice/],
        ['matrix', MATRIX, /^scenario server-error-after-commit +money/m],
      ]
    : [],
)('%s injects its failures into the sandbox that a test starts itself', async (name, flags, shown) => {
  const { code, stdout } = await runInProcess([name, ...flags, ...suite()]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(shown) });
});

test.each(isLong ? ['fails-late'] : [])(
  'a row of a matrix reaches %s in a sandbox that a test starts itself',
  async (late) => {
    const flags = ['--dialects', 'none', '--scenarios', late, '--limit', '20s'];
    const { code, stdout } = await runInProcess(['matrix', ...flags, ...suite()], {
      POLL: '1',
      OPTIONS: '{"settlement":"instant"}',
    });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/fails-late +survives .* seen in 1 response/),
    });
  },
);

test.each([
  [{ SECOND: '1' }, 'the command uses several worlds, and a hunt is about one'],
  [{ USE: 'fails-late' }, 'which replaces the failures of the hunt'],
])('hunt refuses a test with %j, in which its failures would not be met', async (variables, reason) => {
  const { code, stderr } = await runInProcess(['hunt', ...suite()], variables);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) });
});

test('a hunt whose command cannot be run ends, and leaves nothing open', async () => {
  expect(await runProgram(['hunt', '--', '/no/such/program'])).toMatchObject({
    code: 2,
    stderr: 'payout-sandbox: /no/such/program cannot be run (no such program)\n',
  });
});

test('the variable of a referee that has ended is named, and a hunt within a test has its own sandbox', async () => {
  vi.stubEnv(JOIN_VARIABLE, 'http://127.0.0.1:9');
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startSandbox()).rejects.toThrow('but no referee, hunt or matrix responds there');
  const { runs } = await hunt({ runs: 2, run: (world) => world.pay({ client_ref_id: 'order-1' }) });
  expect(runs).toBe(2);
});

/** Where sandboxes of tests are joined, and what joins one with these options. */
async function joinPoint(change: Partial<Parameters<typeof openJoinPoint>[0]> = {}) {
  const common = {
    by: 'referee',
    usual: {},
    outer: readSettings({}, {}),
    fixed: [],
    said: new Set<string>(),
  };
  const join = await openJoinPoint({ ...common, collect: async () => null, ...change });
  onTestFinished(async () => void (await join.end()));
  const address = join.variables[JOIN_VARIABLE]!;
  const start = (options = {}, folder = '.') =>
    fetch(address, { method: 'POST', body: JSON.stringify({ options, folder }) });
  return { join, address, start };
}

test('only the command itself can start and end sandboxes: others on its machine find the port, not the address', async () => {
  const { address, start } = await joinPoint();
  const { id, url } = (await (await start()).json()) as { id: number; url: string };
  const body = JSON.stringify({ options: {}, folder: '.' });
  for (const path of ['/', `/${id}`, `//${id}`])
    for (const request of [{ method: 'DELETE' }, { method: 'POST', body }])
      expect((await fetch(new URL(address).origin + path, request)).status).toBe(400);
  expect((await fetch(`${url}/_sandbox/health`)).status).toBe(200);
});

test('what a test finds wrong with world.reported fails it, and reaches the command that judges it', async () => {
  const misreported: string[] = [];
  const { address } = await joinPoint({ misreported });
  vi.stubEnv(JOIN_VARIABLE, address);
  onTestFinished(() => void vi.unstubAllEnvs());
  const world = (await startSandbox()).world();
  await world.pay({ client_ref_id: 'order-1' });
  const text = 'order-1 is PENDING (₹1,000.00) and may still be paid, but the client reports a failure';
  await expect(world.reported('order-1', 'failed')).rejects.toThrow(text);
  await world.reported('order-1', 'in-doubt');
  expect(misreported).toEqual([text]);
});

test('a relative path in the options of a test begins in the folder of the test', async () => {
  const { start } = await joinPoint();
  const folder = dirname(fileWith('mine.yaml', 'description: mine'));
  expect((await start({ scenario: './mine.yaml' }, folder)).status).toBe(200);
});

test('a sandbox that a test starts as its command ends is judged and stopped', async () => {
  const said = new Set<string>();
  const { join, start } = await joinPoint({ said, collect: async ({ url }: { url: string }) => url });
  let ended: Promise<readonly unknown[]> | undefined;
  vi.spyOn(said, 'add').mockImplementation(() => {
    ended = Promise.resolve().then(() => join.end()); // the start has just begun
    return said;
  });
  await expect(start()).rejects.toThrow('fetch failed');
  const [url] = await ended!;
  await expect(fetch(`${String(url)}/client/fetchbalance`)).rejects.toThrow('fetch failed');
  expect(url).toMatch(/^http/);
});
