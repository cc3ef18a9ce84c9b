import { expect, test } from 'vitest';
import { heldBy } from '../support/control.ts';
import type { Client } from '../support/sandbox.ts';
import { serversFor } from '../support/store/shared-servers.ts';

const HOLD = { name: 'held', match: { route: 'initiate' as const }, effect: { hold: 'arrived' as const } };

test('requests that servers of one store hold are listed and released through any of them, in the order of the releases', async () => {
  const { clients } = await serversFor(3);
  const [one, other, third] = clients() as [Client, Client, Client];
  await third.world.rule(HOLD);
  const first = one.pay({ client_ref_id: 'order-1' });
  const broken = first.catch(({ message }: Error) => message); // it may break before its release is answered
  await heldBy(third.world, 1);
  const second = other.pay({ client_ref_id: 'order-2' });
  const [held, next] = await heldBy(third.world, 2);
  expect([held!.client_ref_id, next!.client_ref_id]).toEqual(['order-1', 'order-2']);
  await next!.release();
  await held!.release({ fault: 'truncated-body' });
  expect((await second).status).toBe(200);
  expect(await broken).toBe('terminated');
  expect((await one.world.transactions()).map(({ client_ref_id }) => client_ref_id)).toEqual([
    'order-2',
    'order-1',
  ]);
});

test('requests that servers of one store hold end with their server when it stops, and cannot be released any more', async () => {
  const { servers, clients } = await serversFor(2);
  const [one, other] = clients() as [Client, Client];
  await one.world.rule({ ...HOLD, effect: { hold: { at: 'arrived', for: '1h' } } });
  const waiting = one.pay();
  const [held] = await heldBy(other.world, 1);
  await servers[0]!.close();
  expect((await waiting).status).toBe(504);
  expect(await other.world.held()).toEqual([]);
  await expect(held!.release()).rejects.toMatchObject({ code: 'HELD_NOT_FOUND' });
  expect(await other.world.transactions()).toEqual([]);
});
