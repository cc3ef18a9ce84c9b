import { expect, test } from 'vitest';
import { sandboxFor } from '../../support/sandbox.ts';

const times = <T>(count: number, make: (nth: number) => T): T[] =>
  Array.from({ length: count }, (_, nth) => make(nth));

test('an initiate past the limit is answered 429, and told which limit it was and how to change it', async () => {
  const { client } = await sandboxFor({ rateLimit: '3/1h' });
  const world = client();
  for (const nth of [1, 2, 3]) expect((await world.pay({ client_ref_id: `order-${nth}` })).status).toBe(200);
  const refused = await world.pay({ client_ref_id: 'order-4' });
  expect(refused).toMatchObject({
    status: 429,
    body: {
      status: 'error',
      code: 'RATE_LIMITED',
      message:
        'Too many requests: this sandbox takes 3 initiates per 1h for each key. ' +
        'SANDBOX_RATE_LIMIT or --rate-limit changes that (30/1h, or off)',
    },
  });
  const retryAfter = Number(refused.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThan(3500);
  expect(retryAfter).toBeLessThanOrEqual(3600);
  expect([...refused.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  expect((await world.status({ client_ref_id: 'order-4' })).status).toBe(404);
});

test('the limit holds for initiates only, and for each key by itself', async () => {
  const { client } = await sandboxFor({ rateLimit: '1/1h' });
  const [one, other] = [client(), client()];
  await one.pay();
  expect((await one.pay()).status).toBe(429);
  expect((await other.pay()).status).toBe(200);
  for (const answer of await Promise.all(times(20, () => one.balance()))) expect(answer.status).toBe(200);
  for (const answer of await Promise.all(times(20, () => one.status({ client_ref_id: 'order-1' })))) {
    expect(answer.status).toBe(200);
  }
});

test('the limit is in wall time: a world that stands still is not locked out for ever, nor let in by its own clock', async () => {
  const { client } = await sandboxFor({ rateLimit: '1/1h', clock: '2026-01-15T10:30:00Z' });
  const world = client();
  await world.pay();
  await world.clock.advance('2h');
  expect((await world.pay()).status).toBe(429);
  const { client: quick } = await sandboxFor({ rateLimit: '1/1ms', clock: '2026-01-15T10:30:00Z' });
  const still = quick();
  await still.pay();
  await expect.poll(async () => (await still.pay()).status).toBe(200);
});

test('refused shapes count too: the limit is met before the body is read', async () => {
  const { client } = await sandboxFor({ rateLimit: '1/1h' });
  const world = client();
  expect((await world.pay({ amount: 0 })).status).toBe(400);
  expect((await world.pay({ amount: 0 })).status).toBe(429);
});

test('a hundred a second by default, and off when it is off', async () => {
  const { client } = await sandboxFor({ rateLimit: 'off' });
  const world = client();
  const answers = await Promise.all(
    times(300, (nth) => world.pay({ client_ref_id: `order-${nth}`, amount: 1 })),
  );
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
});

test('a world that is reset may pay as a new one may', async () => {
  const { client } = await sandboxFor({ rateLimit: '1/1h' });
  const world = client();
  expect((await world.pay()).status).toBe(200);
  expect((await world.pay({ client_ref_id: 'order-2' })).status).toBe(429);
  await world.world.reset();
  expect((await world.pay()).status).toBe(200);
});
