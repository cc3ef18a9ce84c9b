import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/index.ts';
import { readStateFile, StateFileError, writeStateFile } from '../../src/platform/state-file.ts';
import { MAIN, Program, runProgram } from '../support/program.ts';
import { clientOf } from '../support/sandbox.ts';
import { stateFolder } from '../support/state-folder.ts';

/** A state file of two worlds, with payouts, a rule on top and a scenario of their own. */
let whole: Buffer;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-state-'));
  const state = join(folder, 'sandbox.state');
  const sandbox = await startSandbox({ state, magic: 'off', clock: '2026-01-15T10:30:00Z' });
  for (const key of ['sk_test_one', 'sk_test_other']) {
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

/** Reads these bytes as a state file. */
async function read(bytes: Buffer | string) {
  const file = join(stateFolder(), 'sandbox.state');
  writeFileSync(file, bytes);
  return readStateFile(file);
}

const lines = (): string[] => whole.toString().trimEnd().split('\n');

test('a state file is read as it was written', async () => {
  const file = join(stateFolder(), 'sandbox.state');
  const kept = (await read(whole))!;
  expect(kept).toHaveLength(2);
  async function* worlds() {
    yield* kept;
  }
  await writeStateFile(file, worlds());
  expect(await readStateFile(file)).toEqual(kept);
  expect(await readStateFile(join(file, '..', 'none'))).toBeNull();
});

test('one byte that is another, anywhere in the file, is found', async () => {
  const places = Array.from({ length: Math.ceil(whole.length / 7) }, (_, nth) => nth * 7);
  for (const place of [...places, whole.length - 1]) {
    const bytes = Buffer.from(whole);
    bytes[place]! ^= 0x01;
    await expect(read(bytes), `byte ${place}`).rejects.toBeInstanceOf(StateFileError);
  }
});

test('a file that was cut off anywhere is found', async () => {
  for (let length = 0; length < whole.length - 1; length += 11) {
    await expect(read(whole.subarray(0, length)), `${length} bytes`).rejects.toBeInstanceOf(StateFileError);
  }
});

test('a line that is gone, is there twice, or stands elsewhere is found', async () => {
  const all = lines();
  for (const nth of all.keys()) {
    const gone = all.toSpliced(nth, 1);
    const twice = all.toSpliced(nth, 0, all[nth]!);
    const elsewhere = gone.toSpliced((nth + 1) % all.length, 0, all[nth]!);
    for (const wrong of [gone, twice, elsewhere]) {
      await expect(read(`${wrong.join('\n')}\n`), `line ${nth + 1}`).rejects.toBeInstanceOf(StateFileError);
    }
  }
});

test('something that stands after the end is found', async () => {
  for (const more of ['\n', 'x', lines()[1]!, '{}'])
    await expect(read(`${whole.toString()}${more}\n`)).rejects.toThrow(/is damaged at line/);
});

test('the line that is damaged is named', async () => {
  const all = lines();
  const wrong = all.with(2, all[2]!.slice(0, -1));
  await expect(read(wrong.join('\n'))).rejects.toThrow(/sandbox\.state is damaged at line 3: move it away/);
});

test.each<[string, () => string, RegExp]>([
  ['empty', () => '', /ends too early/],
  ['a text', () => 'hello\nworld\n', /is no state file/],
  ['a list', () => '[]\n', /is no state file/],
  ['another JSON document', () => '{"name":"payout-sandbox"}\n', /is no state file/],
  [
    'of another version',
    () => lines().join('\n').replace('"version":1', '"version":2'),
    /has version 2, not 1/,
  ],
  ['cut off', () => lines().slice(0, 3).join('\n'), /ends too early/],
  ['damaged', () => lines().join('\n').replace('"amountPaise":', '"amountPaisa":'), /is damaged at line \d+/],
])(
  'a state file that is %s ends the start with 2 and one line, and is left as it is',
  async (_what, make, message) => {
    const file = join(stateFolder(), 'sandbox.state');
    writeFileSync(file, make());
    const { code, stdout, stderr } = await runProgram([], { SANDBOX_STATE: file });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^payout-sandbox: the state file \S+sandbox\.state [^\n]+: move it away to start afresh\n$/,
    );
    expect(stderr).toMatch(message);
    expect(readFileSync(file, 'utf8')).toBe(make());
  },
);

/** The command as somebody whom the rights of files hold for: for root they do not. */
const withoutRights = (...command: readonly string[]): readonly [string, ...string[]] =>
  process.getuid?.() === 0
    ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', ...command]
    : [command[0]!, ...command.slice(1)];

test.each<[string, RegExp, { readonly file: number; readonly folder: number }]>([
  ['file may not be read', /cannot be read \(EACCES\)/, { file: 0o000, folder: 0o777 }],
  ['folder may not be written', /cannot be written \(EACCES\)/, { file: 0o644, folder: 0o555 }],
])('a start whose state %s ends with 2 and one line, and nothing is lost', async (_what, message, modes) => {
  const folder = stateFolder();
  const file = join(folder, 'sandbox.state');
  writeFileSync(file, whole);
  chmodSync(file, modes.file);
  chmodSync(folder, modes.folder);
  const [command, ...args] = withoutRights(process.execPath, MAIN, '--state', file);
  const { code, stdout, stderr } = await new Program(command, args, {}).ended;
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^payout-sandbox: the state file \S+sandbox\.state [^\n]+\n$/);
  expect(stderr).toMatch(message);
  chmodSync(folder, 0o700);
  chmodSync(file, 0o600);
  expect(readFileSync(file)).toEqual(whole);
});
