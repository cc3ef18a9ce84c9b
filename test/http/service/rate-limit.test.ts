import { expect, test } from 'vitest';
import { clientFor, PAYOUT, sandboxFor } from '../../support/sandbox.ts';

test('an initiate past the rate limit gets 429, which names the limit and the setting that changes it, as the journal does', async () => {
  const world = await clientFor({ rateLimit: '3/1h' });
  for (const nth of [1, 2, 3]) expect((await world.pay({ client_ref_id: `order-${nth}` })).status).toBe(200);
  const refused = await world.pay({ client_ref_id: 'order-4' });
  expect(refused).toMatchObject({
    status: 429,
    body: {
      status: 'error',
      code: 'RATE_LIMITED',
      message:
        'Too many requests: the limit is 3 initiates per 1h for each key. ' +
        'SANDBOX_RATE_LIMIT or --rate-limit changes that (30/1h, or off)',
    },
  });
  const retryAfter = Number(refused.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThan(3500);
  expect(retryAfter).toBeLessThanOrEqual(3600);
  expect([...refused.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  expect((await world.status({ client_ref_id: 'order-4' })).status).toBe(404);
  expect(await world.world.requests({ status: 429 })).toMatchObject([
    { code: 'RATE_LIMITED', limit: 'SANDBOX_RATE_LIMIT', committed: false, balance_before: null },
  ]);
});

test('Retry-After is rounded up, so that a client that waits that long is not too early', async () => {
  const { client } = await sandboxFor({ rateLimit: '1/1h' });
  await client().pay(); // the first response of a sandbox takes longest
  const world = client();
  const beforeMs = Date.now();
  await world.pay();
  const { headers } = await world.pay();
  const retryMs = Date.now() + Number(headers.get('retry-after')) * 1000;
  expect(retryMs - beforeMs).toBeGreaterThan(3_600_000 - 10); // clocks of whole milliseconds differ a little
});

test('the rate limit applies to initiates only, and to each key separately; a reset begins a new count', async () => {
  const { client } = await sandboxFor({ rateLimit: '1/1h' });
  const [one, other] = [client(), client()];
  await one.pay();
  expect((await one.pay()).status).toBe(429);
  expect((await other.pay()).status).toBe(200);
  for (const read of [await one.balance(), await one.status({ client_ref_id: 'order-1' })])
    expect(read.status).toBe(200);
  await one.world.reset();
  expect([(await one.pay()).status, (await one.pay()).status]).toEqual([200, 429]);
});

test('the rate limit counts wall time: a frozen clock does not prolong it, and advancing the clock does not shorten it', async () => {
  const { client } = await sandboxFor({ rateLimit: '1/1h', clock: '2026-01-15T10:30:00Z' });
  const world = client();
  await world.pay();
  await world.clock.advance('2h');
  expect((await world.pay()).status).toBe(429);
  const { client: quickClient } = await sandboxFor({ rateLimit: '1/1ms', clock: '2026-01-15T10:30:00Z' });
  const frozen = quickClient();
  await frozen.pay();
  await expect.poll(async () => (await frozen.pay()).status).toBe(200);
});

test('an invalid initiate counts too, since the rate limit is checked before the body is read', async () => {
  const world = await clientFor({ rateLimit: '1/1h' });
  expect((await world.pay({ amount: 0 })).status).toBe(400);
  expect((await world.pay({ amount: 0 })).status).toBe(429);
});

test('a request past the limit of a scenario is in the journal with its reference, its body and the limit', async () => {
  const world = await clientFor({ scenario: { rate_limit: '1/1h' } });
  await world.pay();
  const refused = await world.pay({ client_ref_id: 'order-2' });
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  expect(refused.headers.get('x-sandbox-limit')).toBe('rate_limit of inline');
  const requests = await world.world.requests({ client_ref_id: 'order-2' });
  expect(requests).toMatchObject([
    {
      client_ref_id: 'order-2',
      request: { body: { amount: PAYOUT.amount } },
      answer: { status: 429 },
      limit: 'rate_limit of inline',
      committed: false,
    },
  ]);
  expect((await world.pay({ client_ref_id: 'order-3', amount: 0 })).status).toBe(400);
});
