import { Redis } from 'iovalkey';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { keysOf } from '../../../src/log/valkey/scripts.ts';
import { StoreConnection } from '../../../src/log/valkey/store-connection.ts';
import { ask } from '../../support/control.ts';
import type { Client } from '../../support/sandbox.ts';
import { withoutPatience } from '../../support/store/store-times.ts';
import { serversFor } from '../../support/store/shared-servers.ts';

type Script = StoreConnection['script'];

/** Loses replies of `append`. @param count how many @param runs whether the script has run before its reply is lost */
function loseReplies(count: number, runs: boolean): void {
  const script: Script = StoreConnection.prototype.script; // oxlint-disable-line typescript/unbound-method -- called with its connection
  let lost = 0;
  const spy = vi.spyOn(StoreConnection.prototype, 'script');
  onTestFinished(() => spy.mockRestore());
  spy.mockImplementation(async function (this: StoreConnection, name, ...args) {
    if (name !== 'append' || lost >= count) return script.call(this, name, ...args);
    lost += 1;
    if (runs) await script.call(this, name, ...args);
    throw new Error('the connection broke');
  });
}

describe('a reply of the store that is lost', () => {
  test.each([
    ['before', false],
    ['after', true],
  ])(
    '%s the commands were appended leaves one payout, one request and no other trace',
    async (_when, runs) => {
      const { clients } = await serversFor(2, { settlement: 'manual' });
      const [one, other] = clients() as [Client, Client];
      await one.balance();
      for (let nth = 0; nth < 5; nth += 1) {
        loseReplies(nth, runs);
        const paid = await one.pay({ client_ref_id: `order-${nth}`, amount: 10 });
        expect([paid.status, paid.headers.has('idempotent-replayed')]).toEqual([200, false]);
        vi.restoreAllMocks();
      }
      for (const { world } of [one, other]) {
        expect(await world.summary()).toMatchObject({ balance: 999_950, at_risk: { count: 0 } });
        expect((await world.requests()).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6]);
      }
    },
  );

  test('if it stays lost, the client gets a 503, and every server counts the payout as at risk until a response shows it', async () => {
    const { clients } = await serversFor(2, { settlement: 'manual' });
    const [one, other] = clients() as [Client, Client];
    await one.balance();
    loseReplies(Infinity, true);
    const { status } = await withoutPatience(() => one.pay({ amount: 10 }));
    expect(status).toBe(503);
    vi.restoreAllMocks();
    await expect.poll(async () => (await one.balance()).status).toBe(200);
    await expect
      .poll(async () => (await ask(one, 'GET', '/requests?route=initiate')).body)
      .toMatchObject({
        requests: [
          { outcome: 'answered', answer: { status: 503 }, code: 'STORE_UNAVAILABLE', committed: true },
        ],
      });
    for (const { world } of [one, other]) {
      expect(await world.summary()).toMatchObject({ at_risk: { count: 1, amount: 10 } });
      expect(await world.transactions()).toMatchObject([{ at_risk: true, told: null }]);
    }
    expect((await other.pay({ amount: 10 })).headers.get('idempotent-replayed')).toBe('true');
    for (const { world } of [one, other]) {
      expect(await world.summary()).toMatchObject({ balance: 999_990, at_risk: { count: 0, amount: 0 } });
      expect(await world.transactions()).toMatchObject([{ at_risk: false, told: { as: 'PENDING' } }]);
    }
  });

  test('and whose command is in a part of the log that is skipped is not repeated: the client gets 503', async () => {
    const { clients, store } = await serversFor(2, { settlement: 'manual' });
    const [one, other] = clients() as [Client, Client];
    await one.balance();
    const { id } = await other.world.summary();
    const snapshot = await other.world.snapshot();
    const redis = new Redis(store);
    onTestFinished(() => redis.disconnect());
    const bases = async () => JSON.parse((await redis.hget(keysOf(id).head, 'bases'))!) as unknown[];
    const script: Script = StoreConnection.prototype.script; // oxlint-disable-line typescript/unbound-method -- called with its connection
    let ofOne: StoreConnection | undefined;
    let appends = 0;
    vi.spyOn(StoreConnection.prototype, 'script').mockImplementation(async function (
      this: StoreConnection,
      name,
      ...args
    ) {
      if (name !== 'append' || (ofOne !== undefined && ofOne !== this))
        return script.call(this, name, ...args);
      ofOne = this; // oxlint-disable-line typescript/no-this-alias, unicorn/no-this-assignment -- the connection that called
      appends += 1;
      if (appends === 2) return ['behind'];
      const reply = await script.call(this, name, ...args);
      if (appends > 1) return reply;
      await other.world.restore(snapshot);
      await expect.poll(async () => (await bases()).length).toBe(2);
      throw new Error('the connection broke');
    });
    onTestFinished(() => void vi.restoreAllMocks());
    expect((await one.pay({ amount: 10 })).status).toBe(503);
    for (const { world } of [one, other]) expect(await world.transactions()).toEqual([]);
  });
});
