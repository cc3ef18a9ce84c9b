import { describe, expect, test } from 'vitest';
import { nowMs } from '../../src/world/state.ts';
import type { World } from '../../src/worlds/world.ts';
import { MAX_STEPS } from '../../src/world/apply.ts';
import type { Command } from '../../src/world/commands.ts';
import type { WorldState } from '../../src/world/state-shape.ts';
import {
  advance,
  balance,
  Core,
  DAY_MS,
  initiate,
  load,
  logFor,
  readerOf,
  save,
  sourceOf,
  START_MS,
  status,
} from '../support/world/core.ts';

const IMPS = { settlement: { IMPS: [{ to: 'SUCCESS' as const, after: '2s' }] } };
const SETTLE = { kind: 'settle' } as const;

const PAYOUTS = 2 * MAX_STEPS + 1;
let many: ReturnType<typeof save> | undefined;

/** A state with more payouts that come due at once than one command settles. Each is made once, and copied. */
function manyDue(): WorldState {
  if (many === undefined) {
    const world = new Core({ ...IMPS, wallet: { opening_balance: 1000 } });
    for (let nth = 0; nth < PAYOUTS; nth += 1) world.pay(`p${nth}`, { amount: 0.01 });
    many = save(world.state);
  }
  return load(many);
}

/** A world in which more is due after a day than one command settles. */
async function crowded() {
  const all = logFor();
  const world = all.world('a');
  await world.submit({ kind: 'restore', state: manyDue(), clock: 'from-snapshot' });
  return { ...all, a: world };
}

const paise = (world: World) => world.read(({ wallet }) => wallet.balancePaise);

/** Submits a command. A refusal rejects the promise, even where it is known at once. */
const submit = async (world: World, command: Command) => world.submit(command);

describe('a settlement', () => {
  test('uses one timer for each world, set for the next due step', async () => {
    const { world, wallClock, settled } = logFor({ document: IMPS });
    const a = world('a');
    await a.submit(initiate());
    await wallClock.pass(500);
    await a.submit(initiate({ client_ref_id: 'b' }));
    expect(wallClock.timers).toBe(2); // and one for idle worlds
    await wallClock.pass(1500);
    expect([settled.length, wallClock.timers]).toEqual([1, 2]);
    await wallClock.pass(500);
    expect([settled.length, wallClock.timers]).toEqual([2, 1]);
  });

  test('leaves no timer behind when its world is frozen, advanced past it, reset or dropped', async () => {
    const { log, world, wallClock, settled } = logFor({ document: IMPS });
    const a = world('a');
    const idle = wallClock.timers;
    await a.submit(initiate());
    await a.submit({ kind: 'speed', speed: 0 });
    expect(wallClock.timers).toBe(idle);
    await a.submit({ kind: 'speed', speed: 1 });
    expect(wallClock.timers).toBe(idle + 1);
    await a.submit(advance({ until: 'idle' }));
    expect(wallClock.timers).toBe(idle);
    await a.submit(initiate({ client_ref_id: 'b' }));
    await a.submit({ kind: 'reset', source: sourceOf() });
    expect(wallClock.timers).toBe(idle);
    await world('b').submit(initiate());
    await log.drop(world('b').id);
    await log.drop(a.id);
    await wallClock.pass(9000);
    expect(settled).toHaveLength(1);
  });

  test('is announced at its time by a clock that was moved, or resumed at another speed', async () => {
    const { world, wallClock, settled } = logFor({ document: IMPS });
    const a = world('a');
    await a.submit(initiate());
    await a.submit(advance({ byMs: 800 }));
    await a.submit({ kind: 'speed', speed: 0 });
    await wallClock.pass(5000);
    await a.submit({ kind: 'speed', speed: 60 });
    await wallClock.pass(19);
    expect(settled).toEqual([]);
    await wallClock.pass(1);
    expect(settled).toMatchObject([{ to: 'SUCCESS', atMs: START_MS + 2000 }]);
    expect(await a.read(nowMs)).toBe(START_MS + 2000);
  });

  test('is announced when it is due by the clock of a restored state', async () => {
    const { world, wallClock, settled } = logFor({ document: IMPS });
    const a = world('a');
    await a.submit(initiate());
    const state = load(save(await a.read((state) => state)));
    await wallClock.pass(60_000);
    await a.submit({ kind: 'restore', state, clock: 'from-snapshot' });
    expect(wallClock.timers).toBe(2);
    await wallClock.pass(2000);
    expect(settled.map(({ atMs }) => atMs)).toEqual([START_MS + 2000, START_MS + 2000]);
  });

  test('that an observer fails to take is applied nevertheless, and the failure is reported', async () => {
    const { world, settled, failures } = logFor({ document: IMPS });
    const error = new Error('no room for metrics');
    settled.push = () => {
      throw error;
    };
    const a = world('a');
    await a.submit(initiate());
    await a.submit(advance({ until: 'idle' }));
    expect(a.latest.payouts).toMatchObject([{ state: 'SUCCESS' }]);
    expect(failures).toEqual([error]);
  });

  test('that fails inside is reported once, and does not end the process', async () => {
    const { world, wallClock, failures } = logFor({ document: IMPS });
    const a = world('a');
    await a.submit(initiate());
    Object.assign(a.latest, { wallet: { balancePaise: 5, putInPaise: 0, paidOutPaise: 0 } });
    (a.latest as WorldState).payouts[0] = { ...a.latest.payouts[0]!, state: 'REVERSED' };
    await wallClock.pass(2000);
    await expect.poll(() => failures.length).toBe(1);
    await wallClock.pass(DAY_MS / 2);
    expect(failures).toHaveLength(1);
  });
});

describe('a command with more steps to settle than fit in one turn', () => {
  test('lets other worlds run and publishes its events in between, while requests to its own world wait', async () => {
    const { a, world, wallClock, settled } = await crowded();
    const { read } = await readerOf(a);
    const others: number[][] = [];
    wallClock.others = async () => void others.push([await paise(world('b')), read.length]);
    const moved = a.submit(advance({ byMs: DAY_MS }));
    const asked = a.submit(status({ client_ref_id: `p${PAYOUTS - 1}` }));
    const second = a.submit(advance({ byMs: 1000 }));
    expect((await asked).answer).toMatchObject({ payout: { state: 'SUCCESS' } });
    expect([(await moved).nowMs, (await second).nowMs]).toEqual(
      [DAY_MS, DAY_MS + 1000].map((ms) => START_MS + ms),
    );
    expect([settled.length, wallClock.turns]).toEqual([PAYOUTS, 2]);
    expect(others).toEqual([1, 2].map((turn) => [1000, turn * MAX_STEPS]));
    expect(wallClock.timers).toBe(1);
  });

  test('settles everything that is due before it answers, and announces each step once', async () => {
    const { a, wallClock, settled } = await crowded();
    wallClock.skip(DAY_MS / 2);
    const answers = await Promise.all(
      ['p0', `p${PAYOUTS - 1}`].map((client_ref_id) => a.submit(status({ client_ref_id }))),
    );
    expect(answers).toMatchObject([1, 2].map(() => ({ answer: { payout: { state: 'SUCCESS' } } })));
    expect([settled.length, wallClock.turns]).toEqual([PAYOUTS, 2]);
  });

  test('ends with WORLD_REPLACED when the world is reset meanwhile; requests that wait are answered from the new world', async () => {
    const { a, wallClock, settled } = await crowded();
    let reset: Promise<unknown> | undefined;
    wallClock.others = () => (reset ??= submit(a, { kind: 'reset', source: sourceOf() }));
    const moved = a.submit(advance({ byMs: DAY_MS }));
    const waiting = paise(a);
    const message = expect.stringContaining('while its clock moved');
    await expect(moved).rejects.toMatchObject({ code: 'WORLD_REPLACED', message });
    await reset;
    expect(await waiting).toBe(1000);
    expect(await a.read(nowMs)).toBe(START_MS);
    expect(settled.length).toBeLessThan(PAYOUTS);
    expect(wallClock.timers).toBe(1);
  });

  test.each([
    ['admin', 'with DELETE /_sandbox/worlds', 'DELETE /_sandbox/worlds'],
    ['cap', 'to make room for newer ones (SANDBOX_MAX_WORLDS)', 'SANDBOX_MAX_WORLDS'],
    ['idle', 'it was idle for too long (SANDBOX_WORLD_IDLE)', 'SANDBOX_WORLD_IDLE'],
    ['stop', 'the sandbox stops', 'stop'],
  ])('reports why its world was dropped, as do the requests that wait: %s', async (reason, why, limit) => {
    const { log, a, world, wallClock, failures } = await crowded();
    wallClock.others = async () => {
      if (reason === 'admin') await log.drop(a.id);
      if (reason === 'cap') for (let nth = 0; nth < 10; nth += 1) await world(`f${nth}`).submit(initiate());
      if (reason === 'idle') await wallClock.pass(DAY_MS);
      if (reason === 'stop') await log.close();
    };
    const moved = a.submit(advance({ byMs: 60_000 }));
    const waiting = [
      a.submit(balance()),
      submit(a, { kind: 'reset', source: sourceOf() }).then(() => a.submit(balance())),
    ];
    const dropped = { code: 'SANDBOX_FULL', details: { limit } };
    const message = `This world was dropped while the request waited: ${why}`;
    const outcomes = await Promise.allSettled([Promise.resolve(moved), Promise.resolve(waiting[0])]);
    await Promise.allSettled(waiting.map((one) => Promise.resolve(one)));
    expect(outcomes[1]).toMatchObject({ status: 'rejected', reason: { ...dropped, message } });
    expect(failures).toEqual([]);
    await expect(submit(a, SETTLE)).rejects.toMatchObject(dropped);
  });
});

test('the scenario of the server is followed when it changes, with the money and the clock as they are; a world that chose another keeps that', async () => {
  const { world, reload } = logFor();
  const [a, b] = [world('a'), world('b')];
  await b.submit({ kind: 'choose', source: sourceOf({}, {}, 'own'), isChosen: true });
  await a.submit({ kind: 'speed', speed: 0 });
  const rules = [{ name: 'r', effect: { delay: '1ms' } }];
  reload(sourceOf({ ...IMPS, rules, wallet: { opening_balance: 1 } }, {}, 'rich'));
  const seen = await Promise.all(
    [a, b].map(async (world) => world.read(({ index, wallet }) => [index.active.name, wallet.balancePaise])),
  );
  expect(seen).toEqual([
    ['rich', 1000],
    ['own', 1000],
  ]);
  expect(await a.submit(initiate())).toMatchObject({ effect: { rule: 'rich/r' } });
  expect(await b.submit(initiate())).toMatchObject({ effect: null });
  expect(a.latest.clock).toMatchObject({ atMs: START_MS, speed: 0 });
});

test.each<[what: string, command: () => Command]>([
  ['reset', () => ({ kind: 'reset', source: sourceOf() })],
  ['restore', () => ({ kind: 'restore', state: new Core().state, clock: 'from-snapshot' })],
])('a %s ends the delayed responses and clears the list of requests', async (_what, command) => {
  const a = logFor().world('a');
  const ended: string[] = [];
  const leave = a.connections.wait(() => ended.push('though it had ended by itself'));
  a.connections.wait((how) => ended.push(how));
  leave();
  await a.submit(balance());
  const { ends } = await readerOf(a);
  await a.submit(command());
  await a.submit(command());
  expect([ended, ends()]).toEqual([['reset', 'reset'], 0]); // once for each
  expect(a.latest.requests).toMatchObject({ list: [], evicted: 0, count: 1 });
  expect(a.latest.generation).toBe(3);
});
