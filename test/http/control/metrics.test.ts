import { expect, onTestFinished, test } from 'vitest';
import { startProgram } from '../../support/program.ts';
import { rawRequest, rawSocket } from '../../support/raw-socket.ts';
import { PAYOUT, sandboxFor, type Client } from '../../support/sandbox.ts';

/** What is scraped, by name and labels. */
async function scraped(url: string): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${url}/_sandbox/metrics`);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

const count = (route: string, method: string, status: string): string =>
  `payout_sandbox_requests_total{route="${route}",method="${method}",status="${status}"}`;

/** The rest of an exchange is counted when its connection says that it is over, which is after the client has the answer. */
async function untilCounted(url: string, name: string, times: number): Promise<void> {
  await expect.poll(async () => (await scraped(url)).get(name), { timeout: 20_000 }).toBe(times);
}

async function metered(): Promise<{ url: string; client: Client }> {
  const { url, client } = await sandboxFor({ metrics: 'on', clock: '2026-01-15T10:30:00Z' });
  return { url, client: client('sk_test_secret') };
}

test('metrics are off unless asked for, and say how to turn them on', async () => {
  const { url } = await sandboxFor();
  const response = await fetch(`${url}/_sandbox/metrics`);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({
    code: 'ROUTE_NOT_FOUND',
    message: 'Metrics are off: SANDBOX_METRICS=on or --metrics on turns them on',
  });
});

test('requests are counted by route and status, however many ids their paths have', async () => {
  const { url, client } = await metered();
  const { body } = await client.pay();
  await client.pay({ amount: -1 });
  await client.pay({ client_ref_id: 'order-2', amount: 1e9 });
  await client.balance();
  for (const id of [body.data.txn_id, 'nobody', 'nothing'])
    await client.send('GET', `/_sandbox/transactions/${id}`);
  for (const path of ['/a', '/b', '/c']) await client.send('GET', path);
  await untilCounted(url, count('unknown', 'any', '404'), 3);
  const metrics = await scraped(url);
  expect(
    [...metrics].filter(([name]) => name.includes('requests_total') && !name.includes('/metrics')),
  ).toEqual([
    [count('initiate', 'POST', '200'), 1],
    [count('initiate', 'POST', '400'), 1],
    [count('initiate', 'POST', '402'), 1],
    [count('balance', 'GET', '200'), 1],
    [count('/_sandbox/transactions/:txn_id', 'GET', '200'), 1],
    [count('/_sandbox/transactions/:txn_id', 'GET', '404'), 2],
    [count('unknown', 'any', '404'), 3],
  ]);
  expect(metrics.get('payout_sandbox_request_duration_seconds_count{route="initiate"}')).toBe(3);
});

test('settlements are counted by state, worlds and transactions as they are', async () => {
  const { url, client } = await metered();
  for (const [reference, account] of [
    ['a', '000123456789'],
    ['b', '000123456789'],
    ['c', '9999200001'],
  ] as const) {
    await client.pay({ client_ref_id: reference, beneficiary_account: account });
  }
  const changes = (await client.clock.advance('2d')).changes.map(({ to }) => to);
  const metrics = await scraped(url);
  for (const state of ['SUCCESS', 'FAILED']) {
    const expected = changes.filter((to) => to === state).length;
    expect(expected).toBeGreaterThan(0);
    expect(metrics.get(`payout_sandbox_settlements_total{state="${state}"}`)).toBe(expected);
  }
  expect(metrics.get('payout_sandbox_worlds')).toBe(1);
  expect(metrics.get('payout_sandbox_transactions')).toBe(3);
  await client.world.reset();
  expect((await scraped(url)).get('payout_sandbox_transactions')).toBe(0);
});

test('faults are counted by kind, and what was never answered has no status', async () => {
  const { url, client } = await metered();
  await client.world.rule({ match: { route: 'initiate' }, effect: { fault: 'connection-reset' } });
  await expect(client.pay()).rejects.toThrow('fetch failed');
  await untilCounted(url, 'payout_sandbox_faults_total{kind="connection-reset"}', 1);
  expect((await scraped(url)).get(count('initiate', 'POST', 'none'))).toBe(1);
});

test('a path that cannot be read is counted too, as unknown', async () => {
  const { url } = await metered();
  const socket = rawSocket(url);
  onTestFinished(() => void socket.destroy());
  socket.write(rawRequest('GET /%ff', {}));
  await untilCounted(url, count('unknown', 'any', '400'), 1);
  expect((await scraped(url)).get('payout_sandbox_request_duration_seconds_count{route="unknown"}')).toBe(1);
});

test('nothing of any world is shown: no key, no reference, no id', async () => {
  const { url, client } = await metered();
  const { body } = await client.pay();
  const { id } = await client.world.summary();
  await client.send('GET', `/sk_test_secret/${id}`);
  await untilCounted(url, count('unknown', 'any', '404'), 1);
  const text = await (await fetch(`${url}/_sandbox/metrics`)).text();
  expect(text).toContain('route="initiate"');
  for (const secret of ['secret', id, body.data.txn_id, PAYOUT.client_ref_id, PAYOUT.beneficiary_account]) {
    expect(text).not.toContain(secret);
  }
});

test('the program counts where its setting says so, and tells memory and delay', async () => {
  const { url } = await startProgram({}, ['--metrics', 'on']);
  const metrics = await scraped(url);
  expect(metrics.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  expect(metrics.get('nodejs_heap_size_used_bytes')).toBeGreaterThan(1e6);
  for (const what of ['mean', 'p99', 'max']) {
    expect(metrics.get(`nodejs_eventloop_lag_${what}_seconds`)).toBeGreaterThanOrEqual(0);
  }
});
