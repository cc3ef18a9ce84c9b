import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { connectSandbox, startSandbox } from '../../src/index.ts';
import { snapshotText } from '../../src/log/snapshot-text.ts';
import { readStateFile, writeStateFile } from '../../src/platform/state/state-file.ts';
import { SettingsError } from '../../src/settings.ts';
import { ScenarioLibrary } from '../../src/scenario/scenario-library.ts';
import { runningClock } from '../support/world/core.ts';
import { takeSnapshot } from '../../src/world/snapshot.ts';
import { ManualClock } from '../support/world/manual-clock.ts';
import { linesOf, MAIN, Program, runInProcess, serveInProcess, startProgram } from '../support/program.ts';
import { clientOf } from '../support/sandbox.ts';
import { sized } from '../support/size.ts';
import { resealed, worldsIn } from '../support/world/snapshot-lines.ts';
import { keptWorlds, temporaryFolder } from '../support/temporary-folder.ts';

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

const compiler = new ScenarioLibrary({
  settings: {
    openingBalancePaise: 0,
    seed: '',
    clock: runningClock,
    settlement: 'demo',
    rateLimit: 'off',
    isMagic: false,
  },
  active: undefined,
  folder: undefined,
  reloaded: () => undefined,
  refused: () => undefined,
});

/** Reads these bytes as a state file: the undamaged worlds, and the faults of the others. */
async function read(bytes: Buffer | string) {
  const file = join(temporaryFolder(), 'sandbox.state');
  writeFileSync(file, bytes);
  const draft = { grow: () => undefined, end: () => undefined };
  const [states, faults] = [[] as Parameters<typeof takeSnapshot>[0][], [] as string[]];
  for await (const one of readStateFile(file, { compiler, wallClock: new ManualClock(), draft })) {
    if ('fault' in one) faults.push(one.fault.message);
    else states.push(one.state);
  }
  return { states, faults };
}

/** The text of a state file with these worlds. */
async function textOf(states: Awaited<ReturnType<typeof read>>['states']): Promise<string> {
  let text = '';
  for await (const chunk of snapshotText(states.map(takeSnapshot))) text += chunk;
  return text;
}

const UNNOTICED = 'nothing is wrong with it';

/**
 * How many worlds are read from a damaged file, each of which must be as it was written; null when the whole file is
 * refused; `UNNOTICED` when no damage is reported.
 */
async function worldsLeft(bytes: Buffer | string): Promise<number | null | typeof UNNOTICED> {
  const result = await read(bytes).catch((error: unknown) => error);
  if (result instanceof SettingsError) return null;
  if (result instanceof Error) throw result;
  const { states, faults } = result as Awaited<ReturnType<typeof read>>;
  for (const state of states) {
    const written = worldsIn(whole.toString()).find(({ id }) => id === state.id);
    expect(worldsIn(await textOf([state]))).toEqual([written]);
  }
  return faults.length === 0 ? UNNOTICED : states.length;
}

const lines = (): string[] => whole.toString().trimEnd().split('\n');

test('a state file is restored as it was written', async () => {
  const file = join(temporaryFolder(), 'sandbox.state');
  const { states, faults } = await read(whole);
  expect(faults).toEqual([]);
  expect(states).toHaveLength(2);
  await writeStateFile(file, snapshotText(states.map(takeSnapshot)));
  expect(worldsIn(readFileSync(file, 'utf8'))).toEqual(worldsIn(whole.toString()));
});

test('one changed byte anywhere in a state file is detected', async () => {
  const every = sized(61, 7);
  const places = Array.from({ length: Math.ceil(whole.length / every) }, (_, nth) => nth * every);
  for (const place of [...places, whole.length - 1]) {
    const bytes = Buffer.from(whole);
    bytes[place]! ^= 0x01;
    expect(await worldsLeft(bytes), `byte ${place}`).not.toBe(UNNOTICED);
  }
});

test('a truncated state file is detected, and the worlds that end before the cut are restored', async () => {
  const ends = [...whole.toString().matchAll(/^\{"end".*$/gm)].map(
    ({ index, 0: line }) => index + line.length,
  );
  const head = whole.indexOf('\n');
  for (let length = 0; length < whole.length - 1; length += sized(83, 11)) {
    const expected = length < head ? null : ends.filter((end) => end <= length).length;
    expect(await worldsLeft(whole.subarray(0, length)), `${length} bytes`).toBe(expected);
  }
});

test('a missing, repeated or moved line in a state file is detected', async () => {
  const all = lines();
  for (const nth of all.keys()) {
    const gone = all.toSpliced(nth, 1);
    const twice = all.toSpliced(nth, 0, all[nth]!);
    const elsewhere = gone.toSpliced((nth + 1) % all.length, 0, all[nth]!);
    for (const wrong of [gone, twice, elsewhere])
      expect(await worldsLeft(`${wrong.join('\n')}\n`), `line ${nth + 1}`).not.toBe(UNNOTICED);
  }
});

test('anything after the end of a state file is detected', async () => {
  for (const more of ['\n', 'x', lines()[1]!, '{}']) {
    expect(await worldsLeft(`${whole.toString()}${more}\n`)).toBe(2);
  }
});

test('the message about a damaged state file names the line', async () => {
  const wrong = lines().with(2, lines()[2]!.slice(0, -1));
  expect(await read(`${wrong.join('\n')}\n`)).toMatchObject({
    states: [{}],
    faults: ['This snapshot is damaged at line 3: it is not JSON'],
  });
});

test.each<[string, () => string, RegExp]>([
  ['empty', () => '', /is empty/],
  ['a text', () => 'hello\nworld\n', /is not a snapshot/],
  ['a list', () => '[]\n', /is not a snapshot/],
  ['another JSON document', () => '{"name":"payout-sandbox"}\n', /is not a snapshot/],
  [
    'of another version',
    () => whole.toString().replace('"version":3', '"version":4'),
    /has version 4; this sandbox reads version 3/,
  ],
  [
    'of the first version',
    () => '{"format":"payout-sandbox/state","version":1}\n{"worlds":0,"checksum":"x"}\n',
    /of version 1, which an earlier payout-sandbox wrote; this one reads version 3/,
  ],
  [
    'of the second version',
    () => whole.toString().replace('"version":3', '"version":2'),
    /of version 2, which an earlier payout-sandbox wrote; this one reads version 3/,
  ],
])(
  'a state file that is %s stops the program with exit code 2 and one line, and is not changed',
  async (_what, make, message) => {
    const file = join(temporaryFolder(), 'sandbox.state');
    writeFileSync(file, make());
    const { code, stdout, stderr } = await runInProcess([], { SANDBOX_STATE: file });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^payout-sandbox: the state file \S+sandbox\.state [^\n]+: move it away to start without its worlds\n$/,
    );
    expect(stderr).toMatch(message);
    expect(readFileSync(file, 'utf8')).toBe(make());
    expect(readdirSync(dirname(file))).toEqual(['sandbox.state']);
  },
);

/** The file with a changed amount in its first world. */
const withDamage = (): string => whole.toString().replace('"amountPaise":-150050', '"amountPaise":-150051');

/** The same, with a matching checksum. */
function withContradiction(): string {
  const [head, ...rest] = withDamage().split('\n');
  const end = rest.findIndex((line) => line.startsWith('{"end"')) + 1;
  const first = resealed(`${[head, ...rest.slice(0, end), '{"worlds":1}'].join('\n')}\n`);
  return [...first.split('\n').slice(0, -2), ...rest.slice(end)].join('\n');
}

test.each<[string, () => string, RegExp]>([
  ['was changed', withDamage, /do not explain the balance|its checksum is that of another text/],
  ['contradicts itself', withContradiction, /contradicts itself: the entries do not explain the balance/],
  [
    'has an invalid line',
    () => whole.toString().replace('"amountPaise":', '"amountPaisa":'),
    /is damaged at line \d+/,
  ],
])(
  'when a world in a state file %s, only that world is lost, and a copy of the file is kept',
  async (_what, make, reason) => {
    const file = join(temporaryFolder(), 'sandbox.state');
    writeFileSync(file, make());
    const [damaged, sound] = keptIds();
    const { stop, url, ready } = await serveInProcess({ SANDBOX_STATE: file });
    expect(ready).toMatchObject({ restored: 1, restored_payouts: 2 });
    const [name] = copiesOf(file);
    const [lost, kept] = KEYS.map((key) => connectSandbox({ url }).world(key));
    expect(await lost!.transactions()).toEqual([]);
    expect(await kept!.transactions()).toHaveLength(2);
    expect(linesOf(await stop(), 'damaged state not restored')).toMatchObject([
      {
        level: 40,
        world: damaged!.slice(0, 8),
        reason: expect.stringMatching(reason),
        copy: join(dirname(file), name!),
      },
    ]);
    expect(readFileSync(join(dirname(file), name!), 'utf8')).toBe(make());
    expect(keptWorlds(file)!.map(({ id, payouts }) => [id, payouts.length])).toEqual(
      expect.arrayContaining([
        [sound, 2],
        [damaged, 0],
      ]),
    );
  },
);

test('the complete worlds of a truncated state file are restored, and a copy of the file is kept', async () => {
  const file = join(temporaryFolder(), 'sandbox.state');
  const text = lines().slice(0, -3).join('\n');
  writeFileSync(file, text);
  const { stop, ready } = await serveInProcess({ SANDBOX_STATE: file });
  expect(ready).toMatchObject({ restored: 1 });
  const ends = linesOf(await stop(), 'damaged state not restored');
  expect(ends).toMatchObject([
    { world: keptIds()[1]!.slice(0, 8), reason: 'This snapshot ends too early' },
    { reason: 'This snapshot ends too early' },
  ]);
  expect(ends[1]).not.toHaveProperty('world');
  expect(readFileSync(join(dirname(file), copiesOf(file)[0]!), 'utf8')).toBe(text);
  expect(keptWorlds(file)).toHaveLength(1);
});

test('a damaged state file that is read twice is copied once', async () => {
  const file = join(temporaryFolder(), 'sandbox.state');
  writeFileSync(file, withDamage());
  for (let start = 0; start < 2; start += 1) {
    const { program } = await startProgram({ SANDBOX_STATE: file });
    await program.stop('SIGKILL'); // so that it does not write the file
  }
  expect(copiesOf(file)).toHaveLength(1);
  expect(readFileSync(file, 'utf8')).toBe(withDamage());
});

/** The ids of the worlds of the undamaged file, in order. */
const keptIds = (): readonly string[] =>
  lines().flatMap((line) => /^\{"world":"(\w+)"/.exec(line)?.[1] ?? []);

const copiesOf = (file: string): readonly string[] =>
  readdirSync(dirname(file)).filter((name) => /^sandbox\.state\.damaged-\d+$/.test(name));

/** The command, subject to file permissions even when the tests run as root. */
// cspell:ignore setpriv
const withoutRights = (...command: readonly string[]): readonly [string, ...string[]] =>
  process.getuid?.() === 0
    ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', ...command]
    : [command[0]!, ...command.slice(1)];

test.each<[string, RegExp, { readonly file: number; readonly folder: number }]>([
  ['file may not be read', /cannot be read \(permission denied\)/, { file: 0o000, folder: 0o777 }],
  ['folder may not be written', /cannot be written \(permission denied\)/, { file: 0o644, folder: 0o555 }],
])(
  'a start whose state %s stops with exit code 2 and one line, and the file is unchanged',
  async (_what, message, modes) => {
    const folder = temporaryFolder();
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
  },
);
