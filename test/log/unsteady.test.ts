import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Refusal } from '../../src/contract/errors.ts';
import type { PublishedEvent } from '../../src/log/connections/event-reader.ts';
import type { Store } from '../../src/log/store.ts';
import type { World } from '../../src/log/world.ts';
import { Worlds } from '../../src/log/worlds.ts';
import { freeze } from '../../src/world/copy.ts';
import { brokenInvariants } from '../../src/world/ledger.ts';
import type { Ended } from '../../src/world/request/request-commands.ts';
import type { WorldState } from '../../src/world/state.ts';
import { acts, anyAct, ENTANGLED, type Act } from '../support/world/commands.ts';
import {
  balance,
  compiler,
  initiate,
  readerOf,
  save,
  sourceOf,
  WORLDS_OPTIONS,
  type Core,
} from '../support/world/core.ts';
import { ManualClock } from '../support/world/manual-clock.ts';
import { memoryStore } from '../../src/log/memory-store.ts';
import { sized } from '../support/size.ts';
import { UnsteadyLogs, UnsteadyStore, type Trouble } from '../support/store/unsteady-store.ts';

const ID = 'e'.repeat(32);
const SOURCE = sourceOf(ENTANGLED);
const TROUBLES: readonly Trouble[] = ['late', 'lost before', 'lost after', 'twice', 'page'];

function worldsOn(store: Store, wallClock: ManualClock, failures: unknown[] = []): Worlds {
  return new Worlds({
    ...WORLDS_OPTIONS,
    store,
    activeSource: () => SOURCE,
    wallClock,
    observer: { ...WORLDS_OPTIONS.observer, failed: (_worldId, error) => void failures.push(error) },
    maxRequests: 1000,
  });
}

const turns = async (count = 20): Promise<void> => {
  for (let nth = 0; nth < count; nth += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A world at some servers of an unsteady store. @param troubles what becomes of the calls, in turn */
async function shared(count: number, troubles: readonly Trouble[]) {
  const wallClock = new ManualClock();
  const logs = new UnsteadyLogs();
  const failures: unknown[] = [];
  let calls = 0;
  let isSteady = false;
  const next = (): Trouble => {
    calls += 1;
    return isSteady ? 'late' : (troubles[calls % troubles.length] ?? 'late');
  };
  const stores: UnsteadyStore[] = [];
  const servers: Worlds[] = [];
  const worlds: World[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const store = new UnsteadyStore(`server${nth}`, logs, wallClock, compiler, next);
    const all = worldsOn(store, wallClock, failures);
    stores.push(store);
    servers.push(all);
    isSteady = true;
    worlds.push(await all.use(ID));
    isSteady = false;
  }
  return { wallClock, worlds, stores, servers, failures, logs, calm: () => void (isSteady = true) };
}

/** Submits a command. @returns its result, or the code of its refusal */
async function submit(world: World, { command }: Act): Promise<unknown> {
  const asked = command({ state: world.latest } as Core);
  if (asked === null) return null;
  try {
    return (await world.submit(asked)) ?? null;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** A result as text, without the places of commands: a server settles of itself at other moments. */
const plain = (result: unknown): string =>
  JSON.stringify(result ?? null).replace(/"(?:position|endPosition)":\d+,?|"server":"\w*"/g, '');

const stateOf = (world: World): unknown => {
  const { wallMs: _wallMs, ...state } = freeze(world.latest);
  return JSON.parse(JSON.stringify({ ...state, uses: [...state.uses], windows: [...state.windows] }));
};

test('a world whose store answers late does what one in memory does', async () => {
  await fc.assert(
    fc.asyncProperty(acts(anyAct, 25), async (history) => {
      const clock = new ManualClock();
      const memory = await worldsOn(memoryStore(clock, compiler), clock).use(ID);
      const { worlds, wallClock, failures } = await shared(1, ['late']);
      for (const act of history) {
        await clock.pass(act.waitMs);
        await wallClock.pass(act.waitMs);
        await turns();
        const expected = plain(await submit(memory, act));
        expect(plain(await submit(worlds[0]!, act))).toBe(expected);
      }
      const [one, other] = [worlds[0]!, memory].map(({ latest }) => save(latest as WorldState).items);
      expect(one).toEqual(other);
      expect(failures).toEqual([]);
    }),
    { numRuns: sized(10, 200) },
  );
});

test('servers whose store loses replies, repeats calls and cuts its responses short arrive at one state, with each command in it once', async () => {
  await fc.assert(
    fc.asyncProperty(
      acts(anyAct, 30),
      fc.array(fc.constantFrom(...TROUBLES), { minLength: 1, maxLength: 12 }),
      async (history, troubles) => {
        const { worlds, wallClock, failures, logs, calm } = await shared(3, troubles);
        let acknowledged = 0;
        for (const [nth, act] of history.entries()) {
          await wallClock.pass(act.waitMs);
          await submit(worlds[nth % 3]!, act);
          const credited = await submit(worlds[(nth + 1) % 3]!, {
            name: 'its own',
            waitMs: 0,
            command: () => initiate({ client_ref_id: `own-${nth}`, amount: 0.01 }),
          });
          if (credited !== 'STORE_UNAVAILABLE') acknowledged += 1;
        }
        calm();
        await turns();
        const late = worldsOn(new UnsteadyStore('late', logs, wallClock, compiler), wallClock, failures);
        worlds.push(await late.use(ID)); // follows the log from a state that was kept
        for (const world of worlds) await world.read(() => null);
        const [first, ...others] = worlds.map(stateOf);
        for (const other of others) expect(other).toEqual(first);
        expect(brokenInvariants(worlds[0]!.latest as WorldState)).toEqual([]);
        const names = logs.worlds.get(ID)!.entries.map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        const { count } = worlds[0]!.latest.requests;
        expect(count).toBeGreaterThanOrEqual(acknowledged);
        expect(failures).toEqual([]);
      },
    ),
    { numRuns: sized(10, 200) },
  );
});

test('a server that was refused a command learns later whether it was applied, and then what became of the request', async () => {
  const { worlds, calm } = await shared(1, ['lost after']);
  const [world] = worlds as [World];
  const found: number[] = [];
  await expect(world.submit(balance(), undefined, ({ nth }) => found.push(nth))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
  calm();
  await world.read(() => null);
  expect(found).toEqual([1]);
});

test('a command that may be in a part of the log that is no longer kept is refused, and not repeated', async () => {
  const { worlds, stores } = await shared(2, ['late']);
  const [ahead, behind] = worlds as [World, World];
  const store = stores[1]!;
  const credit = async (world: World, amountPaise: number) => world.submit({ kind: 'credit', amountPaise });
  const append = store.append.bind(store);
  vi.spyOn(store, 'append').mockImplementationOnce(async (...args) => {
    await append(...args); // its reply is lost
    for (let nth = 0; nth < 100; nth += 1) await credit(ahead, 1);
    return { kind: 'moved', isUnsure: true };
  });
  const before = behind.latest.wallet.balancePaise;
  await expect(credit(behind, 7)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect((await behind.read(({ wallet }) => wallet.balancePaise)) - before).toBe(107);
});

test('commands and reads that come while a server catches up wait for that, and no command is applied twice', async () => {
  const { worlds, stores, wallClock } = await shared(2, ['late']);
  for (const store of stores) vi.spyOn(store, 'compactAfter').mockReturnValue(Infinity); // so that it catches up by commands
  vi.spyOn(wallClock, 'yieldToEventLoop').mockImplementation(() => turns(1));
  const [ahead, behind] = worlds as [World, World];
  const credit = async (world: World) => world.submit({ kind: 'credit', amountPaise: 1 });
  const balanceOf = async (world: World) => world.read(({ wallet }) => wallet.balancePaise);
  const before = await balanceOf(ahead);
  for (let nth = 0; nth < 120; nth += 1) await credit(ahead);
  const first = credit(behind);
  const during: Promise<unknown>[] = [];
  while (behind.latest.wallet.balancePaise <= before + 120) {
    during.push(credit(behind), balanceOf(behind), balanceOf(behind));
    await turns(1);
  }
  await Promise.all([first, ...during]);
  const credited = 120 + 1 + during.length / 3;
  expect([await balanceOf(behind), await balanceOf(ahead)]).toEqual([before + credited, before + credited]);
});

test('what ended while the store was away is recorded with the next command', async () => {
  const { worlds, calm } = await shared(1, ['late', 'lost before']);
  const [world] = worlds as [World];
  await expect(world.submit(balance())).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  const { nth } = await world.submit(balance());
  const ended = { request: nth, outcome: 'client_gone', durationMs: 5, tick: 9, isSent: false };
  world.end(ended as Ended, false);
  await turns();
  expect(world.latest.requests.list[0]!.outcome).toBe('answered');
  calm();
  await world.submit(balance());
  expect(world.latest.requests.list[0]).toMatchObject({ outcome: 'client_gone', durationMs: 5 });
});

test('readers at every server get each event once, in one order, whatever becomes of the calls', async () => {
  const { worlds, calm } = await shared(3, TROUBLES);
  const read: PublishedEvent[][] = [];
  for (const world of worlds) {
    read.push((await retried(() => readerOf(world))).read);
  }
  for (let nth = 0; nth < 30; nth += 1) {
    await retried(async () => worlds[nth % 3]!.submit({ kind: 'credit', amountPaise: 1 }));
  }
  calm();
  await turns(100);
  for (const world of worlds) await world.read(() => null);
  const [first, ...others] = read.map((events) => events.map(({ id }) => id));
  expect(new Set(first).size).toBe(first!.length);
  for (const other of others) expect(other.slice(-20)).toEqual(first!.slice(-20));
});

test('a reader that the store kept from reading takes no place from others', async () => {
  const { worlds, calm } = await shared(1, ['lost before']);
  const [world] = worlds as [World];
  const watch = () => world.watch(undefined, { take: () => undefined, end: () => undefined });
  for (let nth = 0; nth < 33; nth += 1) await expect(watch()).rejects.toThrow(/store/i);
  calm();
  await watch();
});

test('a reader that joins at a server far behind begins with what comes, and has missed nothing', async () => {
  const { worlds } = await shared(2, ['late']);
  const [ahead, behind] = worlds as [World, World];
  const credit = () => ahead.submit({ kind: 'credit', amountPaise: 1 });
  for (let nth = 0; nth < 100; nth += 1) await credit(); // the log no longer has those that the other server knows
  const seen: string[] = [];
  await behind.watch(undefined, {
    begin: () => void seen.push('begin'),
    take: ({ type }) => void seen.push(type),
    end: () => void seen.push('end'),
  });
  await credit();
  await turns();
  expect(seen).toEqual(['begin', 'wallet']);
});

/** Does something until the store answers. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'STORE_UNAVAILABLE') throw error;
    }
  }
}
