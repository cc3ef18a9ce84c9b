import assert from 'node:assert/strict';
import type { Answered, FastClient } from './fast-client.ts';
import type { Random } from '../../support/world/random.ts';

/** What the worlds of a soak on a store work with. */
export interface SharedSoak {
  /** A client of one of the servers, any of which may be killed at any time. */
  readonly anyServer: () => FastClient;
  readonly isOver: () => boolean;
  readonly count: (what: string) => void;
}

/** What a world must hold: its payouts, and how much they have taken for good once all of them are settled. */
export interface SharedModel {
  readonly payouts: number;
  readonly taken: number;
}

export const OPENING = 100_000;
const PAYOUTS_A_LIFE = 60;
const AT_ONCE = 3;
/** A payout of so much fails, and its money comes back. */
const FAILS_FROM = 50;
const SCENARIO = {
  outcomes: [
    { match: { amount: { gte: FAILS_FROM } }, timeline: [{ to: 'FAILED', after: '1m' }] },
    { timeline: [{ to: 'SUCCESS', after: '1m' }] },
  ],
};

interface Standing {
  readonly balance: number;
  readonly invariants: unknown;
  readonly transactions: Readonly<Record<string, number>>;
}

/** Compares a world in which all is settled with its model. */
export function assertStands(text: string, { payouts, taken }: SharedModel, key: string): void {
  const { balance, invariants, transactions } = JSON.parse(text) as Standing;
  const made = Object.values(transactions).reduce((sum, count) => sum + count, 0);
  const expected = { balance: OPENING - taken, invariants: 'hold', made: payouts };
  assert.deepEqual({ balance, invariants, made }, expected, key);
}

/**
 * Makes payouts, settles all of them, compares the world with its model, restores it as it was, compares again, and resets it,
 * until it is over. Every request is sent again until a server answers it: each of them may be repeated.
 */
export async function sharedWorld(soak: SharedSoak, key: string, random: Random): Promise<SharedModel> {
  const { anyServer, isOver, count } = soak;
  const ask = async (what: string, send: (client: FastClient) => Promise<Answered>): Promise<string> => {
    for (;;) {
      const { status, text } = await send(anyServer());
      count(status === 200 ? what : 'sent again');
      if (status === 200) return text;
      assert.ok(status === 0 || status === 503, `${key} ${what}: ${status} ${text}`);
    }
  };
  const control = (what: string, method: string, path: string, body?: unknown): Promise<string> =>
    ask(what, (client) => client.control(method, path, key, body));
  const stands = async (model: SharedModel): Promise<void> => {
    await control('advances', 'POST', '/clock/advance', { until: 'idle' });
    assertStands(await control('looks', 'GET', '/world'), model, key);
  };

  let model: SharedModel = { payouts: 0, taken: 0 };
  const pay = async (nth: number): Promise<void> => {
    const amount = 1 + random.below(2 * FAILS_FROM);
    const change = { client_ref_id: `order-${nth}`, amount };
    await ask('payouts', (client) => client.pay(key, change));
    await ask('status', (client) => client.send('GET', `/payout/status?client_ref_id=order-${nth}`, key));
    model = { payouts: model.payouts + 1, taken: model.taken + (amount < FAILS_FROM ? amount : 0) };
  };
  while (!isOver()) {
    await control('resets', 'POST', '/reset');
    model = { payouts: 0, taken: 0 };
    await control('scenarios', 'PUT', '/scenario', SCENARIO);
    for (let nth = 0; nth < PAYOUTS_A_LIFE; nth += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, place) => pay(nth + place)));
    }
    await stands(model);
    const before = model;
    const snapshot = await control('snapshots', 'GET', '/state');
    await pay(PAYOUTS_A_LIFE);
    await stands(model);
    await ask('restores', (client) => client.send('PUT', '/_sandbox/state', key, snapshot));
    model = before;
    await stands(model);
  }
  return model;
}
