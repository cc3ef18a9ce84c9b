import { once } from 'node:events';
import { ServerResponse } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Memory } from '../../../src/http/limits/pressure.ts';
import { ask } from '../../support/control.ts';
import { rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { clientOf } from '../../support/sandbox.ts';
import { serverFor } from '../../support/server.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';

/** A memory that the test fills and collects. */
function testMemory() {
  let look: Parameters<Memory>[0];
  const memory: Memory = (given) => {
    look = given;
    return () => undefined;
  };
  return { memory, look: (percent: number, isCollected = true) => look(percent, isCollected) };
}

test('when memory is short, journals are cut first, then work is refused until memory is free again', async () => {
  const { memory, look } = testMemory();
  const { sandbox, logged } = await serverFor({ metrics: 'on' }, new ManualClock(), memory);
  const client = clientOf(sandbox.world());
  for (let nth = 1; nth <= 300; nth += 1) await client.balance();
  const status = async (path = '/client/fetchbalance') => (await client.send('GET', path)).status;
  expect(look(90)).toBe(true);
  expect((await ask(client, 'GET', '/requests')).body).toMatchObject({ evicted: 150 });
  look(90, false); // no collection has shown that anything is left
  expect(await status()).toBe(200);
  look(90);
  const { headers, body } = await client.pay();
  expect({ body, retry: headers.get('retry-after'), limit: headers.get('x-sandbox-limit') }).toMatchObject({
    body: { status: 'error', code: 'SANDBOX_BUSY' },
    retry: '1',
    limit: 'SANDBOX_MAX_MEMORY',
  });
  expect(await status('/_sandbox/requests')).toBe(503);
  for (const path of ['health', 'live', 'metrics']) expect(await status(`/_sandbox/${path}`)).toBe(200);
  expect((await client.send('DELETE', '/_sandbox/rules')).status).toBe(200);
  expect(look(80)).toBe(false);
  expect(await status()).toBe(200);
  const [refused] = (await ask(client, 'GET', '/requests?route=initiate')).body.requests;
  expect(refused).toMatchObject({ code: 'SANDBOX_BUSY', limit: 'SANDBOX_MAX_MEMORY', committed: false });
  const said = logged.filter(({ limit, msg }) => limit === 'SANDBOX_MAX_MEMORY' && msg !== 'request');
  expect(said.map(({ msg }) => msg)).toEqual([
    'memory is short: requests are refused with SANDBOX_BUSY',
    'memory is no longer short',
  ]);
});

test('a snapshot that nobody reads keeps out no verdict, no restore and no other world, and ends', async () => {
  const timers = vi.spyOn(ServerResponse.prototype, 'setTimeout');
  onTestFinished(() => timers.mockRestore());
  const { url, sandbox, logged } = await serverFor();
  const client = clientOf(sandbox.world());
  const effect = { respond: { status: 500, body: 'x'.repeat(60_000) } };
  for (let nth = 0; nth < 90; nth += 1) await client.world.rule({ name: `r${nth}`, effect });
  const socket = rawSocket(url);
  socket.write(rawRequest('GET /_sandbox/state', { authorization: `Bearer ${client.apiKey}` }));
  await once(socket, 'readable'); // and reads no more
  const [[ms, noProgress]] = timers.mock.calls as [[number, () => void]]; // of Node.js, which is not waited for here
  expect((await ask(client, 'GET', '/referee')).status).toBe(200);
  const other = clientOf(sandbox.world('sk_test_other'));
  await other.world.restore(await other.world.snapshot());
  const closed = once(socket, 'close');
  noProgress();
  socket.resume();
  await closed;
  expect(ms).toBe(10_000);
  expect(logged).toContainEqual(
    expect.objectContaining({ limit: 'unread responses', msg: 'connection ended' }),
  );
});
