import { expect, test } from 'vitest';
import { Core, refusalOf, sourceOf, steps, type RuleInput } from '../support/world/core.ts';

const HOLD = (at: 'arrived' | 'committed'): RuleInput => ({
  name: 'held',
  match: { route: 'initiate' },
  effect: { hold: at, timeline: steps('FAILED 1s') },
});
const NORMAL = { respond: null, fault: null };
const release = (core: Core, id: number, atMs?: number) =>
  core.submit({ kind: 'release', id, order: NORMAL }, atMs);

test('a held request counts when it arrives, and keeps its rule until it is released', () => {
  const core = new Core({ rules: [{ ...HOLD('arrived'), times: 1 }] });
  const { hold, answer, committed } = core.pay('a');
  expect({ answer, committed, id: hold!.id }).toEqual({ answer: { kind: 'none' }, committed: false, id: 1 });
  expect(core.pay('b').committed).toBe(true);
  release(core, 1, 500);
  expect(core.state.payouts.map(({ clientRefId, plannedBy }) => [clientRefId, plannedBy])).toEqual([
    ['b', 'manual'],
    ['a', 'test/held'],
  ]);
  expect(core.state.uses.get('test/held')).toEqual({ matched: 2, taken: 1 });
});

test('a request keeps the rule that held it, even if that is replaced or removed before its release', () => {
  const core = new Core();
  const pays = HOLD('arrived');
  const refuses: RuleInput = { ...pays, effect: { hold: 'arrived', respond: { status: 402 } } };
  core.put(refuses);
  core.pay('a');
  core.put(pays);
  core.pay('b');
  core.put(refuses);
  core.pay('c');
  core.submit({ kind: 'removeRule', name: null });
  for (const id of [1, 2, 3]) release(core, id);
  expect(core.state.payouts.map(({ clientRefId, plannedBy }) => [clientRefId, plannedBy])).toEqual([
    ['b', 'world/held'],
  ]);
});

test('a held request that has expired cannot be released', () => {
  const core = new Core({ rules: [HOLD('arrived')] });
  core.pay('a', {}, 0);
  expect(refusalOf(() => release(core, 1, 30_000)).message).toContain('it was released, or expired');
  expect(core.state.payouts).toEqual([]);
  expect(core.state.held).toMatchObject({
    made: 1,
    waiting: [],
    expired: [{ request: { clientRefId: 'a' } }],
  });
});

test('the latest ten held requests that have expired are remembered, and none whose client has left', () => {
  const core = new Core({ rules: [HOLD('arrived')] });
  for (let nth = 1; nth <= 13; nth += 1) {
    core.pay(`order-${nth}`);
    core.submit({ kind: 'endHold', id: nth, how: nth === 13 ? 'left' : 'expired' });
  }
  const remembered = core.state.held.expired.map(({ id }) => id);
  expect(remembered).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  expect(core.state.held).toMatchObject({ made: 13, waiting: [] });
});

test('the id of a held request is never reused, not even after a reset', () => {
  const core = new Core({ rules: [HOLD('arrived')] });
  core.pay('a');
  core.submit({ kind: 'reset', source: sourceOf({ rules: [HOLD('arrived')] }) });
  expect(core.state.held).toEqual({ made: 1, waiting: [], expired: [] });
  expect(core.pay('a').hold!.id).toBe(2);
  expect(refusalOf(() => release(core, 1)).code).toBe('HELD_NOT_FOUND');
});

test('a world that is restored goes on with the numbers of its held requests, and gives none twice', () => {
  const rules = { rules: [HOLD('committed')] };
  const [from, fork, busy] = [new Core(rules), new Core(), new Core(rules)];
  from.pay('a');
  for (const reference of ['a', 'b', 'c']) busy.pay(reference);
  for (const core of [fork, busy]) core.restore(from);
  const idOfNext = (core: Core) => core.pay('next').hold?.id;
  expect([from, fork, busy].map(idOfNext)).toEqual([2, 2, 4]);
});
