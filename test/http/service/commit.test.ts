import { expect, test } from 'vitest';
import { type SettingsInput } from '../../../src/index.ts';
import { PAYOUT, sandboxFor, type Client } from '../../support/sandbox.ts';

const KEY = 'sk_test_commit';
const OPENING = 1_000_000;
const REFERENCE = { client_ref_id: PAYOUT.client_ref_id };

type Scenario = Exclude<NonNullable<SettingsInput['scenario']>, string>;
type RuleInput = NonNullable<Scenario['rules']>[number];

const sandboxWithRule = (rule: Omit<RuleInput, 'name'>, settings: SettingsInput = {}) =>
  sandboxFor({
    settlement: 'manual',
    openingBalance: `${OPENING}`,
    ...settings,
    scenario: { rules: [{ name: 'ruled', match: { route: 'initiate' }, ...rule }] },
  });

const balanceOf = async (world: Client): Promise<number> => (await world.balance()).body.data.balance;

test('a response without a payout of its own shows the payout that its reference has, as it is now', async () => {
  const { client } = await sandboxWithRule({
    match: { route: 'initiate', attempt: [2, 3] },
    effect: { commit: false },
  });
  const world = client(KEY);
  const { txn_id } = (await world.pay()).body.data;
  await world.world.transition(txn_id, 'FAILED');
  for (const change of [{}, { amount: 7 }]) {
    const again = await world.pay(change);
    expect(again).toMatchObject({
      status: 200,
      body: { data: { txn_id, status: 'FAILED', amount: PAYOUT.amount } },
    });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  }
});

test('the texts of a rule name the payout that a request is about, also where it makes and reads none', async () => {
  const text = { 'x-seen': '{{txn_id}} {{status}}' };
  const { client } = await sandboxFor({
    settlement: 'manual',
    scenario: {
      rules: [
        { name: 'again', match: { attempt: 2 }, effect: { respond: { status: 409, headers: text } } },
        {
          name: 'read',
          match: { route: 'status' },
          effect: { respond: { status: 200, headers: text, body: '' } },
        },
      ],
    },
  });
  const world = client(KEY);
  const { txn_id } = (await world.pay()).body.data;
  for (const { headers } of [
    await world.status(REFERENCE),
    await world.status({ txn_id }),
    await world.pay(),
  ])
    expect(headers.get('x-seen')).toBe(`${txn_id} PENDING`);
});

test('a fault distorts the 402 of an empty wallet; respond replaces it', async () => {
  const broke = { openingBalance: '1' };
  const malformed = await sandboxWithRule({ effect: { fault: 'malformed-json', commit: true } }, broke);
  const ordered = await sandboxWithRule({ effect: { respond: { status: 503 }, commit: true } }, broke);
  const world = malformed.client();
  expect(await world.pay()).toMatchObject({ status: 402, body: undefined });
  expect([(await world.status(REFERENCE)).status, await balanceOf(world)]).toEqual([404, 1]);
  expect(await ordered.client().pay()).toMatchObject({ status: 503, body: { code: 'HTTP_503' } });
});
