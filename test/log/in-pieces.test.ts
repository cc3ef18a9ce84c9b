import { afterAll, beforeAll, expect, test } from 'vitest';
import { piecesOf, type StatePiece } from '../../src/world/world-state.ts';
import type { World } from '../../src/log/world.ts';
import { startSandbox, type Sandbox } from '../../src/index.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { clientOf } from '../support/sandbox.ts';
import { DAY_MS, payout, PLAN, worldsFor } from '../support/worlds.ts';

/** A clock that says when others may run, and lets a test be these others. */
class TurnClock extends ManualClock {
  turns = 0;
  others: () => Promise<void> = async () => undefined;
  #skippedMs = 0;

  /** Lets time pass unnoticed: no alarm rings, as if the process had stood still. */
  skip(byMs: number): void {
    this.#skippedMs += byMs;
  }

  override nowMs(): number {
    return super.nowMs() + this.#skippedMs;
  }

  override async letOthersRun(): Promise<void> {
    this.turns += 1;
    await this.others();
  }
}

interface Lists {
  readonly entries: readonly object[];
  readonly transactions: readonly object[];
}

const PAYOUTS = 5_000;

async function payMany(world: World, prefix = 'order'): Promise<void> {
  for (let nth = 0; nth < PAYOUTS; nth += 1)
    await world.initiate(payout({ client_ref_id: `${prefix}-${nth}`, amount: 1 }), PLAN);
}

const made = (world: World) => () => ({ scenario: null, rules: [], clock: world.book.clock });

/** A world with a state that is to be restored, and one with payouts of its own that it is restored into. */
async function twoWorlds(maxTransactions = 1_000_000) {
  const wallClock = new TurnClock();
  const all = worldsFor({ maxTransactions }, wallClock);
  const [from, to] = [all.worlds.of('from'), all.worlds.of('to')];
  await payMany(from);
  await to.initiate(payout({ client_ref_id: 'its own', amount: 7 }), PLAN);
  return { ...all, wallClock, to, state: await from.state() };
}

const balanceOf = async (world: World): Promise<number> => (await world.balance()).balancePaise;
const OLD = 1_000_000 - 700;
const NEW = 1_000_000 - 100 * PAYOUTS;

test('while a state is restored others have their turn, and its world is the old one until it is the new one', async () => {
  const { wallClock, worlds, to, state } = await twoWorlds();
  const [seen, others]: [number[], number[]] = [[], []];
  wallClock.others = async () => {
    seen.push(await balanceOf(to));
    others.push(await balanceOf(worlds.of('other')));
  };
  await to.restore(state, piecesOf(state), made(to));
  expect(seen.length).toBeGreaterThan(20);
  expect(new Set(seen)).toEqual(new Set([OLD]));
  expect(new Set(others)).toEqual(new Set([1_000_000]));
  expect(await balanceOf(to)).toBe(NEW);
  expect((await to.status({ client_ref_id: 'order-0' }, PLAN)).state).toBe('PENDING');
  await expect(to.status({ client_ref_id: 'its own' }, PLAN)).rejects.toMatchObject({
    code: 'TRANSACTION_NOT_FOUND',
  });
});

test('a payout that is made while a state is restored is replaced with all others', async () => {
  const { wallClock, ledger, to, state } = await twoWorlds();
  wallClock.others = async () => {
    wallClock.others = async () => undefined;
    await to.initiate(payout({ client_ref_id: 'meanwhile', amount: 5 }), PLAN);
    expect(await balanceOf(to)).toBe(OLD - 500);
  };
  await to.restore(state, piecesOf(state), made(to));
  expect(await balanceOf(to)).toBe(NEW);
  expect(ledger.held).toBe(2 * PAYOUTS);
});

test('a state of which the last piece cannot be had changes nothing, and is forgotten', async () => {
  const { ledger, to, state } = await twoWorlds();
  function* broken(): Generator<StatePiece> {
    yield* piecesOf(state);
    throw new Error('its checksum is that of another text');
  }
  await expect(to.restore(state, broken(), made(to))).rejects.toThrow('its checksum');
  expect(await balanceOf(to)).toBe(OLD);
  expect((await to.status({ client_ref_id: 'its own' }, PLAN)).state).toBe('PENDING');
  expect(ledger.held).toBe(PAYOUTS + 1);
  expect(to.lives).toBe(1);
});

test('a world that is dropped while its state is restored stays dropped, and holds nothing', async () => {
  const { wallClock, ledger, worlds, to, state } = await twoWorlds();
  wallClock.others = async () => {
    worlds.drop(to.id);
  };
  await expect(to.restore(state, piecesOf(state), made(to))).rejects.toThrow('This world was dropped');
  expect(ledger.held).toBe(PAYOUTS);
  expect(await balanceOf(worlds.of('to'))).toBe(1_000_000);
});

test('a world that is reset while its state is restored is the restored one: that ended later', async () => {
  const { wallClock, to, state } = await twoWorlds();
  wallClock.others = async () => {
    wallClock.others = async () => undefined;
    await to.reset();
  };
  await to.restore(state, piecesOf(state), made(to));
  expect(await balanceOf(to)).toBe(NEW);
});

test('there is room for a state or there is not: what its world held makes room for it', async () => {
  const { to, state } = await twoWorlds(2 * PAYOUTS);
  expect(await to.restore(state, piecesOf(state), made(to))).toMatchObject({ kind: 'restored' });
  const { to: small, state: large } = await twoWorlds(2 * PAYOUTS - 1);
  expect(await small.restore(large, piecesOf(large), made(small))).toMatchObject({ kind: 'full' });
  expect(await balanceOf(small)).toBe(OLD);
});

test('what came due while nobody asked happens in pieces before the next answer, and is told once', async () => {
  const wallClock = new TurnClock();
  const { worlds, announced } = worldsFor({}, wallClock);
  const world = worlds.of('k');
  await payMany(world);
  wallClock.skip(DAY_MS / 2);
  const others: number[] = [];
  wallClock.others = async () => void others.push(await balanceOf(worlds.of('other')));
  const [one, other] = await Promise.all([
    world.status({ client_ref_id: 'order-0' }, PLAN),
    world.status({ client_ref_id: `order-${PAYOUTS - 1}` }, PLAN),
  ]);
  expect([one.state, other.state]).toEqual(['SUCCESS', 'SUCCESS']);
  expect(others.length).toBeGreaterThanOrEqual(2);
  expect(announced).toHaveLength(PAYOUTS);
});

test('a reset while that happens leaves a new world, and the request that waited is answered from it', async () => {
  const wallClock = new TurnClock();
  const { worlds } = worldsFor({}, wallClock);
  const world = worlds.of('k');
  await payMany(world);
  wallClock.skip(DAY_MS / 2);
  wallClock.others = async () => {
    wallClock.others = async () => undefined;
    await world.reset();
  };
  expect(await balanceOf(world)).toBe(1_000_000);
});

test('an advance hands on what changed some at a time, all of it and in its order', async () => {
  const wallClock = new TurnClock();
  const { worlds, announced } = worldsFor({}, wallClock);
  const world = worlds.of('k');
  await payMany(world);
  const pieces = await world.book.move({ byMs: DAY_MS }, (changes) => changes);
  expect(pieces.length).toBeGreaterThan(1);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(3000);
  expect(pieces.flat()).toEqual(announced);
  expect(pieces.flat()).toHaveLength(PAYOUTS);
  expect(wallClock.turns).toBeGreaterThanOrEqual(2);
});

let sandbox: Sandbox;
/** A snapshot of many payouts, as text. */
let snapshot: string;

beforeAll(async () => {
  sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z', rateLimit: 'off', logLevel: 'silent' });
  const { world, pay } = clientOf(sandbox.world());
  for (let nth = 0; nth < 450; nth += 1) await pay({ client_ref_id: `order-${nth}`, amount: 1 });
  snapshot = JSON.stringify(await world.snapshot());
}, 60_000);

afterAll(() => sandbox.close());

/** Puts a text into a new world. @returns the answer, and what the world then is */
async function putIntoNew(body: string) {
  const into = clientOf(sandbox.world());
  const headers = { 'content-type': 'application/json' };
  const answer = await into.send('PUT', '/_sandbox/state', { headers, body });
  const { entries, transactions } = (await into.world.snapshot()).world as Lists;
  return { answer, kept: { entries, transactions } };
}

test.each<[string, (text: string) => string]>([
  ['as it was given', (text) => text],
  ['set out over many lines', (text) => JSON.stringify(JSON.parse(text), null, 3)],
  [
    'with its parts in another order',
    (text) => {
      const { format, version, checksum, world } = JSON.parse(text);
      const { head, entries, transactions } = world;
      return JSON.stringify({ checksum, world: { transactions, head, entries }, version, format });
    },
  ],
  ['with spaces around it', (text) => `\r\n\t ${text} \n`],
])('a snapshot %s is restored', async (_what, change) => {
  const { answer, kept } = await putIntoNew(change(snapshot));
  expect(answer.status).toBe(200);
  const { entries, transactions } = (JSON.parse(snapshot) as { world: Lists }).world;
  expect(kept).toEqual({ entries, transactions });
  expect(transactions).toHaveLength(450);
});

const cut = (share: number) => (text: string) => text.slice(0, Math.floor(text.length * share));
const INVALID = { status: 400, body: { code: 'INVALID_JSON' } };
const DAMAGED = { status: 422, body: { code: 'STATE_REFUSED' } };

test.each<[string, (text: string) => string, object]>([
  ['cut off in the middle', cut(0.5), INVALID],
  ['cut off near its end', cut(0.999), INVALID],
  ['with something behind it', (text) => `${text}{}`, INVALID],
  ['with a comma too many in a list', (text) => text.replace(',{"txnId"', ',,{"txnId"'), INVALID],
  [
    'with a list that ends with a comma',
    (text) => text.replace('}],"transactions"', '},],"transactions"'),
    INVALID,
  ],
  [
    'with a list that ends as an object',
    (text) => text.replace('}],"transactions"', '}},"transactions"'),
    INVALID,
  ],
  ['with a comma that is missing', (text) => text.replace(',{"txnId"', '{"txnId"'), INVALID],
  ['with a word that is none', (text) => text.replace('"hidden":null', '"hidden":nil'), INVALID],
  [
    'with a list that is a number',
    (text) => text.replace(/"entries":\[.*?\],"tr/, '"entries":5,"tr'),
    DAMAGED,
  ],
  ['with a list too few', (text) => text.replace(/"entries":\[.*?\],"tr/, '"tr'), DAMAGED],
  ['with a field too many', (text) => text.replace('{"txnId"', '{"more":1,"txnId"'), DAMAGED],
  [
    'with two payouts the other way round',
    (text) => {
      const { world, ...rest } = JSON.parse(text);
      world.transactions.reverse();
      return JSON.stringify({ ...rest, world });
    },
    DAMAGED,
  ],
  [
    'nested too deep',
    (text) => text.replace('"hidden":null', `"hidden":${'['.repeat(200)}${']'.repeat(200)}`),
    {
      status: 400,
      body: { code: 'INVALID_REQUEST' },
    },
  ],
  ['of one list', () => '[]', INVALID],
  ['of nothing', () => '', { status: 400, body: { code: 'INVALID_REQUEST' } }],
])('a snapshot %s is refused, and nothing of it is taken', async (_what, change, refusal) => {
  expect(change(snapshot)).not.toBe(snapshot);
  const { answer, kept } = await putIntoNew(change(snapshot));
  expect(answer).toMatchObject(refusal);
  expect(kept).toMatchObject({ entries: { length: 1 }, transactions: { length: 0 } });
});

const AMOUNT = '"amountPaise":100,';

test('the item that is damaged is named, wherever it stands', async () => {
  const [before, after] = [snapshot.split(AMOUNT).slice(0, 321), snapshot.split(AMOUNT).slice(321)];
  const { answer } = await putIntoNew(`${before.join(AMOUNT)}"amountPaise":"much",${after.join(AMOUNT)}`);
  expect(answer.body.message).toMatch(/damaged at world\.transactions\[320\]\.amountPaise/);
});
