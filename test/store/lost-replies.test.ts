import { expect, test } from 'vitest';
import { ask } from '../support/control.ts';
import type { Client } from '../support/sandbox.ts';
import { loseReplies } from '../support/store/scripts-run.ts';
import { serversFor } from '../support/store/shared-servers.ts';

/** A client of one world at each of two servers. The first server knows the world. */
async function twoClients() {
  const { clients, store } = await serversFor(2, { settlement: 'manual' });
  const [one, other] = clients() as [Client, Client];
  await one.balance();
  return { one, other, store };
}

test.each([
  ['before', false],
  ['after', true],
])(
  'a reply of the store that is lost %s the commands were appended is a 503 that says so, and a repetition makes no second payout',
  async (_when, runs) => {
    const { one, other } = await twoClients();
    const found = loseReplies(runs);
    const { status, body } = await one.pay({ amount: 10 });
    expect([status, body.message]).toEqual([
      503,
      expect.stringContaining('the outcome of this request is unknown'),
    ]);
    found();
    const again = await one.pay({ amount: 10 });
    expect([again.status, again.headers.has('idempotent-replayed')]).toEqual([200, runs]);
    for (const { world } of [one, other])
      expect(await world.summary()).toMatchObject({ balance: 999_990, at_risk: { count: 0 } });
  },
);

test('a reply of the store that is lost and whose command was appended: every server counts the payout as at risk until a response shows it', async () => {
  const { one, other } = await twoClients();
  const found = loseReplies(true);
  const { status } = await one.pay({ amount: 10 });
  expect(status).toBe(503);
  found();
  await expect.poll(async () => (await one.balance()).status).toBe(200);
  await expect
    .poll(async () => (await ask(one, 'GET', '/requests?route=initiate')).body)
    .toMatchObject({
      requests: [
        {
          outcome: 'fault',
          answer: null,
          code: 'STORE_UNAVAILABLE',
          limit: 'SANDBOX_STORE',
          committed: true,
        },
      ],
    });
  for (const { world } of [other, one]) {
    expect(await world.summary()).toMatchObject({ at_risk: { count: 1, amount: 10 } });
    expect(await world.transactions()).toMatchObject([{ at_risk: true, told: null }]);
  }
  expect((await other.pay({ amount: 10 })).headers.get('idempotent-replayed')).toBe('true');
  for (const { world } of [other, one]) {
    expect(await world.summary()).toMatchObject({ balance: 999_990, at_risk: { count: 0, amount: 0 } });
    expect(await world.transactions()).toMatchObject([{ at_risk: false, told: { as: 'PENDING' } }]);
  }
});
