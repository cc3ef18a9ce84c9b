import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Refusal } from '../../src/contract/errors.ts';
import type { PublishedEvent } from '../../src/worlds/world-connections.ts';
import { keysOf } from '../../src/store/scripts.ts';
import type { Store } from '../../src/store/store.ts';
import type { World } from '../../src/worlds/world.ts';
import type { Worlds } from '../../src/worlds/worlds.ts';
import type { Command } from '../../src/world/commands.ts';
import { brokenInvariants } from '../../src/world/ledger.ts';
import type { WorldState } from '../../src/world/state-shape.ts';
import { sized } from '../support/size.ts';
import { freshStore, redisAt } from '../support/store/fresh-store.ts';
import { balanceAt, credit, storedLogFor, storedLogsFor, WORLD } from '../support/store/stored-log.ts';
import { acts, anyAct, ENTANGLED, restoring, type Act } from '../support/world/commands.ts';
import { advance, initiate, logFor, readerOf, save, sourceOf, type Core } from '../support/world/core.ts';
import { ManualClock } from '../support/world/manual-clock.ts';

/** What becomes of a call: nothing, or its reply is lost before or after it did its work, or its reply is cut short. */
const TROUBLES = ['none', 'lost before', 'lost after', 'page'] as const;
type Trouble = (typeof TROUBLES)[number];

const SOURCE = sourceOf(ENTANGLED);
const OPTIONS = { activeSource: () => SOURCE, maxRequests: 1000 };

/** What changes the log itself, or takes back what is in it. */
const RARE: readonly Act[] = [
  restoring,
  { waitMs: 0, name: 'undo', command: () => ({ kind: 'undo', isForced: true }) },
  { waitMs: 0, name: 'keep a snapshot', command: () => ({ kind: 'forgetUndo' }) },
];

/** Where the commands begin among the arguments of `call`, which has three keys. */
const COMMANDS_FROM = 3 + 8;

/** Makes the calls of a server that append commands run into trouble. @param next what becomes of the next call */
function trouble({ connection }: Store, next: () => Trouble): void {
  const script = connection.script.bind(connection) as (...args: unknown[]) => Promise<unknown>;
  vi.spyOn(connection, 'script').mockImplementation(async (...args: unknown[]) => {
    const isAppend = args[0] === 'call' && args[4] !== ''; // to open, a call names no epoch
    const became = isAppend ? next() : 'none';
    if (became === 'lost before') throw new Error('Connection is closed.');
    if (became === 'page') {
      const [, nowMs, news] = (await script(...args.slice(0, 1 + COMMANDS_FROM))) as [
        string,
        number,
        unknown[],
      ];
      if (Array.isArray(news) && news.length > 2) return ['more', nowMs, news.slice(0, 2)];
    }
    const reply = await script(...args);
    if (became === 'lost after') throw new Error('Connection is closed.');
    return reply;
  });
}

/** A world at some servers of a store. @param troubles what becomes of their calls, in turn, until all is `calm` */
async function shared(count: number, troubles: readonly Trouble[] = ['none']) {
  const url = await freshStore();
  let calls = 0;
  let isCalm = true;
  const logs: Worlds[] = [];
  const stores: Store[] = [];
  const worlds: World[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const { log, store } = await storedLogFor(url, `server${nth}`, OPTIONS);
    trouble(store, () => (isCalm ? 'none' : troubles[(calls += 1) % troubles.length]!));
    logs.push(log);
    stores.push(store);
    worlds.push(await log.use(WORLD));
  }
  isCalm = false;
  return { url, logs, stores, worlds, calm: () => void (isCalm = true) };
}

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

/** Submits a command. @returns its result, or the code of its refusal */
async function submit(world: World, command: Command | null): Promise<unknown> {
  try {
    return command === null ? null : ((await world.submit(command)) ?? null);
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** The commands of an act: its wait moves the clock of the world. */
const commandsOf = ({ waitMs, command }: Act, world: World): readonly (Command | null)[] => [
  ...(waitMs === 0 ? [] : [advance({ byMs: waitMs })]),
  command({ state: world.latest } as Core),
];

/** A result as text, without its place in the log: a server settles of itself at other moments. A reset's is the state that it ended. */
const plain = (result: unknown): string =>
  JSON.stringify(
    typeof result === 'object' && result !== null && 'undoPoints' in result ? null : (result ?? null),
  ).replace(/"(?:position|endPosition)":\d+,?|"server":"\w*"/g, '');

const stateOf = (world: World): unknown => {
  const { head, items } = save(world.latest, true);
  return { ...head, wallMs: null, items };
};

test('a world in a store does at any of its servers what one in memory does', async () => {
  await fc.assert(
    fc.asyncProperty(acts(anyAct, 25), async (history) => {
      const wallClock = new ManualClock(); // it calls nothing back: all that is due is settled by commands
      const url = await freshStore();
      const stored: World[] = [];
      for (const name of ['one', 'other']) {
        const { log } = await storedLogFor(url, name, { ...OPTIONS, wallClock });
        stored.push(await log.use(WORLD));
      }
      let nowMs = stored[0]!.latest.entries[0]!.atMs;
      const clock = Object.assign(new ManualClock(), { nowMs: () => nowMs, schedule: () => () => undefined });
      const memory = logFor({ document: ENTANGLED, maxRequests: 1000 }, clock).world(WORLD);
      for (const [nth, act] of history.entries()) {
        const world = stored[nth % 2]!;
        for (const command of commandsOf(act, memory)) {
          const result = plain(await submit(world, command));
          nowMs = world.latest.wallMs;
          expect(plain(await submit(memory, command))).toBe(result);
        }
      }
      for (const world of stored) {
        await world.submit({ kind: 'settle' });
        nowMs = world.latest.wallMs;
        await memory.submit({ kind: 'settle' });
        expect(save(world.latest as WorldState).items).toEqual(save(memory.latest as WorldState).items);
      }
    }),
    { numRuns: sized(10, 200) },
  );
});

test('servers whose store loses replies and cuts its responses short arrive at one state, with each command in it once', async () => {
  await fc.assert(
    fc.asyncProperty(
      acts(
        fc.oneof({ weight: 10, arbitrary: anyAct }, { weight: 2, arbitrary: fc.constantFrom(...RARE) }),
        30,
      ),
      fc.array(fc.constantFrom(...TROUBLES), { minLength: 1, maxLength: 12 }),
      async (history, troubles) => {
        const { url, logs, worlds, calm } = await shared(3, troubles);
        let acknowledged = 0;
        for (const [nth, act] of history.entries()) {
          const world = worlds[nth % 3]!;
          for (const command of commandsOf(act, world)) await submit(world, command);
          const own = initiate({ client_ref_id: `own-${nth}`, amount: 0.01 });
          if ((await submit(worlds[(nth + 1) % 3]!, own)) !== 'STORE_UNAVAILABLE') acknowledged += 1;
        }
        calm();
        const { log: late } = await storedLogFor(url, 'late', OPTIONS);
        worlds.push(await late.use(WORLD));
        await worlds[0]!.submit({ kind: 'speed', speed: 0 }); // else more comes due between the reads
        const states = async () => {
          for (const world of worlds) await world.read(() => null);
          expect(new Set(worlds.map((world) => JSON.stringify(save(world.latest)))).size).toBe(1);
          return worlds.every((world) => isDeepStrictEqual(stateOf(world), stateOf(worlds[0]!)));
        };
        await expect.poll(() => states().catch(() => false)).toBe(true); // each server sends what it learns of requests that have ended
        expect(brokenInvariants(worlds[0]!.latest as WorldState)).toEqual([]);
        const log = await redisAt(url).xrange(keysOf(WORLD).log, '-', '+');
        const names = log.map(([, fields]) => `${fields[3]}:${fields[5]}`);
        expect(new Set(names).size).toBe(names.length);
        expect(worlds[0]!.latest.requests.count).toBeGreaterThanOrEqual(acknowledged);
        await Promise.all([...logs, late].map((log) => log.close())); // thousands of servers would ask on and on
      },
    ),
    { numRuns: sized(10, 200) },
  );
});

test('commands and reads that come while a server catches up wait for that, and no command is applied twice', async () => {
  const { one, other } = await storedLogsFor();
  const world = await other.use(WORLD);
  const before = world.latest.wallet.balancePaise;
  await Promise.all(Array.from({ length: 120 }, () => credit(one, WORLD, 1)));
  const first = credit(other, WORLD, 1);
  const during: Promise<unknown>[] = [];
  while (world.latest.wallet.balancePaise <= before + 120) {
    during.push(credit(other, WORLD, 1), balanceAt(other), balanceAt(other));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all([first, ...during]);
  const credited = before + 120 + 1 + during.length / 3;
  expect([await balanceAt(other), await balanceAt(one)]).toEqual([credited, credited]);
});

test('readers at every server get each event once, in one order, whatever becomes of the calls', async () => {
  const { worlds, calm } = await shared(3, TROUBLES);
  const read: (readonly PublishedEvent[])[] = [];
  for (const world of worlds) read.push((await retried(() => readerOf(world))).read);
  for (let nth = 0; nth < 30; nth += 1) {
    await retried(async () => worlds[nth % 3]!.submit({ kind: 'credit', amountPaise: 1 }));
  }
  calm();
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
