import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TRANSFER_MODES } from '../../src/contract/payout.ts';
import type { ScenarioInput } from '../../src/index.ts';
import { clientOf, sandboxFor, type Client } from '../support/sandbox.ts';
import { START } from '../support/ways-in.ts';
import { sized } from '../support/size.ts';

/** A scenario in which the future hangs on all that a world remembers: chance, counters, reads, steps, references. */
const SCENARIO: ScenarioInput = {
  wallet: { opening_balance: 1500 },
  seed: 'future',
  settlement: {
    IMPS: [
      { to: 'SUCCESS', after: '2s', utr: 'none' },
      { utr: 'now', after: '90s' },
      { to: 'REVERSED', after: '1d' },
    ],
    NEFT: [{ to: 'FAILED', after: '40m' }],
    UPI: [{ to: 'SUCCESS', polls: 3 }],
    RTGS: [],
  },
  dialect: { client_ref_id: { after_402: 'remember', changed_body: 'second_payout' } },
  rules: [
    {
      name: 'twice',
      match: { route: 'initiate', transfer_mode: 'NEFT' },
      times: 2,
      effect: { respond: { status: 503 } },
    },
    {
      name: 'late',
      match: { route: 'initiate', attempt: 2 },
      effect: { commit: true, respond: { status: 500 } },
    },
    {
      name: 'maybe',
      match: { route: 'initiate' },
      probability: 0.3,
      effect: { commit: true, respond: { status: 502 } },
    },
    {
      name: 'hidden',
      match: { route: 'initiate', amount: { gt: 900 } },
      effect: { not_found: { reads: 2 } },
    },
    { name: 'stale', match: { route: 'status' }, skip: 3, effect: { stale: '5s' } },
  ],
};

type Act = (client: Client) => Promise<string>;

const reference = fc.constantFrom('a', 'b', 'c', 'd');

const anyAct: fc.Arbitrary<Act> = fc.oneof(
  fc
    .record({ reference, amount: fc.constantFrom(10, 950, 2000), mode: fc.constantFrom(...TRANSFER_MODES) })
    .map(
      ({ reference: client_ref_id, amount, mode: transfer_mode }): Act =>
        async (client) =>
          (await client.pay({ client_ref_id, amount, transfer_mode })).text,
    ),
  reference.map(
    (client_ref_id): Act =>
      async (client) =>
        (await client.status({ client_ref_id })).text,
  ),
  fc.constantFrom('1ms', '2s', '91s', '41m', '2d').map(
    (by): Act =>
      async (client) =>
        JSON.stringify(await client.clock.advance(by)),
  ),
  fc.constant<Act>(async (client) => (await client.balance()).text),
  fc.constant<Act>(async ({ world }) => JSON.stringify((await world.fund(2500)).balance)),
  fc.constant<Act>(async ({ world }) => {
    await world.rule({
      name: 'top',
      times: 1,
      match: { route: 'initiate' },
      effect: { respond: { status: 429 } },
    });
    return '';
  }),
);

const inTurn = async (client: Client, acts: readonly Act[]): Promise<readonly string[]> => {
  const answers: string[] = [];
  for (const act of acts) answers.push(await act(client));
  return answers;
};

test('a world that is restored from a snapshot has the future that the original has, byte for byte', async () => {
  const { client } = await sandboxFor({ clock: START });
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyAct, { maxLength: 15 }),
      fc.array(anyAct, { minLength: 1, maxLength: 15 }),
      async (past, future) => {
        const [original, fork] = [client(), client()];
        await original.world.use(SCENARIO);
        await inTurn(original, past);
        await fork.world.restore(await original.world.snapshot());
        const [expected, actual] = await Promise.all([inTurn(original, future), inTurn(fork, future)]);
        expect(actual).toEqual(expected);
        expect(await fork.world.snapshot()).toEqual(await original.world.snapshot());
      },
    ),
    { numRuns: sized(15, 40) },
  );
});

test('a running world goes on from the time of its snapshot, wherever it is restored', async () => {
  const { client } = await sandboxFor();
  const [world, fork] = [client(), client()];
  await world.pay({ transfer_mode: 'NEFT' });
  await world.clock.advance('10s');
  const snapshot = await world.world.snapshot();
  await world.clock.advance('1d');
  await fork.world.restore(snapshot);
  const ahead = (await world.clock.now()).getTime() - (await fork.clock.now()).getTime();
  expect(Math.round(ahead / 3_600_000)).toBe(24);
  expect((await fork.clock.read()).frozen).toBe(false);
  expect((await fork.clock.advance('11s')).changes).toHaveLength(1);
});

test('a snapshot carries its scenario and its settings with it, to a sandbox that has others', async () => {
  const here = await sandboxFor({ clock: START, seed: 'here', settlement: 'manual', magic: 'off' });
  const there = await sandboxFor({ clock: '2030-01-01T00:00:00Z', seed: 'there' });
  const [world, fork] = [here.client(), there.client()];
  await world.pay();
  await fork.world.restore(await world.world.snapshot());
  for (const one of [world, fork])
    await one.pay({ client_ref_id: 'next', beneficiary_account: '9999000402' });
  const texts = await Promise.all(
    [world, fork].map(async (one) => (await one.status({ client_ref_id: 'next' })).text),
  );
  expect(texts[1]).toBe(texts[0]);
  expect(texts[0]).toContain('"status":"success"');
  expect((await fork.world.snapshot()).checksum).not.toBe('');
});

test.each([
  ['an amount of it', (text: string) => text.replace('"amountPaise":-150050', '"amountPaise":-150051')],
  ['a state of it', (text: string) => text.replace('"state":"PENDING"', '"state":"SUCCESS"')],
  ['its checksum', (text: string) => text.replace(/"checksum":"./, '"checksum":"x')],
  ['a name of a field', (text: string) => text.replace('"wallet"', '"purse"')],
  ['its version', (text: string) => text.replace('"version":1', '"version":2')],
  ['its format', (text: string) => text.replace('payout-sandbox/world', 'payout-sandbox/town')],
])('a snapshot in which %s was changed is refused whole', async (_what, change) => {
  const client = (await sandboxFor({ clock: START })).client();
  await client.pay();
  const text = JSON.stringify(await client.world.snapshot());
  expect(change(text)).not.toBe(text);
  await client.world.fund(5);
  const before = await client.world.summary();
  const answer = await client.send('PUT', '/_sandbox/state', {
    headers: { 'content-type': 'application/json' },
    body: change(text),
  });
  expect(answer).toMatchObject({ status: 422, body: { status: 'error', code: 'STATE_REFUSED' } });
  expect(await client.world.summary()).toEqual(before);
  expect(clientOf(client.world).apiKey).toBe(client.apiKey);
});
