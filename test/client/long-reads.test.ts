import { expect, test } from 'vitest';
import type { ControlClient } from '../../src/client/control-client.ts';
import { openEvents } from '../../src/client/event-stream.ts';
import { payMany } from '../support/many-payouts.ts';
import { clientFor } from '../support/sandbox.ts';

test('requests() returns a journal of more than a thousand entries whole and in order', async () => {
  const { world } = await clientFor({ journalEntries: 3000 });
  const count = 1001;
  await payMany(world, count);
  const ids = (await world.requests()).map(({ id }) => id);
  expect(ids).toEqual(Array.from({ length: count }, (_, nth) => nth + 1));
  expect(await world.requests({ since: 999 })).toHaveLength(count - 999);
});

test('events arrive intact when their characters are split between chunks', async () => {
  const data = { from: 'PENDING', client_ref_id: 'बिल ₹5 🙂' };
  const bytes = Buffer.from(`id: 1\nevent: settlement\ndata: ${JSON.stringify(data)}\n\n`);
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const client = { open: () => Promise.resolve(new Response(body)) } as unknown as ControlClient;
  const events: unknown[] = [];
  for await (const event of await openEvents(client, {})) events.push(event);
  expect(events).toEqual([{ id: '1', type: 'settlement', data }]);
});
