import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientFor, sandboxFor, type Client } from '../../support/sandbox.ts';
import { sized } from '../../support/size.ts';

const CLOCK = '2026-01-15T10:30:00Z';
const IDENTICAL = sized(50, 1000);
const times = <T>(count: number, make: (nth: number) => T): T[] =>
  Array.from({ length: count }, (_, nth) => make(nth));

test(`${IDENTICAL} identical requests at once make one payout and one debit`, async () => {
  const world = await clientFor({ settlement: 'manual' });
  const answers = await Promise.all(times(IDENTICAL, () => world.pay()));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
  expect((await world.balance()).body.data.balance).toBe(998_499.5);
});

test('exactly seventeen of fifty payouts at once are made when the wallet covers seventeen', async () => {
  const world = await clientFor({ settlement: 'manual', openingBalance: '179.99' });
  const answers = await Promise.all(
    times(50, (nth) => world.pay({ client_ref_id: `order-${nth}`, amount: 10 })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(17);
  expect(answers.filter(({ status }) => status === 402)).toHaveLength(33);
  expect((await world.balance()).body.data.balance).toBe(9.99);
});

/** Sends 30 initiates and advances the clock; returns every response, every change and the final states. */
async function runPayouts(world: Client, seed: number, parallel: boolean): Promise<unknown> {
  const modes = ['IMPS', 'NEFT', 'RTGS', 'UPI'];
  const pay = (nth: number) =>
    world.pay({ client_ref_id: `order-${seed}-${nth % 20}`, transfer_mode: modes[nth % 4] });
  const answers = [];
  if (parallel) answers.push(...(await Promise.all(times(30, pay))));
  else for (let nth = 0; nth < 30; nth += 1) answers.push(await pay(nth));
  const changes = [
    ...(await world.clock.advance('30m')).changes,
    ...(await world.clock.advance('4d')).changes,
  ];
  const ends = await Promise.all(times(20, (nth) => world.status({ client_ref_id: `order-${seed}-${nth}` })));
  return {
    answers: answers.map(({ status, text }) => [status, text]),
    changes,
    ends: ends.map(({ text }) => text),
    balance: (await world.balance()).text,
  };
}

test('the same seed, requests and clock give the same bytes, after a restart and in parallel', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const settings = { seed, clock: CLOCK, settlement: 'realistic', openingBalance: 1e9 } as const;
      const runs = [];
      for (const parallel of [false, false, true]) {
        const { client } = await sandboxFor(settings);
        runs.push(await runPayouts(client('sk_test_same'), seed, parallel));
      }
      expect(runs[1]).toEqual(runs[0]);
      expect(runs[2]).toEqual(runs[0]);
    }),
    { numRuns: sized(1, 10) },
  );
});
