import { expect, test } from 'vitest';
import { advance, balance, Core, load, oneRule, save, sourceOf, START_MS } from '../support/world/core.ts';
import type { Decided } from '../../src/world/journal/kept-request.ts';

const FROZEN = { clock: { atMs: START_MS, speed: 0 } };

/** What a client sees: `ok`, or how many ms a limit still refuses. */
function seen({ answer, effect }: Decided): 'ok' | number {
  if (answer.kind === 'refused') return Number(answer.refusal.details.headers?.['retry-after']) * 1000;
  return effect === null ? 'ok' : effect.limitLeftMs!;
}

const LIMIT = { limit: { max: 2, per: '10s' } };

test('a limit of a rule lets the first requests of each window pass, and says how long the window lasts', () => {
  const world = new Core(oneRule(LIMIT), FROZEN);
  let nth = 0;
  const pay = () => seen(world.pay(`order-${(nth += 1)}`));
  expect([pay(), pay(), pay(), pay()]).toEqual(['ok', 'ok', 10_000, 10_000]);
  world.submit(advance({ byMs: 9_999 }));
  expect(pay()).toBe(1);
  world.submit(advance({ byMs: 1 }));
  expect([pay(), pay(), pay()]).toEqual(['ok', 'ok', 10_000]);
  world.submit(advance({ byMs: 15_000 })); // a window begins with its first request, not when the one before it ends
  expect([pay(), pay(), pay()]).toEqual(['ok', 'ok', 10_000]);
  const references = world.state.payouts.map(({ clientRefId }) => clientRefId);
  expect(references).toEqual(['order-1', 'order-2', 'order-6', 'order-7', 'order-9', 'order-10']);
  expect(world.state.uses.get('test/r')).toEqual({ matched: 11, taken: 5 });
});

test('the times of a rule count only the requests past its limit', () => {
  const world = new Core(oneRule(LIMIT, { times: 1 }));
  const paid = ['a', 'b', 'c', 'd'].map((reference) => seen(world.pay(reference)));
  expect(paid).toEqual(['ok', 'ok', 10_000, 'ok']);
});

test('beyond its limit a rule applies the rest of its effect: any response, even after a payout that the client does not learn of', () => {
  const limit = { max: 1, per: '1m' };
  const effects = [
    { limit },
    { limit, respond: { status: 503 } },
    { limit, fault: 'connection-reset' },
    { limit, commit: true },
  ] as const;
  const results = effects.map((effect) => {
    const world = new Core(oneRule(effect));
    world.pay('a');
    const { effect: done, committed } = world.pay('b');
    return [done?.respond?.status, done?.fault?.kind, committed];
  });
  expect(results).toEqual([
    [429, undefined, false],
    [503, undefined, false],
    [undefined, 'connection-reset', false],
    [429, undefined, true],
  ]);
});

test('the rate limit of a scenario counts in world time, before any rule and before the attempt', () => {
  const first = oneRule(
    { commit: true, respond: { status: 500 } },
    { match: { route: 'initiate', attempt: 1 } },
  );
  const world = new Core({ rate_limit: '2/10s', ...first });
  const rules = ['a', 'b', 'c'].map((reference) => world.pay(reference).effect?.rule ?? null);
  expect(rules).toEqual(['test/r', 'test/r', null]);
  expect([0, 1, 9999].map((atMs) => seen(world.pay('c', {}, atMs)))).toEqual([10_000, 10_000, 1000]);
  expect(seen(world.submit(balance()))).toBe('ok');
  expect(world.pay('c', {}, 10_000).effect?.rule).toBe('test/r');
});

test('a limit restarts with a reset, another scenario or a rule that replaces it; a snapshot keeps it', () => {
  const top = { name: 'top', match: { route: 'balance' }, effect: { limit: { max: 1, per: '1h' } } };
  const read = (world: Core) => seen(world.submit(balance()));
  const world = new Core({ rate_limit: '1/1h' }, FROZEN);
  const pay = (core: Core) => seen(core.pay('a'));
  world.submit({ kind: 'putRule', rule: top });
  const both = (core: Core) => [pay(core), read(core)];
  const refused = [3_600_000, 3_600_000];
  expect([both(world), both(world)]).toEqual([['ok', 'ok'], refused]);

  const restarted = new Core({}, FROZEN);
  Object.assign(restarted.state, load(save(world.state)));
  expect(both(restarted)).toEqual(refused);

  world.submit({ kind: 'putRule', rule: top });
  expect(both(world)).toEqual([3_600_000, 'ok']);
  world.submit({ kind: 'choose', source: sourceOf({ rate_limit: '1/1h' }, FROZEN), isChosen: true });
  expect(both(world)).toEqual(['ok', 3_600_000]);
  world.submit({ kind: 'removeRule', name: 'top' });
  world.submit({ kind: 'reset', source: sourceOf({ rate_limit: '1/1h' }, FROZEN) });
  expect(both(world)).toEqual(['ok', 'ok']);
});
