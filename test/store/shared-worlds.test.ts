import { describe, expect, test } from 'vitest';
import { type ConductReport } from '../../src/index.ts';
import { ask } from '../support/control.ts';
import { type Client, type Seen } from '../support/sandbox.ts';
import { serversFor } from '../support/store/shared-servers.ts';
import { isLong, sized } from '../support/size.ts';

const START = '2026-01-15T10:30:00.000Z';

const counted = (seen: readonly Seen[]) =>
  Object.fromEntries(
    [...new Set(seen.map(({ status }) => status))].map((status) => [
      status,
      seen.filter((one) => one.status === status).length,
    ]),
  );

/** One of some clients for the nth request. */
const nthOf = (clients: readonly Client[], nth: number): Client => clients[nth % clients.length]!;

describe('servers that share a store', () => {
  test.each(isLong ? [1, 2, 3] : [3])(
    'let no more through than the wallet covers: 200 payouts at once at %i servers, on a wallet for 70',
    async (count) => {
      const { clients } = await serversFor(count, { openingBalance: 70 });
      const worlds = clients();
      const paid = Array.from({ length: 200 }, (_, nth) =>
        nthOf(worlds, nth).pay({ client_ref_id: `order-${nth}`, amount: 1 }),
      );
      expect(counted(await Promise.all(paid))).toEqual({ 200: 70, 402: 130 });
      for (const { world } of worlds) {
        expect(await world.summary()).toMatchObject({ balance: 0, invariants: 'hold' });
      }
    },
  );

  test("know the referee's settings of a world, and its reports from before a reset", async () => {
    const { clients } = await serversFor(2);
    const [one, other] = clients();
    await one!.send('PUT', '/_sandbox/referee', { json: { name: 'shop' } });
    await other!.pay({ amount: 0.001 });
    expect(await other!.world.referee()).toMatchObject({ name: 'shop', counts: { error: 1 } });
    await other!.world.reset();
    await one!.pay({ amount: 0.001 });
    expect(await one!.world.referee()).toMatchObject({ name: 'shop', counts: { error: 2 } });
  });

  test('make one payout and one debit of hundreds of identical requests', async () => {
    const count = sized(60, 1000);
    const { clients } = await serversFor(3);
    const worlds = clients();
    const paid = await Promise.all(
      Array.from({ length: count }, (_, nth) => nthOf(worlds, nth).pay({ amount: 1000 })),
    );
    expect(counted(paid)).toEqual({ 200: count });
    expect(new Set(paid.map(({ body }) => body.data.txn_id)).size).toBe(1);
    expect(paid.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
    expect((await worlds[0]!.balance()).body.data.balance).toBe(999_000);
  });

  test('know at once what another has done: a scenario, a rule, money, a clock, a payout, a request', async () => {
    const { clients } = await serversFor(2, { clock: START });
    const [one, other] = clients() as [Client, Client];
    await other.balance();
    await one.world.use({ dialect: { errors: { body: 'message' } } });
    expect((await other.pay({ amount: 0 })).body).not.toHaveProperty('code');
    await one.world.rule({ name: 'busy', match: { route: 'status' }, effect: { respond: { status: 500 } } });
    expect((await other.status({ client_ref_id: 'order-1' })).status).toBe(500);
    await one.world.removeRule();
    await one.world.fund(5);
    expect((await other.balance()).body.data.balance).toBe(1_000_005);
    const { body } = await other.pay();
    await one.clock.advance('1d');
    expect((await other.status({ txn_id: body.data.txn_id })).body.data).toMatchObject({ status: 'SUCCESS' });
    expect((await other.world.summary()).clock.now).toBe('2026-01-16T10:30:00.000Z');
    await one.balance();
    const journals = await Promise.all([one, other].map(({ world }) => world.requests()));
    for (const journal of journals)
      expect(journal.map(({ id, route }) => `${id} ${route}`).join(', ')).toBe(
        '1 balance, 2 initiate, 3 status, 4 balance, 5 initiate, 6 status, 7 balance',
      );
    expect(new Set(journals[0]!.map(({ request_id }) => request_id)).size).toBe(7); // no server gives an id of another
  });

  test('refuse a request of the wrong shape once, with the text that the journal has at all of them', async () => {
    const { clients } = await serversFor(2, {});
    const [one, two] = clients() as [Client, Client];
    const { text } = await one.pay({ amount: 0 });
    await expect
      .poll(async () => (await two.world.requests()).map(({ answer }) => answer?.body))
      .toEqual([JSON.parse(text)]);
  });

  test.each([
    ['answers', []],
    ['answers after a delay', [{ name: 'late', match: { route: 'status' }, effect: { delay: '20ms' } }]],
  ])(
    'know what one %s as soon as its client does, and report nothing against a correct client',
    async (_what, rules) => {
      const { clients } = await serversFor(3, { clock: START });
      const intent = { intent: 'beneficiary_account' };
      for (let round = 0; round < sized(3, 50); round += 1) {
        const [one, other, third] = clients(`sk_test_round_${round}`) as [Client, Client, Client];
        await one.world.use({ settlement: { IMPS: [{ to: 'FAILED', after: '2s' }] }, rules } as never);
        await ask(third, 'PUT', '/referee', intent);
        await one.pay({ client_ref_id: 'first' });
        await one.clock.advance('5s');
        expect((await one.status({ client_ref_id: 'first' })).body.data.status).toBe('FAILED');
        await other.pay({ client_ref_id: 'second' });
        const { checks } = (await ask(third, 'GET', '/referee')).body as ConductReport;
        expect(checks.flatMap(({ id, findings }) => findings.map(({ message }) => [id, message]))).toEqual(
          [],
        );
        const all = { match: { outcome: 'answered' }, count: { exactly: 3 } };
        for (const { world } of [one, other]) await world.requests(); // sends the ends that its server has gathered
        expect((await ask(third, 'POST', '/requests/verify', all)).body.message).toMatch(/^3 requests match/);
      }
    },
  );

  test('never record a response that a rule breaks as received by its client', async () => {
    const { clients } = await serversFor(2);
    const [one, other] = clients() as [Client, Client];
    await one.world.rule({ name: 'cut', match: { route: 'balance' }, effect: { fault: 'connection-reset' } });
    await one.balance().catch((error: Error) => error.name);
    expect((await other.world.requests())[0]!.outcome).toMatch(/^(pending|fault)$/);
    await expect
      .poll(() => other.world.requests())
      .toMatchObject([{ outcome: 'fault', answer: { status: 200 }, duration_ms: expect.any(Number) }]);
  });
});
