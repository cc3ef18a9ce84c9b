import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/platform/system-clock.ts';
import { rawRequest, rawSocket } from '../support/http/raw-socket.ts';
import { clientOf, type Client } from '../support/sandbox.ts';
import { serverFor } from '../support/server.ts';
import { ownStore, proxyBefore } from '../support/store/fresh-store.ts';
import { RedisServer } from '../support/store/redis-server.ts';
import { loseReplies } from '../support/store/scripts-run.ts';
import { clusterUrl, node } from '../support/store/store-cluster.ts';
import { withoutPatience } from '../support/store/store-times.ts';

/** Two seconds, and what a busy machine may stand still. */
const TWO_SECONDS_MS = 2000 + 10_000;

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

type Change = (store: RedisServer) => Promise<unknown>;

const OUTAGES: readonly [what: string, breakIt: Change, mendIt: Change][] = [
  ['killed', (store) => store.kill(), (store) => store.start()],
  ['hanging', async (store) => store.signal('SIGSTOP'), async (store) => store.signal('SIGCONT')],
  [
    'full',
    (store) => store.command('CONFIG', 'SET', 'maxmemory', '1'),
    (store) => store.command('CONFIG', 'SET', 'maxmemory', '0'),
  ],
  [
    'read-only',
    (store) => store.command('REPLICAOF', '127.0.0.1', '1'),
    (store) => store.command('REPLICAOF', 'NO', 'ONE'),
  ],
];

describe('a store that cannot be used', () => {
  test('gets requests a 503 within two seconds; the sandbox says so and stays in service, and recovers by itself', async () => {
    const store = await ownStore('--appendonly', 'yes', '--appendfsync', 'always');
    const { client, health, ofStore } = await loggingServer(store.url);
    expect((await client.pay({ amount: 10 })).status).toBe(200);
    for (const [what, breakIt, mendIt] of OUTAGES) {
      await breakIt(store);
      const startedMs = performance.now();
      const refused = await withoutPatience(() => client.balance());
      expect([what, performance.now() - startedMs < TWO_SECONDS_MS]).toEqual([what, true]);
      expect([what, refused]).toMatchObject([
        what,
        { status: 503, body: { status: 'error', code: 'STORE_UNAVAILABLE' } },
      ]);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect([what, await health('health')]).toEqual([what, [200, 'store_unavailable']]);
      expect(await health('live')).toEqual([200, 'alive']);
      await mendIt(store);
      await expect.poll(async () => [what, await health('health')]).toEqual([what, [200, 'ready']]);
      expect([what, (await client.balance()).body.data.balance]).toEqual([what, 999_990]);
    }
    const said = ofStore().filter(({ msg }, nth, all) => msg !== all[nth - 1]?.msg); // further reasons may follow
    expect(said.map(({ level, msg }) => [level, msg])).toEqual(
      OUTAGES.flatMap(() => [
        [50, 'the store cannot be used: requests get a 503 until it is back'],
        [30, 'the store is back'],
      ]),
    );
  });

  test.each<[string, reason: string, start: () => Promise<RedisServer>, mend: Change | null]>([
    ['store is away', 'ECONNREFUSED', ownStore, (store) => store.start()],
    [
      'cluster is away, and not made yet',
      'no node of the cluster responds, or its cluster_state is not ok',
      node,
      async (store) => {
        await store.start();
        await RedisServer.makeCluster([store]);
      },
    ],
    ['address of a cluster is that of a single store', 'cluster support disabled', ownStore, null],
  ])(
    'lets the sandbox start, when the %s, and its worlds are served once it is there',
    async (_what, reason, start, mend) => {
      const store = await start();
      const url = reason === 'ECONNREFUSED' ? store.url : clusterUrl([store]);
      if (mend !== null) await store.kill();
      const { client, health, ofStore } = await withoutPatience(() => loggingServer(url), {
        answers: true,
      });
      expect(await health('health')).toEqual([503, 'store_unavailable']); // its address may be wrong, and that of others right
      expect(await health('live')).toEqual([200, 'alive']);
      expect((await client.balance()).status).toBe(503);
      expect(ofStore().map(({ reason: logged }) => logged)).toEqual([expect.stringContaining(reason)]);
      if (mend === null) return;
      await mend(store);
      await expect.poll(() => health('health')).toEqual([200, 'ready']);
      expect((await client.balance()).status).toBe(200);
    },
  );
});

describe('a connection to the store', () => {
  test('that breaks in the middle of a reply makes no payout twice, and loses none, and it may forget its scripts', async () => {
    const store = await ownStore();
    const { proxy, url } = await proxyBefore(store);
    const { client } = await loggingServer(url);
    await client.balance();
    for (let nth = 0; nth < 8; nth += 1) {
      proxy.cutReply(nth % 4, 2 * nth);
      const pay = async () => (await client.pay({ client_ref_id: `order-${nth}`, amount: 1 })).status;
      await expect.poll(pay).toBe(200);
    }
    const made = async () => (await client.world.transactions()).map(({ client_ref_id }) => client_ref_id);
    const orders = Array.from({ length: 8 }, (_, nth) => `order-${nth}`);
    await expect.poll(() => made().then((references) => references.toSorted(), String)).toEqual(orders);
    const sums = () =>
      client.world.summary().then(({ balance, invariants }) => [balance, invariants], String);
    await expect.poll(sums).toEqual([999_992, 'hold']);
    await store.command('SCRIPT', 'FLUSH');
    await expect.poll(sums).toEqual([999_992, 'hold']);
  });

  test('that stalls leaves no request pending whose client has left: it ends as client_gone, without a response', async () => {
    const { proxy, url: store } = await proxyBefore(await ownStore());
    const { client, lines, url } = await loggingServer(store);
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

  test('that is lost while a response is delayed: the client gets it, and its end is known once the store is back', async () => {
    const { client } = await loggingServer((await ownStore()).url);
    await client.world.rule({ name: 'late', match: { route: 'initiate' }, effect: { delay: '100ms' } });
    const paying = client.pay();
    await expect.poll(async () => (await client.world.requests()).length).toBe(1);
    const back = loseReplies(false);
    await withoutPatience(async () => {
      expect((await paying).status).toBe(200);
      expect((await client.balance()).status).toBe(503);
    });
    back();
    const journal = async () =>
      (await client.world.requests()).map(({ route, outcome, answer }) => [route, outcome, answer?.status]);
    const first = async () => (await journal().catch(() => []))[0];
    await expect.poll(first).toEqual(['initiate', 'answered', 200]);
    expect((await client.balance()).status).toBe(200);
    expect((await journal()).at(-1)).toEqual(['balance', 'answered', 200]);
  });
});
