import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectSandbox, type World } from '../../../src/index.ts';
import { ask, startProgram } from '../../support/program.ts';
import { RedisServer } from '../../support/store/redis-server.ts';
import { clusterFor } from '../../support/store/store-cluster.ts';

const KEY = 'sk_test_processes';
const ENVIRONMENT = { SANDBOX_OPENING_BALANCE: '70', SANDBOX_RATE_LIMIT: 'off' };

const programs = (count: number, store: string) =>
  Promise.all(Array.from({ length: count }, () => startProgram({ ...ENVIRONMENT, SANDBOX_STORE: store })));

async function oneNode(...flags: string[]): Promise<RedisServer> {
  const store = await RedisServer.start(...flags);
  onTestFinished(() => store.end());
  return store;
}

const payOnce = async (url: string, nth: number): Promise<number> =>
  (await ask(`${url}/payout/initiate`, KEY, { client_ref_id: `order-${nth}`, amount: 1 })).status;

/** Pays INR 1, and sends it again as long as the store cannot be used: on a busy machine it may stand still. */
async function pay(url: string, nth: number): Promise<number> {
  for (;;) {
    const status = await payOnce(url, nth);
    if (status !== 503) return status;
  }
}

/** What a process knows of the world, once it can use the store. */
const knownAt = <T>(url: string, look: (world: World) => Promise<T>): Promise<T> =>
  vi.waitFor(() => look(connectSandbox({ url }).world(KEY)), { timeout: 30_000 });

/** Sends 200 payouts of INR 1 at once, each to the next process. @returns how many were made */
async function payAtOnce(urls: readonly string[]): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: 200 }, (_, nth) => pay(urls[nth % urls.length]!, nth)),
  );
  expect(statuses.filter((status) => status !== 200 && status !== 402)).toEqual([]);
  return statuses.filter((status) => status === 200).length;
}

describe('processes that share a store', () => {
  /** In `npm test`, shared-worlds.test.ts has it for servers of one process. */
  test.each([
    ['one node', async () => (await oneNode()).url],
    ['three nodes', clusterFor],
  ])('let 70 of 200 payouts at once through on a wallet for 70: a store of %s', async (_what, store) => {
    for (const count of [2, 6]) {
      const servers = await programs(count, await store());
      const urls = servers.map(({ url }) => url);
      expect(await payAtOnce(urls)).toBe(70);
      for (const url of urls) {
        expect(await knownAt(url, (world) => world.summary())).toMatchObject({
          balance: 0,
          invariants: 'hold',
        });
      }
      await Promise.all(servers.map(({ program }) => program.stop()));
    }
  });

  test('know the response to a request from one that was killed right after it', async () => {
    const { url: store } = await oneNode();
    const [killed, other] = await programs(2, store);
    await expect.poll(async () => (await ask(`${killed!.url}/client/fetchbalance`, KEY)).status).toBe(200);
    await killed!.program.stop('SIGKILL');
    const requests = await knownAt(other!.url, (world) => world.requests());
    expect(requests).toMatchObject([
      {
        outcome: 'answered',
        answer: { status: 200 },
        duration_ms: expect.any(Number),
        ended_after: requests[0]!.id,
      },
    ]);
  });

  test('know, after one of them was paused, what the others did meanwhile', async () => {
    const { url: store } = await oneNode();
    const [paused, other] = await programs(2, store);
    expect(await pay(paused!.url, 0)).toBe(200);
    paused!.program.child.kill('SIGSTOP');
    const waiting = payOnce(paused!.url, 1);
    const endMs = performance.now() + 10_000;
    let nth = 2;
    for (; nth < 10 || (performance.now() < endMs && nth < 60); nth += 1) {
      expect(await pay(other!.url, nth)).toBe(200);
    }
    while (performance.now() < endMs) await ask(`${other!.url}/client/fetchbalance`, KEY);
    paused!.program.child.kill('SIGCONT');
    expect(await waiting).toBe(200);
    for (const { url } of [paused!, other!]) {
      expect((await knownAt(url, (world) => world.summary())).balance).toBe(70 - nth);
    }
  });
});
