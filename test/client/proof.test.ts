import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import {
  connectSandbox,
  ExpectationError,
  type RuleRequest,
  type ScenarioInput,
  type World,
} from '../../src/index.ts';
import { clientFor, sandboxFor } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

const FROZEN = { clock: '2026-01-15T10:30:00Z' } as const;

const worldFor = async (settings = {}): Promise<World> => (await clientFor(settings)).world;

/** What a promise is rejected with. */
const errorOf = async (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail('it resolved'),
    (error: unknown) => error as Error,
  );

/** A world in which the first response to `order-1` was lost, and its second attempt was answered. */
async function worldWithRetry(): Promise<World> {
  const world = await worldFor(FROZEN);
  const lost = { commit: true, respond: { status: 500 } } as const;
  await world.rule({ name: 'lost', match: { route: 'initiate', attempt: 1 }, effect: lost });
  await world.pay({ client_ref_id: 'order-1' });
  await world.pay({ client_ref_id: 'order-1' });
  return world;
}

test('an expectation of requests that holds resolves to nothing', async () => {
  const world = await worldWithRetry();
  const checks = [
    world.expect({ route: 'initiate' }).exactly(2),
    world.expect({ route: 'initiate' }).atLeast(2),
    world.expect({ status: 500 }).atMost(1),
    world.expect({ route: 'balance' }).never(),
    world.expect().sequence([
      { status: 500, committed: true },
      { status: 200, replayed: true },
    ]),
    world.expect({ client_ref_id: 'order-1' }).sequence([{ status: 500 }, { status: 200 }]),
  ];
  expect(new Set(await Promise.all(checks))).toEqual(new Set([undefined]));
});

test.each<[string, (world: World) => Promise<void>, string]>([
  ['exactly', (world) => world.expect({ status: 500 }).exactly(2), '1 request matches; expected exactly 2'],
  ['atLeast', (world) => world.expect({ status: 500 }).atLeast(2), '1 request matches; expected at least 2'],
  ['atMost', (world) => world.expect({}).atMost(1), '2 requests match; expected at most 1'],
  ['never', (world) => world.expect({ status: 500 }).never(), '1 request matches; expected exactly 0'],
  [
    'sequence',
    (world) => world.expect().sequence([{ status: 200 }, { status: 500 }]),
    '1 of the sequence of 2 requests were seen: nothing after them matches sequence[1]',
  ],
  [
    'sequence with a match for all steps',
    (world) => world.expect({ client_ref_id: 'order-2' }).sequence([{ status: 500 }]),
    '0 of the sequence of 1 request were seen: nothing after them matches sequence[0]',
  ],
])('%s throws an error with what was expected and the requests that came', async (_method, check, result) => {
  const world = await worldWithRetry();
  const error = await errorOf(check(world));
  expect(error).toBeInstanceOf(ExpectationError);
  expect(error.message.split('\n')[0]).toBe(result);
  expect(error.message).toMatch(/^ *#\d POST \/payout\/initiate order-1 \d{3}/m);
});

test('an error of an expectation points at the line of the test, and prints under its name without properties', async () => {
  const world = await worldWithRetry();
  const checks = [
    () => world.expect({ status: 500 }).exactly(2),
    () => world.expect().sequence([{ status: 404 }]),
    () => world.payout('order-2'),
    () => world.waitFor('order-1', 'FAILED'),
    () => world.expectGoodConduct(),
  ];
  await world.pay({ client_ref_id: 'order-1', amount: 9 }); // which is bad conduct
  for (const check of checks) {
    const error = await errorOf(check());
    const frame = error.stack!.split('\n').find((line) => line.startsWith('    at '));
    expect(frame).toContain('proof.test.ts');
    expect(inspect(error)).toMatch(/^ExpectationError: /);
    expect(Object.keys(error)).toEqual([]);
  }
});

test('the stack of a SandboxError begins with the line of the test', async () => {
  const world = await worldFor();
  const wrong: RuleRequest = { effect: { respond: { status: 99 } } };
  for (const call of [() => world.fund(-1), () => world.rule(wrong), () => world.requests({ since: -1 })]) {
    const error = await errorOf(call());
    expect(error.stack).toMatch(/^SandboxError: .+\n +at .*proof\.test\.ts/);
  }
});

test('pay makes a payout as a client does, and fills in what is not given', async () => {
  const world = await worldFor(FROZEN);
  const answer = await world.pay({ client_ref_id: 'order-1', amount: 250.5 });
  expect(answer).toMatchObject({
    client_ref_id: 'order-1',
    status: 200,
    body: { status: 'success', data: { txn_id: answer.txn_id, amount: 250.5, status: 'PENDING' } },
  });
  expect(await world.balance()).toBe(999_749.5);
  expect(await world.requests()).toMatchObject([{ route: 'initiate', client_ref_id: 'order-1' }]);
  expect(await world.pay({ amount: 1e6 })).toMatchObject({ status: 402, txn_id: null });
});

testRows<[string, (world: World) => unknown, string]>([
  [
    'a misspelt field of a payout',
    (world) => world.pay({ ammount: 5 } as never),
    'a payout has no field ammount: it has client_ref_id, beneficiary_name, ',
  ],
  [
    'a reference alone',
    (world) => world.pay('order-1' as never),
    `pay takes the fields of a payout, such as { client_ref_id: 'order-1' }, not "order-1"`,
  ],
  [
    'an address alone',
    () => connectSandbox('http://127.0.0.1:3000' as never),
    'connectSandbox takes the address',
  ],
  ['no address', () => (connectSandbox as () => unknown)(), 'connectSandbox takes the address'],
  ['a sequence that is no list', (world) => world.expect().sequence('x' as never), 'sequence takes a list'],
])('a wrong argument is refused with a clear message, and nothing is paid', async (_what, call, message) => {
  const world = await worldFor();
  await expect((async () => call(world))()).rejects.toThrow(message);
  expect(await world.requests()).toEqual([]);
});

test('pay() generates a new reference for each payout, also when another client uses the same key', async () => {
  const { client } = await sandboxFor();
  const { world } = client('sk_test_shared');
  const answers = await Promise.all([world.pay(), world.pay()]);
  expect(answers.map(({ client_ref_id: reference }) => reference)).toEqual(['payout-1', 'payout-2']);
  await world.pay({ client_ref_id: 'mine' });
  const again = await client('sk_test_shared').world.pay();
  expect(again).toMatchObject({ client_ref_id: 'payout-4', status: 200 });
  expect(again.headers.has('idempotent-replayed')).toBe(false);
});

test('pay returns a response that is not JSON as text, and rejects where the connection breaks', async () => {
  const world = await worldFor();
  await world.rule({
    match: { attempt: 1 },
    effect: { respond: { status: 502, body: '<h1>Bad gateway</h1>' } },
  });
  await world.rule({ match: { client_ref_id: 'cut' }, effect: { fault: 'connection-reset' } });
  expect(await world.pay()).toMatchObject({ status: 502, txn_id: null, body: '<h1>Bad gateway</h1>' });
  await expect(world.pay({ client_ref_id: 'cut' })).rejects.toThrow(TypeError);
});

test('payout() finds a payout by its reference, and otherwise lists the references that exist', async () => {
  const world = await worldFor(FROZEN);
  const none = await errorOf(world.payout('order-1'));
  expect(none.message).toBe('no payout has the reference order-1: this world has no payouts');
  for (let nth = 1; nth <= 11; nth += 1) await world.pay({ client_ref_id: `order-${nth}` });
  expect(await world.payout('order-3')).toMatchObject({ client_ref_id: 'order-3', status: 'PENDING' });
  const wrong = await errorOf(world.payout('order-0'));
  expect(wrong.message).toMatch(/: the latest of 11 are order-9, order-10, order-11$/);
});

test('waitFor moves a frozen clock to the moment of the state, no further, and not back', async () => {
  const world = await worldFor(FROZEN);
  await world.use('success-then-reversed');
  await world.pay({ client_ref_id: 'order-1' });
  const paid = await world.waitFor('order-1', 'SUCCESS');
  expect(paid.status).toBe('SUCCESS');
  expect((await world.clock.read()).now).toBe(paid.completed_at);
  expect((await world.waitFor('order-1', 'REVERSED')).status).toBe('REVERSED');
  expect(await world.waitFor('order-1', 'REVERSED')).toEqual(await world.payout('order-1'));
  expect((await errorOf(world.waitFor('order-1', 'SUCCESS'))).message).toMatch(
    /^order-1 will not become SUCCESS, since it is REVERSED as planned by /,
  );
});

test('waitFor on a running clock waits for a payout that is not yet made, and for its state', async () => {
  const world = await worldFor();
  await world.use({ settlement: { IMPS: [{ to: 'SUCCESS', after: '50ms' }] } });
  const waiting = world.waitFor('order-1', 'SUCCESS', { timeoutMs: 60_000 });
  await world.pay({ client_ref_id: 'order-1' });
  expect((await waiting).status).toBe('SUCCESS');
});

test.each<[string, object, Parameters<World['waitFor']>, string]>([
  [
    'no step leads there',
    { settlement: { IMPS: [{ to: 'SUCCESS', after: '2s' }] } },
    ['order-1', 'FAILED'],
    'order-1 will not become FAILED, since it is PENDING: inline plans SUCCESS for 2026-01-15T10:30:02.000Z',
  ],
  [
    'the year 9999 ends before',
    { settlement: { IMPS: [{ to: 'SUCCESS', after: '3000000d' }] } },
    ['order-1', 'SUCCESS'],
    'order-1 will not become SUCCESS, since it is PENDING for ever: inline plans SUCCESS after the year 9999, where every clock ends',
  ],
  [
    'a status read must come first',
    {
      settlement: {
        IMPS: [
          { utr: 'now', after: '1s' },
          { to: 'SUCCESS', polls: 3 },
        ],
      },
    },
    ['order-1', 'SUCCESS'],
    'order-1 will not become SUCCESS until a client reads its status, since it is PENDING: inline plans its UTR for 2026-01-15T10:30:01.000Z',
  ],
  [
    'there is no such state',
    {},
    ['order-1', 'PAID' as never],
    'PAID is not a state: use one of PENDING, SUCCESS, FAILED, REVERSED',
  ],
  [
    'there is no payout',
    {},
    ['order-2', 'SUCCESS'],
    'no payout has the reference order-2: there are order-1; and the clock is frozen',
  ],
])('waitFor fails at once with the reason when %s', async (_why, scenario, given, message) => {
  const world = await worldFor(FROZEN);
  await world.use(scenario);
  await world.pay({ client_ref_id: 'order-1' });
  expect((await errorOf(world.waitFor(...given))).message).toBe(message);
});

testRows<[message: RegExp, reference: string, settlement: ScenarioInput['settlement']]>([
  [/^after 20 ms, no payout has the reference nothing: there are order-1$/, 'nothing', 'realistic'],
  [
    /^after 20 ms, order-1 is PENDING: .*SUCCESS for .*Freeze the clock/,
    'order-1',
    [{ to: 'SUCCESS', after: '1h' }],
  ],
  // which a frozen clock would not help with
  [
    /^after 20 ms, order-1 is PENDING: .*SUCCESS at status read 2, and there were 0$/,
    'order-1',
    [{ to: 'SUCCESS', polls: 2 }],
  ],
])('waitFor on a running clock ends after its timeout', async (message, reference, settlement) => {
  const world = await worldFor();
  await world.use({ settlement });
  await world.pay({ client_ref_id: 'order-1' });
  const error = await errorOf(world.waitFor(reference, 'SUCCESS', { timeoutMs: 20 }));
  expect(error.message).toMatch(message);
});

test('a client may say what became of a payout, and is wrong when the ledger says something else', async () => {
  const world = await worldFor(FROZEN);
  await world.rule({ match: { client_ref_id: 'lost' }, effect: { commit: true, respond: { status: 500 } } });
  const saying = async (outcome: 'paid' | 'failed') =>
    (await errorOf(world.reported('lost', outcome))).message;
  await world.pay({ client_ref_id: 'lost', amount: 123_456.5 });
  await world.reported('lost', 'in-doubt');
  const pending = 'lost is PENDING (₹1,23,456.50)';
  expect(await saying('paid')).toBe(
    `${pending}, but the client reports that it was paid, which it cannot know`,
  );
  expect(await saying('failed')).toBe(`${pending} and may still be paid, but the client reports a failure`);
  const before = await world.snapshot();
  await world.transition('lost', 'SUCCESS');
  await world.reported('lost', 'paid');
  expect(await saying('failed')).toBe('lost was paid (₹1,23,456.50), but the client reports a failure');
  await world.restore(before);
  await world.transition('lost', 'FAILED'); // a reference will do
  await world.reported('lost', 'failed');
  expect(await saying('paid')).toBe('lost is FAILED (₹1,23,456.50), but the client reports that it was paid');
  expect((await errorOf(world.reported('unsent', 'paid'))).message).toContain(
    'no payout has the reference unsent',
  );
  await expect(world.reported('unsent', 'success' as never)).rejects.toThrow(
    'reported takes one of paid, failed, in-doubt, not success',
  );
});

test('a payout that was made twice and whose money is back is named by its latest state', async () => {
  const world = await worldFor({
    ...FROZEN,
    scenario: { dialect: { client_ref_id: { same_body: 'second_payout' } } },
  });
  for (const to of ['FAILED', 'REVERSED'] as const) {
    await world.pay({ client_ref_id: 'order-1' });
    await world.transition('order-1', to);
  }
  const error = await errorOf(world.reported('order-1', 'paid'));
  expect(error.message).toBe('order-1 is REVERSED (₹1,000.00), but the client reports that it was paid');
});

test('a reference that is undefined names no payout and no request', async () => {
  const { world } = await clientFor();
  await world.pay({ client_ref_id: 'order-1' });
  const nothing = undefined as unknown as string;
  const uses = [
    () => world.payout(nothing),
    () => world.waitFor(nothing, 'PENDING'),
    () => world.reported(nothing, 'paid'),
    () => world.transition(nothing, 'REVERSED'),
    async () => world.expect({ client_ref_id: nothing }).exactly(1),
  ];
  for (const use of uses) await expect(use()).rejects.toThrow(TypeError);
  expect((await world.payout('order-1')).status).toBe('PENDING');
});
