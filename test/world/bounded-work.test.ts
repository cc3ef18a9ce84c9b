import { describe, expect, test } from 'vitest';
import { MAX_STEPS } from '../../src/world/apply.ts';
import { nowMs } from '../../src/world/state.ts';
import type { Command } from '../../src/world/commands.ts';
import {
  advance,
  balance,
  Core,
  initiate,
  load,
  save,
  sourceOf,
  START_MS,
  status,
  steps,
  type Saved,
} from '../support/world/core.ts';
import { testRows } from '../support/test-rows.ts';

/** With one payout more, its steps fill three turns. */
const COUNT = 3 * MAX_STEPS - 1;
let made: Saved | undefined;

/** A world whose payouts, worth one paisa each, succeed after 5 ms. They are made once, and copied. */
function withPayouts(isFrozen = false): Core {
  const world = new Core({ settlement: { IMPS: steps('SUCCESS 5ms') }, wallet: { opening_balance: 1000 } });
  if (made === undefined) {
    for (let nth = 0; nth < COUNT; nth += 1) world.pay(`p${nth}`, { amount: 0.01 });
    made = save(world.state);
  }
  world.submit({ kind: 'restore', state: load(made), clock: 'from-snapshot' });
  if (isFrozen) world.submit({ kind: 'speed', speed: 0 });
  world.events.length = 0;
  return world;
}

const turns = (world: Core, command: Command, atMs?: number): readonly number[] => {
  const done: number[] = [];
  for (let next: Command | null = command; next !== null; atMs = undefined) {
    const applied = world.apply(next, atMs);
    done.push(applied.events.filter(({ type }) => type === 'settlement').length);
    next = applied.kind === 'unfinished' ? applied.next : null;
  }
  return done;
};

describe('a command applies at most 1,000 steps at once, and goes on with the rest', () => {
  testRows<[move: Parameters<typeof advance>[0], ms: number]>([
    [{ byMs: 10 }, 10],
    [{ toMs: START_MS + 10 }, 10],
    [{ until: 'idle' }, 5],
  ])('an advance', (move, ms) => {
    const world = withPayouts(true);
    expect(turns(world, advance(move))).toEqual([MAX_STEPS, MAX_STEPS, MAX_STEPS - 1]);
    expect(world.changes.every(({ atMs }) => atMs === START_MS + 5)).toBe(true);
    expect(nowMs(world.state)).toBe(START_MS + ms);
  });

  test('a request that comes after what is due', () => {
    const world = withPayouts();
    expect(turns(world, status({ client_ref_id: 'p0' }), 10)).toEqual([MAX_STEPS, MAX_STEPS, MAX_STEPS - 1]);
    expect(world.read('p0')).toMatchObject({ payout: { state: 'SUCCESS' } });
  });

  test('the resulting state is the same as with smaller steps', () => {
    const [world, other] = [withPayouts(), withPayouts()];
    world.submit(balance(), 10);
    for (let ms = 1; ms <= 10; ms += 1) other.settle(ms);
    other.submit(balance());
    expect(save(world.state)).toEqual(save(other.state));
  });
});

test('a request that waited for what is due does its own work once', () => {
  const world = withPayouts();
  const { attempt, committed } = world.submit(initiate({ client_ref_id: 'new', amount: 0.01 }), 10);
  expect([attempt, committed, world.turns, world.state.payouts.length]).toEqual([1, true, 2, COUNT + 1]);
});

test('a status read shows the steps it triggers, even behind as many due steps as fit in one turn', () => {
  const world = withPayouts();
  const effect = { timeline: steps('SUCCESS read 1, REVERSED 7ms') };
  world.put({ match: { route: 'initiate', client_ref_id: 'read' }, effect });
  world.pay('p', { amount: 0.01 });
  world.pay('read', { amount: 0.01 });
  expect(world.read('read', 10)).toMatchObject({ payout: { state: 'REVERSED' } });
  expect(world.changes).toHaveLength(COUNT + 3);
});

test('a reset, a restore and a changed scenario apply nothing that is due', () => {
  for (const command of [
    { kind: 'reset', source: sourceOf() },
    { kind: 'follow', source: sourceOf() },
    { kind: 'restore', state: new Core().state, clock: 'from-snapshot' },
  ] as const)
    expect(turns(withPayouts(), command, 10)).toEqual([0]);
});
