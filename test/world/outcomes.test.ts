import { expect, test } from 'vitest';
import type { ScenarioInput } from '../../src/contract/control.ts';
import { advance, Core, oneRule, START_MS, steps } from '../support/world/core.ts';

type Outcome = NonNullable<ScenarioInput['outcomes']>[number];

const SUCCEEDS = steps('SUCCESS 2s');
const REVERSED_LATER = steps('SUCCESS 2s, REVERSED 3d');

/** The states of payouts after all that was planned, by their references. */
function ends(document: ScenarioInput, references: readonly string[]): Readonly<Record<string, string>> {
  const world = new Core(document, { openingBalancePaise: 1_000_000 });
  for (const reference of references) world.pay(reference);
  world.submit(advance({ until: 'idle' }));
  return Object.fromEntries(references.map((reference) => [reference, world.payout(reference).state]));
}

const REFERENCES = Array.from({ length: 200 }, (_, nth) => `order-${nth}`);

test('the first outcome that matches decides how a payout ends; without one, the settlement does', () => {
  const outcomes: readonly Outcome[] = [
    { match: { client_ref_id: 'a' }, timeline: steps('FAILED 1s') },
    { name: 'reversal', match: { client_ref_id: ['a', 'b'] }, timeline: REVERSED_LATER },
  ];
  const world = new Core({ settlement: 'instant', outcomes });
  for (const reference of ['a', 'b', 'c']) world.pay(reference);
  world.submit(advance({ until: 'idle' }));
  expect(world.state.payouts.map(({ plannedBy, state }) => [plannedBy, state])).toEqual([
    ['test/outcome-1', 'FAILED'],
    ['test/reversal', 'REVERSED'],
    ['instant', 'SUCCESS'],
  ]);
});

/** Two ends, of which a payout draws one, with so many chances for the second. */
const drawn = (chances: number, second: ReturnType<typeof steps>): ScenarioInput => ({
  outcomes: [
    {
      weighted: [
        { weight: 10 - chances, timeline: SUCCEEDS },
        { weight: chances, timeline: second },
      ],
    },
  ],
});

test('a rule and an outcome combine: the first response is lost, and the payout is still the one in ten that is reversed', () => {
  const document = drawn(1, REVERSED_LATER);
  const lost = oneRule(
    { commit: true, respond: { status: 500 } },
    { match: { route: 'initiate', attempt: 1 } },
  );
  const alone = ends(document, REFERENCES);
  expect(ends({ ...document, ...lost }, REFERENCES)).toEqual(alone);
  const reversed = Object.values(alone).filter((state) => state === 'REVERSED').length;
  expect(reversed).toBeGreaterThan(8);
  expect(reversed).toBeLessThan(35);
  expect(ends({ ...document, seed: 'another' }, REFERENCES)).not.toEqual(alone);
});

test('a retry of an initiate that made no payout gets the outcome that its first attempt would have had', () => {
  const document = drawn(5, steps('FAILED 2s'));
  const refusing = oneRule({ respond: { status: 503 } }, { match: { attempt: { lte: 2 } } });
  const references = REFERENCES.slice(0, 20);
  const retried = ends(
    { ...document, ...refusing },
    references.flatMap((one) => [one, one, one]),
  );
  expect(retried).toEqual(ends(document, references));
  expect(new Set(Object.values(retried))).toEqual(new Set(['SUCCESS', 'FAILED']));
});

test('a rule overrides the outcome of a payout, each part by itself', () => {
  const world = new Core({
    outcomes: [{ timeline: REVERSED_LATER, not_found: { reads: 1 } }],
    rules: [
      { name: 'fails', match: { client_ref_id: 'a' }, effect: { timeline: steps('FAILED 1s') } },
      { name: 'hides', match: { client_ref_id: 'b' }, effect: { not_found: { reads: 2 } } },
    ],
  });
  for (const reference of ['a', 'b']) world.pay(reference);
  expect(world.payout('a')).toMatchObject({
    plannedBy: 'test/fails',
    hidden: { reads: 1, by: 'test/outcome-1' },
  });
  expect(world.payout('b')).toMatchObject({
    plannedBy: 'test/outcome-1',
    hidden: { reads: 2, by: 'test/hides' },
  });
});

test('a window is in world time since the world began, and begins again with a reset', () => {
  const world = new Core({
    outcomes: [{ name: 'later', during: { from: '10m', for: '10s' }, timeline: SUCCEEDS }],
    ...oneRule({ respond: { status: 503 } }, { during: { until: '1m' } }),
  });
  const pay = (atMs: number) => {
    const { answer } = world.pay(`order-${atMs}`, {}, atMs);
    return answer.kind === 'payout' ? answer.payout.plannedBy : answer.kind;
  };
  const story = (fromMs: number) =>
    [0, 59_999, 60_000, 599_999, 600_000, 609_999, 610_000].map((ms) => pay(fromMs + ms));
  const told = ['none', 'none', 'manual', 'manual', 'test/later', 'test/later', 'manual'];
  expect(story(0)).toEqual(told);
  world.submit({ kind: 'reset', source: world.state.scenario.source }, 700_000);
  expect(story(700_000)).toEqual(told);
  expect(world.state.entries[0]!.atMs).toBe(START_MS + 700_000);
});

test('the nth new reference of a world is matched whatever became of those before, and on each of its attempts', () => {
  const world = new Core({
    outcomes: [{ name: 'third', match: { payout: 3 }, timeline: [] }],
    rules: [
      { name: 'second', match: { payout: [2], attempt: 1 }, effect: { respond: { status: 503 } } },
      { name: 'read', match: { route: 'status', payout: { lte: 1 } }, effect: { stale: '1s' } },
    ],
  });
  const sent = ['a', 'b', 'b', 'c', 'a', 'd', 'b'];
  const ruled = sent.filter((reference) => world.pay(reference).effect?.rule === 'test/second');
  expect(ruled).toEqual(['b']);
  const planned = ['a', 'b', 'c', 'd'].map((reference) => world.payout(reference).plannedBy);
  expect(planned).toEqual(['manual', 'manual', 'test/third', 'manual']);
  for (const query of [{ client_ref_id: 'a' }, { txn_id: world.payout('a').txnId }, { client_ref_id: 'b' }])
    world.read(query);
  expect(world.state.uses.get('test/read')).toEqual({ matched: 2, taken: 2 });
});
