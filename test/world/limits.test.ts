import { expect, test } from 'vitest';
import type { ScenarioInput } from '../../src/contract/control.ts';
import {
  advance,
  balance,
  Core,
  load,
  runningClock,
  save,
  sourceOf,
  START_MS,
} from '../support/world/core.ts';
import type { RequestResult } from '../../src/world/request/response.ts';

const FROZEN = { clock: { frozenAtMs: START_MS } };

/** What a client sees: `ok`, or how many ms a limit still refuses. */
function seen({ answer, effect }: RequestResult): 'ok' | number {
  if (answer.kind === 'refused') return Number(answer.refusal.details.headers?.['retry-after']) * 1000;
  return effect === null ? 'ok' : effect.limitLeftMs!;
}

const BUSY: ScenarioInput = {
  rules: [{ name: 'busy', match: { route: 'initiate' }, effect: { limit: { max: 2, per: '10s' } } }],
};

test('a limit of a rule lets the first requests of each window pass, and says how long the window lasts', () => {
  const world = new Core(BUSY, FROZEN);
  let nth = 0;
  const pay = () => seen(world.pay(`order-${(nth += 1)}`));
  expect([pay(), pay(), pay(), pay()]).toEqual(['ok', 'ok', 10_000, 10_000]);
  world.submit(advance({ byMs: 9_999 }));
  expect(pay()).toBe(1);
  world.submit(advance({ byMs: 1 }));
  expect([pay(), pay(), pay()]).toEqual(['ok', 'ok', 10_000]);
  expect(world.state.payouts.map(({ clientRefId }) => clientRefId)).toEqual([
    'order-1',
    'order-2',
    'order-6',
    'order-7',
  ]);
  expect(world.state.uses.get('test/busy')).toEqual({ matched: 8, taken: 4 });
});

test('the times of a rule count only the requests past its limit', () => {
  const world = new Core({ rules: [{ ...BUSY.rules![0]!, times: 1 }] }, FROZEN);
  expect(['a', 'b', 'c', 'd'].map((reference) => seen(world.pay(reference)))).toEqual([
    'ok',
    'ok',
    10_000,
    'ok',
  ]);
});

test('a window begins with its first request, not when the one before it ends', () => {
  const world = new Core(BUSY, FROZEN);
  world.pay('a');
  world.submit(advance({ byMs: 15_000 }));
  expect(['b', 'c', 'd'].map((reference) => seen(world.pay(reference)))).toEqual(['ok', 'ok', 10_000]);
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
    const world = new Core({ rules: [{ name: 'busy', effect }] }, FROZEN);
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
  const limited: ScenarioInput = {
    rate_limit: '2/10s',
    rules: [
      {
        name: 'first',
        match: { route: 'initiate', attempt: 1 },
        effect: { commit: true, respond: { status: 500 } },
      },
    ],
  };
  const world = new Core(limited, FROZEN);
  const rules = () => ['a', 'b', 'c'].map((reference) => world.pay(reference).effect?.rule ?? null);
  expect(rules()).toEqual(['test/first', 'test/first', null]);
  expect(seen(world.pay('c'))).toBe(10_000);
  expect(seen(world.submit(balance()))).toBe('ok');
  world.submit(advance({ byMs: 10_000 }));
  expect(world.pay('c').effect?.rule).toBe('test/first');
});

test('a limit on a running clock ends by itself', () => {
  const world = new Core({ rate_limit: '1/10s' }, { clock: runningClock });
  expect([0, 1, 9_999, 10_000].map((atMs) => seen(world.pay('a', {}, atMs)))).toEqual([
    'ok',
    10_000,
    1000,
    'ok',
  ]);
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
