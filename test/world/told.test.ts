import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freeze, thaw } from '../../src/world/copy.ts';
import type { WorldState } from '../../src/world/state.ts';
import { acts, anyAct, ENTANGLED, run, type Act } from '../support/world/commands.ts';
import { compiler, Core, load, save, START_MS, type RuleInput } from '../support/world/core.ts';

type Effect = RuleInput['effect'];

/** A world in which every initiate has this effect. */
const under = (effect: Effect, route: 'initiate' | 'status' = 'initiate'): Core =>
  new Core({ wallet: { opening_balance: 10_000 }, rules: [{ name: 'r', match: { route }, effect }] });

const atRisk = ({ state }: Core) => state.index.atRisk.count;

describe('a payout was made, and its client', () => {
  test.each<[what: string, effect: Effect, count: number]>([
    ['got the normal response', { not_found: { reads: 1 } }, 0],
    ['got a header more', { commit: true, respond: { status: 200, headers: { 'x-a': 'b' } } }, 0],
    [
      'got a response of a rule that shows it',
      { commit: true, respond: { status: 200, body: '{"data":{"status":"{{status}}"}}' } },
      0,
    ],
    [
      'got a response of a rule that does not show it',
      { commit: true, respond: { status: 200, body: 'OK' } },
      1,
    ],
    ['got a 202 with the normal body', { commit: true, respond: { status: 202 } }, 0],
    ['got a 204, which has no body', { commit: true, respond: { status: 204 } }, 1],
    ['got a 205, whose body is dropped', { commit: true, respond: { status: 205 } }, 1],
    ['got a 500', { commit: true, respond: { status: 500 } }, 1],
    ['was refused with a 400', { commit: true, respond: { status: 400 } }, 1],
    ['waits for a response that is delayed', { delay: '1s' }, 1],
    ['waits for a response that is held', { hold: { at: 'committed' } }, 1],
    ['waits for a connection that will break', { commit: true, fault: 'connection-reset' }, 1],
    ['waits for ever', { commit: true, fault: 'hang' }, 1],
  ])('%s', (_what, effect, count) => {
    const world = under(effect);
    world.pay('a');
    expect([world.state.payouts.length, atRisk(world)]).toEqual([1, count]);
    expect(world.payout('a').told).toEqual(
      count === 1 ? null : { request: 1, atMs: START_MS, as: 'PENDING' },
    );
  });
});

describe('a response that ended later', () => {
  test.each<[what: string, effect: Effect, end: (world: Core) => void, count: number]>([
    ['was delayed, and came', { delay: '1s' }, (world) => world.end(1, 'answered'), 0],
    ['was delayed, and its client left', { delay: '1s' }, (world) => world.end(1, 'client_gone'), 1],
    [
      'was held, released and sent',
      { hold: { at: 'committed' } },
      (world) => {
        world.submit({ kind: 'release', id: 1, order: { respond: null, fault: null } });
        expect(atRisk(world)).toBe(1);
        world.end(1, 'answered');
      },
      0,
    ],
    [
      'was held, released with a 500 and sent',
      { hold: { at: 'committed' } },
      (world) => {
        world.submit({ kind: 'release', id: 1, order: { respond: { status: 500 }, fault: null } });
        world.end(1, 'answered');
      },
      1,
    ],
    [
      'was cut off in its body',
      { commit: true, fault: 'truncated-body' },
      (world) => world.end(1, 'fault', { isSent: true }),
      1,
    ],
    [
      'was not JSON',
      { commit: true, fault: 'malformed-json' },
      (world) => world.end(1, 'fault', { isSent: true }),
      1,
    ],
    [
      'was slow, and came whole',
      { commit: true, fault: 'slow-body' },
      (world) => world.end(1, 'answered'),
      0,
    ],
    [
      'was planned, and did not reach its client',
      { not_found: { reads: 1 } },
      (world) => world.end(1, 'client_gone'),
      1,
    ],
    [
      'was planned, and was another in the end',
      { not_found: { reads: 1 } },
      (world) =>
        world.end(1, 'answered', {
          refused: { code: 'INTERNAL_ERROR', response: { status: 500, headers: {}, body: '' } },
        }),
      1,
    ],
  ])('%s', (_what, effect, end, count) => {
    const world = under(effect);
    world.pay('a');
    end(world);
    expect(atRisk(world)).toBe(count);
  });
});

test('a delayed response tells its client when it ends', () => {
  const world = under({ delay: '1s' });
  world.pay('a');
  world.end(1, 'answered', {}, 1000);
  expect(world.payout('a').told).toEqual({ request: 1, atMs: START_MS + 1000, as: 'PENDING' });
});

describe('a status read', () => {
  test('of a payout whose answer was lost tells its client', () => {
    const world = under({ commit: true, respond: { status: 500 } });
    world.pay('a');
    expect(world.events).toContainEqual({ type: 'at_risk', count: 1, paise: 100 });
    world.read('a', 5);
    expect(world.payout('a').told).toEqual({ request: 2, atMs: START_MS + 5, as: 'PENDING' });
    expect(world.events.at(-1)).toEqual({ type: 'at_risk', count: 0, paise: 0 });
  });

  test('that shows an old state is recorded with that state', () => {
    const world = new Core({
      settlement: { IMPS: [{ to: 'SUCCESS', after: '2s' }] },
      rules: [
        { name: 'lost', match: { route: 'initiate' }, effect: { commit: true, respond: { status: 500 } } },
        { name: 'old', match: { route: 'status', attempt: 1 }, effect: { stale: '1s' } },
      ],
    });
    world.pay('a');
    world.read('a', 2500);
    expect(world.payout('a')).toMatchObject({ state: 'SUCCESS', told: { request: 2, as: 'PENDING' } });
    world.read('a');
    expect(world.payout('a').told).toMatchObject({ request: 3, as: 'SUCCESS' });
  });

  test('that does not find the payout, or is refused, tells nothing', () => {
    const world = new Core({
      rules: [
        {
          name: 'lost',
          match: { route: 'initiate' },
          effect: { commit: true, respond: { status: 500 }, not_found: { reads: 1 } },
        },
        { name: 'busy', match: { route: 'status', attempt: 2 }, effect: { respond: { status: 429 } } },
      ],
    });
    world.pay('a');
    world.read('a');
    world.read('a');
    expect(atRisk(world)).toBe(1);
    world.read('a');
    expect(atRisk(world)).toBe(0);
  });

  test('that was lost leaves its client told what it knew before', () => {
    const world = new Core({ settlement: { IMPS: [{ to: 'SUCCESS', after: '2s' }] } });
    world.pay('a');
    world.read('a', 2500);
    expect(world.payout('a').told).toMatchObject({ request: 2, as: 'SUCCESS' });
    world.end(2, 'client_gone');
    expect(world.payout('a').told).toMatchObject({ request: 1, as: 'PENDING' });
  });

  test('keeps its client told, though the response before it was lost', () => {
    const world = new Core();
    world.pay('a');
    world.read('a');
    world.end(1, 'client_gone');
    expect(world.payout('a').told).toMatchObject({ request: 2, as: 'PENDING' });
    world.end(2, 'client_gone');
    expect(world.payout('a').told).toBeNull();
  });
});

test('a response that is delayed tells its client, however many requests come in between', () => {
  const world = under({ delay: '1s' });
  world.keep = { requests: 10, characters: 1_000_000 };
  world.pay('a');
  for (let nth = 0; nth < 50; nth += 1) world.balance();
  world.end(1, 'answered');
  expect(world.payout('a').told).toMatchObject({ request: 1 });
  expect(world.state.requests).toMatchObject({ count: 51, evicted: 41, list: { length: 10 } });
});

test('a response that is delayed tells its client also if the list was cleared meanwhile', () => {
  const world = under({ delay: '1s' });
  world.pay('a');
  world.balance();
  expect(world.submit({ kind: 'forget', as: 'cleared' })).toBe(1);
  world.end(1, 'answered');
  expect(world.payout('a').told).toMatchObject({ request: 1 });
});

test('a response that is delayed tells its client in a copy of the world, too', () => {
  const world = under({ delay: '1s' });
  world.pay('a');
  Object.assign(world.state, thawed(world.state));
  world.end(1, 'answered');
  expect(world.payout('a').told).toMatchObject({ request: 1, as: 'PENDING' });
  expect(world.state.requests.list[0]).toMatchObject({ outcome: 'answered', response: 'planned' });
});

/** The payouts that were made and never told, counted one by one. */
function recounted({ payouts }: WorldState) {
  const risky = payouts.filter(({ told }) => told === null);
  return { count: risky.length, paise: risky.reduce((sum, { amountPaise }) => sum + amountPaise, 0) };
}

/** Any end of one of the latest requests. */
const anyEnd: fc.Arbitrary<Act> = fc
  .record({
    back: fc.nat(3),
    outcome: fc.constantFrom('answered' as const, 'fault' as const, 'client_gone' as const),
  })
  .map(({ back, outcome }) => ({
    waitMs: 0,
    name: `${outcome} ${back}`,
    command: (world) => {
      if (world.state.requests.count > back) world.end(world.state.requests.count - back, outcome);
      return null;
    },
  }));

test('the payouts at risk are those that were never told, whatever was asked and however it ended', () => {
  fc.assert(
    fc.property(
      acts(fc.oneof({ weight: 3, arbitrary: anyAct }, { weight: 1, arbitrary: anyEnd })),
      (history) => {
        const world = new Core(ENTANGLED);
        run(world, history, 0, () => expect(world.state.index.atRisk).toEqual(recounted(world.state)));
        const copies = [load(save(world.state)), thawed(world.state)];
        for (const { index } of copies) expect(index.atRisk).toEqual(world.state.index.atRisk);
      },
    ),
  );
});

function thawed(state: WorldState): WorldState {
  const steps = thaw(freeze(state), compiler);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}
