import { LATEST_MS } from '../../src/contract/service.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { advanceClock } from '../../src/world/clock.ts';
import type { Context } from '../../src/world/commands.ts';
import { nowMs, wallTimeMs, worldTimeMs } from '../../src/world/state.ts';
import {
  advance,
  Core,
  DAY_MS,
  frozenClock,
  refusalOf,
  runningClock,
  sourceOf,
  START_MS,
  steps,
  timelines,
} from '../support/world/core.ts';

const at = (ms: number): number => START_MS + ms;
const FREEZE = { kind: 'speed', speed: 0 } as const;
const RESUME = { kind: 'speed', speed: 1 } as const;
const UNTIL_IDLE = advance({ until: 'idle' });

/** A world frozen at 1000 with payouts that succeed so many ms later. */
function frozenWith(...afterMs: readonly number[]): Core {
  const due = afterMs.map((ms, nth) => [`p${nth}`, `SUCCESS ${ms}ms`] as const);
  const world = new Core(timelines(Object.fromEntries(due)), { clock: frozenClock(1000) });
  for (const [reference] of due) world.pay(reference, { amount: 0.01 });
  return world;
}
const told = ({ changes }: Core) => changes.map(({ clientRefId, atMs }) => [clientRefId, atMs]);

test('a clock moves forward by whole milliseconds', () => {
  const context = { budget: 1, events: [] } as unknown as Context; // a command is checked before it gets here
  for (const clock of [runningClock, frozenClock(5)]) {
    const world = new Core({}, { clock });
    for (const byMs of [-1, 0.5, NaN]) {
      expect(() => advanceClock(world.state, advance({ byMs }), context)).toThrow('by whole ms');
    }
    world.submit(advance({ byMs: 0 }));
    expect([nowMs(world.state), world.state.clock.speed]).toEqual([clock.atMs ?? START_MS, clock.speed]);
  }
});

test('a running clock reaches a world time at one wall time; a frozen one never, and none the year 10000', () => {
  const at = (atMs: number, speed: number) => ({ atMs, setMs: 1000, speed });
  expect(wallTimeMs(at(30, 1), 100)).toBe(1070);
  expect(wallTimeMs(at(30, 0), 100)).toBeNull();
  expect(wallTimeMs(at(30, 60), 30 + 3601)).toBe(1061);
  expect(wallTimeMs(at(30, 0.5), 100)).toBe(1140);
  expect(wallTimeMs(at(0, 1), LATEST_MS)).toBe(LATEST_MS + 1000);
  expect(wallTimeMs(at(0, 1), LATEST_MS + 1)).toBeNull();
});

test('a clock goes on from its time when its speed changes, as many times as fast as wall time, and never back', () => {
  const speed = fc.oneof(fc.constantFrom(0, 1, 60, 86_400), fc.double({ min: 0, max: 86_400, noNaN: true }));
  const move = fc.tuple(fc.nat(100_000), speed);
  fc.assert(
    fc.property(fc.array(move, { maxLength: 8 }), (moves) => {
      const world = new Core();
      let wallMs = 0; // since the start
      for (const [passed, next] of moves) {
        const { speed: before } = world.state.clock;
        const fromMs = nowMs(world.state);
        wallMs += passed;
        world.submit({ kind: 'speed', speed: next }, wallMs);
        const movedMs = nowMs(world.state) - fromMs;
        expect(movedMs).toBe(Math.floor(passed * before));
      }
    }),
  );
});

describe('a frozen world', () => {
  test('settles nothing, however much wall time passes; resumed, it goes on where it was', () => {
    const world = new Core({ settlement: { IMPS: steps('SUCCESS 2s') } });
    world.pay('a');
    expect(world.submit(FREEZE, 1500)).toEqual({ nowMs: at(1500), speed: 0, nextDueMs: at(2000) });
    world.settle(60_000);
    expect([nowMs(world.state), world.changes]).toEqual([at(1500), []]);
    expect(world.submit(RESUME)).toMatchObject({ nowMs: at(1500), speed: 1 });
    world.settle(60_499);
    expect(world.changes).toEqual([]);
    world.settle(60_500);
    expect(told(world)).toEqual([['a', at(2000)]]);
    expect(world.events.filter(({ type }) => type !== 'request')).toMatchObject([
      { type: 'clock', nowMs: at(1500), speed: 0 },
      { type: 'clock', nowMs: at(1500), speed: 1 },
      { type: 'settlement' },
    ]);
  });

  test('stays frozen when it is advanced; a running one runs on from there', () => {
    const world = new Core();
    world.submit(advance({ byMs: DAY_MS }));
    expect(world.settle(1000)).toMatchObject({ nowMs: at(DAY_MS + 1000), speed: 1 });
    world.submit(FREEZE);
    expect(world.submit(advance({ byMs: 5 }), 9000)).toMatchObject({
      nowMs: at(DAY_MS + 1005),
      speed: 0,
    });
  });
});

describe('advanced', () => {
  test('until idle, a clock stands at the last step, each stamped with its own time', () => {
    const world = frozenWith(70, 5, 70);
    expect(world.submit(UNTIL_IDLE)).toEqual({ nowMs: 1070, speed: 0, nextDueMs: null });
    expect(world.changes.map(({ atMs }) => atMs)).toEqual([1005, 1070, 1070]);
    expect(world.events.at(-1)).toEqual({ type: 'clock', nowMs: 1070, speed: 0 });
    expect(world.submit(UNTIL_IDLE).nowMs).toBe(1070);
    expect(world.changes).toHaveLength(3);
  });

  test('to a time, a clock stands there; to the past it is not moved', () => {
    const world = frozenWith(50, 60);
    world.submit(advance({ toMs: 1050 }));
    expect(told(world)).toEqual([['p0', 1050]]);
    expect(world.submit(advance({ toMs: 1050 })).nowMs).toBe(1050);
    expect(refusalOf(() => world.submit(advance({ toMs: 1049 })))).toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'The clock never goes backwards: it is 1970-01-01T00:00:01.050Z',
      details: { errors: [{ field: 'to', message: 'to must not be before 1970-01-01T00:00:01.050Z' }] },
    });
    expect(nowMs(world.state)).toBe(1050);
  });
});

describe('the year 9999', () => {
  test('is the last: a clock is not advanced beyond it, and stands still where it was', () => {
    const world = frozenWith(50);
    for (const move of [{ byMs: LATEST_MS }, { toMs: LATEST_MS + 1 }]) {
      expect(refusalOf(() => world.submit(advance(move)))).toMatchObject({
        code: 'INVALID_REQUEST',
        message: 'The clock of a world ends with the year 9999',
      });
    }
    expect([nowMs(world.state), world.changes]).toEqual([1000, []]);
    expect(world.submit(advance({ toMs: LATEST_MS })).nowMs).toBe(LATEST_MS);
    expect(told(world)).toEqual([['p0', 1050]]);
    expect(refusalOf(() => world.submit(RESUME))).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(world.submit(advance({ byMs: 0 })).speed).toBe(0);
    const almost = new Core({}, { clock: frozenClock(LATEST_MS - 1) });
    expect(almost.submit(RESUME)).toMatchObject({ nowMs: LATEST_MS - 1, speed: 1 });
    expect(worldTimeMs({ atMs: LATEST_MS, setMs: 0, speed: 1 }, 5)).toBe(LATEST_MS);
  });

  test('stops a running clock, in which nothing more comes due', () => {
    const world = new Core({ settlement: { IMPS: steps('SUCCESS 2s') } });
    world.submit(advance({ toMs: LATEST_MS - 1000 }));
    world.pay('a');
    expect(world.settle(60_000)).toMatchObject({ nowMs: LATEST_MS, nextDueMs: null });
    expect(world.changes).toEqual([]);
    expect(refusalOf(() => world.submit(advance({ byMs: 1 })))).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(refusalOf(() => world.submit(RESUME))).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(nowMs(world.state)).toBe(LATEST_MS);
  });

  test('ends an advance until idle, which reports what happened before a step it cannot reach', () => {
    const world = new Core(timelines({ a: 'SUCCESS 2s, REVERSED 3650000d' }));
    world.pay('a');
    expect(world.submit(UNTIL_IDLE)).toMatchObject({ nowMs: at(2000), nextDueMs: null });
    expect(world.changes).toMatchObject([{ to: 'SUCCESS', atMs: at(2000) }]);
    expect(world.events.at(-1)).toMatchObject({ type: 'clock' });
  });
});

test('wall time that goes back changes nothing: a world has the latest that it has seen', () => {
  const world = new Core({ settlement: { IMPS: steps('SUCCESS 5ms') } });
  world.pay('a', {}, 100);
  world.settle(105);
  world.pay('b', {}, 50);
  expect(world.payout('b').createdAtMs).toBe(at(105));
  expect(world.read('a', 1)).toMatchObject({ payout: { state: 'SUCCESS' } });
  expect(nowMs(world.state)).toBe(at(105));
  world.settle(110);
  expect(world.changes.map(({ atMs }) => atMs)).toEqual([at(105), at(110)]);
});

test('a scenario with a clock sets that of a world in which nothing has happened to the wallet, and of no other', () => {
  const source = sourceOf({ clock: { at: '2026-01-15T10:30:00Z', speed: 3600 } });
  const world = new Core();
  world.pay('poor', { amount: 99 });
  world.choose(source);
  const started = Date.UTC(2026, 0, 15, 10, 30);
  expect(world.state.clock).toMatchObject({ atMs: started, speed: 3600 });
  expect(world.events.at(-2)).toEqual({ type: 'clock', nowMs: started, speed: 3600 });
  expect(world.state.entries).toMatchObject([{ kind: 'opening', atMs: started }]);
  world.choose(sourceOf());
  expect(world.state.clock.speed).toBe(3600); // that one has none
  const used = new Core();
  used.pay('a');
  used.choose(source);
  expect(used.state.clock.speed).toBe(1);
});
