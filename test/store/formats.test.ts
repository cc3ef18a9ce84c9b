import { expect, test } from 'vitest';
import { FORMAT, keysOf } from '../../src/store/scripts.ts';
import type { Client } from '../support/sandbox.ts';
import { redisAt } from '../support/store/fresh-store.ts';
import { serversFor } from '../support/store/shared-servers.ts';

test('the format of a log of a newer version is left alone: responses say so, and the server stays ready for the others', async () => {
  const { store, clients } = await serversFor(2);
  const [one, other] = clients() as [Client, Client];
  await one.pay({ amount: 10 });
  const client = redisAt(store);
  const { head, log } = keysOf((await one.world.summary()).id);
  await client.hset(head, 'format', FORMAT + 1);
  const length = await client.xlen(log);
  for (const { pay } of [one, other]) {
    expect(await pay({ client_ref_id: 'later' })).toMatchObject({
      status: 503,
      body: { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('update this server') },
    });
  }
  expect(await client.xlen(log)).toBe(length);
  expect((await fetch(`${one.url}/_sandbox/health`)).status).toBe(200);
  await client.hset(head, 'format', FORMAT);
  expect((await other.balance()).body.data.balance).toBe(999_990);
});
