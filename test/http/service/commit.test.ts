import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { DelayedResponses } from '../../../src/log/connections/delayed-responses.ts';
import { startSandbox, type SettingsInput } from '../../../src/index.ts';
import { HTTP_CLIENTS, type HttpClient, type Outcome } from '../../support/http/http-clients.ts';
import { clientOf, PAYOUT, sandboxFor, type Client } from '../../support/sandbox.ts';
import { sized } from '../../support/size.ts';

const KEY = 'sk_test_commit';
const OPENING = 1_000_000;
const LEFT = OPENING - PAYOUT.amount;
const REFERENCE = { client_ref_id: PAYOUT.client_ref_id };
const EVENTUALLY = { timeout: 20_000, interval: 5 };
const [, nodeHttp] = HTTP_CLIENTS as [HttpClient, HttpClient];

type Scenario = Exclude<NonNullable<SettingsInput['scenario']>, string>;
type RuleInput = NonNullable<Scenario['rules']>[number];
type Effect = RuleInput['effect'];

/** Everything that a rule can answer to an initiate. */
const ANSWERS: readonly [string, Effect][] = [
  ['the normal response', {}],
  ['a late response', { delay: '10ms' }],
  ['a response with a random delay', { delay: { min: '0ms', max: '10ms' } }],
  ['status 500', { respond: { status: 500 } }],
  ['status 429', { respond: { status: 429 } }],
  ['a success with its own body', { respond: { status: 200, body: { status: 'success' } } }],
  ["a gateway's 502 page", { respond: { status: 502, body: '<html>Bad Gateway</html>' } }],
  ['a late 504', { delay: '10ms', respond: { status: 504, body: '' } }],
  ['connection-reset', { fault: 'connection-reset' }],
  ['empty-response', { fault: 'empty-response' }],
  ['truncated-body', { fault: 'truncated-body' }],
  ['malformed-json', { fault: 'malformed-json' }],
  ['garbage', { fault: 'garbage' }],
  ['slow-body', { fault: { kind: 'slow-body', bytes_per_second: 5000 } }],
  ['a hang with a duration', { fault: { kind: 'hang', for: '10ms' } }],
  ['a hang without an end', { fault: 'hang' }],
];

/** Sends an initiate; the client of an endless hang disconnects once its response is held. */
async function initiate(url: string, { fault }: Effect): Promise<Outcome> {
  if (fault !== 'hang') return nodeHttp.initiate(url, KEY);
  const held = vi.spyOn(DelayedResponses.prototype, 'hold');
  onTestFinished(() => held.mockRestore());
  const leave = new AbortController();
  const outcome = nodeHttp.initiate(url, KEY, {}, leave.signal);
  await expect.poll(() => held.mock.calls.length, EVENTUALLY).toBe(1);
  leave.abort();
  return outcome;
}

const sandboxWithRule = (rule: Omit<RuleInput, 'name'>, settings: SettingsInput = {}) =>
  sandboxFor({
    settlement: 'manual',
    openingBalance: `${OPENING}`,
    ...settings,
    scenario: { rules: [{ name: 'ruled', match: { route: 'initiate' }, ...rule }] },
  });

const balanceOf = async (world: Client): Promise<number> => (await world.balance()).body.data.balance;

describe.each(ANSWERS)('after %s', (_what, effect) => {
  test('with commit: true, the payout exists, and a retry finds it', async () => {
    const { url, client } = await sandboxWithRule({ times: 1, effect: { ...effect, commit: true } });
    const world = client(KEY);
    await initiate(url, effect);
    const found = await world.status(REFERENCE);
    expect(found).toMatchObject({
      status: 200,
      body: { data: { status: 'PENDING', amount: PAYOUT.amount } },
    });
    expect(await balanceOf(world)).toBe(LEFT);
    const retry = await world.pay();
    expect(retry).toMatchObject({ status: 200, body: { data: { txn_id: found.body.data.txn_id } } });
    expect(retry.headers.get('idempotent-replayed')).toBe('true');
    expect(await balanceOf(world)).toBe(LEFT);
  });

  test('with commit: false, there is no payout, and a retry makes it', async () => {
    const { url, client } = await sandboxWithRule({ times: 1, effect: { ...effect, commit: false } });
    const world = client(KEY);
    await initiate(url, effect);
    expect((await world.status(REFERENCE)).status).toBe(404);
    expect(await balanceOf(world)).toBe(OPENING);
    const retry = await world.pay();
    expect(retry.status).toBe(200);
    expect(retry.headers.has('idempotent-replayed')).toBe(false);
    expect((await world.status(REFERENCE)).body.data.txn_id).toBe(retry.body.data.txn_id);
    expect((await world.pay()).headers.get('idempotent-replayed')).toBe('true');
    expect(await balanceOf(world)).toBe(LEFT);
  });

  test('with commit: true, a payout that the wallet cannot cover does not exist', async () => {
    const rule = { effect: { ...effect, commit: true } };
    const { url, client } = await sandboxWithRule(rule, { openingBalance: '1500.49' });
    await initiate(url, effect);
    const world = client(KEY);
    expect((await world.status(REFERENCE)).status).toBe(404);
    expect(await balanceOf(world)).toBe(1500.49);
  });

  test('with commit: true, the payout of a repeated reference is not debited again', async () => {
    const { url, client } = await sandboxWithRule({ skip: 1, effect: { ...effect, commit: true } });
    const world = client(KEY);
    const paid = await world.pay();
    expect(paid.status).toBe(200);
    await initiate(url, effect);
    expect(await balanceOf(world)).toBe(LEFT);
    expect((await world.status(REFERENCE)).body.data.txn_id).toBe(paid.body.data.txn_id);
  });
});

test.each<[string, Effect, boolean]>([
  ['status 500', { respond: { status: 500 } }, false],
  ['a success with another body', { respond: { status: 200, body: {} } }, false],
  ['a fault', { fault: 'malformed-json' }, false],
  ['a delay', { delay: '1ms' }, true],
  ['a timeline', { timeline: [] }, true],
])(
  'a rule with %s and without commit makes the payout only if the response is the normal one',
  async (_what, effect, isMade) => {
    const { client } = await sandboxWithRule({ effect });
    const world = client();
    await world.pay();
    expect((await world.status(REFERENCE)).status).toBe(isMade ? 200 : 404);
    expect(await balanceOf(world)).toBe(isMade ? LEFT : OPENING);
  },
);

test('commit: false alone answers as if the payout had happened', async () => {
  const clock = '2026-01-15T10:30:00Z';
  const uncommitted = await sandboxWithRule({ effect: { commit: false } }, { clock });
  const committed = await sandboxWithRule({ effect: { commit: true } }, { clock });
  const [one, other] = [await uncommitted.client(KEY).pay(), await committed.client(KEY).pay()];
  expect(one.status).toBe(200);
  expect(one.text).toBe(other.text);
  const world = uncommitted.client(KEY);
  expect((await world.status({ txn_id: one.body.data.txn_id })).status).toBe(404);
  expect(await balanceOf(world)).toBe(OPENING);
});

test('a response that a rule sends to a repeated reference has no Idempotent-Replayed header', async () => {
  const { client } = await sandboxWithRule({ skip: 1, effect: { respond: { status: 500 }, commit: true } });
  const world = client();
  await world.pay();
  const again = await world.pay();
  expect(again.status).toBe(500);
  expect(again.headers.has('idempotent-replayed')).toBe(false);
});

test('a fault distorts the 402 of an empty wallet; respond replaces it', async () => {
  const broke = { openingBalance: '1' };
  const malformed = await sandboxWithRule({ effect: { fault: 'malformed-json', commit: true } }, broke);
  const ordered = await sandboxWithRule({ effect: { respond: { status: 503 }, commit: true } }, broke);
  expect(await malformed.client().pay()).toMatchObject({ status: 402, body: undefined });
  expect(await ordered.client().pay()).toMatchObject({ status: 503, body: { code: 'HTTP_503' } });
});

const REFERENCES = ['order-1', 'order-2', 'order-3', 'order-4', 'order-5'];

/** The same body for the same reference, so that it does not matter which of two comes first. */
const payoutOf = (reference: string) => ({
  client_ref_id: reference,
  amount: REFERENCES.indexOf(reference) * 33.33 + 0.01,
});

const anyTimeline = fc.constantFrom<NonNullable<Effect['timeline']>>(
  [],
  [{ to: 'FAILED', after: '1s' }],
  [{ to: 'SUCCESS', after: '1s' }],
  [
    { to: 'SUCCESS', after: '1s' },
    { to: 'REVERSED', after: '1m' },
  ],
);

const anyEffect: fc.Arbitrary<Effect> = fc
  .record(
    {
      commit: fc.boolean(),
      delay: fc.oneof(
        fc.nat(5).map((ms) => `${ms}ms`),
        fc.nat(5).map((ms) => ({ min: '0ms', max: `${ms}ms` })),
        fc.constant({ median: '1ms', sigma: 0.5 }),
      ),
      respond: fc.constantFrom({ status: 200 }, { status: 500 }, { status: 502, body: '<html></html>' }),
      fault: fc.constantFrom<NonNullable<Effect['fault']>>(
        'connection-reset',
        'empty-response',
        'truncated-body',
        'malformed-json',
        'garbage',
        { kind: 'hang', for: '1ms' },
        { kind: 'slow-body', bytes_per_second: 1_000_000 },
      ),
      timeline: anyTimeline,
    },
    { requiredKeys: [] },
  )
  .filter((effect) => Object.keys(effect).length > 0);

const anyMatch: fc.Arbitrary<NonNullable<RuleInput['match']>> = fc.record(
  {
    client_ref_id: fc.subarray(REFERENCES, { minLength: 1 }),
    amount: fc.record({ gte: fc.nat(100) }),
    attempt: fc.constantFrom(1, 2, { gte: 2 }),
  },
  { requiredKeys: [] },
);

/** Whole tenths: `fc.double` nearly always draws a value close to 0 or 1. */
const anyProbability = fc.integer({ min: 1, max: 9 }).map((tenths) => tenths / 10);

const steadyRule = fc.record(
  { match: anyMatch, probability: anyProbability, effect: anyEffect },
  { requiredKeys: ['match', 'effect'] },
);
const anyRules: fc.Arbitrary<RuleInput[]> = fc.array(steadyRule, { maxLength: 6 }).map((rules) =>
  rules.map((parts, nth) => ({
    ...parts,
    name: `rule-${nth}`,
    match: { route: 'initiate', ...parts.match },
  })),
);

const anyReferences = fc.array(fc.constantFrom(...REFERENCES), { minLength: 1, maxLength: 12 });

interface Run {
  /** The sorted answers to each reference. */
  readonly answers: Readonly<Record<string, readonly string[]>>;
  readonly payouts: Readonly<Record<string, { readonly status: string; readonly amount: number }>>;
  readonly balance: number;
}

const textOf = (outcome: Outcome): string =>
  'error' in outcome ? outcome.error : `${outcome.status} ${outcome.text}`;

/** Sends initiates, all at once or one by one, and reads payouts and balance an hour later. */
async function run(
  scenario: Scenario,
  references: readonly string[],
  how: 'parallel' | 'serial',
): Promise<Run> {
  await using sandbox = await startSandbox({
    clock: '2026-01-15T10:30:00Z',
    settlement: 'manual',
    rateLimit: 'off',
    scenario,
  });
  const world = clientOf(sandbox.world(KEY));
  const answers: Record<string, string[]> = {};
  const send = async (reference: string): Promise<void> => {
    const outcome = await nodeHttp.initiate(sandbox.url, KEY, payoutOf(reference));
    (answers[reference] ??= []).push(textOf(outcome));
  };
  if (how === 'parallel') await Promise.all(references.toReversed().map(send)); // also in another order
  else for (const reference of references) await send(reference);
  for (const outcomes of Object.values(answers)) outcomes.sort();
  await world.clock.advance('1h');
  const payouts: Record<string, { status: string; amount: number }> = {};
  for (const reference of REFERENCES) {
    const { status, body } = await world.status({ client_ref_id: reference });
    if (status === 200) payouts[reference] = { status: body.data.status, amount: body.data.amount };
  }
  return { answers, payouts, balance: await balanceOf(world) };
}

const paise = (inr: number): number => Math.round(inr * 100);

/** What the wallet must hold, given its payouts. */
const expectedBalance = (openingInr: number, { payouts }: Run): number =>
  Object.values(payouts)
    .filter(({ status }) => status === 'PENDING' || status === 'SUCCESS')
    .reduce((sum, { amount }) => sum - paise(amount), paise(openingInr));

test('a parallel run ends like a serial one with the same seed', async () => {
  const anyRun = fc.record({ rules: anyRules, references: anyReferences, seed: fc.nat() });
  await fc.assert(
    fc.asyncProperty(anyRun, async ({ rules, references, seed }) => {
      const scenario = { seed, rules, wallet: { opening_balance: OPENING } };
      const serial = await run(scenario, references, 'serial');
      expect(await run(scenario, references, 'parallel')).toEqual(serial);
      expect(paise(serial.balance)).toBe(expectedBalance(OPENING, serial));
    }),
    { numRuns: sized(5, 40) },
  );
});
