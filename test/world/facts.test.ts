import { expect, test } from 'vitest';
import type { ScenarioSettings } from '../../src/contract/snapshot-lines.ts';
import { changedDialect, DEFAULT_DIALECT } from '../../src/contract/dialect.ts';
import {
  committed,
  type Exchange,
  factsOf,
  journalEntry,
  readBody,
  seenStatus,
} from '../../src/world/journal/exchange.ts';
import { digest, fingerprintOf, payoutDraw, payoutIds, requestDraw } from '../../src/payout/identity.ts';
import { withoutKeys } from '../../src/contract/service.ts';
import { isTooNested, MAX_NESTING } from '../../src/contract/service.ts';
import type { Rule } from '../../src/scenario/rule.ts';
import { compileScenario } from '../../src/scenario/scenario.ts';
import type { RequestCommand } from '../../src/world/request/request-commands.ts';
import { planRequest } from '../../src/world/request/request-plan.ts';
import { testRows } from '../support/test-rows.ts';

import {
  type RuleInput,
  balance,
  Core,
  initiate,
  load,
  runningClock,
  save,
  START_MS,
  status,
} from '../support/world/core.ts';
import type { ScenarioInput } from '../../src/contract/control.ts';

const AT = Date.parse('2026-01-15T10:30:00Z');

const EXCHANGE = {
  nth: 3,
  requestId: 'req-1',
  requestCharacters: 0,
  atMs: AT,
  wallMs: AT + 5,
  outcome: 'answered',
  method: 'GET',
  url: '/payout/status?txn_id=TXN1&client_ref_id=order%201',
  route: 'status',
  headers: { 'x-trace': ['a', 'b'] },
  position: 7,
} as const satisfies Exchange;
const exchange = (change: Partial<Exchange>): Exchange => ({ ...EXCHANGE, ...change });

test('a journal entry of an exchange without details has null for each of them', () => {
  expect(journalEntry(EXCHANGE, null)).toEqual({
    id: 3,
    request_id: 'req-1',
    at: '2026-01-15T10:30:00.000Z',
    wall_at: '2026-01-15T10:30:00.005Z',
    outcome: 'answered',
    route: 'status',
    request: {
      method: 'GET',
      path: EXCHANGE.url,
      headers: { 'x-trace': ['a', 'b'] },
      body: null,
    },
    answer: null,
    duration_ms: null,
    ended_after: null,
    code: null,
    client_ref_id: null,
    txn_id: null,
    attempt: null,
    rule: null,
    limit: null,
    fault: null,
    delay_ms: null,
    committed: null,
    planned_by: null,
    replayed: false,
    warnings: [],
    balance_before: null,
    balance_after: null,
  });
});

test('a journal entry shows everything known about an exchange', () => {
  const known = exchange({
    route: 'initiate',
    body: '{"amount":5}',
    response: { status: 200, headers: {}, body: 'plain' },
    durationMs: 0,
    code: 'INVALID_REQUEST',
    clientRefId: 'r',
    txnId: 'TXN1',
    attempt: 2,
    rule: 's/r',
    limit: 'rate',
    fault: 'hang',
    delayMs: 0,
    plannedBy: 's/o',
    replayed: true,
    warnings: ['w'],
    balanceBeforePaise: 0,
    balancePaise: 150,
  });
  expect(journalEntry(known, 4)).toMatchObject({
    route: 'initiate',
    request: { body: { amount: 5 } },
    answer: { status: 200, body: 'plain' },
    duration_ms: 0,
    ended_after: 4,
    code: 'INVALID_REQUEST',
    client_ref_id: 'r',
    txn_id: 'TXN1',
    attempt: 2,
    planned_by: 's/o',
    rule: 's/r',
    limit: 'rate',
    fault: 'hang',
    delay_ms: 0,
    committed: false,
    replayed: true,
    warnings: ['w'],
    balance_before: 0,
    balance_after: 1.5,
  });
  expect(journalEntry(exchange({ attempt: 0 }), null).attempt).toBeNull();
});

test('a request is matched by what it said; its keys are taken out of its headers', () => {
  expect(factsOf(exchange({ route: 'status', attempt: 2 }))).toEqual({
    route: 'status',
    fields: { txn_id: 'TXN1', client_ref_id: 'order 1' },
    headers: EXCHANGE.headers,
    attempt: 2,
    nowMs: AT,
    payout: 0,
    ageMs: 0,
  });
  expect(factsOf(exchange({ route: 'initiate' }))).toMatchObject({ route: 'initiate', attempt: 0 });
  const fields = (change: Partial<Exchange>) => factsOf(exchange(change)).fields;
  expect(fields({ route: 'balance', url: '/client/fetchbalance' })).toEqual({});
  expect(fields({ route: 'balance', url: '?a=b' })).toEqual({ a: 'b' });
  expect(fields({ route: 'initiate', body: '{"amount":5}' })).toEqual({ amount: 5 });
  for (const body of ['null', '5', '{', undefined] as string[])
    expect(fields({ route: 'initiate', body })).toEqual({});
  expect(
    withoutKeys({
      authorization: 'Bearer k',
      cookie: 'c',
      'x-api-key': 'k',
      'proxy-authorization': 'k',
      'proxy-connection': 'k',
    }),
  ).toEqual({
    authorization: '***',
    cookie: '***',
    'x-api-key': '***',
    'proxy-authorization': '***',
    'proxy-connection': 'k',
  });
});

test('a body is read as JSON where it is some, and not where it is none or too deep', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  expect([undefined, '', '0', '"a"', '{', 'text'].map(readBody)).toEqual([null, null, 0, 'a', '{', 'text']);
  expect(readBody(deep(MAX_NESTING))).toBeInstanceOf(Array);
  expect(readBody(deep(MAX_NESTING + 1))).toBe(deep(MAX_NESTING + 1));
});

testRows<[tooDeep: boolean, text: string]>([
  [false, '['.repeat(100)],
  [true, '['.repeat(101)],
  [true, '{'.repeat(101)],
  [true, '[{'.repeat(51)],
  [false, '[]'.repeat(101)],
  [false, '{}'.repeat(101)],
  [true, `${'[]'.repeat(9)}${'['.repeat(101)}`],
  [true, `${'{}'.repeat(9)}${'{'.repeat(101)}`],
  [false, `"${'['.repeat(101)}"`],
  [true, `"a"${'['.repeat(101)}`],
  [false, `"\\"${'['.repeat(101)}"`],
  [true, `"\\\\"${'['.repeat(101)}`],
  [false, `${'['.repeat(100)}"["`],
  [false, '"'.repeat(3) + '['.repeat(101)],
  [true, `\\${'['.repeat(101)}`],
])('brackets count as nesting only outside of strings', (tooDeep, text) => {
  expect(isTooNested(text)).toBe(tooDeep);
});

const OK: Exchange['response'] = { status: 200, headers: {}, body: '' };

test.each<[boolean | null, Partial<Exchange>]>([
  [null, { route: 'status', txnId: 'T', response: OK }],
  [null, { route: 'initiate', txnId: 'T' }],
  [false, { route: 'initiate', response: OK }],
  [true, { route: 'initiate', committed: true }],
  [true, { route: 'initiate', committed: true, txnId: 'T', response: OK }],
  [false, { route: 'initiate', committed: false, txnId: 'T', response: OK }],
])('it is %s that a payout was made by %j', (made, change) => {
  expect(committed(exchange(change))).toBe(made);
});

testRows<[number | undefined, string | undefined]>([
  [200, undefined],
  [200, 'truncated-body'],
  [200, 'malformed-json'],
  [200, 'slow-body'],
  [undefined, 'connection-reset'],
  [undefined, 'empty-response'],
  [undefined, 'garbage'],
  [undefined, 'hang'],
])('a client sees the status that its fault lets through', (status, fault) => {
  expect(seenStatus(exchange({ response: OK, fault }))).toBe(status);
});

test('ids, draws and fingerprints depend on all that they are made of, and stay as they are from version to version', () => {
  const ids = payoutIds('seed', 'world', 'order-1', 1);
  expect(ids).toEqual({ txnId: expect.stringMatching(/^TXN[0-9A-F]{24}$/), utrSerial: expect.any(Number) });
  const hex = digest(['payout', 'seed', 'world', 'order-1', 1]);
  expect(ids.txnId).toBe(`TXN${hex.slice(0, 24).toUpperCase()}`);
  expect(ids.utrSerial).toBe(Number.parseInt(hex.slice(24, 36), 16) % 1e9);
  const drawn = Number.parseInt(digest(['draw', 'seed', 'order-1', 1, 'delay']).slice(0, 12), 16) / 2 ** 48;
  expect(payoutDraw('seed', 'order-1', 1)('delay')).toBe(drawn);
  const asked =
    Number.parseInt(digest(['request', 'seed', 'status', 'a', 2, 'delay']).slice(0, 12), 16) / 2 ** 48;
  expect(requestDraw('seed', 'status', 'a', 2)('delay')).toBe(asked);
  expect(fingerprintOf(['a', null, 5])).toBe(digest(['body', 'a', null, 5]).slice(0, 20));
});

const SETTINGS: ScenarioSettings = {
  openingBalancePaise: 100,
  seed: 'theirs',
  clock: runningClock,
  settlement: 'demo',
  rateLimit: { max: 5, windowMs: 1000 },
  isMagic: true,
};

/** A scenario of a document, and what is wrong with it. */
function scenarioOf(document: Parameters<typeof compileScenario>[0], lastRules: readonly Rule[] = []) {
  const strict = changedDialect(DEFAULT_DIALECT, { status: { unknown: 400 } });
  const issues: { readonly path: readonly PropertyKey[]; readonly message: string }[] = [];
  const options = {
    name: 'mine',
    source: document,
    settings: SETTINGS,
    last: () => ({ outcomes: [], rules: lastRules }),
    dialects: () =>
      new Map([
        ['strict', strict],
        ['usual', DEFAULT_DIALECT],
      ]),
  };
  const scenario = compileScenario(document, options, (path, message) => issues.push({ path, message }));
  return { scenario, issues };
}

test('an empty scenario uses the settings', () => {
  const { scenario, issues } = scenarioOf({});
  expect(issues).toEqual([]);
  expect(scenario).toEqual({
    name: 'mine',
    source: { name: 'mine', document: {}, settings: SETTINGS },
    description: '',
    characters: 2,
    openingBalancePaise: 100,
    seed: 'theirs',
    clock: runningClock,
    settlement: 'demo',
    rateLimit: { max: 5, windowMs: 1000 },
    hasOwnRateLimit: false,
    dialect: DEFAULT_DIALECT,
    outcomes: [],
    rules: [],
    countsAttempts: false,
  });
});

test('a scenario overrides the settings, mode by mode and switch by switch', () => {
  const [last] = scenarioOf({ rules: [{ name: 'last', probability: 0.5, effect: {} }] }).scenario.rules;
  const { scenario, issues } = scenarioOf(
    {
      description: 'about',
      wallet: { opening_balance: 0.5 },
      seed: 'own',
      settlement: { UPI: [{ to: 'FAILED', after: 1 }] },
      rate_limit: { max: 1, per: 2 },
      dialect: { client_ref_id: { same_body: 409 } },
      rules: [{ name: 'first', effect: {} }],
    },
    [last!],
  );
  expect(issues).toEqual([]);
  expect(scenario).toMatchObject({
    description: 'about',
    openingBalancePaise: 50,
    seed: 'own',
    settlement: { IMPS: 'demo', NEFT: 'demo', RTGS: 'demo', UPI: [{ to: 'FAILED', when: { afterMs: 1 } }] },
    rateLimit: { max: 1, windowMs: 2 },
    hasOwnRateLimit: true,
    countsAttempts: true,
  });
  expect(scenario.dialect.client_ref_id.same_body).toBe(409);
  expect(scenario.dialect.status).toEqual(DEFAULT_DIALECT.status);
  expect(scenario.rules.map(({ id, document }) => [id, document])).toEqual([
    ['mine/first', { name: 'first', effect: {} }],
    ['mine/last', last!.document],
  ]);
  expect(scenarioOf({ settlement: 'instant', rate_limit: 'off' }).scenario).toMatchObject({
    settlement: 'instant',
    rateLimit: 'off',
    hasOwnRateLimit: true,
  });
});

test('each mode takes the steps of its own', () => {
  const afters = { IMPS: 1, NEFT: 2, RTGS: 3, UPI: 4 };
  const settlement = Object.fromEntries(
    Object.entries(afters).map(([mode, after]) => [mode, [{ to: 'SUCCESS' as const, after }]]),
  );
  const planned = Object.entries(scenarioOf({ settlement }).scenario.settlement);
  expect(planned).toEqual(
    Object.entries(afters).map(([mode, afterMs]) => [
      mode,
      [{ to: 'SUCCESS', utr: null, when: { afterMs } }],
    ]),
  );
});

test('a dialect extends a preset, by its name alone or with changes; an unknown one is refused', () => {
  const dialects = [
    { dialect: 'strict' },
    { dialect: { extends: 'strict', status: { both: 400 } } },
  ] as const;
  for (const document of dialects) expect(scenarioOf(document).issues).toEqual([]);
  const [alone, changed] = dialects.map((document) => scenarioOf(document).scenario.dialect);
  expect(alone!.status).toEqual({ ...DEFAULT_DIALECT.status, unknown: 400 });
  expect(changed!.status).toEqual({ ...DEFAULT_DIALECT.status, unknown: 400, both: 400 });
  const message = 'must be one of strict, usual';
  expect(scenarioOf({ dialect: 'none' }).issues).toEqual([{ path: ['dialect'], message }]);
  expect(scenarioOf({ dialect: { extends: 'none' } }).issues).toEqual([
    { path: ['dialect', 'extends'], message },
  ]);
});

test('two rules of one name, and wrong timelines, are reported with their place', () => {
  const effect = {
    timeline: [
      { to: 'REVERSED', after: 1 },
      { to: 'SUCCESS', after: 2 },
    ],
  } as const;
  const { issues } = scenarioOf({
    settlement: { NEFT: [...effect.timeline] },
    rules: [
      { name: 'a', effect: {} },
      { name: 'a', effect: { timeline: [...effect.timeline] } },
    ],
  });
  const message = 'cannot go to SUCCESS: the payout is REVERSED at that point';
  expect(issues).toEqual([
    { path: ['rules', 1, 'name'], message: 'must differ from the names of the other rules: a is taken' },
    { path: ['rules', 1, 'effect', 'timeline', 1, 'to'], message },
    { path: ['settlement', 'NEFT', 1, 'to'], message },
  ]);
});

/** What is planned for a request that was sent six times before, and what was counted. */
function planned(document: ScenarioInput, command: RequestCommand = initiate()) {
  const { state } = new Core(document, { seed: 'theirs' });
  for (const key of ['initiate a', 'status T', 'balance '])
    state.attempts.recent.set(key, { count: 6, payout: 0 });
  const plan = planRequest(state, command, state.index.active, { recordsFree: 1 });
  const counted = [...state.attempts.recent].filter(([, { count }]) => count > 6).map(([key]) => key);
  return { plan, counted };
}

test('initiates are always counted, other requests where a rule depends on it', () => {
  const counting = { rules: [{ name: 'r', match: { attempt: 9 }, effect: { stale: '1s' } }] };
  expect(planned({})).toMatchObject({
    counted: ['initiate a'],
    plan: { attempt: 7, rule: null, delayMs: 0 },
  });
  expect(planned({}, status({ txn_id: 'T' }))).toMatchObject({ counted: [], plan: { attempt: 0 } });
  expect(planned(counting, status({ txn_id: 'T' }))).toMatchObject({
    counted: ['status T'],
    plan: { attempt: 7 },
  });
  expect(planned(counting, balance()).counted).toEqual(['balance ']);
  expect(planned({}).plan.draw('x')).toBe(requestDraw('theirs', 'initiate', 'a', 0)('x'));
  expect(planned(counting).plan.draw('x')).toBe(requestDraw('theirs', 'initiate', 'a', 7)('x'));
});

test('a delay is never longer than an hour', () => {
  const delayed = (delay: string | { median: string; sigma: number }, reference = 'a') =>
    planned({ rules: [{ name: 'r', effect: { delay } }] }, initiate({ client_ref_id: reference })).plan
      .delayMs;
  expect(['0s', '1h'].map((delay) => delayed(delay))).toEqual([0, 3_600_000]);
  const drawn = ['a', 'b', 'c', 'd', 'e'].map((reference) => delayed({ median: '1h', sigma: 5 }, reference));
  expect(Math.max(...drawn)).toBe(3_600_000);
});

/** The delays of 200 payouts. */
function drawnDelays(delay: RuleInput['effect']['delay'], seed: string): readonly number[] {
  const core = new Core({ rules: [{ name: 'r', effect: { delay, commit: false } }] }, { seed });
  return Array.from({ length: 200 }, (_, nth) => core.pay(`order-${nth}`).effect!.delayMs);
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;

test('a uniform delay is drawn evenly between its bounds, from the seed', () => {
  const delay = { min: '1s', max: '3s' };
  const delays = drawnDelays(delay, 'a');
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(1000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(3000);
  for (const share of [0.25, 0.5, 0.75]) {
    expect(Math.abs(quantile(delays, share) - (1000 + share * 2000))).toBeLessThan(250);
  }
  expect(drawnDelays(delay, 'a')).toEqual(delays);
  expect(drawnDelays(delay, 'b')).not.toEqual(delays);
});

test('a log-normal delay has the given median and spread, drawn from the seed', () => {
  const delay = { median: '1s', sigma: 0.5 };
  const delays = drawnDelays(delay, 'a');
  expect(Math.abs(Math.log(quantile(delays, 0.5) / 1000))).toBeLessThan(0.15);
  expect(Math.abs(Math.log(quantile(delays, 0.841) / 1000) - 0.5)).toBeLessThan(0.15); // one sigma up
  expect(Math.abs(Math.log(quantile(delays, 0.159) / 1000) + 0.5)).toBeLessThan(0.15); // and one down
  expect(drawnDelays(delay, 'a')).toEqual(delays);
  expect(drawnDelays(delay, 'b')).not.toEqual(delays);
});

test('a payout takes its timeline from the rule that planned it, or else from the settlement of its scenario', () => {
  const made = (document: ScenarioInput = {}) => {
    const world = new Core(document, { settlement: 'demo' });
    world.pay('a');
    return world.payout('a');
  };
  expect(made()).toMatchObject({
    plannedBy: 'demo',
    hidden: null,
    timeline: [{ to: 'SUCCESS', afterMs: 2000 }],
  });
  const failed = [{ name: 'r', effect: { timeline: [{ to: 'FAILED' as const, after: '5ms' }] } }];
  expect(made({ rules: failed })).toMatchObject({
    plannedBy: 'test/r',
    timeline: [{ to: 'FAILED', afterMs: 5, utr: false }],
  });
  expect(made({ rules: failed, dialect: { status: { utr_of_failed: 'set' } } }).timeline).toMatchObject([
    { utr: true },
  ]);
  const own = { settlement: { IMPS: [{ to: 'FAILED' as const, after: '9ms' }] } };
  expect(made({ ...own, rules: [{ name: 'r', effect: { delay: '5ms' } }] })).toMatchObject({
    plannedBy: 'test',
    hidden: null,
  });
  const hidden = (not_found: { reads: number } | { for: string }) =>
    made({ rules: [{ name: 'r', match: { route: 'initiate' }, effect: { not_found } }] }).hidden;
  expect(hidden({ reads: 2 })).toEqual({ reads: 2, by: 'test/r' });
  expect(hidden({ for: '7ms' })).toEqual({ untilMs: START_MS + 7, by: 'test/r' });
});

test('payouts with the same settlement share their timeline, also once it is over', () => {
  const world = new Core({ settlement: 'demo' });
  for (const reference of ['a', 'b']) world.pay(reference);
  expect(world.payout('a').timeline).toBe(world.payout('b').timeline);
  world.balance(2000); // settles both
  expect(world.payout('a')).toMatchObject({ state: 'SUCCESS', timeline: [{ afterMs: 2000 }] });
  expect(world.payout('a').timeline).toBe(world.payout('b').timeline);
  const read = load(save(world.state));
  expect(read.payouts[0]!.timeline).toBe(read.payouts[1]!.timeline);
});
