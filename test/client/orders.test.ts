import { expect, test } from 'vitest';
import type { Order, World } from '../../src/index.ts';
import { clientFor, type Client } from '../support/sandbox.ts';

/** A client that asks for the status while its initiate is under way, and stores what each response says. */
class PayoutBook {
  readonly states = new Map<string, string>();
  readonly #client: Client;
  /** Whether it stores whatever comes last, without a look at what it knows already. */
  readonly #isForgetful: boolean;

  constructor(client: Client, isForgetful: boolean) {
    this.#client = client;
    this.#isForgetful = isForgetful;
  }

  async pay(reference: string): Promise<void> {
    this.#take(reference, await this.#client.pay({ client_ref_id: reference }));
  }

  async refresh(reference: string): Promise<void> {
    this.#take(reference, await this.#client.status({ client_ref_id: reference }));
  }

  #take(
    reference: string,
    { body }: { readonly body: { readonly data: { readonly status: string } } },
  ): void {
    const known = this.states.get(reference);
    if (!this.#isForgetful && known !== undefined && known !== 'PENDING') return;
    this.states.set(reference, body.data.status);
  }
}

const INSTANT = { settlement: 'instant' } as const;

const payThenRefresh = async (book: PayoutBook): Promise<void> => {
  await book.pay('order-1');
  await book.refresh('order-1');
  expect(book.states.get('order-1')).toBe('SUCCESS');
};

/** Longer than any pause of a busy machine. */
const PATIENT = { within: '1m' };

/** Sends an initiate, and a status request while its response is held: then both are in flight. */
const inEveryOrder = (client: Client, isForgetful: boolean): Promise<void> =>
  client.world.orders(
    2,
    async (order) => {
      const book = new PayoutBook(client, isForgetful);
      const paying = book.pay('order-1');
      await client.world.held(1, PATIENT);
      const refreshing = book.refresh('order-1');
      for (const request of await order.held()) {
        await request.release();
        await (request.route === 'initiate' ? paying : refreshing);
      }
      expect(book.states.get('order-1')).toBe('SUCCESS');
    },
    { match: { route: ['initiate', 'status'] }, at: 'committed', ...PATIENT },
  );

test('orders finds a lost update that no serial run shows, and names the order', async () => {
  const client = await clientFor(INSTANT);
  await payThenRefresh(new PayoutBook(client, true));
  await expect(inEveryOrder(client, true)).rejects.toThrow(
    'order 2, 1 (2 of 2) failed; in the order: status order-1, initiate order-1: expected',
  );
});

test('orders passes for a client that is correct in every order', async () => {
  const client = await clientFor(INSTANT);
  await payThenRefresh(new PayoutBook(client, false));
  await expect(inEveryOrder(client, false)).resolves.toBeUndefined();
});

test('orders runs each order of three initiates once, in a new world, whatever the order of arrival', async () => {
  const client = await clientFor(INSTANT);
  const seen: string[][] = [];
  const run = async (order: Order): Promise<void> => {
    expect(await client.world.transactions()).toEqual([]);
    const references = seen.length % 2 === 0 ? ['a', 'b', 'c'] : ['c', 'b', 'a'];
    const paying = references.map((reference) => client.pay({ client_ref_id: reference, amount: 1 }));
    await order.release();
    await Promise.all(paying);
    seen.push((await client.world.transactions()).map(({ client_ref_id }) => client_ref_id));
  };
  await client.world.orders(3, run, PATIENT);
  expect(seen).toEqual([
    ['a', 'b', 'c'],
    ['a', 'c', 'b'],
    ['b', 'a', 'c'],
    ['b', 'c', 'a'],
    ['c', 'a', 'b'],
    ['c', 'b', 'a'],
  ]);
  expect(await client.world.transactions()).toEqual([]);
});

test('what the referee found in each order stays found, also if its settings are given again', async () => {
  const client = await clientFor(INSTANT);
  const settings = { intent: 'beneficiary_account' } as const;
  await client.world.referee(settings);
  const run = async (order: Order): Promise<void> => {
    const paying = ['a', 'b'].map((reference) => client.pay({ client_ref_id: reference }));
    await order.release();
    await Promise.all(paying);
  };
  await client.world.orders(2, run, PATIENT);
  expect((await client.world.referee(settings)).counts.error).toBe(2);
  await expect(client.world.expectGoodConduct(settings)).rejects.toThrow('(from before a restore)');
});

test.each<[what: string, run: (world: World) => Promise<void>, message: string]>([
  [
    'a test that releases nothing',
    (world) => world.orders(2, async () => undefined),
    'did not call order.release()',
  ],
  [
    'fewer requests than were to be in flight',
    (world) => world.orders(1, (order) => order.release(), { within: '1ms' }),
    'order 1 (1 of 1) failed: Expected 1 held request; after 1ms there were none',
  ],
  [
    'a test that is no function',
    (world) => (world.orders as (count: number) => Promise<void>).call(world, 2),
    'takes the test as a function: orders(2, async (order) => { … })',
  ],
  [
    'too many orders',
    (world) => world.orders(6, async () => undefined),
    'takes 1 to 5 requests in flight, not 6',
  ],
])('orders refuses %s', async (_what, run, message) => {
  const { world } = await clientFor(INSTANT);
  await expect(run(world)).rejects.toThrow(message);
});
