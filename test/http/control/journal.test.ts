import { expect, test } from 'vitest';
import type { JournalEntry } from '../../../src/index.ts';
import { ask } from '../../support/control.ts';
import { clientFor, PAYOUT, sandboxFor, type Client } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';

const START = '2026-01-15T10:30:00.000Z';
const SETTINGS = { clock: START, settlement: 'manual', openingBalance: 10_000 } as const;
const JSON_HEADERS = { 'content-type': 'application/json' };

/** The journal as the control API returns it, newest first. */
async function journalOf(world: Client, query = ''): Promise<JournalEntry[]> {
  return (await ask(world, 'GET', `/requests${query}`)).body.requests as JournalEntry[];
}

/** The only entry of the journal. */
async function entryOf(world: Client): Promise<JournalEntry> {
  const entries = await journalOf(world);
  expect(entries).toHaveLength(1);
  return entries[0]!;
}

test('the journal names the rule that the header names, where two had a part in the response', async () => {
  const world = await clientFor(SETTINGS);
  await world.world.rule({ name: 'slow', match: { route: 'status' }, effect: { delay: '1ms' } });
  await world.pay({ beneficiary_account: '9999200010' }); // is not found at first
  const { status, headers } = await world.status({ client_ref_id: PAYOUT.client_ref_id });
  const [{ rule }] = (await journalOf(world, '?route=status')) as [JournalEntry];
  const hides = 'magic/not-found-at-first';
  expect([status, headers.get('x-sandbox-rule'), rule]).toEqual([404, hides, hides]);
});

test('a journal entry has the request, the response, the times, the reason and the balance before and after', async () => {
  const world = await clientFor(SETTINGS);
  await world.clock.advance('2h');
  const before = Date.now();
  const { body, headers } = await world.pay({ transfer_mode: 'RTGS', beneficiary_ifsc: 'SBIN' });
  const entry = await entryOf(world);
  expect(entry).toEqual({
    id: 1,
    request_id: headers.get('x-sandbox-request-id'),
    at: '2026-01-15T12:30:00.000Z',
    wall_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    outcome: 'answered',
    route: 'initiate',
    request: {
      method: 'POST',
      path: '/payout/initiate',
      headers: expect.objectContaining({ 'content-type': 'application/json', authorization: '***' }),
      body: { ...PAYOUT, transfer_mode: 'RTGS', beneficiary_ifsc: 'SBIN' },
    },
    answer: {
      status: 200,
      headers: expect.objectContaining({ 'x-sandbox-warning': expect.any(String) }),
      body,
    },
    duration_ms: expect.any(Number),
    ended_after: 1,
    code: null,
    client_ref_id: 'order-1',
    txn_id: body.data.txn_id,
    attempt: 1,
    rule: null,
    limit: null,
    fault: null,
    delay_ms: null,
    committed: true,
    replayed: false,
    warnings: [
      expect.stringMatching(/^beneficiary_ifsc is not an IFSC/),
      expect.stringMatching(/^amount is below INR 2,00,000/),
    ],
    cut: [],
    balance_before: 10_000,
    planned_by: 'manual',
    balance_after: 8499.5,
  });
  expect(Date.parse(entry.wall_at)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(entry.wall_at)).toBeLessThanOrEqual(Date.now());
  expect(entry.duration_ms).toBeGreaterThanOrEqual(0);
});

test('the journal masks every header that holds a key, and shows the key of the world nowhere', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const world = client();
  const secrets = ['Authorization', 'Cookie', 'X-Api-Key', 'Proxy-Authorization'];
  await world.send('GET', '/client/fetchbalance', {
    headers: {
      ...Object.fromEntries(secrets.slice(1).map((name) => [name, `secret of ${name}`])),
      'proxy-x': 'shown',
    },
  });
  const { text } = await ask(world, 'GET', '/requests');
  expect(text).not.toContain('secret');
  expect(text).not.toContain(world.apiKey);
  const { headers } = (await entryOf(world)).request;
  expect(secrets.map((name) => headers[name.toLowerCase()])).toEqual(['***', '***', '***', '***']);
  expect(headers['proxy-x']).toBe('shown');
});

const DEEP = `{"x":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}`;

testRows<[text: string, headers: object, status: number, code: string, entry: object]>([
  [
    JSON.stringify({ ...PAYOUT, amount: 0 }),
    {},
    400,
    'INVALID_REQUEST',
    { client_ref_id: 'order-1', balance_before: null },
  ],
  [
    JSON.stringify({ ...PAYOUT, amount: 20_000 }),
    {},
    402,
    'INSUFFICIENT_BALANCE',
    { client_ref_id: 'order-1', balance_before: 10_000, balance_after: 10_000 },
  ],
  ['x', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE', { request: { body: null } }],
  ['x'.repeat(70_000), {}, 413, 'BODY_TOO_LARGE', { request: { body: null } }],
  // nested too deep, and as long as may be kept
  [DEEP, {}, 400, 'INVALID_REQUEST', { request: { body: DEEP.slice(0, 8192) }, cut: ['body'] }],
])(
  'a request that is refused is in the journal and among the events, with the code of the refusal',
  async (body, headers, status, code, entry) => {
    const world = await clientFor(SETTINGS);
    const events = await world.world.events();
    await world.send('POST', '/payout/initiate', { headers: { ...JSON_HEADERS, ...headers }, body });
    const expected = {
      code,
      answer: { status },
      outcome: 'answered',
      committed: false,
      txn_id: null,
      ...entry,
    };
    expect(await entryOf(world)).toMatchObject(expected);
    expect((await events.next()).value).toMatchObject({ type: 'request', data: expected });
    await events.return();
  },
);

testRows(['connection-reset', 'empty-response', 'truncated-body', 'garbage', 'malformed-json'])(
  'a request that ended with a fault is journaled with it and its payout',
  async (fault) => {
    const world = await clientFor(SETTINGS);
    await ask(world, 'POST', '/rules', { name: 'broken', effect: { fault, commit: true } });
    await world.pay().catch((error: Error) => error);
    await expect
      .poll(() => entryOf(world))
      .toMatchObject({ outcome: 'fault', duration_ms: expect.any(Number) });
    expect(await entryOf(world)).toMatchObject({
      fault,
      rule: 'world/broken',
      committed: true,
      txn_id: expect.stringMatching(/^TXN/),
      answer: { status: 200, body: { data: { client_ref_id: 'order-1' } } },
    });
  },
);

test('the journal can be filtered by route, status, reference, payout and any combination', async () => {
  const world = await clientFor(SETTINGS);
  const { txn_id } = (await world.pay({ client_ref_id: 'one' })).body.data;
  await world.pay({ client_ref_id: 'two', amount: 0 });
  await world.status({ client_ref_id: 'one' });
  await world.status({ client_ref_id: 'two' });
  await world.balance();
  for (const [query, found] of [
    ['', [5, 4, 3, 2, 1]],
    ['?limit=2', [5, 4]],
    ['?limit=2&order=oldest', [1, 2]],
    ['?route=status', [4, 3]],
    ['?status=200', [5, 3, 1]],
    ['?client_ref_id=one', [3, 1]],
    [`?txn_id=${txn_id}`, [3, 1]],
    ['?client_ref_id=two&route=status&status=404', [4]],
    ['?client_ref_id=two&route=status&status=200', []],
    ['?since=3&limit=1&order=oldest', [4]],
  ] as const)
    expect([query, (await journalOf(world, query)).map(({ id }) => id)]).toEqual([query, found]);
});

test('the journal can be read from a world time on', async () => {
  const world = await clientFor(SETTINGS);
  await world.balance();
  await world.clock.advance('1m');
  await world.balance();
  const { body } = await ask(world, 'GET', '/requests?since=2026-01-15T16:00:30+05:30'); // its + arrives as a space
  expect(body.requests).toMatchObject([{ id: 2 }]);
  for (const [since, count] of [
    [START, 2],
    ['2026-01-15T16:00:30', 1],
    ['2026-01-15T10:31:00.001Z', 0],
  ] as const) {
    expect([since, (await world.world.requests({ since })).length]).toEqual([since, count]);
  }
});

test('a list of requests says how many requests of the journal it leaves out', async () => {
  const world = await clientFor(SETTINGS);
  for (const client_ref_id of ['one', 'two']) await world.pay({ client_ref_id });
  await world.status({ client_ref_id: 'one' });
  for (const [query, left_out] of [
    ['', 0],
    ['?limit=2', 1],
    ['?order=oldest&limit=2', 1],
    ['?route=initiate&limit=1', 2],
  ] as const) {
    const { body } = await ask(world, 'GET', `/requests${query}`);
    expect([query, body]).toMatchObject([query, { evicted: 0, left_out }]);
  }
});

test('control calls, requests without a key and unknown paths are not journaled', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const world = client();
  await ask(world, 'GET', '/world');
  await ask(world, 'POST', '/wallet/credit', { amount: -1 });
  await world.world.verify({ match: {} });
  for (const authorization of ['', 'Basic abc', 'Bearer none'])
    await world.send('GET', '/client/fetchbalance', { headers: { authorization } });
  await world.send('GET', '/nowhere');
  await world.send('GET', '/payout/initiate');
  expect((await ask(world, 'GET', '/requests')).body).toEqual({
    requests: [],
    evicted: 0,
    left_out: 0,
  });
});
