import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/contract/errors.ts';
import { readWorlds, snapshotText, type ReadWorld } from '../../src/worlds/snapshot-text.ts';
import { takeSnapshot } from '../../src/world/snapshot.ts';
import { compiler, Core, logFor, save, timelines } from '../support/world/core.ts';
import { sized } from '../support/size.ts';

const utf8 = new TextEncoder();

/** A name that takes more than one byte a letter, with every kind of line end. */
const NAME = 'आशा राव \u{1F4B8}\u2028\u2029\r\r\n\u0000\ufeff';

/** A world with so many payouts. */
function worldWith(payouts: number, id: string): Core {
  const world = new Core(
    { ...timelines({ p0: [{ to: 'FAILED', after: '1ms' }] }), wallet: { opening_balance: 1000 } },
    {},
    id.repeat(32),
  );
  for (let nth = 0; nth < payouts; nth += 1) world.pay(`p${nth}`, { beneficiary_name: NAME });
  world.submit({ kind: 'settle' }, 5);
  return world;
}

const WORLDS = [worldWith(3, 'a'), worldWith(0, 'b'), worldWith(2, 'c')];

async function textOf(worlds: readonly Core[]): Promise<readonly string[]> {
  async function* snapshots() {
    for (const { state } of worlds) yield takeSnapshot(state);
  }
  const chunks: string[] = [];
  for await (const chunk of snapshotText(snapshots())) chunks.push(chunk);
  return chunks;
}

const TEXT = (await textOf(WORLDS)).join('');
const LINES = TEXT.split('\n');
const MAX_LINE = 2000;
/** Of how many bytes the tests of damage try one. */
const STEP = sized(151, 7);

/** Bytes in pieces of so many. */
async function* inPieces(bytes: Uint8Array, size: number) {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

interface Read {
  /** Those before the damage. */
  readonly worlds: readonly ReadWorld[];
  readonly refusal: Refusal | null;
}

async function read(text: string | Uint8Array, size = 1 << 20): Promise<Read> {
  const { wallClock } = logFor();
  const worlds: ReadWorld[] = [];
  const bytes = typeof text === 'string' ? utf8.encode(text) : text;
  const options = { compiler, wallClock, maxLine: MAX_LINE };
  try {
    for await (const world of readWorlds(inPieces(bytes, size), options)) worlds.push(world);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { worlds, refusal: error };
  }
  return { worlds, refusal: null };
}

describe('worlds as text', () => {
  test('come in chunks of bounded size, and are asked for one after the other', async () => {
    const chunks = await textOf([worldWith(300, 'd')]);
    expect(chunks.length).toBeGreaterThan(3);
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(70_000);
  });

  test.each([1, 2, 3, 7, 100, 4096, 1 << 20])('read the same in pieces of %i bytes', async (size) => {
    const result = await read(TEXT, size);
    expect(result.refusal).toBeNull();
    expect(result.worlds.map(({ state }) => save(state))).toEqual(WORLDS.map(({ state }) => save(state)));
  });

  test('are refused at a line that is too long, before it has ended', async () => {
    const { wallClock } = logFor();
    const options = { compiler, wallClock, maxLine: MAX_LINE };
    let bytes = 0;
    async function* oneLine() {
      for (; bytes < 50 * MAX_LINE; bytes += 100) yield utf8.encode('x'.repeat(100));
    }
    await expect(readWorlds(oneLine(), options).next()).rejects.toThrow('is longer than');
    expect(bytes).toBe(MAX_LINE);
  });
});

/** The text with one line changed, dropped or doubled. */
const change = (nth: number, to: (line: string) => string | readonly string[]) =>
  LINES.flatMap((line, index) => (index === nth ? to(line) : [line])).join('\n');
const lineOf = (kind: string, nth = 0) =>
  LINES.flatMap((line, index) => (line.startsWith(`{"${kind}"`) ? [index] : []))[nth]!;

/** The letters of the worlds before the damage in a text, each of which must be as it was. */
async function undamaged(text: string | Uint8Array, size?: number): Promise<[string, Refusal | null]> {
  const { worlds, refusal } = await read(text, size);
  for (const { id, state } of worlds)
    expect(save(state)).toEqual(save(WORLDS.find((world) => world.state.id === id)!.state));
  return [worlds.map(({ id }) => id[0]).join(''), refusal];
}

describe('a text is refused at its first damage, with the line:', () => {
  const NONE = 'This is neither a snapshot of a world nor a state file';
  const line = (nth: number) => `at line ${nth + 1}: `;

  test.each<[what: string, text: () => string, why: string, before?: string]>([
    ['nothing', () => '', NONE],
    [
      'an item that is no JSON',
      () => change(lineOf('payout'), (text) => text.slice(0, -3)),
      `${line(lineOf('payout'))}it is not JSON`,
    ],
    [
      'an item of no known kind',
      () => change(lineOf('entry'), () => '{"purse":{}}'),
      `${line(lineOf('entry'))}it is not part of a world`,
    ],
    [
      'an amount that is none',
      () => change(lineOf('payout', 1), (text) => text.replace('"amountPaise":100', '"amountPaise":"much"')),
      `${line(lineOf('payout', 1))}amountPaise`,
    ],
    [
      'another bank',
      () => change(lineOf('payout'), (text) => text.replace('SBIN0000001', 'SBIN0000002')),
      `${line(lineOf('end'))}its checksum is that of another text`,
    ],
    [
      'an item nested too deep',
      () => change(lineOf('payout'), () => `{"payout":${'['.repeat(200)}${']'.repeat(200)}}`),
      'it is not JSON',
    ],
    [
      'a head that is no JSON',
      () => change(lineOf('world'), (text) => text.slice(0, -3)),
      'at line 2: it is not JSON',
    ],
    [
      'an end that is missing',
      () => change(lineOf('end', 1), () => []),
      `${line(lineOf('end', 1))}it is not part of a world`,
      'a',
    ],
    [
      'a cut in a world',
      () => LINES.slice(0, lineOf('payout', 4)).join('\n'),
      'This snapshot ends too early',
      'ab',
    ],
    ['a text behind its end', () => `${TEXT}{"worlds":0}\n`, 'it continues after its end', 'abc'],
    [
      'a world that is missing',
      () => LINES.toSpliced(lineOf('world', 1), lineOf('end', 1) - lineOf('world', 1) + 1).join('\n'),
      'worlds are missing',
      'ac',
    ],
    [
      'a scenario that cannot be used',
      () => change(lineOf('world'), (text) => text.replace('"rules":[', '"rules":[5,')),
      'cannot be used here',
    ],
  ])('%s', async (_what, text, why, before = '') => {
    expect(text()).not.toBe(TEXT);
    for (const size of [5, 1 << 20]) {
      const [worlds, refusal] = await undamaged(text(), size);
      expect(worlds).toBe(before);
      expect(refusal).toMatchObject({ code: 'STATE_REFUSED', message: expect.stringContaining(why) });
    }
  });

  test.each<[what: string, bytes: () => Uint8Array]>([
    ['in its middle', () => utf8.encode(TEXT).fill(0xff, 400, 401)],
    ['at its end', () => Uint8Array.from([...utf8.encode(TEXT), 0xe2])],
  ])('what is not UTF-8 %s', async (_where, bytes) => {
    for (const size of [1, 7, 1 << 20])
      expect((await read(bytes(), size)).refusal).toMatchObject({ code: 'INVALID_JSON' });
  });
});

test('one changed byte anywhere in a text is detected', async () => {
  const bytes = utf8.encode(TEXT);
  const last = bytes.length - 1;
  for (let place = 0; place < last + STEP; place += STEP) {
    const at = Math.min(place, last);
    const damaged = Uint8Array.from(bytes).fill(bytes[at]! ^ 0x01, at, at + 1);
    const [, refusal] = await undamaged(damaged);
    expect(refusal, `byte ${at}`).not.toBeNull();
  }
});

test('a truncated text is refused after the worlds that end before the cut', async () => {
  const bytes = utf8.encode(TEXT);
  const ends = [...TEXT.matchAll(/^\{"end".*$/gm)].map((end) =>
    Buffer.byteLength(TEXT.slice(0, end.index) + end[0]),
  );
  for (let length = 0; length < bytes.length - 1; length += STEP) {
    const whole = ends.filter((end) => end <= length).length;
    const [worlds, refusal] = await undamaged(bytes.subarray(0, length));
    expect([worlds, refusal === null], `${length} bytes`).toEqual(['abc'.slice(0, whole), false]);
  }
});
