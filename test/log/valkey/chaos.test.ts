import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { connectSandbox } from '../../../src/index.ts';
import { ask, startProgram } from '../../support/program.ts';
import { RedisServer } from '../../support/store/redis-server.ts';
import { sized } from '../../support/size.ts';
import { TcpProxy } from '../../support/http/tcp-proxy.ts';

const KEY = 'sk_test_chaos';
const OPENING = 1_000_000;
const AMOUNT = 7;
const SERVERS = 3;
const CLIENTS = 6;
const TEST_MS = sized(180_000, 300_000); // each of the steps may be slow

type Running = Awaited<ReturnType<typeof startProgram>>;

/** What the clients know: each reference, and whether a payout of it was acknowledged. */
interface Known {
  readonly sent: Set<string>;
  readonly acknowledged: Map<string, string>;
}

/** One client, who sends a reference again until it is acknowledged, at whatever server answers. */
async function payOn(client: number, urls: () => readonly string[], known: Known, isOver: () => boolean) {
  for (let nth = 0; !isOver(); nth += 1) {
    const reference = `${client}-${nth}`;
    known.sent.add(reference);
    for (let tried = 0; !isOver(); tried += 1) {
      const all = urls();
      const url = `${all[(client + nth + tried) % all.length]!}/payout/initiate`;
      const answer = await ask(url, KEY, { client_ref_id: reference, amount: AMOUNT }).catch(() => null);
      if (answer?.status === 200) {
        const { data } = (await answer.json()) as { data: { txn_id: string } };
        known.acknowledged.set(reference, data.txn_id);
        break;
      }
      if (answer !== null && answer.status !== 503)
        throw new Error(`${answer.status} ${await answer.text()}`);
    }
  }
}

describe.skipIf(inject('storeUrl') === '')('servers of one store', { timeout: TEST_MS }, () => {
  test('log at the start which store they use, without its password', async () => {
    const store = await RedisServer.start('--requirepass', 'secret');
    onTestFinished(() => store.end());
    const { program, ready, url } = await startProgram({
      SANDBOX_STORE: `redis://:secret@127.0.0.1:${store.port}`,
    });
    expect(ready['store']).toBe(store.url);
    await expect.poll(async () => (await ask(`${url}/client/fetchbalance`, KEY)).status).toBe(200);
    expect((await program.stop()).stdout).not.toContain('secret');
  });

  test('lose nothing that was acknowledged and pay nothing twice, whatever is killed, cut or forgotten', async () => {
    const store = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    onTestFinished(() => store.end());
    const proxy = await TcpProxy.to(store.port);
    onTestFinished(() => proxy.close());
    const environment = {
      SANDBOX_STORE: `redis://127.0.0.1:${proxy.port}`,
      SANDBOX_RATE_LIMIT: 'off',
      SANDBOX_SETTLEMENT: 'instant',
      LOG_LEVEL: 'error',
    };
    const servers: Running[] = [];
    for (let nth = 0; nth < SERVERS; nth += 1) servers.push(await startProgram(environment));
    const urls = () => servers.map(({ url }) => url);
    const known: Known = { sent: new Set(), acknowledged: new Map() };
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, (_, client) => payOn(client, urls, known, () => isOver));
    /** Resolves once the clients have been answered so often. */
    const progress = async (count: number): Promise<void> => {
      const until = known.acknowledged.size + count;
      await expect.poll(() => known.acknowledged.size, { timeout: 60_000 }).toBeGreaterThanOrEqual(until);
    };

    for (let round = 0; round < sized(1, 20); round += 1) {
      await progress(20);
      const killed = servers.shift()!; // nobody asks it any more, since another program may get its port
      await killed.program.stop('SIGKILL');
      servers.push(await startProgram(environment));
      await progress(20);
      proxy.cutReply(round, 5 * round);
      await progress(20);
      proxy.cutAll();
      await progress(20);
      await store.command('SCRIPT', 'FLUSH');
      await store.kill();
      await store.start();
    }
    await progress(20);
    isOver = true;
    await Promise.all(clients);

    for (const { url } of servers) {
      const world = connectSandbox({ url }).world(KEY);
      // it may find its store later than the others
      const transactions = await vi.waitFor(() => world.transactions(), { timeout: 30_000 });
      const byReference = new Map(transactions.map(({ client_ref_id, txn_id }) => [client_ref_id, txn_id]));
      expect(byReference.size).toBe(transactions.length); // nothing twice
      expect([...byReference.keys()].filter((reference) => !known.sent.has(reference))).toEqual([]);
      for (const [reference, txnId] of known.acknowledged) expect(byReference.get(reference)).toBe(txnId);
      const { balance, invariants } = await world.summary();
      expect([balance, invariants]).toEqual([OPENING - AMOUNT * transactions.length, 'hold']);
    }
  });
});
