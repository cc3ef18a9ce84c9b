import { expect, test } from 'vitest';
import type { RuleRequest, World } from '../../src/index.ts';
import { clientFor, sandboxFor } from '../support/sandbox.ts';

const FROZEN = { clock: '2026-01-15T10:30:00Z' } as const;

/** Makes a payout that hangs, and leaves it. */
async function payAndLeave(world: World, reference: string): Promise<void> {
  const events = await world.events();
  const leave = new AbortController();
  const paying = world.pay({ client_ref_id: reference }, { signal: leave.signal }).catch(() => null);
  for await (const event of events) {
    if (event.type !== 'request') continue;
    if (event.data.outcome !== 'pending') break;
    leave.abort();
  }
  await paying;
}

test('the journal as text has a line for each request, with what it got and why', async () => {
  const { world, status } = await clientFor(FROZEN);
  expect(await world.journalText()).toBe('No requests in the journal of this world.');
  const lost = { commit: true, respond: { status: 500 } } as const;
  await world.rule({ name: 'lost', match: { route: 'initiate', attempt: 1 }, times: 1, effect: lost });
  await world.pay({ client_ref_id: 'order-1', amount: 1500.5 });
  await world.pay({ client_ref_id: 'order-1', amount: 1500.5 });
  await status({ client_ref_id: 'order-1' });
  await world.pay({ client_ref_id: 'much', amount: 1e9, transfer_mode: 'RTGS' });
  await world.pay({ client_ref_id: 'a\u001b[31m' });
  await world.rule({ name: 'stuck', effect: { fault: 'hang' } });
  await payAndLeave(world, 'order-2');
  const lines = (await world.journalText()).replaceAll(/\d+ ms/g, 'N ms').split('\n');
  expect(lines).toEqual([
    'Requests to this world, at world time in IST:',
    '  #1 16:00:00.000 POST /payout/initiate order-1 1500.5 IMPS → 500 INTERNAL_ERROR (rule world/lost; payout made; N ms)',
    '  #2 16:00:00.000 POST /payout/initiate order-1 1500.5 IMPS → 200 PENDING (attempt 2; replayed; N ms)',
    '  #3 16:00:00.000 GET /payout/status order-1 → 200 PENDING (N ms)',
    '  #4 16:00:00.000 POST /payout/initiate much 1000000000 RTGS → 402 INSUFFICIENT_BALANCE (no payout made; N ms)',
    '  #5 16:00:00.000 POST /payout/initiate a\ufffd[31m 1000 IMPS → 200 PENDING (payout made; N ms)',
    '  #6 16:00:00.000 POST /payout/initiate order-2 1000 IMPS → hang (rule world/stuck; no payout made; N ms)',
  ]);
  expect((await world.journalText(1)).split('\n')).toEqual([
    'Requests to this world, at world time in IST, the latest 1 of 6:',
    expect.stringContaining('#6'),
  ]);
});

test('GET /_sandbox/requests?format=text gives curl the same text, filtered and from either end', async () => {
  const { world, status, send } = await clientFor(FROZEN);
  for (const client_ref_id of ['a', 'b', 'c']) await world.pay({ client_ref_id });
  await status({ client_ref_id: 'b' });
  const textOf = async (query: string) => (await send('GET', `/_sandbox/requests?format=text${query}`)).text;
  expect(await textOf('')).toBe(`${await world.journalText()}\n`);
  expect(await textOf('&client_ref_id=b')).toMatch(/time in IST:\n {2}#2 .*\n {2}#4 .*\n$/);
  expect(await textOf('&order=oldest&limit=2')).toMatch(/, the first 2 of 4:\n {2}#1 .*\n {2}#2 .*\n$/);
  expect(await textOf('&limit=2')).toMatch(/, the latest 2 of 4:\n {2}#3 .*\n {2}#4 .*\n$/);
});

/** What a client sees of a response, and whether its payout happened. */
async function outcomeOf(world: World, reference: string) {
  const got = await world.pay({ client_ref_id: reference }).then(
    ({ status, headers, body }) => ({
      status,
      body,
      type: headers.get('content-type'),
      retryAfter: headers.get('retry-after'),
    }),
    (error: Error) => error.message,
  );
  return { got, payouts: (await world.transactions()).length };
}

test.each<[string, RuleRequest['effect']]>([
  ['a 500 after the payout was made', { commit: true, respond: { status: 500 } }],
  ['a 503 without a payout', { respond: { status: 503, headers: { 'Retry-After': '7' } } }],
  [
    'the page of a gateway',
    { respond: { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad</h1>' } },
  ],
  ['a list', { respond: { status: 200, body: [1, 2] } }],
  ['no body', { respond: { status: 500, body: '' } }],
  ['a reset after the payout', { commit: true, fault: 'connection-reset' }],
  ['a broken JSON', { commit: true, fault: 'malformed-json' }],
  ['a delay', { delay: '1ms' }],
])('a rule from a request repeats %s, in another world too', async (_what, effect) => {
  const { client } = await sandboxFor(FROZEN);
  const [{ world }, { world: other }] = [client(), client()];
  await world.rule({ name: 'original', effect });
  const original = await outcomeOf(world, 'order-1');
  const rule = await world.ruleFrom(1);
  expect(rule.match).toEqual({ route: 'initiate', client_ref_id: 'order-1', attempt: 1 });
  await other.rule(rule);
  expect(await outcomeOf(other, 'order-1')).toEqual(original);
  expect(await other.requests()).toMatchObject([{ rule: 'world/request-1' }]);
  await other.pay({ client_ref_id: 'order-2' });
  expect(await other.requests({ client_ref_id: 'order-2' })).toMatchObject([{ rule: null }]);
});

test('a rule from a hanging request that its client left hangs too', async () => {
  const { world } = await clientFor(FROZEN);
  await world.rule({ name: 'stuck', effect: { fault: 'hang', commit: false } });
  await payAndLeave(world, 'order-1');
  expect((await world.ruleFrom(1)).effect).toEqual({ commit: false, fault: 'hang' });
});

test('a rule from a status or balance request matches its reference or txn_id, and its attempt', async () => {
  const { world, balance, status } = await clientFor(FROZEN);
  const { txn_id } = await world.pay({ client_ref_id: 'order-1' });
  const other = await world.pay({ client_ref_id: 'order-2' });
  await status({ txn_id: other.txn_id! });
  await status({ client_ref_id: 'order-1' });
  await status({ txn_id: txn_id! });
  await status({ client_ref_id: 'order-1' });
  await balance();
  await balance();
  const rules = await Promise.all([4, 5, 6, 7, 8].map((id) => world.ruleFrom(id)));
  expect(rules.map(({ match }) => match)).toEqual([
    { route: 'status', client_ref_id: 'order-1', attempt: 1 },
    { route: 'status', txn_id, attempt: 1 },
    { route: 'status', client_ref_id: 'order-1', attempt: 2 },
    { route: 'balance', attempt: 1 },
    { route: 'balance', attempt: 2 },
  ]);
  await world.fund(500);
  for (const rule of rules) await world.rule(rule);
  const balances = [await balance(), await balance(), await balance()];
  expect(balances.map(({ body }) => body.data.balance)).toEqual([998_000, 998_000, 998_500]);
});

test('a request is found by its number or by the id in its response', async () => {
  const { world } = await clientFor(FROZEN);
  await expect(world.ruleFrom(1)).rejects.toThrow('request 1 is not in the journal, which is empty');
  const { headers } = await world.pay();
  expect(await world.ruleFrom(headers.get('x-sandbox-request-id')!)).toEqual(await world.ruleFrom(1));
  expect(await world.ruleFrom('#1')).toEqual(await world.ruleFrom(1));
  await expect(world.ruleFrom('req-x')).rejects.toThrow(
    'request req-x is not in the journal, which has #1 to #1',
  );
});
