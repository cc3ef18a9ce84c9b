import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { KEY_PREFIX, LIST_KEY } from '../../src/store/scripts.ts';
import type { Client } from '../support/sandbox.ts';
import { filesOfInitiate } from '../support/files-run.ts';
import { ownStore } from '../support/store/fresh-store.ts';
import type { RedisServer } from '../support/store/redis-server.ts';
import { serversFor } from '../support/store/shared-servers.ts';

/** What a server asks its store now and then, whatever its clients do: its heartbeat, and the list of worlds. */
const isRegular = (line: string): boolean =>
  line.includes(`"${KEY_PREFIX}heartbeat`) || line.includes(`"${LIST_KEY}"`);

/** The calls that a store gets while something is done, but for those of its scripts. */
async function callsDuring(store: RedisServer, work: () => Promise<unknown>): Promise<readonly string[]> {
  let monitored = '';
  const socket = connect(store.port, '127.0.0.1', () => socket.write('MONITOR\r\n'));
  socket.setEncoding('utf8').on('data', (text: string) => (monitored += text));
  await expect.poll(() => monitored).toMatch(/^\+OK/);
  await work();
  await store.command('ECHO', 'that is all');
  await expect.poll(() => monitored).toContain('"that is all"');
  socket.destroy();
  return monitored
    .split('\r\n')
    .filter((line) => !line.includes(' lua] ') && !isRegular(line))
    .map((line) => /\] "(\w+)"/.exec(line)?.[1] ?? '')
    .filter((name) => !/^(echo|info|select|)$/i.test(name));
}

test('an initiate, a status or a balance in a store makes one call, also where a server limit applies', async () => {
  const store = await ownStore();
  const { clients } = await serversFor(1, { store: store.url, rateLimit: '1000000/1h' });
  const [client] = clients() as [Client];
  await client.pay(); // opens the world, and loads the scripts
  for (const call of [
    () => client.pay({ client_ref_id: 'order-2' }),
    () => client.status({ client_ref_id: 'order-1' }),
    () => client.balance(),
  ])
    expect(await callsDuring(store, call)).toEqual(['evalsha']);
});

test('an initiate in a store runs functions of at most 34 files with 5,800 lines', async () => {
  const { clients } = await serversFor(1, { rateLimit: '1000000/1h' });
  const [client] = clients() as [Client];
  const run = await filesOfInitiate(client);
  expect(run).toContain('store/store.ts'); // otherwise nothing was counted
  expect(run.length > 34 ? run : []).toEqual([]);
  const lines = run.map((name) => readFileSync(`src/${name}`, 'utf8').split('\n').length - 1);
  expect(lines.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(5800);
});
