import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { logLines, MAIN, Program } from '../support/program.ts';
import { PAYOUT } from '../support/sandbox.ts';

/** Measures the longest turn of the event loop in processor time, so that other processes on the machine do not count. */
const PROBE = fileURLToPath(new URL('../../bench/hold-probe.mjs', import.meta.url));
const LONGEST_MS = 100;
const PAYOUTS = 50_000;
const BURST = 300;
const ADMIN_TOKEN = 'the-token-of-the-meter';

type Call = readonly [method: string, path: string, body?: object];
const pay = (nth: number): Call => [
  'POST',
  '/payout/initiate',
  { ...PAYOUT, client_ref_id: `order-${nth}`, amount: 1 },
];

/** Calls that a burst may repeat. */
const SHORT: readonly Call[] = [
  ['GET', '/client/fetchbalance'],
  ['GET', '/payout/status?client_ref_id=order-5'],
  pay(5),
  ['GET', '/_sandbox/world'],
  ['GET', '/_sandbox/transactions/none'],
  ['GET', '/_sandbox/transactions?at_risk=true'],
  ['GET', '/_sandbox/wallet/entries?limit=100'],
  ['GET', '/_sandbox/requests?client_ref_id=none'],
  ['GET', '/_sandbox/requests?format=text'],
  ['POST', '/_sandbox/requests/verify', { match: { client_ref_id: 'none' } }],
  ['GET', '/_sandbox/held'],
  ['GET', '/_sandbox/rules'],
  ['GET', '/_sandbox/scenario'],
  ['GET', '/_sandbox/scenarios'],
  ['POST', '/_sandbox/rules/explain', { route: 'balance' }],
  ['POST', '/_sandbox/wallet/credit', { amount: 1 }],
  ['POST', '/_sandbox/undo', {}],
  ['GET', '/_sandbox/openapi.json'],
  ['GET', '/_sandbox/worlds'],
  ['GET', '/_sandbox/metrics'],
];
/** Those that take a second each, or change everything. Their client asks for other things meanwhile. */
const LONG: readonly Call[] = [
  ['GET', '/_sandbox/requests?limit=1000'],
  ['GET', '/_sandbox/state'],
  ['GET', '/_sandbox/referee?format=junit'],
  ['PUT', '/_sandbox/referee', { intent: { client_ref_id: '^(order-\\d+)' } }],
  ['POST', '/_sandbox/clock/advance', { by: '10d' }],
  ['POST', '/_sandbox/reset'],
];

test('no call keeps others waiting for long, beside 50,000 payouts and a full journal, in a small heap', async () => {
  const environment = { SANDBOX_RATE_LIMIT: 'off', SANDBOX_METRICS: 'on', SANDBOX_ADMIN_TOKEN: ADMIN_TOKEN };
  const args = ['--max-old-space-size=192', '--import', PROBE, MAIN, '--opening-balance', '10000000'];
  const program = new Program(
    process.execPath,
    args,
    { ...environment, SANDBOX_LOG_LEVEL: 'info' },
    undefined,
    true,
  );
  const [ready] = logLines(await program.says(/.*"msg":"payout sandbox ready"\}\n/));
  const { port } = new URL(String(ready!['url']));
  const agent = new Agent({ keepAlive: true, maxSockets: BURST });

  /** @returns the status, of a response that came whole */
  const send = ([method, path, body]: Call): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const token = path.startsWith('/_sandbox/worlds') ? ADMIN_TOKEN : 'sk_test_meter';
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      };
      const sent = request({ port, method, path, agent, headers }, (response) =>
        response.resume().once('end', () => resolve(response.statusCode)),
      );
      sent.once('error', reject).end(body && JSON.stringify(body));
    });
  const at = (count: number, call: (nth: number) => Call): Promise<(number | undefined)[]> =>
    Promise.all(Array.from({ length: count }, (_, nth) => send(call(nth))));

  for (let made = 0; made < PAYOUTS; made += BURST) await at(BURST, (nth) => pay(made + nth));
  for (const [count, calls] of [
    [1, SHORT],
    [BURST, SHORT],
    [1, LONG],
  ] as const) {
    for (const call of calls) {
      program.child.send('watch');
      const asked = new AbortController();
      const asking = (async () => {
        if (calls !== LONG) return;
        while (!asked.signal.aborted) await send(['GET', '/client/fetchbalance']);
      })();
      const statuses = await at(count, () => call);
      asked.abort();
      await asking;
      program.child.send('longest');
      const [longestMs] = (await once(program.child, 'message')) as [number];
      const what = `${count} × ${call[0]} ${call[1]}`;
      expect.soft(longestMs, what).toBeLessThan(LONGEST_MS);
      expect.soft([200, 404, 409, 503], what).toEqual(expect.arrayContaining([...new Set(statuses)]));
    }
  }
  agent.destroy();
  expect((await program.stop()).code).toBe(0);
});
