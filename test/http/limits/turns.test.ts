import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Connections } from '../../../src/http/limits/connections.ts';
import { HeavyWork } from '../../../src/http/limits/heavy-work.ts';
import { connectSandbox } from '../../../src/index.ts';
import { ask } from '../../support/control.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';
import { clientOf, type Client } from '../../support/sandbox.ts';
import { rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { appFor, serverFor } from '../../support/server.ts';
import { linesOf, resealed } from '../../support/world/snapshot-lines.ts';

/** How long single requests may keep all others waiting, in work and not in time. `npm run bench:holds` measures the time. */

const ADMIN_TOKEN = 'admin-token-of-the-turns';

const many = <T>(count: number, item: (nth: number) => T): T[] =>
  Array.from({ length: count }, (_, nth) => item(nth));

const longRule = (nth: number) => ({
  name: `r${nth}`,
  effect: { respond: { status: 200, body: many(2000, () => []) } },
});

/** The snapshot of the world with more lines in it. */
async function snapshotWith({ world }: Client, items: readonly object[]): Promise<string> {
  const lines = linesOf(await world.snapshot());
  lines.splice(-2, 0, ...items.map((item) => JSON.stringify(item)));
  return resealed(`${lines.join('\n')}\n`);
}

test.each<[string, (client: Client) => Promise<() => Promise<unknown>>, number]>([
  ['the first list of scenarios', async (client) => () => ask(client, 'GET', '/scenarios'), 20],
  ['the first OpenAPI document', async (client) => () => ask(client, 'GET', '/openapi.json'), 30],
  [
    'a snapshot with 30 long overrides',
    async (client) => {
      const items = many(30, (nth) => ({ rule: longRule(nth) }));
      const text = await snapshotWith(client, items);
      const headers = { 'content-type': 'application/x-ndjson' };
      return () => client.send('PUT', '/_sandbox/state', { headers, body: text });
    },
    2,
  ],
  [
    'a list of 120 worlds',
    async ({ world }) => {
      const sandbox = connectSandbox({ url: world.url, adminToken: ADMIN_TOKEN });
      await Promise.all(many(120, (nth) => clientOf(sandbox.world(`sk_test_${nth}`)).balance()));
      return async () => ({ status: (await sandbox.worlds()).length === 120 ? 200 : 500 });
    },
    2,
  ],
])('other requests can run during %s', async (_what, prepare, turns) => {
  const clock = new ManualClock();
  const { sandbox } = await serverFor({ adminToken: ADMIN_TOKEN }, clock);
  const client = clientOf(sandbox.world());
  const send = await prepare(client);
  const before = clock.turns;
  expect(await send()).toMatchObject({ status: 200 });
  expect(clock.turns - before).toBeGreaterThanOrEqual(turns);
});

test('much long work of one world keeps that of another waiting for no more than one of it', async () => {
  const options = { max: 1, wallClock: new ManualClock(), stopwatchMs: () => 0, ended: () => undefined };
  const heavy = new HeavyWork(new Connections(options));
  const [flooding, other] = [{}, {}];
  const done: object[] = [];
  const work = (owner: object) => heavy.run(owner, function* () {});
  await Promise.all(
    [...many(10, () => flooding), other].map(async (owner) => {
      await work(owner);
      done.push(owner);
    }),
  );
  expect(done.indexOf(other)).toBe(1);
});

test('a request that waits behind a long response may take longer than that may wait for its reader', async () => {
  const rule = { name: 'slow', match: { route: 'balance' as const }, effect: { delay: '1h' } };
  const { app } = await appFor({ scenario: { rules: [rule] } });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const accepted = once(app.server, 'connection') as Promise<[Socket]>;
  const socket = rawSocket(url);
  const headers = { authorization: 'Bearer sk_test_turns' };
  socket.write(rawRequest('GET /_sandbox/state', headers));
  socket.write(rawRequest('GET /client/fetchbalance', headers));
  const [connection] = await accepted;
  await once(socket, 'data');
  await expect.poll(() => connection.timeout).toBe(0);
});
