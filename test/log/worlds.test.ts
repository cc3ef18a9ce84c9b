import { expect, test } from 'vitest';
import { DEFAULT_DIALECT } from '../../src/contract/dialect.ts';
import { runningClock } from '../../src/world/clock.ts';
import type { Exchange } from '../../src/world/exchange.ts';
import { HeldAnswers } from '../../src/log/held-answers.ts';
import { HistoryBudget } from '../../src/world/bounded-log.ts';
import { Journal } from '../../src/world/journal.ts';
import { compileScenario } from '../../src/scenario/scenario.ts';
import { verify } from '../../src/world/verification.ts';
import { piecesOf, stateInPieces, type Sum, type WorldState } from '../../src/world/world-state.ts';
import { Worlds } from '../../src/log/worlds.ts';
import type { StateDocument } from '../../src/contract/state.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import { sha256 } from '../../src/platform/digest.ts';
import { ManualClock } from '../support/manual-clock.ts';

const DAY_MS = 86_400_000;

const { scenario } = compileScenario(
  {},
  {
    name: 'test',
    source: {},
    settings: {
      openingBalancePaise: 1000,
      seed: '1',
      clock: runningClock,
      settlement: 'demo',
      rateLimit: 'off',
      isMagic: false,
    },
    lastRules: () => [],
    dialects: () => new Map([['default', DEFAULT_DIALECT]]),
    patternOf: (pattern) => new RegExp(pattern),
  },
);

function worldsFor(maxWorlds = 10) {
  const wallClock = new ManualClock();
  const failures: unknown[] = [];
  const drops: string[] = [];
  class Ledger extends MemoryLedger {
    isGone = false;
    override drop(worldId: string): Promise<void> {
      return this.isGone ? Promise.reject(new Error('the store is gone')) : super.drop(worldId);
    }
  }
  const ledger = new Ledger(100);
  const parts = {
    scenarioInForce: () => scenario,
    attemptBudget: { max: 1000, held: 0 },
    historyBudget: new HistoryBudget(1_000_000),
    journalLimits: { items: 10, bytes: 100_000 },
    ledger,
    digest: sha256,
    wallClock,
    observer: {
      settled: () => undefined,
      failed: (_id: string, error: unknown) => void failures.push(error),
    },
  };
  const dropped = (id: string, reason: string) => void drops.push(`${reason} ${id}`);
  return {
    worlds: new Worlds({ parts, maxWorlds, idleMs: DAY_MS, dropped }),
    wallClock,
    drops,
    failures,
    ledger,
  };
}

test('a key is one world for as long as it lives, named by a digest of it', () => {
  const { worlds } = worldsFor();
  const world = worlds.of('k');
  expect(world.id).toBe(sha256(['world', 'k']).slice(0, 32));
  expect(worlds.of('k')).toBe(world);
  expect(worlds.of('other')).not.toBe(world);
  expect([worlds.size, worlds.uses]).toEqual([2, 3]);
});

test('a world that was restored before its key came is the one of its key', () => {
  const { worlds } = worldsFor();
  const id = sha256(['world', 'k']).slice(0, 32);
  const restored = worlds.withId(id);
  expect([restored.id, worlds.size, worlds.uses]).toEqual([id, 1, 0]);
  expect(worlds.withId(id)).toBe(restored);
  expect(worlds.of('k')).toBe(restored);
  expect(worlds.size).toBe(1);
});

test('worlds are listed by their last use, with the times of their first and last', async () => {
  const { worlds, wallClock } = worldsFor();
  const start = wallClock.nowMs();
  const [a, b] = [worlds.of('a'), worlds.of('b')];
  await wallClock.pass(10);
  worlds.of('a');
  const list = worlds
    .list()
    .map(({ world, madeAtMs, usedAtMs }) => [world.id, madeAtMs - start, usedAtMs - start]);
  expect(list).toEqual([
    [b.id, 0, 0],
    [a.id, 0, 10],
  ]);
});

test('a world that is dropped is gone, counts as a use, and its key makes a new one', () => {
  const { worlds, drops } = worldsFor();
  const world = worlds.of('k');
  worlds.withId('nameless');
  expect([worlds.drop(world.id), worlds.drop(world.id), worlds.drop('nameless')]).toEqual([
    true,
    false,
    true,
  ]);
  expect(drops).toEqual([`admin ${world.id}`, 'admin nameless']);
  expect([worlds.size, worlds.uses, world.book.isClosed]).toEqual([0, 3, true]);
  expect(worlds.of('k')).not.toBe(world);
});

test('a store that fails while a world ends is told', async () => {
  const { worlds, ledger, failures } = worldsFor();
  const world = worlds.of('k');
  ledger.isGone = true;
  worlds.drop(world.id);
  await expect.poll(() => failures).toEqual([new Error('the store is gone')]);
});

test('at the end every world ends, no timer is left, and none is made any more', () => {
  const { worlds, wallClock, drops } = worldsFor();
  const world = worlds.of('k');
  let released = 0;
  world.held.hold(() => (released += 1));
  worlds.release();
  expect([released, world.book.isClosed, wallClock.alarms]).toEqual([1, false, 1]);
  expect(world.held.isForGood).toBe(true);
  worlds.close();
  worlds.close();
  expect([worlds.size, wallClock.alarms, world.book.isClosed, drops]).toEqual([0, 0, true, []]);
  expect(() => worlds.of('k')).toThrow('the sandbox is closed');
  expect(() => world.book.nowMs).not.toThrow();
});

test('one sweep waits for the idlest world, and looks again when another is', async () => {
  const { worlds, wallClock, drops } = worldsFor();
  const [a, b] = [worlds.of('a'), worlds.of('b')];
  expect(wallClock.alarms).toBe(1);
  await wallClock.pass(DAY_MS - 1);
  worlds.of('b');
  expect(drops).toEqual([]);
  await wallClock.pass(1);
  expect(drops).toEqual([`idle ${a.id}`]);
  expect(wallClock.alarms).toBe(1);
  await wallClock.pass(DAY_MS - 2);
  expect(drops).toHaveLength(1);
  await wallClock.pass(1);
  expect(drops).toEqual([`idle ${a.id}`, `idle ${b.id}`]);
  expect(wallClock.alarms).toBe(0);
  worlds.of('c');
  expect(wallClock.alarms).toBe(1);
});

test('answers that are held back end once: by themselves, when they are released, or at once after the end', () => {
  const held = new HeldAnswers();
  const ended: string[] = [];
  const hold = (name: string) => held.hold(() => ended.push(name));
  const leave = hold('left by itself');
  hold('released');
  leave();
  held.release();
  held.release();
  hold('at the end');
  held.close();
  hold('late');
  expect(ended).toEqual(['released', 'at the end', 'late']);
  held.close();
  expect(ended).toHaveLength(3);
});

test('answers end for good with their world or the sandbox, and not with a reset', () => {
  const [held, closed] = [new HeldAnswers(), new HeldAnswers()];
  const seen = [held.isForGood];
  held.release();
  seen.push(held.isForGood);
  held.release(true);
  seen.push(held.isForGood);
  held.release();
  closed.close();
  expect([...seen, held.isForGood, closed.isForGood]).toEqual([false, false, true, true, true]);
});

const asked = (change: Partial<Exchange> = {}): Exchange =>
  ({
    nth: 0,
    method: 'GET',
    url: '/12345',
    headers: {},
    outcome: 'answered',
    atMs: 0,
    ...change,
  }) as Exchange;

test('a journal numbers what it is asked, and counts its texts against its bounds', () => {
  const budget = new HistoryBudget(1e9);
  const journal = new Journal({ items: 2, bytes: 1e9 }, budget);
  const [first, second] = [asked(), asked()];
  journal.begin(first, 10);
  expect(budget.bytes).toBe(1016);
  const kept = journal.begin(second, 0);
  journal.grow(kept, 100);
  expect([first.nth, second.nth, budget.bytes]).toEqual([1, 2, 2122]);
  const third = asked();
  journal.begin(third, 0);
  expect([journal.exchanges, journal.evicted]).toEqual([[second, third], 1]);
  expect([journal.clear(), journal.clear(), journal.evicted, budget.bytes]).toEqual([2, 0, 0, 0]);
  journal.begin(first, 0);
  expect(first.nth).toBe(4);
});

const verified = (exchanges: readonly Exchange[], expected: Parameters<typeof verify>[2], evicted = 0) => {
  const told: string[] = [];
  const report = (path: readonly PropertyKey[]) => void told.push(path.join('.'));
  const answer = verify(exchanges, evicted, expected, (pattern) => new RegExp(pattern), report);
  return { ...answer, told };
};

test('what a request misses is shown by what it had, whatever was asked of it', () => {
  const answer = { status: 200, headers: {}, body: '' } as NonNullable<Exchange['answer']>;
  const atMs = Date.parse('2026-01-15T10:30:00Z');
  const one = asked({
    nth: 1,
    route: 'status',
    attempt: 2,
    atMs,
    answer,
    headers: { a: 'b' },
    url: '/s?txn_id=T',
  });
  const match = {
    route: 'initiate',
    attempt: 1,
    header: { a: 'c' },
    hours: { from: 0, to: 1 },
    status: 400,
    outcome: 'pending',
    rule: 'a/b',
    fault: 'hang',
    committed: true,
    replayed: true,
  } as const;
  const { closest, message, told } = verified([one], { match });
  expect(message).toBe('0 requests match; expected at least 1');
  expect(told).toEqual([]);
  expect(closest).toEqual([
    {
      id: 1,
      request: '#1 GET /s 200',
      misses: Object.entries({
        route: 'status',
        attempt: 2,
        header: { a: 'b' },
        hours: '2026-01-15T10:30:00.000Z',
        status: 200,
        outcome: 'answered',
        rule: null,
        fault: null,
        committed: null,
        replayed: false,
      }).map(([field, actual]) => ({ field, expected: match[field as keyof typeof match], actual })),
    },
  ]);
});

test('one request matches, two requests match, and what made room is counted in the same words', () => {
  const all = [asked({ nth: 1 }), asked({ nth: 2, outcome: 'aborted' as Exchange['outcome'] })];
  expect(verified(all, { match: { outcome: 'answered' } }, 1)).toMatchObject({
    passed: true,
    message:
      '1 request matches; expected at least 1; 1 older request was dropped from the journal and is not counted (SANDBOX_JOURNAL_ENTRIES)',
    closest: [],
    evicted: 1,
  });
  expect(verified(all, { match: undefined }, 0)).toMatchObject({
    count: 2,
    message: '2 requests match; expected at least 1',
  });
  expect(verified(all, { sequence: [{ outcome: 'answered' }] }, 5)).toMatchObject({
    passed: true,
    count: 1,
    message: 'The whole sequence of 1 request was seen',
    closest: [],
  });
  const sequence = [{ outcome: 'answered' as const }, { route: 'balance' as const }];
  expect(verified(all, { sequence }, 5)).toMatchObject({
    passed: false,
    count: 1,
    message:
      '1 of the sequence of 2 requests were seen: nothing after them matches sequence[1]; 5 older requests were dropped from the journal and are not counted (SANDBOX_JOURNAL_ENTRIES)',
    closest: [{ id: 2, request: '#2 GET /12345 aborted' }],
  });
});

test('at most three are shown, the newest of those that miss the same', () => {
  const all = [1, 2, 3, 4, 5].map((nth) => asked({ nth }));
  const ids = (expected: Parameters<typeof verify>[2]) => verified(all, expected).closest.map(({ id }) => id);
  expect(ids({ match: { route: 'balance' } })).toEqual([5, 4, 3]);
  expect(ids({ match: {}, count: { at_most: 4 } })).toEqual([5, 4, 3]);
  expect(ids({ match: {}, count: { exactly: 5 } })).toEqual([]);
});

const sumOf = (): Sum => {
  let text = '';
  return { add: (piece) => void (text += piece), total: () => sha256([text]) };
};

test.each([0, 1, 200, 201, 401])(
  'a state of %i entries is written as JSON in pieces, with the sum of all of them',
  (count) => {
    const entries = Array.from({ length: count }, (_, nth) => ({ nth }));
    const transactions = [{ txnId: 'T' }, { txnId: 'U' }];
    const state = { identity: 'i', entries, transactions } as unknown as WorldState;
    const pieces = [...stateInPieces(state, sumOf())];
    const document = JSON.parse(pieces.join('')) as StateDocument;
    expect(document).toEqual({
      format: 'payout-sandbox/world',
      version: 1,
      world: { head: { identity: 'i' }, entries, transactions },
      checksum: sha256([JSON.stringify(document.world)]),
    });
    expect(Object.keys(document.world)).toEqual(['head', 'entries', 'transactions']);
    expect(pieces.filter((piece) => piece.includes('"nth"'))).toHaveLength(Math.ceil(count / 200));
  },
);

test.each([0, 1, 200, 201, 401])(
  'a state of %i of each is restored from pieces: its entries, then its transactions, in their order',
  (count) => {
    const many = (name: string) => Array.from({ length: count }, (_, nth) => ({ [name]: nth }));
    const [entries, transactions] = [many('entry'), many('transaction')];
    const pieces = [...piecesOf({ entries, transactions } as unknown as WorldState)];
    const lists = pieces.map((piece) => Object.keys(piece).join());
    const times = Math.ceil(count / 200);
    expect(lists).toEqual([...Array(times).fill('entries'), ...Array(times).fill('transactions')]);
    expect(pieces.flatMap((piece) => piece.entries ?? [])).toEqual(entries);
    expect(pieces.flatMap((piece) => piece.transactions ?? [])).toEqual(transactions);
  },
);
