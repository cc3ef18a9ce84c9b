import { expect, test } from 'vitest';
import type { VerifyResponse, VerifyRequest } from '../../../src/index.ts';
import { ask, refusal } from '../../support/control.ts';
import { clientFor, sandboxFor, type Client } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';

const SETTINGS = { clock: '2026-01-15T10:30:00Z', settlement: 'manual', openingBalance: 10_000 } as const;

const verify = async (world: Client, expected: VerifyRequest): Promise<VerifyResponse> =>
  (await ask(world, 'POST', '/requests/verify', expected)).body as VerifyResponse;

/** A world that was sent a payout, its repetition, a refused payout, one that a rule answered with 500, and two reads. */
async function worldWithRequests(): Promise<Client> {
  const { client } = await sandboxFor(SETTINGS);
  const world = client();
  await world.pay({ client_ref_id: 'order-1', amount: 100 });
  await world.pay({ client_ref_id: 'order-1', amount: 100 });
  await world.pay({ client_ref_id: 'order-2', amount: 20_000, transfer_mode: 'NEFT', remarks: 'rent' });
  const match = { route: 'initiate', client_ref_id: 'order-3' } as const;
  await world.world.rule({ name: 'late-500', match, effect: { respond: { status: 500 }, commit: true } });
  await world.pay({ client_ref_id: 'order-3', amount: 300 });
  await world.status({ client_ref_id: 'order-3' });
  await world.send('GET', '/client/fetchbalance', { headers: { 'x-trace': 'abc' } });
  return world;
}

const COUNTED: readonly [string, VerifyRequest['match'], number][] = [
  ['no condition', {}, 6],
  ['a route', { route: 'initiate' }, 4],
  ['a reference', { client_ref_id: 'order-1' }, 2],
  ['a pattern of a reference', { client_ref_id: { matches: '^order-[23]$' } }, 3],
  ['an amount', { amount: 300 }, 1],
  ['a mode', { transfer_mode: 'NEFT' }, 1],
  ['remarks', { remarks: { suffix: 'nt' } }, 1],
  ['a header', { header: { 'X-Trace': 'abc' } }, 1],
  ['an attempt', { route: 'initiate', attempt: 2 }, 1],
  ['a status', { status: 402 }, 1],
  ['several statuses', { status: [402, 500] }, 2],
  ['an outcome', { outcome: 'answered' }, 6],
  ['a rule', { rule: 'world/late-500' }, 1],
  ['a payout that was made', { committed: true }, 2],
  ['a payout that was not made', { committed: false }, 2],
  ['a replay', { replayed: true }, 1],
  ['two conditions at once', { client_ref_id: 'order-1', replayed: false }, 1],
  ['a key, which is masked', { header: { authorization: { prefix: 'Bearer' } } }, 0],
];

test('requests are counted by each condition', async () => {
  const world = await worldWithRequests();
  const counted = [];
  for (const [what, match] of COUNTED) counted.push([what, match, (await verify(world, { match })).count]);
  expect(counted).toEqual(COUNTED);
});

testRows<[VerifyRequest['count'], boolean, string]>([
  [undefined, true, '2 requests match; expected at least 1'],
  [{ exactly: 2 }, true, '2 requests match; expected exactly 2'],
  [{ exactly: 1 }, false, '2 requests match; expected exactly 1'],
  [{ exactly: 3 }, false, '2 requests match; expected exactly 3'],
  [{ at_least: 2 }, true, '2 requests match; expected at least 2'],
  [{ at_least: 3 }, false, '2 requests match; expected at least 3'],
  [{ at_most: 2 }, true, '2 requests match; expected at most 2'],
  [{ at_most: 1 }, false, '2 requests match; expected at most 1'],
  [{ at_least: 1, at_most: 2 }, true, '2 requests match; expected at least 1 and at most 2'],
  [{ at_least: 3, at_most: 5 }, false, '2 requests match; expected at least 3 and at most 5'],
  [{ exactly: 0 }, false, '2 requests match; expected exactly 0'],
])('a verification passes if its count is met', async (count, passed, message) => {
  const world = await worldWithRequests();
  const match = { client_ref_id: 'order-1' };
  const answer = await verify(world, { match, ...(count === undefined ? {} : { count }) });
  const [result] = answer.message.split('\n');
  expect({ ...answer, message: passed ? answer.message : result }).toEqual({
    passed,
    count: 2,
    message,
    closest: expect.any(Array),
    evicted: 0,
  });
});

test('a world without requests can be verified to have none', async () => {
  const { client } = await sandboxFor();
  const world = client();
  expect(await verify(world, { match: {}, count: { exactly: 0 } })).toEqual({
    passed: true,
    count: 0,
    message: '0 requests match; expected exactly 0',
    closest: [],
    evicted: 0,
  });
  expect(await verify(world, { match: {} })).toMatchObject({
    passed: false,
    message:
      '0 requests match; expected at least 1\nExpected: any request\n' +
      'No request came to this world: does the client use its url and its key?',
    closest: [],
  });
  expect(await verify(world, { sequence: [{}] })).toMatchObject({ passed: false, count: 0, closest: [] });
});

test('with too few matches, the closest requests are shown with their differences, the closest and newest first', async () => {
  const world = await worldWithRequests();
  const match = { client_ref_id: 'order-1', amount: 150, status: 402 };
  const { closest } = await verify(world, { match });
  const reference = { field: 'client_ref_id', expected: 'order-1' };
  const amount = { field: 'amount', expected: 150 };
  const status = { field: 'status', expected: 402 };
  expect(closest).toEqual([
    {
      id: 3,
      request: '#3 POST /payout/initiate order-2 402 INSUFFICIENT_BALANCE',
      misses: [
        { ...reference, actual: 'order-2' },
        { ...amount, actual: 20_000 },
      ],
    },
    {
      id: 2,
      request: '#2 POST /payout/initiate order-1 200',
      misses: [
        { ...amount, actual: 100 },
        { ...status, actual: 200 },
      ],
    },
    {
      id: 1,
      request: '#1 POST /payout/initiate order-1 200',
      misses: [
        { ...amount, actual: 100 },
        { ...status, actual: 200 },
      ],
    },
  ]);
});

test('the message of a failed count says what was expected, and how the closest requests differ', async () => {
  const world = await worldWithRequests();
  const few = await verify(world, { match: { client_ref_id: 'order-1', amount: { gt: 100 } } });
  expect(few.message.split('\n')).toEqual([
    '0 requests match; expected at least 1',
    'Expected: client_ref_id "order-1", amount {"gt":100}',
    'The closest that do not match:',
    '  #4 POST /payout/initiate order-3 500 INTERNAL_ERROR: client_ref_id is "order-3", expected "order-1"',
    '  #3 POST /payout/initiate order-2 402 INSUFFICIENT_BALANCE: client_ref_id is "order-2", expected "order-1"',
    '  #2 POST /payout/initiate order-1 200: amount is 100, expected {"gt":100}',
  ]);
  const many = await verify(world, { match: { client_ref_id: 'order-1' }, count: { exactly: 1 } });
  expect(many.message.split('\n')).toEqual([
    '2 requests match; expected exactly 1',
    'Expected: client_ref_id "order-1"',
    'The latest that match:',
    '  #2 POST /payout/initiate order-1 200',
    '  #1 POST /payout/initiate order-1 200',
  ]);
});

test('the message shows of a header only the one that was expected, and hours as in a scenario', async () => {
  const world = await worldWithRequests();
  const match = {
    header: { 'X-Trace': 'abd' },
    route: 'balance',
    hours: { from: '06:05', to: '07:00' },
    rule: 'world/late-500',
  } as const;
  const { message, closest } = await verify(world, { match });
  expect(message).toContain(
    'header is {"x-trace":"abc"}, expected {"X-Trace":"abd"} (hours, rule differ too)',
  );
  expect(message).toContain('hours {"from":"06:05","to":"07:00"}');
  expect(closest[0]!.misses.slice(1)).toMatchObject([
    { field: 'hours', actual: '2026-01-15T10:30:00.000Z' },
    { field: 'rule', actual: null },
  ]);
});

test('a sequence in the wrong order says which request came too early', async () => {
  const world = await worldWithRequests();
  const { message, count } = await verify(world, { sequence: [{ route: 'status' }, { status: 402 }] });
  expect([count, ...message.split('\n')]).toEqual([
    1,
    '1 of the sequence of 2 requests were seen: nothing after them matches sequence[1]',
    'sequence[0] is #5 GET /payout/status order-3 200',
    'sequence[1] should be status 402',
    '#3 POST /payout/initiate order-2 402 INSUFFICIENT_BALANCE matches it, but did not come after them',
    'The closest after them:',
    '  #6 GET /client/fetchbalance 200: status is 200, expected 402',
  ]);
  const both: VerifyRequest = { sequence: [{ route: 'status', status: 402 }] }; // of which no request has both
  expect(await verify(world, both)).toMatchObject({ passed: false, count: 0 });
  expect(await verify(world, { sequence: [{ route: 'balance' }] })).toMatchObject({
    passed: true,
    message: 'The whole sequence of 1 request was seen',
  });
});

test('a message shows no control characters of a reference', async () => {
  const world = await clientFor(SETTINGS);
  await world.pay({ client_ref_id: 'a\n\u001b[31m' });
  const { message } = await verify(world, { match: { status: 404 } });
  expect(message.split('\n')).toHaveLength(4);
  expect(message).toContain('initiate a\ufffd\ufffd[31m 200: status is 200');
});

test('a verification says how many requests the journal has dropped', async () => {
  const world = await clientFor({ ...SETTINGS, journalEntries: 2 });
  const pay = (reference: string) => world.pay({ client_ref_id: reference, amount: 1 });
  for (const reference of ['a', 'b', 'c']) await pay(reference);
  expect((await verify(world, { match: {} })).message).toBe(
    '2 requests match; expected at least 1; 1 older request was dropped from the journal and is not counted (SANDBOX_JOURNAL_ENTRIES)',
  );
  await pay('d');
  const notice =
    /2 older requests were dropped from the journal and are not counted \(SANDBOX_JOURNAL_ENTRIES\)/;
  const answer = await verify(world, { match: { route: 'initiate' }, count: { exactly: 4 } });
  expect(answer).toMatchObject({ passed: false, count: 2, evicted: 2 });
  expect(answer.message).toMatch(notice);
  const sequence = await verify(world, { sequence: [{ client_ref_id: 'a' }, { client_ref_id: 'b' }] });
  expect(sequence).toMatchObject({ passed: false, evicted: 2 });
  expect(sequence.message).toMatch(notice);
});

test('a journal that is off does not say that no request came', async () => {
  const world = await clientFor({ ...SETTINGS, journalEntries: 0 });
  await world.pay();
  const { message } = await verify(world, { match: {} });
  expect(message).toMatch(/^0 requests match/);
  expect(message).not.toMatch('No request came');
});

test('requests can be matched by the scenario that they chose in a header', async () => {
  const world = await clientFor(SETTINGS);
  await world.pay({}, { 'x-sandbox-scenario': 'server-error' });
  const match = { header: { 'x-sandbox-scenario': 'server-error' }, rule: 'server-error/fails' } as const;
  const { closest } = await verify(world, { match: { ...match, status: 599 } });
  expect(closest).toMatchObject([
    { misses: expect.arrayContaining([{ field: 'status', expected: 599, actual: 500 }]) },
  ]);
});

testRows<[body: unknown, message: RegExp, field: string]>([
  [undefined, /^body must be/, 'body'],
  [{}, /^body must have either match or sequence$/, 'body'],
  [{ match: {}, sequence: [{}] }, /^body must have either match or sequence$/, 'body'],
  [{ sequence: [{}], count: { exactly: 1 } }, /^body must not have both a count and a sequence$/, 'body'],
  [{ sequence: [] }, /^sequence must have at least 1 item$/, 'sequence'],
  [
    { sequence: Array.from({ length: 101 }, () => ({})) },
    /^sequence must have at most 100 items$/,
    'sequence',
  ],
  [{ match: {}, count: {} }, /^count must say exactly, at_least or at_most$/, 'count'],
  [{ match: {}, count: { exactly: -1 } }, /^count\.exactly must be at least 0$/, 'count.exactly'],
  [{ match: {}, count: { exactly: 1.5 } }, /^count\.exactly /, 'count.exactly'],
  [{ match: {}, count: { at_least: 3, at_most: 1 } }, /^count must be a possible count/, 'count'],
  [{ match: {}, count: { exactly: 3, at_most: 1 } }, /^count must be a possible count/, 'count'],
  [{ match: { rout: 'initiate' } }, /^match\.rout is not known here \(did you mean route\?\)$/, 'match.rout'],
  [{ match: {}, counts: 2 }, /^counts is not known here \(did you mean count\?\)/, 'counts'],
  [{ match: { route: 'payout' } }, /^match\.route must be one of initiate, status, balance/, 'match.route'],
  [{ match: { status: 1000 } }, /^match\.status /, 'match.status'],
  [
    { match: { client_ref_id: { matches: '(' } } },
    /is not a regular expression/,
    'match.client_ref_id.matches',
  ],
  [
    { sequence: [{}, { remarks: { matches: '[' } }] },
    /is not a regular expression/,
    'sequence[1].remarks.matches',
  ],
  [{ match: { amount: { gt: 5, lt: 3 } } }, /^match\.amount /, 'match.amount'],
  // these would always count 0
  [{ match: { route: 'balance', amount: 5 }, count: { exactly: 0 } }, /can never match/, 'match.amount'],
  [{ match: { fault: 'conection-reset' }, count: { exactly: 0 } }, /^match\.fault /, 'match.fault'],
  [{ match: { rule: 'hide' }, count: { exactly: 0 } }, /^match\.rule /, 'match.rule'],
])(
  'a verification that makes no sense is refused, and the wrong field is named',
  async (body, message, field) => {
    const { client } = await sandboxFor();
    expect(await ask(client(), 'POST', '/requests/verify', body)).toMatchObject(
      refusal(400, 'INVALID_REQUEST', expect.stringMatching(message), [field]),
    );
  },
);
