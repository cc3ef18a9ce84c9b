import { expect, test } from 'vitest';
import { answers, ask, refusal, rulesOf, statusOf } from '../../support/control.ts';
import { clientFor, sandboxFor } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';

const START = '2026-01-15T10:30:00.000Z';
const SETTINGS = { clock: START, settlement: 'manual', openingBalance: 1000 } as const;

test('a world can be given a whole scenario, and returns the document unchanged', async () => {
  const world = await clientFor(SETTINGS);
  const document = {
    description: 'all of it',
    wallet: { opening_balance: 77.5 },
    seed: 'seven',
    settlement: { IMPS: [{ to: 'FAILED', after: 'PT1M' }] },
    rate_limit: { max: 5, per: '1h' },
    dialect: { errors: { status_word: 'failed' } },
    rules: [{ ...answers(503, 'refuse-neft'), match: { route: 'initiate', transfer_mode: 'NEFT' } }],
  };
  const put = await ask(world, 'PUT', '/scenario', document);
  expect(put.body).toMatchObject({ name: 'inline', description: 'all of it', chosen: true, document });
  expect((await ask(world, 'GET', '/scenario')).body).toEqual(put.body);
  expect(await world.world.balance()).toBe(77.5);
  await world.pay({ client_ref_id: 'first', amount: 7.5 });
  expect((await world.clock.advance('1m')).changes).toMatchObject([{ to: 'FAILED' }]);
  expect((await world.pay({ transfer_mode: 'NEFT', client_ref_id: 'neft' })).status).toBe(503);
  expect((await world.pay({ client_ref_id: 'dear', amount: 78 })).body).toMatchObject({ status: 'failed' });
  const answered = [await statusOf(world), await statusOf(world), await statusOf(world)];
  expect(answered).toEqual([200, 200, 429]);
});

test('the list of scenarios has their descriptions and names the active one', async () => {
  const { client } = await sandboxFor({ scenario: 'happy-fast' });
  const { in_force, scenarios } = (await ask(client(), 'GET', '/scenarios')).body;
  expect(in_force).toBe('happy-fast');
  const names = scenarios.map(({ name }: { name: string }) => name);
  expect(names).toEqual(names.toSorted());
  expect(names).toEqual(expect.arrayContaining(['default', 'happy-fast', 'rate-limited', 'strict']));
  for (const { name, description } of scenarios) {
    expect([name, description]).toEqual([name, expect.stringMatching(/\w/)]);
  }
});

test('a reset restores the initial money, payouts, clock, scenario, rules, counters and journal', async () => {
  const world = await clientFor(SETTINGS);
  const { txn_id } = (await world.pay({ amount: 5 })).body.data;
  await ask(world, 'PUT', '/scenario', { use: 'duplicates-rejected' });
  await ask(world, 'POST', '/rules', { ...answers(500, 'mine'), skip: 100 });
  await world.world.fund(5);
  await world.clock.advance('2h');
  await world.clock.resume();
  const reset = await ask(world, 'POST', '/reset');
  expect(reset.body).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{32}$/),
    balance: 1000,
    opening_balance: 1000,
    transactions: { PENDING: 0, SUCCESS: 0, FAILED: 0, REVERSED: 0 },
    clock: { now: START, frozen: true, next_due: null },
    scenario: 'default',
    name: null,
    at_risk: { count: 0, amount: 0 },
    invariants: 'hold',
  });
  expect(await rulesOf(world)).toEqual([]);
  expect(await world.world.requests()).toEqual([]);
  expect(await world.world.entries()).toHaveLength(1);
  expect((await world.status({ txn_id })).status).toBe(404);
  expect((await world.pay({ amount: 5 })).body.data.txn_id).toBe(txn_id); // ids count from the beginning again
});

const notAnObject = /^body must be /;

testRows<[body: unknown, message: RegExp, ...fields: string[]]>([
  [undefined, /\{"use":/, 'body'],
  [[], notAnObject, 'body'],
  [5, notAnObject, 'body'],
  [
    { use: 'rate-limitd' },
    /^There is no scenario rate-limitd \(did you mean rate-limited\?\)\. GET \/_sandbox\/scenarios lists all \d+$/,
  ],
  [{ use: '../package' }, /^There is no scenario /],
  [{ use: '__proto__' }, /^There is no scenario /],
  [{ use: 5 }, /^use must be a text/, 'use'],
  [{ use: 'strict', seed: 1 }, /^seed is not known here/, 'seed'],
  [{ rate_limits: 'off' }, /^rate_limits is not known here \(did you mean rate_limit\?\)$/, 'rate_limits'],
  [
    { rules: [{ name: 'A', effect: {} }] },
    /rules\[0\]\.name must .*; rules\[0\]\.effect must have at least one/,
    'rules[0].name',
    'rules[0].effect',
  ],
])(
  'a scenario choice that is not valid is refused with every wrong field, and the world keeps its scenario',
  async (body, message, ...fields) => {
    const world = await clientFor(SETTINGS);
    const [status, code] =
      fields.length === 0 ? ([404, 'SCENARIO_NOT_FOUND'] as const) : ([400, 'INVALID_REQUEST'] as const);
    expect(await ask(world, 'PUT', '/scenario', body)).toMatchObject(
      refusal(status, code, expect.stringMatching(message), fields.length === 0 ? undefined : fields),
    );
    expect((await ask(world, 'GET', '/scenario')).body).toMatchObject({ name: 'default', chosen: false });
  },
);
