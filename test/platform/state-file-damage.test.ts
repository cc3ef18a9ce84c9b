import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { connectSandbox, startSandbox } from '../../src/index.ts';
import { linesOf, runInProcess, serveInProcess } from '../support/program.ts';
import { clientOf } from '../support/sandbox.ts';
import { fileWith, keptWorlds } from '../support/temporary-folder.ts';

const KEYS = ['sk_test_one', 'sk_test_other'];

/** A state file of two worlds with payouts, a rule and a scenario. */
let whole: Buffer;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-state-'));
  const state = join(folder, 'sandbox.state');
  const sandbox = await startSandbox({ state, magic: 'off', clock: '2026-01-15T10:30:00Z' });
  for (const key of KEYS) {
    const { world, pay, clock } = clientOf(sandbox.world(key));
    await world.use({ settlement: { IMPS: [{ to: 'REVERSED', after: '3d' }] } });
    await world.rule({ name: 'late', match: { route: 'status' }, effect: { delay: '1ms' } });
    for (const client_ref_id of ['a', 'b']) await pay({ client_ref_id });
    await clock.advance('1h');
  }
  await sandbox.close();
  whole = readFileSync(state);
  rmSync(folder, { recursive: true });
});

const lines = (): string[] => whole.toString().trimEnd().split('\n');

test.each<[string, () => string, RegExp]>([
  ['empty', () => '', /is empty/],
  ['a text', () => 'hello\nworld\n', /is neither a snapshot/],
  [
    'of another version',
    () => whole.toString().replace('"version":6', '"version":2'),
    /has version 2; this sandbox reads version 6/,
  ],
])(
  'a state file that is %s stops the program with exit code 2 and one line, and is not changed',
  async (_what, make, message) => {
    const file = fileWith('sandbox.state', make());
    const { code, stdout, stderr } = await runInProcess([], { SANDBOX_STATE: file });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^payout-sandbox: the state file \S+sandbox\.state [^\n]+\. Move it away to start without its worlds\n$/,
    );
    expect(stderr).toMatch(message);
    expect(readFileSync(file, 'utf8')).toBe(make());
    expect(readdirSync(dirname(file))).toEqual(['sandbox.state']);
  },
);

/** The file with a changed amount in its first world. */
const withDamage = (): string => whole.toString().replace('"amountPaise":-150050', '"amountPaise":-150051');

test.each<[what: string, lost: 0 | 1, make: () => string, reasons: readonly RegExp[]]>([
  ['was changed', 0, withDamage, [/do not explain the balance|its checksum is that of another text/]],
  [
    'is cut off, as the file then is',
    1,
    () => lines().slice(0, -3).join('\n'),
    [/^This snapshot ends too early$/, /^This snapshot ends too early$/],
  ],
])(
  'when a world in a state file %s, only that world is lost, and a copy of the file is kept',
  async (_what, lost, make, reasons) => {
    const file = fileWith('sandbox.state', make());
    const { stop, url, ready } = await serveInProcess({ SANDBOX_STATE: file });
    expect(ready).toMatchObject({ restored: 1, restored_payouts: 2 });
    const copy = join(dirname(file), copiesOf(file)[0]!);
    expect(readFileSync(copy, 'utf8')).toBe(make());
    const restored = KEYS.map((key) => connectSandbox({ url }).world(key).transactions());
    const counts = (await Promise.all(restored)).map((payouts) => payouts.length);
    expect(counts).toEqual(lost === 0 ? [0, 2] : [2, 0]);
    const [ofWorld, ...others] = linesOf(await stop(), 'damaged state not restored');
    expect([ofWorld, ...others]).toMatchObject(
      reasons.map((reason) => ({ level: 40, reason: expect.stringMatching(reason), copy })),
    );
    expect(ofWorld).toMatchObject({ world: keptIds()[lost]!.slice(0, 8) });
    for (const other of others) expect(other).not.toHaveProperty('world');
    const written = keptWorlds(file)!.map(({ id, payouts }) => [id, payouts.length]);
    expect(written).toHaveLength(2);
    expect(written).toEqual(expect.arrayContaining(keptIds().map((id, nth) => [id, counts[nth]])));
  },
);

test('a damaged state file that is read twice is copied once', async () => {
  const file = fileWith('sandbox.state', '');
  for (let start = 0; start < 2; start += 1) {
    writeFileSync(file, withDamage());
    utimesSync(file, 1, 1); // as it is after a start that ended before it wrote the file
    await (await serveInProcess({ SANDBOX_STATE: file })).stop();
  }
  expect(copiesOf(file)).toEqual(['sandbox.state.damaged-1000']);
});

/** The ids of the worlds of the undamaged file, in order. */
const keptIds = (): readonly string[] =>
  lines().flatMap((line) => /^\{"world":"(\w+)"/.exec(line)?.[1] ?? []);

const copiesOf = (file: string): readonly string[] =>
  readdirSync(dirname(file)).filter((name) => /^sandbox\.state\.damaged-\d+$/.test(name));
