import { describe, expect, test } from 'vitest';
import { ask } from '../../support/control.ts';
import type { Client } from '../../support/sandbox.ts';
import { loseReplies, onScripts } from '../../support/store/scripts-run.ts';
import { serversFor } from '../../support/store/shared-servers.ts';
import { withoutPatience } from '../../support/store/store-times.ts';

/** A client of one world at each of two servers. The first server knows the world. */
async function twoClients() {
  const { clients, store } = await serversFor(2, { settlement: 'manual' });
  const [one, other] = clients() as [Client, Client];
  await one.balance();
  return { one, other, store };
}

describe('a reply of the store that is lost', () => {
  test.each([
    ['before', false],
    ['after', true],
  ])(
    '%s the commands were appended leaves one payout, one request and no other trace',
    async (_when, runs) => {
      const { one, other } = await twoClients();
      for (let nth = 0; nth < 3; nth += 1) {
        let lost = 0;
        const restore = onScripts(async ({ name, run }) => {
          const isLost = name === 'append' && lost < nth;
          if (!isLost) return run();
          lost += 1;
          if (runs) await run();
          throw new Error('the connection broke');
        });
        const paid = await one.pay({ client_ref_id: `order-${nth}`, amount: 10 });
        expect([paid.status, paid.headers.has('idempotent-replayed')]).toEqual([200, false]);
        restore();
      }
      for (const { world } of [one, other]) {
        expect(await world.summary()).toMatchObject({ balance: 999_970, at_risk: { count: 0 } });
        expect((await world.requests()).map(({ id }) => id)).toEqual([1, 2, 3, 4]);
      }
    },
  );

  test('if it stays lost, the client gets a 503, and every server counts the payout as at risk until a response shows it', async () => {
    const { one, other } = await twoClients();
    const found = loseReplies(true);
    const { status } = await withoutPatience(() => one.pay({ amount: 10 }));
    expect(status).toBe(503);
    found();
    await expect.poll(async () => (await one.balance()).status).toBe(200);
    await expect
      .poll(async () => (await ask(one, 'GET', '/requests?route=initiate')).body)
      .toMatchObject({
        requests: [
          { outcome: 'answered', answer: { status: 503 }, code: 'STORE_UNAVAILABLE', committed: true },
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
});
