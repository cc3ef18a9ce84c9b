import type { StoredRequest } from '../../src/contract/snapshot.ts';
import { describe, expect, test } from 'vitest';
import { judge } from '../../src/referee/judge.ts';
import { nowMs } from '../../src/world/state.ts';
import { evidenceOf } from '../referee/journal-of.ts';
import {
  advance,
  balance,
  Core,
  load,
  oneRule,
  refusalOf,
  runningClock,
  save,
  sourceOf,
  START_MS,
  status,
  steps,
  timelines,
  type RuleInput,
} from '../support/world/core.ts';
import { testRows } from '../support/test-rows.ts';

const at = (ms: number): number => START_MS + ms;
const credit = (amountPaise: number) => ({ kind: 'credit', amountPaise }) as const;
const debit = (amountPaise: number) => ({ kind: 'debit', amountPaise }) as const;

describe('money put in and taken out', () => {
  test('is refused beyond what the wallet holds, in rupees', () => {
    const world = new Core();
    expect(refusalOf(() => world.submit(debit(1001)))).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      message: 'The wallet holds INR 10, which is less than INR 10.01',
    });
    expect(world.submit(debit(1000)).balancePaise).toBe(0);
  });

  test('is refused beyond what the payout API can show exactly, payouts under way included', () => {
    const world = new Core();
    world.pay('a');
    expect(world.submit(credit(1e13 - 1000)).balancePaise).toBe(1e13 - 100);
    expect(refusalOf(() => world.submit(credit(1)))).toMatchObject({
      code: 'WALLET_FULL',
      message:
        'The wallet can hold at most INR 100000000000 together with its payouts, whose money may come back: it holds INR 99999999999, and they hold INR 1',
    });
  });

  test('needs room for its entry', () => {
    const world = new Core();
    world.maxTransactions = 1;
    world.submit(credit(1));
    for (const command of [credit(1), debit(1)])
      expect(refusalOf(() => world.submit(command))).toMatchObject({
        code: 'SANDBOX_FULL',
        details: { limit: 'SANDBOX_MAX_TRANSACTIONS' },
      });
    expect(world.balance().paise).toBe(1001);
  });
});

describe('a forced transition', () => {
  test('calls off what was planned, also when its time comes', () => {
    const world = new Core(timelines({ a: 'SUCCESS 10ms, REVERSED 20ms', b: 'SUCCESS 30ms' }));
    for (const reference of ['a', 'b']) world.pay(reference);
    world.force('a', 'SUCCESS', 5);
    expect(world.settle(25).nextDueMs).toBe(at(30));
    expect(world.steps).toEqual(['a SUCCESS 5']);
    expect(world.payout('a').timeline).toMatchObject([{ to: 'SUCCESS', forced: true }]);
  });

  test('of a payout that there is not is refused', () => {
    const refused = () => new Core().submit({ kind: 'transition', txnId: 'T1', to: 'SUCCESS' });
    const message = 'This world has no transaction T1';
    expect(refused).toThrow(expect.objectContaining({ code: 'TRANSACTION_NOT_FOUND', message }));
  });
});

const rich = sourceOf({ wallet: { opening_balance: 7.77 }, settlement: 'instant' }, {}, 'rich');

describe('a chosen scenario', () => {
  test('opens a wallet to which nothing has happened with its own balance, and is announced', () => {
    const world = new Core();
    world.choose(rich, 5);
    expect(world.events).toEqual([{ type: 'scenario', scenario: 'rich' }]);
    expect(world.balance()).toEqual({ paise: 777, updatedMs: 5 });
    expect(world.state.scenario.isChosen).toBe(true);
  });

  testRows<[what: string, happen: (world: Core) => void]>([
    ['a payout', (world) => world.pay('a')],
    ['a credit', (world) => world.submit(credit(1))],
    ['a refusal that is kept', (world) => world.pay('a', { amount: 11 })],
  ])('leaves a wallet alone to which something has happened', (_what, happen) => {
    const world = new Core({ dialect: { client_ref_id: { same_body: 'stored' } } });
    happen(world);
    const { paise } = world.balance();
    world.choose(rich);
    expect(world.balance().paise).toBe(paise);
    world.pay('b');
    expect(world.read('b')).toMatchObject({ payout: { state: 'SUCCESS' } });
  });

  test('leaves payouts with the timeline they were made with', () => {
    const world = new Core({ settlement: { IMPS: steps('FAILED 5ms') } });
    world.pay('a');
    world.choose(rich);
    expect(world.read('a', 5)).toMatchObject({ payout: { state: 'FAILED' } });
  });

  test('counts its own rules from 0; those on top go on counting', () => {
    const own: RuleInput = { name: 'own', match: { route: 'status' }, effect: { delay: '1ms' } };
    const top: RuleInput = { name: 'top', match: { route: 'initiate' }, effect: { delay: '1ms' } };
    const world = new Core({ rules: [own] });
    world.put(top);
    world.pay('a');
    world.read('a');
    world.choose(sourceOf({ rules: [own] }));
    expect([...world.state.uses]).toEqual([['world/top', { matched: 1, taken: 1 }]]);
  });

  test('that changed on the server is followed with all counters, and applies nothing that is due', () => {
    const world = new Core({ settlement: 'instant' });
    world.put({ name: 'top', effect: { delay: '1ms' } });
    world.pay('a');
    const before = world.events.length;
    world.submit({ kind: 'follow', source: rich });
    expect(world.events).toHaveLength(before);
    expect(world.state.index.active.name).toBe('rich');
    expect(world.state.index.active.rules.map(({ id }) => id)).toEqual(['world/top']);
    expect([world.state.scenario.isChosen, world.state.uses.size]).toEqual([false, 1]);
  });
});

describe('an override', () => {
  test('with more patterns than there may be together is refused', () => {
    const world = new Core();
    const rule = (count: number): Partial<RuleInput> => {
      const header = Object.fromEntries(
        Array.from({ length: count }, (_, nth) => [`x-${nth}`, { matches: 'a' }]),
      );
      return { name: `r${count}`, match: { header }, effect: { fault: 'hang' } };
    };
    world.put(rule(11));
    world.put(rule(9));
    expect(refusalOf(() => world.put(rule(10)))).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { errors: [{ field: 'match', message: expect.stringContaining('to 30, at most 20') }] },
    });
    world.put(rule(11)); // in the place of the one before
    expect(world.state.overrides).toHaveLength(2);
  });

  const ids = ({ state }: Core) => state.index.active.rules.map(({ id }) => id);
  const delay = { delay: '1ms' };

  test('gets the first free name where it has none', () => {
    const world = new Core();
    expect(world.put({ effect: delay })).toBe('world/rule-1');
    expect(world.put({ name: 'rule-3', effect: delay })).toBe('world/rule-3');
    expect(world.put({ effect: delay })).toBe('world/rule-2');
    expect(world.put({ effect: delay })).toBe('world/rule-4');
  });

  test('replaces the one of the same name, and counts from 0', () => {
    const world = new Core();
    world.put({ name: 'a', times: 1, effect: { respond: { status: 500 } } });
    world.put({ name: 'b', match: { route: 'status' }, effect: delay });
    expect(world.pay('x').effect).not.toBeNull();
    expect(world.pay('x').effect).toBeNull();
    world.put({ name: 'a', times: 1, effect: { respond: { status: 500 } } });
    expect(ids(world)).toEqual(['world/a', 'world/b']);
    expect(world.pay('y').effect).not.toBeNull();
  });

  test('is removed by name, with its counter; one that is not there is refused with those that are', () => {
    const world = new Core(oneRule({ delay: '1ms' }, { name: 'own' }));
    const remove = (name: string | null) => world.submit({ kind: 'removeRule', name });
    expect(refusalOf(() => remove('own'))).toMatchObject({
      code: 'RULE_NOT_FOUND',
      message: 'This world has no overrides. Rules of a scenario cannot be removed',
    });
    for (const name of ['a', 'b', 'c']) world.put({ name, match: { route: 'status' }, effect: delay });
    world.pay('x');
    world.read('x');
    expect(refusalOf(() => remove('d')).message).toContain('only c, b, a');
    remove('c');
    expect(ids(world)).toEqual(['world/b', 'world/a', 'test/own']);
    expect([...world.state.uses.keys()]).toEqual(['test/own']);
    remove(null);
    expect(ids(world)).toEqual(['test/own']);
    remove(null);
    expect(world.events.at(-1)).toEqual({ type: 'scenario', scenario: 'test' });
  });

  test('is one of a hundred at most', () => {
    const world = new Core();
    for (let nth = 1; nth <= 100; nth += 1) world.put({ effect: delay });
    expect(refusalOf(() => world.put({ effect: delay }))).toMatchObject({ code: 'TOO_MANY_RULES' });
    expect(world.put({ name: 'rule-7', effect: delay })).toBe('world/rule-7');
  });
});

describe('a rule', () => {
  const world = (rule: Partial<RuleInput>) => new Core(oneRule({ respond: { status: 503 } }, rule));
  const taken = (core: Core, count: number, reference = 'a') =>
    Array.from({ length: count }, () => (core.pay(reference).effect === null ? '-' : 'x')).join('');

  test('lets so many requests pass, is taken so often, and announces each match', () => {
    const core = world({ skip: 2, times: 2 });
    expect(taken(core, 6)).toBe('--xx--');
    expect(core.events.filter(({ type }) => type === 'rule')).toMatchObject([
      { type: 'rule', rule: 'test/r', matched: 3, taken: 1 },
      { type: 'rule', rule: 'test/r', matched: 4, taken: 2 },
    ]);
    expect(core.state.uses.get('test/r')).toEqual({ matched: 6, taken: 2 });
  });

  testRows<[what: string, rule: Partial<RuleInput>]>([
    ['a timeline', { effect: { timeline: steps('FAILED 1s') } }],
    ['not_found', { effect: { not_found: { reads: 1 } } }],
    ['headers', { effect: { commit: true, respond: { status: 201, headers: { 'x-note': 'y' } } } }],
  ])('is used up by no refusal that it leaves as it is', (_what, rule) => {
    const core = world({ times: 1, ...rule });
    core.pay('paid-before', {}, 0);
    core.put({ name: 'once', match: { route: 'initiate' }, times: 1, ...rule });
    core.events.length = 0;
    expect(core.pay('poor', { amount: 1000 })).toMatchObject({ effect: null, answer: { kind: 'refused' } });
    expect(core.pay('paid-before', { amount: 2 })).toMatchObject({
      effect: null,
      answer: { kind: 'refused' },
    });
    expect(core.events.filter(({ type }) => type === 'rule')).toEqual([]);
    expect(core.state.uses.get('world/once')).toEqual({ matched: 2, taken: 0 });
    expect(core.pay('poor')).toMatchObject({ effect: { rule: 'world/once' }, committed: true });
    expect(core.pay('other').effect).toBeNull();
    expect(core.state.uses.get('world/once')).toEqual({ matched: 4, taken: 1 });
  });

  test('with a timeline is not used up by a replay of a payout that was made before', () => {
    const core = new Core({ dialect: { client_ref_id: { same_body: 'replay' } } });
    core.pay('a');
    const effect = { timeline: steps('FAILED 1s') };
    core.put({ name: 'fails', times: 1, match: { route: 'initiate' }, effect });
    expect(core.pay('a')).toMatchObject({ effect: null, answer: { kind: 'payout', replayed: true } });
    expect(core.pay('b')).toMatchObject({ effect: { rule: 'world/fails' }, committed: true });
  });

  test('that shows an older state is used up by no read that finds nothing', () => {
    const core = world({ match: { route: 'status' }, times: 1, effect: { stale: '30s' } });
    core.pay('a');
    expect(core.read('none')).toMatchObject({ kind: 'refused' });
    expect(core.state.uses.get('test/r')).toEqual({ matched: 1, taken: 0 });
    expect(core.submit(status({ client_ref_id: 'a' })).effect).toMatchObject({ rule: 'test/r' });
    expect(core.submit(status({ client_ref_id: 'a' })).effect).toBeNull();
  });

  test('that would hold one request too many is not used by it', () => {
    const core = world({ match: { route: 'balance' }, effect: { hold: 'arrived' } });
    for (let nth = 1; nth <= 100; nth += 1) core.submit(balance());
    expect(core.submit(balance()).answer).toMatchObject({ refusal: { code: 'SANDBOX_FULL' } });
    expect(core.state.uses.get('test/r')).toEqual({ matched: 101, taken: 100 });
  });

  test('with a probability is drawn for each reference and attempt, from the seed alone', () => {
    const drawn = (seed: string, order: readonly string[]) => {
      const core = new Core({ seed, ...oneRule({ respond: { status: 503 } }, { probability: 0.5 }) });
      return Object.fromEntries(order.map((reference) => [reference, taken(core, 12, reference)]));
    };
    const once = drawn('1', ['a', 'b']);
    expect(drawn('1', ['b', 'a'])).toEqual(once);
    expect(drawn('2', ['a', 'b'])).not.toEqual(once);
    expect(once['a']).not.toBe(once['b']);
    expect(once['a']).toMatch(/^(?=.*x)(?=.*-)/);
  });
});

test('a reset starts the world again with the scenario of the server, under the same name', () => {
  const world = new Core({}, { clock: { atMs: 500, speed: 0 } });
  const { answer } = world.pay('a');
  world.put({ name: 'top', effect: { delay: '1ms' } });
  world.choose(rich);
  world.submit(advance({ byMs: 77 }));
  world.submit({ kind: 'reset', source: sourceOf({}, { clock: { atMs: 500, speed: 0 } }) });
  expect(world.events.at(-1)).toEqual({ type: 'reset', nowMs: 500 });
  const { state } = world;
  expect(state).toMatchObject({ generation: 2, overrides: [], stored: [], payouts: [] });
  expect([state.uses.size, state.attempts.counts.size, nowMs(state)]).toEqual([0, 0, 500]);
  expect(state.entries).toMatchObject([{ kind: 'opening', amountPaise: 1000, atMs: 500 }]);
  expect(world.pay('a')).toMatchObject({ answer, attempt: 1 });
});

describe('a restore', () => {
  const past = (clock = runningClock) => {
    const world = new Core(
      {
        ...timelines({ a: 'FAILED 50ms' }),
        dialect: { client_ref_id: { same_body: 'stored' } },
      },
      { clock },
      'b'.repeat(32),
    );
    world.pay('a');
    world.pay('poor', { amount: 99 });
    world.put({ name: 'top', match: { route: 'balance' }, effect: { delay: '1ms' } });
    world.submit(balance());
    return world;
  };

  test('replaces the whole state of the world, except its id, and leaves no request under way', () => {
    const [from, world] = [past({ atMs: 7, speed: 0 }), new Core()];
    world.pay('its-own');
    world.events.length = 0;
    world.submit({ kind: 'restore', state: load(save(from.state)), clock: 'from-snapshot' }, 9);
    expect(world.events).toEqual([{ type: 'restore', nowMs: 7 }]);
    expect(world.state).toMatchObject({ id: 'a'.repeat(32), identity: 'b'.repeat(32), generation: 2 });
    const elsewhere = { world: null, wallMs: null, clock: { atMs: 7, setMs: 0, speed: 0 } };
    expect({ ...save(world.state).head, ...elsewhere }).toEqual({ ...save(from.state).head, ...elsewhere });
    expect(world.state.clock).toEqual(elsewhere.clock);
    const last = from.state.requests.list.at(-1)!.nth;
    const ended = (request: StoredRequest) =>
      request.outcome === 'pending'
        ? {
            ...request,
            response: undefined,
            waits: undefined,
            outcome: 'client_gone',
            durationMs: expect.any(Number),
            endedAfter: last,
          }
        : request;
    expect(save(world.state).items).toEqual(
      save(from.state).items.map((item) => ('request' in item ? { request: ended(item.request) } : item)),
    );
    expect(world.read('its-own')).toMatchObject({ kind: 'refused' });
    expect(world.submit(balance())).toMatchObject({ effect: { rule: 'world/top' } });
    expect(world.state.uses.get('world/top')).toEqual({ matched: 2, taken: 2 });
    expect(world.pay('a')).toMatchObject({ attempt: 2, answer: { replayed: true } });
    expect(world.pay('poor')).toMatchObject({ answer: { kind: 'refused' } });
  });

  test('leaves a world its own name, and gives its name to one that has none', () => {
    const [from, named, nameless] = [new Core(), new Core(), new Core()];
    from.submit({ kind: 'name', name: 'there' });
    named.submit({ kind: 'name', name: 'here' });
    for (const world of [named, nameless]) world.restore(from);
    expect([named.state.name, nameless.state.name]).toEqual(['here', 'there']);
  });

  test('leaves a world what the referee knows of it, and gives that of the snapshot to one of which it knows nothing', () => {
    const [from, known, unknown] = [new Core(), new Core(), new Core()];
    const report = judge('a', evidenceOf([{}]));
    from.submit({
      kind: 'referee',
      settings: { limits: { sends: 5, reads: 6, patience: 7 } },
      ended: [{ report, last: 'req-1' }],
    });
    known.submit({ kind: 'referee', settings: { name: 'shop' } });
    for (const world of [known, unknown]) world.restore(from);
    expect(unknown.state.referee).toEqual(from.state.referee);
    expect(unknown.state.referee.ended).toEqual([{ report, last: 'req-1' }]);
    expect(known.state.referee).toMatchObject({ settings: { name: 'shop' }, ended: [] });
    unknown.submit({ kind: 'undo', isForced: true });
    expect(unknown.state.referee).toEqual({ settings: null, ended: [] });
    unknown.restore(from);
    unknown.submit({ kind: 'reset', source: sourceOf() });
    expect(unknown.state.referee).toEqual(from.state.referee);
    unknown.submit({ kind: 'credit', amountPaise: 1 });
    unknown.submit({ kind: 'referee', ended: [{ report, last: 'req-2' }] }); // of a reset whose client goes on before it is judged
    unknown.submit({ kind: 'undo', isForced: true });
    expect(unknown.state.referee.ended).toMatchObject([{ last: 'req-2' }]);
    unknown.submit({ kind: 'referee', settings: { name: 'shop' } });
    unknown.submit({ kind: 'undo', isForced: true });
    expect(unknown.state.referee).toMatchObject({ settings: { name: 'shop' }, ended: [{ last: 'req-2' }] });
  });

  test('makes the ids of the world it came from, until it is reset', () => {
    const [from, world] = [past(), new Core()];
    const own = (core: Core) => {
      core.pay('next');
      return core.payout('next').txnId;
    };
    const ofItsOwn = own(new Core());
    world.restore(from);
    expect(own(world)).toBe(own(from));
    world.submit({ kind: 'reset', source: sourceOf() });
    expect(own(world)).toBe(ofItsOwn);
  });

  test('lets a running clock go on from the time of the snapshot, or from wall time', () => {
    const saved = save(past().state);
    const restored = (clock: 'from-snapshot' | 'ran-on', wallMs: number) => {
      const world = new Core();
      world.submit({ kind: 'restore', state: load(saved), clock }, wallMs);
      return [nowMs(world.state), world.read('a').kind === 'payout' && world.payout('a').state];
    };
    expect(restored('from-snapshot', 1000)).toEqual([at(0), 'PENDING']);
    expect(restored('ran-on', 1000)).toEqual([at(1000), 'FAILED']);
  });

  test("never turns world time back, though the machine's clock was set back", () => {
    const from = past();
    from.settle(40);
    const world = new Core();
    world.submit({ kind: 'restore', state: load(save(from.state)), clock: 'ran-on' }, 5);
    expect(nowMs(world.state)).toBe(at(40));
    world.settle(15);
    expect(nowMs(world.state)).toBe(at(50));
    expect(world.steps).toEqual(['a FAILED 50']);
  });
});
