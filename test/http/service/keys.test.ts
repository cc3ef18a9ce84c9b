import { expect, test } from 'vitest';
import { fetched, PAYOUT, sandboxFor } from '../../support/sandbox.ts';
import { isStored } from '../../support/size.ts';

const ROUTES = [
  ['POST', '/payout/initiate'],
  ['GET', '/client/fetchbalance'],
  ['GET', '/payout/status?client_ref_id=order-1'],
] as const;

const ask = (url: string, method: string, path: string, authorization?: string) => {
  const payout = { 'content-type': 'application/json' };
  const headers = { ...(authorization !== undefined && { authorization }), ...(method === 'POST' && payout) };
  return fetched(url + path, { method, headers, body: method === 'POST' ? JSON.stringify(PAYOUT) : null });
};

test.each(ROUTES)('%s %s requires a key', async (method, path) => {
  const { url } = await sandboxFor();
  for (const authorization of [
    undefined,
    '',
    'sk_test_a',
    'Bearer',
    'Bearer ',
    'Basic sk_test_a',
    'Bearer sk_live_a',
    'Bearer SK_TEST_A',
    'Bearer sk_test_a b',
    `Bearer sk_test_${'x'.repeat(249)}`,
  ]) {
    const answer = await ask(url, method, path, authorization);
    expect(answer).toMatchObject({ status: 401, body: { status: 'error', code: 'UNAUTHORIZED' } });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.text).not.toMatch(/sk_(live|test)_[a-z]/i);
  }
  expect((await ask(url, method, path, 'Bearer sk_test_a')).status).not.toBe(401);
  expect((await ask(url, method, path, 'bearer  sk_test_a')).status).not.toBe(401);
});

test('a sandbox with fixed keys accepts only those', async () => {
  const { url } = await sandboxFor({ apiKeys: 'one,two,sk_test_red_*' });
  for (const [key, status] of [
    ['one', 200],
    ['two', 200],
    ['sk_test_a', 401],
    ['on', 401],
    ['one,two', 401],
    ['onetwo', 401],
    ['sk_test_red_7', 200],
    ['sk_test_red', 401],
    ['sk_test_blue_7', 401],
  ]) {
    expect((await ask(url, 'GET', '/client/fetchbalance', `Bearer ${key}`)).status).toBe(status);
  }
});

// a server with a store drops its copies of worlds instead
test.each(
  isStored
    ? []
    : [
        'a world that lost payouts or a balance for want of room says so, also in its verdict, until it is reset',
      ],
)('%s', async () => {
  const { client } = await sandboxFor({ maxWorlds: '1' });
  const [one, other] = [client(), client()];
  await one.pay();
  expect((await other.balance()).headers.get('x-sandbox-world-dropped')).toBeNull();
  const told = /^at 20\S+Z with its payout: SANDBOX_MAX_WORLDS$/;
  expect((await one.status({ client_ref_id: 'order-1' })).headers.get('x-sandbox-world-dropped')).toMatch(
    told,
  );
  expect((await one.send('GET', '/_sandbox/world')).headers.get('x-sandbox-world-dropped')).toMatch(told);
  const verdicts = async () => new Set((await one.world.referee()).checks.map(({ verdict }) => verdict));
  expect(await verdicts()).toEqual(new Set(['inconclusive'])); // what its client did before is not known
  await one.world.reset();
  expect(await verdicts()).not.toContain('inconclusive');
  expect((await one.balance()).headers.get('x-sandbox-world-dropped')).toBeNull();
  expect((await other.balance()).headers.get('x-sandbox-world-dropped')).toBeNull(); // it had no payouts
  expect((await one.balance()).headers.get('x-sandbox-world-dropped')).toBeNull(); // nor had this one since its reset
  await one.world.withdraw(5);
  await other.balance();
  const balanceTold = /^at 20\S+Z with its ledger: SANDBOX_MAX_WORLDS$/;
  expect((await one.balance()).headers.get('x-sandbox-world-dropped')).toMatch(balanceTold);
});
