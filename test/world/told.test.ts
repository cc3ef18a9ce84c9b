import type { Payout } from '../../src/contract/snapshot.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WorldState } from '../../src/world/state-shape.ts';
import { acts, anyAct, ENTANGLED, run, type Act } from '../support/world/commands.ts';
import { Core, load, oneRule, save, START_MS, steps, type RuleInput } from '../support/world/core.ts';
import { sized } from '../support/size.ts';
import { testRows } from '../support/test-rows.ts';

type Effect = RuleInput['effect'];
type End = (world: Core) => void;

/** A world with a payout `a`, whose initiate had this effect. */
function paidUnder(effect: Effect, isAnswering = true): Core {
  const world = new Core(oneRule(effect));
  world.isAnswering = isAnswering;
  world.pay('a');
  return world;
}

const LOST: Effect = { commit: true, respond: { status: 500 } };
const DELAYED: Effect = { delay: '1s' };
const HELD: Effect = { hold: { at: 'committed' } };
const PLANNED: Effect = { not_found: { reads: 1 } };
const shows = (body: string): Effect => ({ commit: true, respond: { status: 200, body } });
const responds = (status: number): Effect => ({ commit: true, respond: { status } });
const breaks = (fault: 'connection-reset' | 'hang'): Effect => ({ commit: true, fault });

testRows<[what: string, effect: Effect, count: number]>([
  ['the normal response', PLANNED, 0],
  ['a header more', { commit: true, respond: { status: 200, headers: { 'x-a': 'b' } } }, 0],
  ['a body that shows it', shows('{"data":{"status":"{{status}}"}}'), 0],
  ['a body that does not show it', shows('OK'), 1],
  ['a 202 with the normal body', responds(202), 0],
  ['a 204, which has no body', responds(204), 1],
  ['a 205, whose body is dropped', responds(205), 1],
  ['a 500', LOST, 1],
  ['a refusal', responds(400), 1],
  ['a response that is delayed', DELAYED, 1],
  ['a response that is held', HELD, 1],
  ['a connection that will break', breaks('connection-reset'), 1],
  ['a response that never comes', breaks('hang'), 1],
])('a payout is at risk unless its client was sent a response that shows it', (_what, effect, count) => {
  const world = paidUnder(effect);
  const told = count === 1 ? null : { request: 1, atMs: START_MS, as: 'PENDING' };
  expect([world.state.index.atRisk.count, world.payout('a').told]).toEqual([count, told]);
});

const released =
  (respond: { status: number } | null): End =>
  (world) => {
    world.submit({ kind: 'release', id: 1, order: { respond, fault: null } });
    expect(world.state.index.atRisk.count).toBe(1);
    world.end(1, 'answered');
  };
const answered: End = (world) => world.end(1, 'answered');
const left: End = (world) => world.end(1, 'client_gone');
const failed: End = (world) => world.end(1, 'fault', { isSent: true });
const refused: End = (world) =>
  world.end(1, 'answered', {
    refused: { code: 'INTERNAL_ERROR', response: { status: 500, headers: {}, body: '' } },
  });

testRows<[what: string, effect: Effect, end: End, count: number]>([
  ['delayed, and came', DELAYED, answered, 0],
  ['delayed, and its client left', DELAYED, left, 1],
  ['held, released and sent', HELD, released(null), 0],
  ['held, released with a 500 and sent', HELD, released({ status: 500 }), 1],
  ['cut off in its body', { commit: true, fault: 'truncated-body' }, failed, 1],
  ['not JSON', { commit: true, fault: 'malformed-json' }, failed, 1],
  ['slow, and came whole', { commit: true, fault: 'slow-body' }, answered, 0],
  ['planned, and did not reach its client', PLANNED, left, 1],
  ['planned, and was another in the end', PLANNED, refused, 1],
])('how a response ended decides whether its payout is at risk', (_what, effect, end, count) => {
  const world = paidUnder(effect, false);
  end(world);
  expect(world.state.index.atRisk.count).toBe(count);
});

describe('a status read', () => {
  test('that shows an old state is recorded with that state', () => {
    const world = paidUnder({ ...LOST, timeline: steps('SUCCESS 2s') });
    world.put({ match: { route: 'status' }, times: 1, effect: { stale: '1s' } });
    world.read('a', 2500);
    expect(world.payout('a')).toMatchObject({ state: 'SUCCESS', told: { request: 2, as: 'PENDING' } });
    world.read('a');
    expect(world.payout('a').told).toMatchObject({ request: 3, as: 'SUCCESS' });
  });

  test('that does not find the payout, or is refused, tells nothing', () => {
    const world = paidUnder({ ...LOST, not_found: { reads: 1 } });
    world.put({ match: { route: 'status' }, skip: 1, times: 1, effect: { respond: { status: 429 } } });
    const counts = [1, 2, 3].map(() => {
      world.read('a');
      return world.state.index.atRisk.count;
    });
    expect(counts).toEqual([1, 1, 0]);
  });

  test('that ended before a later one, but is recorded after it, does not take back what that showed', () => {
    const world = new Core({ settlement: { IMPS: steps('SUCCESS 2s') } });
    world.pay('a');
    world.isAnswering = false;
    world.read('a');
    const { position } = world;
    world.read('a', 2500);
    world.end(3, 'answered');
    world.end(2, 'answered', { after: position });
    expect(world.payout('a').told).toMatchObject({ request: 3, as: 'SUCCESS' });
  });
});

test('a payout is neither at risk nor told while its response is being sent', () => {
  const world = paidUnder(PLANNED, false);
  expect([world.payout('a').told, world.state.index.atRisk.count]).toEqual([null, 0]);
  world.end(1, 'client_gone');
  expect(world.events.at(-1)).toEqual({ type: 'at_risk', count: 1, paise: 100 });
});

test('money that was returned is not at risk, and a state that the client has not seen is out of date until it has', () => {
  const world = paidUnder({ ...LOST, timeline: steps('FAILED 1s') });
  const sums = () => [world.state.index.atRisk.count, world.state.index.outOfDate.count];
  expect(sums()).toEqual([1, 0]);
  world.settle(1000);
  expect(sums()).toEqual([0, 0]);
  world.pay('b');
  world.force('b', 'SUCCESS');
  expect(sums()).toEqual([1, 0]);
  world.read('b');
  expect(sums()).toEqual([0, 0]);
  world.force('b', 'REVERSED');
  expect(sums()).toEqual([0, 1]);
  world.read('b');
  expect(sums()).toEqual([0, 0]);
});

test('a delayed response tells its client when it ends, however many requests come in between', () => {
  const world = new Core(oneRule(DELAYED));
  world.keep = 10;
  world.pay('a');
  for (let nth = 0; nth < 50; nth += 1) world.balance();
  world.end(1, 'answered', {}, 1000);
  expect(world.payout('a').told).toEqual({ request: 1, atMs: START_MS + 1000, as: 'PENDING' });
  expect(world.state.requests).toMatchObject({ count: 51, evicted: 41, list: { length: 10 } });
});

test('a delayed response tells its client when it ends, also if the list was cleared meanwhile, and in a copy of the world', () => {
  const world = paidUnder(DELAYED);
  world.balance();
  expect(world.submit({ kind: 'forget', as: 'cleared' })).toBe(1);
  Object.assign(world.state, load(save(world.state, true)));
  world.end(1, 'answered');
  expect(world.payout('a').told).toMatchObject({ request: 1, as: 'PENDING' });
  expect(world.state.requests.list[0]).toMatchObject({ outcome: 'answered', response: { status: 200 } });
});

/** The payouts at risk and those out of date, counted one by one. */
function recounted({ payouts, index }: WorldState) {
  const sumOf = (some: readonly Payout[]) => ({
    count: some.length,
    paise: some.reduce((sum, { amountPaise }) => sum + amountPaise, 0),
  });
  const isOut = ({ state }: Payout): boolean => state === 'PENDING' || state === 'SUCCESS';
  return {
    atRisk: sumOf(
      payouts.filter(
        (one) => one.told === null && isOut(one) && !index.beingTold.has(index.byTxnId.get(one.txnId)!),
      ),
    ),
    outOfDate: sumOf(payouts.filter(({ told, state }) => told && state !== 'PENDING' && state !== told.as)),
  };
}

/** Any end of one of the latest requests. */
const anyEnd: fc.Arbitrary<Act> = fc
  .record({ back: fc.nat(3), outcome: fc.constantFrom('answered', 'fault', 'client_gone') })
  .map(({ back, outcome }) => ({
    waitMs: 0,
    name: `${outcome} ${back}`,
    command: (world) => {
      if (world.state.requests.count > back) world.end(world.state.requests.count - back, outcome);
      return null;
    },
  }));

test('the sums of payouts at risk and out of date are right, whatever was asked and however it ended', () => {
  fc.assert(
    fc.property(
      acts(fc.oneof({ weight: 3, arbitrary: anyAct }, { weight: 1, arbitrary: anyEnd })),
      (history) => {
        const world = new Core(ENTANGLED);
        world.isAnswering = false;
        const check = (state: WorldState) => expect(state.index).toMatchObject(recounted(state));
        run(world, history, 0, () => check(world.state));
        for (const copy of [load(save(world.state)), load(save(world.state, true))]) check(copy);
      },
    ),
    { numRuns: sized(30, 200) },
  );
});
