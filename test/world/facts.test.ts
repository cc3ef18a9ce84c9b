import { expect, test } from 'vitest';
import type { ScenarioSettings } from '../../src/contract/snapshot-lines.ts';
import { DEFAULT_DIALECT } from '../../src/contract/dialect.ts';
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

function scenarioOf(document: Parameters<typeof compileScenario>[0], lastRules: readonly Rule[] = []) {
  const last = () => ({ outcomes: [], rules: lastRules });
  const options = { name: 'mine', source: document, settings: SETTINGS, last, dialects: () => new Map() };
  return compileScenario(document, options, (path, message) => expect.fail(`${path.join('.')} ${message}`));
}

test('an empty scenario uses the settings', () => {
  expect(scenarioOf({})).toEqual({
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
  const [last] = scenarioOf({ rules: [{ name: 'last', probability: 0.5, effect: {} }] }).rules;
  const scenario = scenarioOf(
    {
      description: 'about',
      wallet: { opening_balance: 0.5 },
      seed: 'own',
      settlement: { RTGS: [], UPI: [{ to: 'FAILED', after: 1 }] },
      rate_limit: { max: 1, windowMs: 2 },
      dialect: { client_ref_id: { same_body: 409 } },
      rules: [{ name: 'first', effect: {} }],
    },
    [last!],
  );
  expect(scenario).toMatchObject({
    description: 'about',
    openingBalancePaise: 50,
    seed: 'own',
    settlement: { IMPS: 'demo', NEFT: 'demo', RTGS: [], UPI: [{ to: 'FAILED', when: { afterMs: 1 } }] },
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
  expect(scenarioOf({ settlement: 'instant', rate_limit: 'off' })).toMatchObject({
    settlement: 'instant',
    rateLimit: 'off',
    hasOwnRateLimit: true,
  });
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
