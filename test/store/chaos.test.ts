import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { connectSandbox } from '../../src/index.ts';
import { ask, startProgram } from '../support/program.ts';
import { newHistory, violations, type History } from './history.ts';
import { ownStore, proxyBefore } from '../support/store/fresh-store.ts';
import { isLong, sized } from '../support/size.ts';

const KEY = 'sk_test_chaos';
const AMOUNT = 7;
const SERVERS = 3;
const CLIENTS = 6;
const OUTAGE_MS = 300; // longer than a server waits until it asks again
/** `npm run test:chaos` goes on for so long; other runs for some rounds. */
const MINUTES = Number(process.env['CHAOS_MINUTES'] ?? 0);
const TEST_MS = sized(180_000, 300_000) + MINUTES * 120_000; // each of the steps may be slow

type Running = Awaited<ReturnType<typeof startProgram>>;

/** Asks a server. @returns the data of a 200 and what it was, null if nothing is known, undefined if nothing was found */
async function asked(url: string, path: string, body?: Record<string, unknown>) {
  const sentMs = performance.now();
  const response = await ask(`${url}${path}`, KEY, body).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (response === null || text == null || response.status === 503) return null;
  if (response.status !== 200 && response.status !== 404) throw new Error(`${response.status} ${text}`);
  const { data } = JSON.parse(text) as { data?: Record<string, unknown> };
  return { sentMs, endedMs: performance.now(), data };
}

/** One client, who sends a reference again until it is acknowledged, at whatever server responds, and reads at other servers. */
async function payOn(client: number, urls: () => readonly string[], history: History, isOver: () => boolean) {
  for (let nth = 0; !isOver(); nth += 1) {
    const reference = `${client}-${nth}`;
    history.sent.set(reference, performance.now());
    for (let tried = 0; !isOver(); tried += 1) {
      const all = urls();
      const urlOf = (next: number): string => all[(client + nth + tried + next) % all.length]!;
      const body = { client_ref_id: reference, amount: AMOUNT };
      const paid = await asked(urlOf(0), '/payout/initiate', body);
      if (paid === null) continue;
      const { data, ...seen } = paid;
      history.acknowledged.push({ ...seen, reference, txnId: String(data?.['txn_id']) });
      const status = await asked(urlOf(1), `/payout/status?client_ref_id=${reference}`);
      if (status !== null)
        history.statuses.push({ ...status, reference, txnId: (status.data?.['txn_id'] as string) ?? null });
      const balance = await asked(urlOf(2), '/client/fetchbalance');
      if (balance !== null) history.balances.push({ ...balance, balance: Number(balance.data?.['balance']) });
      break;
    }
  }
}

test('the check of what clients saw finds a lost payout, a second one and a stale read', () => {
  const history = newHistory(1000, AMOUNT);
  for (const [nth, reference] of ['a', 'b'].entries()) {
    history.sent.set(reference, nth);
    history.acknowledged.push({ reference, txnId: `TXN${reference}`, sentMs: nth, endedMs: nth + 0.5 });
  }
  const stored = ['a', 'b'].map((reference) => ({ client_ref_id: reference, txn_id: `TXN${reference}` }));
  const later = { sentMs: 5, endedMs: 6 };
  history.statuses.push({ ...later, reference: 'a', txnId: 'TXNa' });
  history.balances.push({ ...later, balance: 1000 - 2 * AMOUNT });
  expect(violations(history, stored)).toEqual([]);

  expect(violations(history, stored.slice(1))).toContain('a was acknowledged as TXNa, and is lost');
  expect(violations(history, [...stored, stored[0]!])).toEqual(['a was paid twice']);
  expect(violations(history, [...stored, { client_ref_id: 'c', txn_id: 'TXNc' }])).toEqual([
    'c was paid, and never sent',
  ]);
  history.statuses.push({ ...later, reference: 'b', txnId: null });
  history.balances.push({ ...later, balance: 1000 - AMOUNT }, { ...later, balance: 0 });
  expect(violations(history, stored)).toEqual([
    'b was acknowledged, and then not found',
    'a balance of 993 is stale: at most 986 was left',
    'a balance of 0 is too low: at least 986 was left',
  ]);
});

/** In `npm test`, each of these has its own test: outages.test.ts, lost-replies.test.ts and shared-worlds.test.ts. */
test.each(isLong || MINUTES > 0 ? ['killed, paused, cut or forgotten'] : [])(
  'servers of one store lose nothing that was acknowledged and pay nothing twice, whatever is %s',
  { timeout: TEST_MS },
  async () => {
    const store = await ownStore('--appendonly', 'yes', '--appendfsync', 'always');
    const { proxy, url: address } = await proxyBefore(store);
    const environment = {
      SANDBOX_STORE: address,
      SANDBOX_RATE_LIMIT: 'off',
      SANDBOX_SETTLEMENT: 'instant',
      SANDBOX_OPENING_BALANCE: '90000000',
      SANDBOX_LOG_LEVEL: 'error',
    };
    const servers: Running[] = [];
    for (let nth = 0; nth < SERVERS; nth += 1) servers.push(await startProgram(environment));
    const urls = () => servers.map(({ url }) => url);
    const { opening_balance: opening } = await connectSandbox({ url: servers[0]!.url }).world(KEY).summary();
    const history = newHistory(opening, AMOUNT);
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, (_, client) =>
      payOn(client, urls, history, () => isOver),
    );
    /** Resolves once so many payouts more were acknowledged. */
    const progress = async (count: number): Promise<void> => {
      const until = history.acknowledged.length + count;
      await expect.poll(() => history.acknowledged.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(until);
    };

    const endMs = performance.now() + MINUTES * 60_000;
    let rounds = 0;
    for (; rounds < sized(1, 20) || performance.now() < endMs; rounds += 1) {
      await progress(20);
      const killed = servers.shift()!; // nobody asks it any more, since another program may get its port
      await killed.program.stop('SIGKILL');
      servers.push(await startProgram(environment));
      await progress(20);
      const paused = servers[0]!.program.child;
      paused.kill('SIGSTOP');
      await wait(OUTAGE_MS);
      paused.kill('SIGCONT');
      await progress(20);
      proxy.cutReply(rounds % 20, 5 * (rounds % 20));
      await progress(20);
      proxy.cutAll();
      await progress(20);
      if (rounds % 2 === 1) {
        proxy.stall(true);
        await wait(OUTAGE_MS);
        proxy.stall(false);
        await progress(20);
      }
      await store.command('SCRIPT', 'FLUSH');
      await store.kill();
      await store.start();
    }
    await progress(20);
    isOver = true;
    await Promise.all(clients);
    const { sent, acknowledged, statuses, balances } = history;
    const counts = { sent: sent.size, acknowledged: acknowledged.length, statuses: statuses.length };
    if (MINUTES > 0)
      process.stdout.write(`chaos: ${JSON.stringify({ rounds, ...counts, balances: balances.length })}\n`);

    for (const { url } of servers) {
      const world = connectSandbox({ url }).world(KEY);
      // it may find its store later than the others
      const transactions = await vi.waitFor(() => world.transactions(), { timeout: 30_000 });
      expect(violations(history, transactions)).toEqual([]);
      const { balance, invariants } = await world.summary();
      expect([balance, invariants]).toEqual([opening - AMOUNT * transactions.length, 'hold']);
    }
    const snapshotOf = async ({ url }: Running): Promise<string> =>
      (await connectSandbox({ url }).world(KEY).snapshot())
        .replace(/"wallMs":\d+/, '')
        .replace(/"checksum".*/, '');
    const snapshots = async () => new Set(await Promise.all(servers.map(snapshotOf)));
    await expect.poll(async () => (await snapshots()).size).toBe(1); // once the last ends are known
  },
);
