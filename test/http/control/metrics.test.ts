import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serveInProcess } from '../../support/program.ts';
import { rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { PAYOUT, sandboxFor, type Client } from '../../support/sandbox.ts';

/** The metrics, by name and labels. */
async function metricsOf(url: string): Promise<ReadonlyMap<string, number>> {
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

/** Waits for a count: a request is counted when its response has closed, which is after the client has the response. */
async function untilCounted(url: string, name: string, times: number): Promise<void> {
  await expect.poll(async () => (await metricsOf(url)).get(name)).toBe(times);
}

async function sandboxWithMetrics(): Promise<{ url: string; client: Client }> {
  const { url, client } = await sandboxFor({ metrics: 'on', clock: '2026-01-15T10:30:00Z' });
  return { url, client: client('sk_test_secret') };
}

test('metrics are off by default, and the refusal names the setting', async () => {
  const { url } = await sandboxFor();
  const response = await fetch(`${url}/_sandbox/metrics`);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({
    code: 'ROUTE_NOT_FOUND',
    message: 'Metrics are off: SANDBOX_METRICS=on or --metrics on turns them on',
  });
});

test('requests are counted by route and status, not by the ids in their paths, and show no key, reference or id', async () => {
  const { url, client } = await sandboxWithMetrics();
  const { body } = await client.pay();
  const { id: worldId } = await client.world.summary();
  await client.pay({ amount: -1 });
  await client.pay({ client_ref_id: 'order-2', amount: 1e9 });
  await client.balance();
  for (const id of [body.data.txn_id, 'nobody', 'nothing'])
    await client.send('GET', `/_sandbox/transactions/${id}`);
  for (const path of ['/a', '/b', `/sk_test_secret/${worldId}`]) await client.send('GET', path);
  await untilCounted(url, count('unknown', 'any', '404'), 3);
  rawSocket(url).write(rawRequest('GET /%ff', {})); // a malformed path
  await untilCounted(url, count('unknown', 'any', '400'), 1);
  const metrics = await metricsOf(url);
  expect(
    [...metrics].filter(
      ([name]) => name.startsWith('payout_sandbox_requests_total') && !name.includes('/metrics'),
    ),
  ).toEqual([
    [count('initiate', 'POST', '200'), 1],
    [count('/_sandbox/world', 'GET', '200'), 1],
    [count('initiate', 'POST', '400'), 1],
    [count('initiate', 'POST', '402'), 1],
    [count('balance', 'GET', '200'), 1],
    [count('/_sandbox/transactions/:txn_id', 'GET', '200'), 1],
    [count('/_sandbox/transactions/:txn_id', 'GET', '404'), 2],
    [count('unknown', 'any', '404'), 3],
    [count('unknown', 'any', '400'), 1],
  ]);
  expect(metrics.get('payout_sandbox_request_duration_seconds_count{route="initiate"}')).toBe(3);
  expect(metrics.get('payout_sandbox_request_duration_seconds_count{route="unknown"}')).toBe(4);
  const names = [...metrics.keys()].join('\n');
  const { client_ref_id, beneficiary_account } = PAYOUT;
  for (const secret of ['secret', worldId, body.data.txn_id, client_ref_id, beneficiary_account])
    expect(names).not.toContain(secret);
});

test('durations are in seconds, and include what a rule holds back', async () => {
  const { url, client } = await sandboxWithMetrics();
  await client.world.rule({ effect: { delay: '50ms' } });
  await client.pay();
  await untilCounted(url, count('initiate', 'POST', '200'), 1);
  const seconds = (await metricsOf(url)).get('payout_sandbox_request_duration_seconds_sum{route="initiate"}');
  expect(seconds).toBeGreaterThan(0.04);
  expect(seconds).toBeLessThan(30);
});

test('metrics count settlements by state, and show the current number of worlds and transactions', async () => {
  const { url, client } = await sandboxWithMetrics();
  for (const [reference, account] of [
    ['a', '000123456789'],
    ['b', '000123456789'],
    ['c', '9999200001'],
  ] as const) {
    await client.pay({ client_ref_id: reference, beneficiary_account: account });
  }
  const changes = (await client.clock.advance('2d')).changes.map(({ to }) => to);
  const metrics = await metricsOf(url);
  for (const state of ['SUCCESS', 'FAILED']) {
    const expected = changes.filter((to) => to === state).length;
    expect(expected).toBeGreaterThan(0);
    expect(metrics.get(`payout_sandbox_settlements_total{state="${state}"}`)).toBe(expected);
  }
  expect(metrics.get('payout_sandbox_worlds')).toBe(1);
  expect(metrics.get('payout_sandbox_transactions')).toBe(3);
  await client.world.reset();
  expect((await metricsOf(url)).get('payout_sandbox_transactions')).toBe(0);
});

test('a UTR that arrives after its payout has settled is not counted as another settlement', async () => {
  const { url, client } = await sandboxWithMetrics();
  await client.world.use({
    settlement: {
      IMPS: [
        { to: 'SUCCESS', after: '1m', utr: 'none' },
        { utr: 'now', after: '2m' },
      ],
    },
  });
  await client.pay();
  expect((await client.clock.advance('5m')).changes).toHaveLength(2);
  expect((await metricsOf(url)).get('payout_sandbox_settlements_total{state="SUCCESS"}')).toBe(1);
});

test('faults are counted by kind, and a request without a response has the status none', async () => {
  const { url, client } = await sandboxWithMetrics();
  await client.world.rule({ match: { route: 'initiate' }, effect: { fault: 'connection-reset' } });
  await expect(client.pay()).rejects.toThrow('fetch failed');
  await untilCounted(url, 'payout_sandbox_faults_total{kind="connection-reset"}', 1);
  expect((await metricsOf(url)).get(count('initiate', 'POST', 'none'))).toBe(1);
});

test('metrics also report the version of the program, and the default metrics of the process, which several sandboxes share', async () => {
  await sandboxWithMetrics();
  const { url } = await serveInProcess({ SANDBOX_METRICS: 'on' });
  const metrics = await metricsOf(url);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(metrics.get(`payout_sandbox_build_info{version="${version}",node="${process.version}"}`)).toBe(1);
  expect(metrics.get('process_start_time_seconds')).toBeGreaterThan(1.7e9);
  expect(metrics.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
});
