import { expect, test } from 'vitest';
import type { RuleRequest, SettingsInput } from '../../../src/index.ts';
import { clientFor, PAYOUT } from '../../support/sandbox.ts';

const REFERENCE = { client_ref_id: PAYOUT.client_ref_id };

const worldWithRule = (rule: RuleRequest, settings: SettingsInput = {}) =>
  clientFor({
    settlement: 'manual',
    ...settings,
    scenario: { rules: [{ match: { route: 'initiate' }, ...rule }] },
  });

test('a response without a payout of its own shows the payout that its reference has, as it is now', async () => {
  const match = { route: 'initiate', attempt: [2, 3] } as const;
  const world = await worldWithRule({ match, effect: { commit: false } });
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
  const world = await clientFor({
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
  const malformed = await worldWithRule({ effect: { fault: 'malformed-json', commit: true } }, broke);
  const ordered = await worldWithRule({ effect: { respond: { status: 503 }, commit: true } }, broke);
  expect(await malformed.pay()).toMatchObject({ status: 402, body: undefined });
  const { status } = await malformed.status(REFERENCE);
  expect([status, await malformed.world.balance()]).toEqual([404, 1]);
  expect(await ordered.pay()).toMatchObject({ status: 503, body: { code: 'HTTP_503' } });
});
