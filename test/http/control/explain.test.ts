import { expect, test } from 'vitest';
import type { RuleRequest, ScenarioInput } from '../../../src/index.ts';
import { MAX_HELD } from '../../../src/contract/control.ts';
import { heldBy } from '../../support/control.ts';
import { clientFor, clientOf, PAYOUT, type Client } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';

const START = '2026-01-15T10:30:00.000Z'; // 16:00 IST

/** The client of a world with these rules, which hang unless they say what else, and whose clock is frozen. */
async function worldWith(rules: readonly Partial<RuleRequest>[], more: ScenarioInput = {}): Promise<Client> {
  const named = rules.map((rule, nth) => ({
    name: `rule-${nth}`,
    effect: { fault: 'hang' } as const,
    ...rule,
  }));
  const { world } = await clientFor({ clock: START, magic: 'off', settlement: 'manual' });
  await world.use({ ...more, rules: named });
  return clientOf(world);
}

const initiate = (change: Partial<typeof PAYOUT> = {}) => ({
  route: 'initiate' as const,
  body: { ...PAYOUT, ...change } as never,
});

testRows<[rule: Partial<RuleRequest>, request: object, reason: string]>([
  [{ match: { route: 'status' } }, {}, 'route must be "status", and it is "initiate"'],
  [
    { match: { transfer_mode: ['NEFT', 'RTGS'] } },
    {},
    'transfer_mode must be one of "NEFT", "RTGS", and it is "IMPS"',
  ],
  [
    { match: { amount: { gte: 2000, lt: 5000 } } },
    {},
    'amount must be at least 2000 and be less than 5000, and it is 1500.5',
  ],
  [{ match: { remarks: { matches: '^a' } } }, {}, 'remarks must match "^a", and there is none'],
  [
    { match: { header: { 'X-Team': 'blue' } } },
    { headers: { 'x-team': 'red' } },
    'header X-Team must be "blue", and it is "red"',
  ],
  [
    { match: { hours: { from: '19:00', to: '07:00' } } },
    {},
    'hours are from 19:00 to 07:00 IST, and it is 16:00',
  ],
  [{ during: { from: '10m', for: '5m' } }, {}, 'the window from 10m has not begun: the world is 0ms old'],
  [{ probability: 0 }, {}, expect.stringMatching(/^probability 0 is not drawn \(0\.\d{3}\)$/)],
  [{ effect: { limit: { max: 3, per: '10s' } } }, {}, 'the limit of 3 per 10s lets it pass'],
])('a rule that is not taken is explained by its first condition that fails', async (rule, more, reason) => {
  const { world } = await worldWith([rule]);
  expect(await world.explain({ ...initiate(), ...more })).toMatchObject({
    rule: null,
    rules: [{ id: 'inline/rule-0', taken: false, reason }],
  });
});

test('an explanation follows the world as it is, and names the rule that the request then takes', async () => {
  const { world, pay, clock } = await worldWith([
    { match: { route: 'initiate' }, times: 1, effect: { commit: true, respond: 500 } },
    { match: { route: 'initiate' }, during: { until: '1m' }, effect: { commit: true, respond: 503 } },
    { match: { route: 'initiate' }, skip: 5 },
  ]);
  const SKIPPED = 'skip 5 is not used up: this is match 1';
  const behind = (id: string) => `matches, but ${id} is before it`;
  const seen: unknown[] = [];
  for (let nth = 1; nth <= 3; nth += 1) {
    const { rule, rules } = await world.explain(initiate({ client_ref_id: `order-${nth}` }));
    const { headers } = await pay({ client_ref_id: `order-${nth}` });
    expect(headers.get('x-sandbox-rule')).toBe(rule);
    seen.push(rules.map(({ reason }) => reason));
    if (nth === 2) await clock.advance('90s');
  }
  expect(seen).toEqual([
    ['is the first that matches', 'matches, but inline/rule-0 is before it', behind('inline/rule-0')],
    ['times 1 is used up', 'is the first that matches', behind('inline/rule-1')],
    ['times 1 is used up', 'the window until 1m is over: the world is 90s old', SKIPPED],
  ]);
});

test('an explanation changes nothing: no use, no attempt, no limit, no entry in the journal', async () => {
  const { world, pay } = await worldWith(
    [
      { match: { route: 'initiate' }, times: 3, effect: { respond: 500 } },
      { effect: { limit: { max: 1, per: '1h' } } },
    ],
    { rate_limit: '5/1h' },
  );
  await pay();
  const look = async () => [
    (await world.snapshot()).replaceAll(/"(?:wallMs|checksum)":[^,}]*/g, ''),
    await world.rules(),
  ];
  const before = await look();
  const first = await world.explain(initiate());
  for (let nth = 0; nth < 6; nth += 1) expect(await world.explain(initiate())).toEqual(first);
  expect(await look()).toEqual(before);
  expect(await world.requests()).toHaveLength(1);
});

const OUTCOMES: ScenarioInput = {
  outcomes: [
    { name: 'neft', match: { transfer_mode: 'NEFT' }, timeline: [{ to: 'FAILED', after: '40m' }] },
    {
      name: 'mostly',
      weighted: [
        { weight: 9, timeline: [{ to: 'SUCCESS', after: '2s' }] },
        { weight: 1, timeline: [{ to: 'REVERSED', after: '3d' }] },
      ],
    },
  ],
};

test('an explanation shows the payout that the request then makes', async () => {
  const { world, pay } = await worldWith([], OUTCOMES);
  const drawn = new Set<boolean>();
  for (let nth = 1; nth <= 20; nth += 1) {
    const change = { client_ref_id: `order-${nth}` };
    const { payout, outcomes } = await world.explain(initiate(change));
    const isPaid = payout!.timeline[0]!.to === 'SUCCESS';
    drawn.add(isPaid);
    expect(outcomes).toEqual([
      { id: 'inline/neft', taken: false, reason: 'transfer_mode must be "NEFT", and it is "IMPS"' },
      { id: 'inline/mostly', taken: true, reason: 'is the first that matches' },
    ]);
    await pay(change);
    const [made] = await world.transactions(change);
    const { to, utr, at } = made!.timeline[0]!;
    const isSoon = Date.parse(at!) - Date.parse(START) === 2000;
    expect(payout).toEqual({
      planned_by: made!.planned_by,
      timeline: [{ to, utr, when: `after ${isSoon ? '2s' : '3d'}` }],
    });
  }
  expect(drawn).toEqual(new Set([true, false])); // both were seen
});

test('an explanation says where the timeline of a rule is used instead of that of an outcome', async () => {
  const timeline = [{ to: 'SUCCESS', after: '1s' }] as const;
  const { world } = await worldWith([{ match: { route: 'initiate' }, effect: { timeline } }], OUTCOMES);
  const { payout, outcomes } = await world.explain(initiate());
  expect(payout!.planned_by).toBe('inline/rule-0');
  expect(outcomes[1]).toEqual({
    id: 'inline/mostly',
    taken: true,
    reason: 'is the first that matches, but inline/rule-0 has a timeline of its own',
  });
});

test('an explanation says why a request makes no payout', async () => {
  const refuses = await worldWith([{ match: { route: 'initiate' }, effect: { respond: 500 } }]);
  const none = { payout: null, note: 'inline/rule-0 makes no payout' };
  expect(await refuses.world.explain(initiate())).toMatchObject(none);
  const { world, pay } = await worldWith([], { ...OUTCOMES, wallet: { opening_balance: 2000 } });
  const { txn_id } = (await pay()).body.data;
  expect(await world.explain(initiate())).toMatchObject({
    payout: null,
    attempt: 2,
    note: `order-1 was made before (${txn_id}, planned by inline/mostly): nothing is decided again`,
  });
  expect(await world.explain(initiate({ client_ref_id: 'order-2' }))).toMatchObject({
    payout: null,
    note: 'the balance of INR 499.5 does not cover INR 1500.5',
  });
});

test('an explanation of a reference that stays refused says so, although the balance covers it now', async () => {
  const dialect = { client_ref_id: { same_body: 'stored' } } as const;
  const { world, pay } = await worldWith([], { dialect, wallet: { opening_balance: 1000 } });
  await pay();
  await world.fund(1000);
  expect(await world.explain(initiate())).toMatchObject({
    payout: null,
    note: 'order-1 was answered with 402 before, and gets that again (client_ref_id.same_body: stored)',
  });
  expect((await pay()).status).toBe(402);
});

testRows<[treats: object, amount: number, makes: boolean]>([
  [{ same_body: 'second_payout' }, 100, true],
  [{ changed_body: 'second_payout' }, 200, true],
])('an explanation of a known reference says whether it is paid again', async (treats, amount, makes) => {
  const { world, pay } = await worldWith([], { dialect: { client_ref_id: treats } });
  await pay({ amount: 100 });
  const { payout } = await world.explain(initiate({ amount }));
  await pay({ amount });
  expect([payout !== null, (await world.transactions()).length]).toEqual([makes, makes ? 2 : 1]);
});

test('an explanation of a read has its rules, and nothing of a payout', async () => {
  const { world, pay } = await worldWith([{ match: { route: 'status', attempt: 1 } }], OUTCOMES);
  await pay();
  const read = { route: 'status', query: { client_ref_id: 'order-1' } } as const;
  const expected = { rule: 'inline/rule-0', attempt: 1, payout: null, note: null, outcomes: [] };
  expect(await world.explain(read)).toMatchObject(expected);
  expect(await world.explain({ route: 'balance' })).toMatchObject({ rule: null, payout: null });
});

test('an explanation names the status read at which a payout moves on', async () => {
  const { world } = await worldWith([], { settlement: { IMPS: [{ to: 'SUCCESS', polls: 3 }] } });
  expect((await world.explain(initiate())).payout?.timeline).toMatchObject([{ when: 'at status read 3' }]);
});

test('an explanation says that a payout is not found yet, and by what, as long as a read would not find it', async () => {
  const hidden = { name: 'late', not_found: { reads: 1 } };
  const { world, pay, status } = await worldWith([], { outcomes: [hidden] });
  const read = { route: 'status' as const, query: { client_ref_id: PAYOUT.client_ref_id } };
  expect((await world.explain(read)).note).toBe('this world has no such payout');
  const { txn_id: txnId } = (await pay()).body.data;
  const note = `${txnId} is not found yet: inline/late hides it from status reads`;
  expect((await world.explain(read)).note).toBe(note);
  expect((await status({ client_ref_id: PAYOUT.client_ref_id })).status).toBe(404);
  expect((await world.explain(read)).note).toBeNull();
  expect((await status({ client_ref_id: PAYOUT.client_ref_id })).status).toBe(200);
});

test('a request past the rate limit of its scenario takes no rule', async () => {
  const { world, pay } = await worldWith([{ effect: { delay: '1ms' } }], { rate_limit: '1/1h' });
  await pay();
  expect(await world.explain(initiate())).toMatchObject({
    rule: null,
    note: expect.stringContaining('rate_limit in the scenario inline changes that'),
    rules: [],
  });
});

test('an explanation says that the sandbox is full, and that a world holds as many requests as it may', async () => {
  const { world, pay } = await clientFor({ maxTransactions: 1 });
  await pay();
  const next = initiate({ client_ref_id: 'order-2' });
  const full = 'The sandbox is full: SANDBOX_MAX_TRANSACTIONS is 1';
  expect(await world.explain(next)).toMatchObject({ payout: null, note: full });
  expect((await pay(next.body)).body.message).toBe(full);

  const holding = await worldWith([{ effect: { hold: { at: 'arrived' } } }]);
  const pays = Array.from({ length: MAX_HELD }, (_, nth) => holding.pay({ client_ref_id: `order-${nth}` }));
  await heldBy(holding.world, MAX_HELD);
  const note = expect.stringMatching(/^This world already holds 100 requests/);
  expect(await holding.world.explain(initiate())).toMatchObject({ payout: null, note });
  await holding.world.reset();
  await Promise.all(pays);
});
