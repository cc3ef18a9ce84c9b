import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { StoreConnection } from '../../../src/log/valkey/store-connection.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { withoutPatience } from '../../support/store/store-times.ts';
import { ask } from '../../support/control.ts';
import { rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { RedisServer } from '../../support/store/redis-server.ts';
import { clientOf, type Client } from '../../support/sandbox.ts';
import { clusterNodes, clusterUrl, unjoinedNodes } from '../../support/store/store-cluster.ts';
import { serversFor } from '../../support/store/shared-servers.ts';
import { serverFor } from '../../support/server.ts';
import { TcpProxy } from '../../support/http/tcp-proxy.ts';

/** Two seconds, and what a busy machine may stand still. */
const TWO_SECONDS_MS = 2000 + 10_000;

async function storeFor(...flags: string[]): Promise<RedisServer> {
  const store = await RedisServer.start(...flags);
  onTestFinished(() => store.end());
  return store;
}

async function proxyTo({ port }: { readonly port: number }): Promise<TcpProxy> {
  const proxy = await TcpProxy.to(port);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** A store that cannot be used yet, with a part of the reason in the log, and what makes it usable; null when nothing does. */
interface StoreAtStart {
  readonly url: string;
  readonly reason: string;
  readonly mend: (() => Promise<unknown>) | null;
}

/** A server, and what it logs. */
async function loggingServer(store: string) {
  const { url, sandbox, logged: lines } = await serverFor({ store }, systemClock());
  const client: Client = clientOf(sandbox.world('sk_test_outage'));
  const health = async (path: string): Promise<unknown> => {
    const response = await fetch(`${url}/_sandbox/${path}`);
    const { status } = (await response.json()) as { status: string };
    return [response.status, status];
  };
  const ofStore = () => lines.filter(({ msg }) => String(msg).startsWith('the store '));
  return { client, health, ofStore, lines, url };
}

describe('a store that cannot be used', () => {
  test.each<[string, (store: RedisServer) => Promise<unknown>, (store: RedisServer) => Promise<unknown>]>([
    ['is killed', (store) => store.kill(), (store) => store.start()],
    ['hangs', async (store) => store.signal('SIGSTOP'), async (store) => store.signal('SIGCONT')],
    [
      'is full',
      (store) => store.command('CONFIG', 'SET', 'maxmemory', '1'),
      (store) => store.command('CONFIG', 'SET', 'maxmemory', '0'),
    ],
    [
      'is read-only',
      (store) => store.command('REPLICAOF', '127.0.0.1', '1'),
      (store) => store.command('REPLICAOF', 'NO', 'ONE'),
    ],
  ])(
    'because it %s: requests get 503 within two seconds, the sandbox says so and stays in service, and recovers by itself',
    async (_what, breakIt, mendIt) => {
      const store = await storeFor('--appendonly', 'yes', '--appendfsync', 'always');
      const { client, health, ofStore } = await loggingServer(store.url);
      expect((await client.pay({ amount: 10 })).status).toBe(200);
      await breakIt(store);
      const startedMs = performance.now();
      const refused = await withoutPatience(() => client.balance());
      expect(performance.now() - startedMs).toBeLessThan(TWO_SECONDS_MS);
      expect(refused).toMatchObject({ status: 503, body: { status: 'error', code: 'STORE_UNAVAILABLE' } });
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await health('health')).toEqual([200, 'store_unavailable']);
      expect(await health('live')).toEqual([200, 'alive']);
      await mendIt(store);
      await expect.poll(() => health('health')).toEqual([200, 'ready']);
      expect((await client.balance()).body.data.balance).toBe(999_990);
      expect(ofStore().map(({ level, msg }) => [level, msg])).toEqual([
        [50, 'the store cannot be used: requests get a 503 until it is back'],
        [30, 'the store is back'],
      ]);
    },
  );

  test.each<[string, () => Promise<StoreAtStart>]>([
    [
      'store is away',
      async () => {
        const store = await storeFor();
        await store.kill();
        return { url: store.url, reason: 'ECONNREFUSED', mend: () => store.start() };
      },
    ],
    [
      'cluster is away',
      async () => {
        const nodes = await clusterNodes();
        for (const node of nodes) await node.kill();
        const mend = () => Promise.all(nodes.map((node) => node.start()));
        return { url: clusterUrl(nodes), reason: 'no node', mend };
      },
    ],
    [
      'cluster is not made yet',
      async () => {
        const nodes = await unjoinedNodes();
        return {
          url: clusterUrl(nodes),
          reason: 'cluster_state',
          mend: () => RedisServer.makeCluster(nodes),
        };
      },
    ],
    [
      'address of a cluster is that of a single store',
      async () => ({ url: clusterUrl([await storeFor()]), reason: 'cluster support disabled', mend: null }),
    ],
  ])(
    'lets the sandbox start, when the %s, and its worlds are served once it is there',
    async (_what, start) => {
      const { url, reason, mend } = await start();
      const { client, health, ofStore } = await withoutPatience(() => loggingServer(url));
      expect(await health('health')).toEqual([200, 'store_unavailable']);
      expect(await health('live')).toEqual([200, 'alive']);
      expect((await client.balance()).status).toBe(503);
      expect(ofStore().map(({ reason: logged }) => logged)).toEqual([expect.stringContaining(reason)]);
      if (mend === null) return;
      await mend();
      await expect.poll(() => health('health')).toEqual([200, 'ready']);
      expect((await client.balance()).status).toBe(200);
    },
  );
});

test('how a request ended while the store was away is known once it is back', async () => {
  const { client } = await loggingServer((await storeFor()).url);
  await client.world.rule({ name: 'late', match: { route: 'initiate' }, effect: { delay: '100ms' } });
  const paying = client.pay();
  await expect.poll(async () => (await client.world.requests()).length).toBe(1);
  const away = vi
    .spyOn(StoreConnection.prototype, 'script')
    .mockImplementation(() => Promise.reject(new Error('no response')));
  await withoutPatience(async () => {
    expect((await paying).status).toBe(200);
    expect((await client.balance()).status).toBe(503);
  });
  away.mockRestore();
  const journal = async () =>
    (await client.world.requests()).map(({ route, outcome, answer }) => [route, outcome, answer?.status]);
  await expect.poll(async () => (await journal().catch(() => []))[0]).toEqual(['initiate', 'answered', 200]);
  expect((await client.balance()).status).toBe(200);
  expect((await journal()).at(-1)).toEqual(['balance', 'answered', 200]);
});

describe('a connection to the store', () => {
  test('that breaks in the middle of a reply makes no payout twice, and loses none', async () => {
    const store = await storeFor();
    const proxy = await proxyTo(store);
    const { client } = await loggingServer(`redis://127.0.0.1:${proxy.port}`);
    await client.balance();
    for (let nth = 0; nth < 20; nth += 1) {
      proxy.cutReply(nth % 4, nth);
      const paid = await client.pay({ client_ref_id: `order-${nth}`, amount: 1 });
      expect(paid.status).toBe(200);
      expect(paid.headers.has('idempotent-replayed')).toBe(false);
      proxy.cutReply(nth % 4, nth);
      await client.world.fund(10);
    }
    const { balance, invariants } = await client.world.summary();
    expect([balance, invariants]).toEqual([1_000_180, 'hold']);
    expect((await client.world.requests()).map(({ id, client_ref_id }) => [id, client_ref_id])).toEqual([
      [1, null],
      ...Array.from({ length: 20 }, (_, nth) => [nth + 2, `order-${nth}`]),
    ]);
    expect((await ask(client, 'DELETE', '/requests')).body).toEqual({ cleared: 21 });
  });

  test('still works after the store has forgotten its scripts', async () => {
    const store = await storeFor();
    const { clients } = await serversFor(1, { store: store.url });
    const [client] = clients() as [Client];
    await client.pay({ amount: 10 });
    await store.command('SCRIPT', 'FLUSH');
    expect((await client.balance()).body.data.balance).toBe(999_990);
  });

  test('that stalls leaves no request pending whose client has left: it ends as client_gone, without a response', async () => {
    const proxy = await proxyTo(await storeFor());
    const { client, lines, url } = await loggingServer(`redis://127.0.0.1:${proxy.port}`);
    await client.balance();
    proxy.stall(true);
    const socket = rawSocket(url);
    socket.write(rawRequest('GET /client/fetchbalance', { authorization: `Bearer ${client.apiKey}` }), () =>
      socket.destroy(),
    );
    await expect.poll(() => lines).toContainEqual(expect.objectContaining({ client_gone: true }));
    proxy.stall(false);
    await expect
      .poll(async () => (await client.world.requests()).at(-1))
      .toMatchObject({
        id: 2,
        outcome: 'client_gone',
        answer: null,
        duration_ms: expect.any(Number),
        ended_after: 2,
      });
  });
});
