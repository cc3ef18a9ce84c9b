import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ask } from '../../support/control.ts';
import { rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { clientOf } from '../../support/sandbox.ts';
import { serverFor } from '../../support/server.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';

/** A memory that the test fills and collects. */
const memoryOf = (percent: number) => ({
  now: percent,
  collections: 1,
  percent() {
    return this.now;
  },
  collect() {
    this.collections += 1;
  },
  look: (): void => undefined,
  watch(look: () => void) {
    this.look = look;
    return () => undefined;
  },
});

test('when memory is short, journals are cut first, then work is refused until memory is free again', async () => {
  const memory = memoryOf(10);
  const { sandbox, logged } = await serverFor({ metrics: 'on' }, new ManualClock(), memory);
  const client = clientOf(sandbox.world());
  for (let nth = 1; nth <= 300; nth += 1) await client.balance();
  const status = async (path = '/client/fetchbalance') => (await client.send('GET', path)).status;
  memory.now = 90;
  memory.look();
  expect((await ask(client, 'GET', '/requests')).body).toMatchObject({ evicted: 150 });
  for (let nth = 0; nth < 5; nth += 1) {
    memory.collections += 1;
    memory.look();
  }
  const { headers, body } = await client.pay();
  expect({ body, retry: headers.get('retry-after'), limit: headers.get('x-sandbox-limit') }).toMatchObject({
    body: { status: 'error', code: 'SANDBOX_BUSY' },
    retry: '1',
    limit: 'SANDBOX_MAX_MEMORY',
  });
  expect(await status('/_sandbox/requests')).toBe(503);
  for (const path of ['health', 'live', 'metrics']) expect(await status(`/_sandbox/${path}`)).toBe(200);
  expect((await client.send('DELETE', '/_sandbox/rules')).status).toBe(200);
  memory.now = 80;
  memory.look();
  expect(await status()).toBe(200);
  const [refused] = (await ask(client, 'GET', '/requests?route=initiate')).body.requests;
  expect(refused).toMatchObject({ code: 'SANDBOX_BUSY', limit: 'SANDBOX_MAX_MEMORY', committed: false });
  const said = logged.filter(({ limit, msg }) => limit === 'SANDBOX_MAX_MEMORY' && msg !== 'request');
  expect(said.map(({ msg }) => msg)).toEqual([
    'memory is short: requests are refused with SANDBOX_BUSY',
    'memory is no longer short',
  ]);
});

test('a collection is asked for when none came by itself for two seconds', async () => {
  const memory = memoryOf(90);
  await serverFor({}, new ManualClock(), memory);
  for (let nth = 0; nth < 20; nth += 1) memory.look();
  expect(memory.collections).toBe(1);
  memory.look();
  expect(memory.collections).toBe(2);
});

test('a snapshot that nobody reads keeps out no verdict, no restore and no other world, and ends', async () => {
  const clock = new ManualClock();
  const { url, sandbox, logged } = await serverFor({}, clock);
  const client = clientOf(sandbox.world());
  const effect = { respond: { status: 500, body: 'x'.repeat(60_000) } };
  for (let nth = 0; nth < 90; nth += 1) await client.world.rule({ name: `r${nth}`, effect });
  const socket = rawSocket(url);
  socket.write(rawRequest('GET /_sandbox/state', { authorization: `Bearer ${client.apiKey}` }));
  await once(socket, 'readable'); // and reads no more
  expect((await ask(client, 'GET', '/referee')).status).toBe(200);
  const other = clientOf(sandbox.world('sk_test_other'));
  await other.world.restore(await other.world.snapshot());
  const closed = once(socket, 'close');
  await clock.pass(10_000);
  await clock.pass(10_000);
  socket.resume();
  await closed;
  expect(logged).toContainEqual(
    expect.objectContaining({ limit: 'unread responses', msg: 'connection ended' }),
  );
});
