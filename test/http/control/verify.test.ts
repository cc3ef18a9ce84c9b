import { expect, test } from 'vitest';
import type { VerifyResponse, VerifyRequest } from '../../../src/index.ts';
import { ask } from '../../support/control.ts';
import { clientFor, type Client } from '../../support/sandbox.ts';

const SETTINGS = { clock: '2026-01-15T10:30:00Z', settlement: 'manual', openingBalance: 10_000 } as const;

const verify = async (world: Client, expected: VerifyRequest): Promise<VerifyResponse> =>
  (await ask(world, 'POST', '/requests/verify', expected)).body as VerifyResponse;

/** A world that was sent a payout, its repetition, a refused payout, one that a rule answered with 500, and two reads. */
async function worldWithRequests(): Promise<Client> {
  const world = await clientFor(SETTINGS);
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

/** How many requests meet a condition on what became of them, or one that a rule may have. */
const COUNTED: readonly [VerifyRequest['match'], number][] = [
  [{}, 6],
  [{ route: 'initiate' }, 4],
  [{ client_ref_id: { matches: '^order-[23]$' } }, 3],
  [{ header: { 'X-Trace': 'abc' } }, 1],
  [{ route: 'initiate', attempt: 2 }, 1],
  [{ status: 402 }, 1],
  [{ outcome: 'answered' }, 6],
  [{ rule: 'world/late-500' }, 1],
  [{ committed: true }, 2],
  [{ replayed: true }, 1],
  [{ client_ref_id: 'order-1', replayed: false }, 1],
];

test('requests are counted by each condition', async () => {
  const world = await worldWithRequests();
  const counted = [];
  for (const [match] of COUNTED) counted.push([match, (await verify(world, { match })).count]);
  expect(counted).toEqual(COUNTED);
});

test('a world without requests can be verified to have none', async () => {
  const world = await clientFor();
  const nothing = { count: 0, closest: [] };
  expect(await verify(world, { match: {}, count: { exactly: 0 } })).toEqual({
    ...nothing,
    passed: true,
    result: 'passed',
    message: '0 requests match; expected exactly 0',
    evicted: 0,
  });
  expect(await verify(world, { match: {} })).toMatchObject({
    ...nothing,
    passed: false,
    message:
      '0 requests match; expected at least 1\nExpected: any request\n' +
      'No request came to this world: does the client use its url and its key?',
  });
  expect(await verify(world, { sequence: [{}] })).toMatchObject({ ...nothing, passed: false });
});

test('with too few matches, the closest requests are shown with their differences, the closest and newest first', async () => {
  const world = await worldWithRequests();
  const match = { client_ref_id: 'order-1', amount: 150, status: 402 };
  const { closest } = await verify(world, { match });
  const tooSmall = [
    { field: 'amount', expected: 150, actual: 100 },
    { field: 'status', expected: 402, actual: 200 },
  ];
  expect(closest).toEqual([
    {
      id: 3,
      request: '#3 POST /payout/initiate order-2 402 INSUFFICIENT_BALANCE',
      misses: [
        { field: 'client_ref_id', expected: 'order-1', actual: 'order-2' },
        { field: 'amount', expected: 150, actual: 20_000 },
      ],
    },
    { id: 2, request: '#2 POST /payout/initiate order-1 200', misses: tooSmall },
    { id: 1, request: '#1 POST /payout/initiate order-1 200', misses: tooSmall },
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
  const between = { at_least: 0, at_most: 1 };
  const many = await verify(world, { match: { client_ref_id: 'order-1' }, count: between });
  expect(many).toMatchObject({ passed: false, result: 'failed', count: 2, evicted: 0 });
  expect(many.message.split('\n')).toEqual([
    '2 requests match; expected at least 0 and at most 1',
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
    '2 requests match; expected at least 1; 1 older request was dropped: raise SANDBOX_JOURNAL_ENTRIES, or SANDBOX_JOURNAL_TOTAL if all worlds have more',
  );
  await pay('d');
  const message = expect.stringContaining('; 2 older requests were dropped: raise SANDBOX_JOURNAL_ENTRIES');
  const lacking = { passed: false, result: 'unknown', evicted: 2, message };
  expect(await verify(world, { match: {}, count: { exactly: 4 } })).toMatchObject(lacking);
  expect(await verify(world, { sequence: [{ client_ref_id: 'a' }] })).toMatchObject(lacking);
});

test('a journal that is off does not say that no request came', async () => {
  const world = await clientFor({ ...SETTINGS, journalEntries: 0 });
  await world.pay();
  const { message } = await verify(world, { match: {} });
  expect(message).toMatch(/^0 requests match/);
  expect(message).not.toMatch('No request came');
});
