import { beforeAll, expect, test } from 'vitest';
import { matchers } from '../../src/matchers.ts';
import { connectSandbox, type World } from '../../src/index.ts';
import { clientFor } from '../support/sandbox.ts';

beforeAll(() => expect.extend(matchers));

/** A world whose client paid `order-1` again under another reference, after a 500. */
async function worldWithPayouts(): Promise<World> {
  const { world } = await clientFor({ clock: '2026-01-15T10:30:00Z' });
  const lost = { commit: true, respond: { status: 500 } } as const;
  await world.rule({ name: 'lost', match: { client_ref_id: 'order-1-a' }, effect: lost });
  await world.pay({ client_ref_id: 'order-1-a' });
  await world.pay({ client_ref_id: 'order-1-b' });
  await world.waitFor('order-1-b', 'SUCCESS');
  return world;
}

const INTENT = { intent: { client_ref_id: '^(order-\\d+)' } };

test('matchers pass when the condition holds, and with .not when it does not', async () => {
  const world = await worldWithPayouts();
  await expect(world).toHaveReceived();
  await expect(world).toHaveReceived({ route: 'initiate' }, { times: 2 });
  await expect(world).toHaveReceived({ route: 'balance' }, { times: 0 });
  await expect(world).not.toHaveReceived({ route: 'balance' });
  await expect(world).not.toHaveReceived({ status: 500 }, { times: 2 });
  await expect(world).toHavePayout('order-1-a');
  await expect(world).toHavePayout('order-1-b', { status: 'SUCCESS', amount: 1000 });
  await expect(world).toHavePayout('order-1-b', {
    utr: expect.any(String) as string,
    told: { request: 2, at: '2026-01-15T10:30:00.000Z', as: 'PENDING' },
  });
  await expect(world).not.toHavePayout('order-1-b', { status: 'FAILED' });
  await expect(world).not.toHavePayout('order-1-b', { utr: expect.any(Number) as never });
  await expect(world).not.toHavePayout('order-2');
  await expect(world).toHaveGoodConduct();
  await expect(world).not.toHaveGoodConduct(INTENT);
});

test('where requests were dropped, nothing is known, so that a matcher fails with and without .not', async () => {
  const { world } = await clientFor({ journalEntries: 0 });
  await world.pay();
  for (const check of [
    () => expect(world).not.toHaveReceived(),
    () => expect(world).toHaveReceived({}, { times: 1 }),
    () => expect(world).not.toHaveReceived({}, { times: 1 }),
    () => expect(world).toHaveGoodConduct(),
    () => expect(world).not.toHaveGoodConduct(),
  ])
    await expect(check()).rejects.toThrow('1 older request was dropped: raise SANDBOX_JOURNAL_ENTRIES');
  await world.clearRequests();
  await expect(world).not.toHaveReceived();
});

test.each<[string, (world: World) => Promise<void>, RegExp]>([
  [
    'too few requests',
    (world) => expect(world).toHaveReceived({ status: 429 }),
    /^0 requests match; expected at least 1\nExpected: status 429\n.*\n {2}#2 .*: status is 200, expected 429/,
  ],
  [
    'a number of requests that was not to come',
    (world) => expect(world).not.toHaveReceived({ status: 500 }, { times: 1 }),
    /^1 request matches; expected any other number of requests than exactly 1$/,
  ],
  [
    'no payout',
    (world) => expect(world).toHavePayout('order-2'),
    /^no payout has the reference order-2: there are order-1-a, order-1-b$/,
  ],
  [
    'a payout with other values',
    (world) => expect(world).toHavePayout('order-1-b', { status: 'FAILED', amount: 5 }),
    /^the payout order-1-b has other values: status is "SUCCESS", expected "FAILED"; amount is 1000, expected 5\nSUCCESS as planned by demo$/,
  ],
  [
    'a payout that was not to be',
    (world) => expect(world).not.toHavePayout('order-1-b', { status: 'SUCCESS' }),
    /^the payout order-1-b was expected not to have status "SUCCESS"$/,
  ],
  [
    'any payout that was not to be',
    (world) => expect(world).not.toHavePayout('order-1-b'),
    /^there is a payout order-1-b, which was not expected: SUCCESS as planned by demo$/,
  ],
  [
    'bad conduct',
    (world) => expect(world).toHaveGoodConduct(INTENT),
    /^the client of this world did not behave well:\n(.|\n)*paid-twice/,
  ],
  [
    'good conduct that was not to be',
    (world) => expect(world).not.toHaveGoodConduct(),
    /^the client of this world behaved well, which was not expected$/,
  ],
])('a matcher fails for %s with words, the line of the test and no diff', async (_what, check, message) => {
  const error = await check(await worldWithPayouts()).then(
    () => expect.fail('it passed'),
    (reason: unknown) => reason as Error,
  );
  expect(error.message).toMatch(message);
  expect(Object.keys(error)).toEqual([]); // a runner would print them
  expect([error.name, error.stack]).toEqual([
    'ExpectationError',
    expect.stringContaining('matchers.test.ts:'),
  ]);
});

test('a matcher that is given something else than a world says so', async () => {
  for (const given of [{}, undefined]) {
    await expect(expect(given).toHaveReceived()).rejects.toThrow('takes a world of the sandbox');
    await expect(expect(given).not.toHavePayout('order-1')).rejects.toThrow('takes a world of the sandbox');
    await expect(expect(given).toHaveGoodConduct()).rejects.toThrow('takes a world of the sandbox');
  }
});

test('a sandbox that does not respond says nothing about the client', async () => {
  const world = connectSandbox({ url: 'http://127.0.0.1:1' }).world();
  const error = { name: 'NoSandboxError' };
  await expect(expect(world).toHaveGoodConduct()).rejects.toMatchObject(error);
  await expect(expect(world).not.toHaveGoodConduct()).rejects.toMatchObject(error);
});

test('a matcher fails with the refusal for a match or a setting that is not valid', async () => {
  const world = await worldWithPayouts();
  const refusal = { name: 'SandboxError', code: 'INVALID_REQUEST' };
  await expect(expect(world).toHaveReceived({ route: 'balance', amount: 5 })).rejects.toMatchObject(refusal);
  await expect(expect(world).not.toHaveReceived({ route: 'balance', amount: 5 })).rejects.toMatchObject(
    refusal,
  );
  await expect(expect(world).not.toHaveGoodConduct({ name: '' })).rejects.toMatchObject(refusal);
});
