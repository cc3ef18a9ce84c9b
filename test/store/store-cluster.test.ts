import { expect, test } from 'vitest';
import type { Client } from '../support/sandbox.ts';
import { serversFor } from '../support/store/shared-servers.ts';
import { clusterFor } from '../support/store/store-cluster.ts';

test('a store of three nodes holds worlds as one node does: nothing is lost or paid twice, and all servers know it', async () => {
  const { clients, servers } = await serversFor(2, {
    store: await clusterFor(),
    openingBalance: 20,
    settlement: 'manual', // so that the event below is the only one
  });
  for (const key of ['sk_test_one', 'sk_test_two', 'sk_test_three']) {
    const worlds = clients(key);
    const paid = await Promise.all(
      Array.from({ length: 30 }, (_, nth) =>
        worlds[nth % 2]!.pay({ client_ref_id: `order-${nth}`, amount: 1 }),
      ),
    );
    expect(paid.filter(({ status }) => status === 200)).toHaveLength(20);
    for (const { world } of worlds) {
      expect(await world.summary()).toMatchObject({ balance: 0, invariants: 'hold' });
    }
  }
  expect(await servers[0]!.worlds()).toHaveLength(3);

  const [one, other] = clients('sk_test_one') as [Client, Client];
  const events = await other.world.events();
  await one.world.fund(5);
  expect((await events.next()).value).toMatchObject({ type: 'wallet' });
  await events.return();
  const snapshot = await one.world.snapshot();
  await other.world.restore(snapshot);
  expect((await one.balance()).body.data.balance).toBe(5);
  await one.world.rule({ name: 'hang', match: { route: 'balance' }, effect: { fault: 'hang' } });
  const held = other.balance().catch((error: Error) => error.name);
  await expect.poll(async () => (await one.world.requests({ route: 'balance' })).length).toBe(2);
  await one.world.reset();
  await held;
});
