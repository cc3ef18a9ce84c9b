import { expect, test } from 'vitest';
import type { Client } from '../support/sandbox.ts';
import { redisAt } from '../support/store/fresh-store.ts';
import { serversFor } from '../support/store/shared-servers.ts';

test('the metrics of a server show its store: up and its calls, and worlds that were lost', async () => {
  const { clients, store } = await serversFor(1, { metrics: 'on' });
  const [client] = clients() as [Client];
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${client.url}/_sandbox/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`payout_sandbox_store_${name} `));
    return Number(line?.split(' ')[1]);
  };
  await client.pay();
  expect(await metric('up')).toBe(1);
  const calls = await metric('call_seconds_count{call="call"}');
  await client.pay({ client_ref_id: 'another' });
  expect(await metric('call_seconds_count{call="call"}')).toBe(calls + 1);
  expect(await metric('worlds_lost_total')).toBe(0);
  const other = redisAt(store);
  await other.flushdb();
  const payAgain = async () => (await client.pay({ client_ref_id: 'a third' })).status;
  await expect.poll(payAgain).toBe(200); // 503 if it waits as the loss is found
  expect(await metric('worlds_lost_total')).toBe(1);
});
