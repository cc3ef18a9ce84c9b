import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TRANSFER_MODES } from '../../src/contract/service.ts';
import type { ScenarioInput } from '../../src/index.ts';
import { clientFor, sandboxFor, type Client } from '../support/sandbox.ts';
import { futureIn, resealed, worldsIn } from '../support/world/snapshot-lines.ts';
import { START } from '../support/world/ways-in.ts';
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
        expect(futureIn(await fork.world.snapshot())).toEqual(futureIn(await original.world.snapshot()));
      },
    ),
    { numRuns: sized(15, 40) },
  );
});

test('a running world goes on from the time of its snapshot, wherever it is restored', async () => {
  const { client } = await sandboxFor({
    scenario: { settlement: { NEFT: [{ to: 'SUCCESS', after: '20h' }] } },
  });
  const [world, fork] = [client(), client()];
  await world.pay({ transfer_mode: 'NEFT' });
  await world.clock.advance('10h');
  const snapshot = await world.world.snapshot();
  await world.clock.advance('1d');
  await fork.world.restore(snapshot);
  const ahead = (await world.clock.now()).getTime() - (await fork.clock.now()).getTime();
  expect(Math.round(ahead / 3_600_000)).toBe(24);
  expect((await fork.clock.read()).frozen).toBe(false);
  expect((await fork.clock.advance('11h')).changes).toHaveLength(1);
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
  expect(worldsIn(await fork.world.snapshot())).toHaveLength(1);
});

/** What a world with a payout, a refund and an override says of itself, to be changed. */
async function snapshotOf(client: Client): Promise<string> {
  await client.world.use({ settlement: { NEFT: [{ to: 'FAILED', after: '40m' }] } });
  await client.pay({ transfer_mode: 'NEFT', client_ref_id: 'returned' });
  await client.clock.advance('1h');
  await client.pay();
  await client.world.rule({ name: 'top', match: { route: 'status' }, effect: { delay: '1ms' } });
  return client.world.snapshot();
}

/** Sends a text as a snapshot to a world that has something to lose. */
async function expectRefused(client: Client, text: string, message: unknown): Promise<void> {
  await client.world.fund(5);
  const before = await client.world.summary();
  const answer = await client.send('PUT', '/_sandbox/state', {
    headers: { 'content-type': 'application/x-ndjson' },
    body: text,
  });
  expect(answer).toMatchObject({ status: 422, body: { status: 'error', code: 'STATE_REFUSED', message } });
  expect(await client.world.summary()).toEqual(before);
}

test.each([
  ['an amount of it', (text: string) => text.replace('"amountPaise":-150050', '"amountPaise":-150051')],
  ['a state of it', (text: string) => text.replace('"state":"PENDING"', '"state":"SUCCESS"')],
  ['its checksum', (text: string) => text.replace(/"checksum":"./, '"checksum":"x')],
  ['a name of a field', (text: string) => text.replace('"wallet"', '"purse"')],
  ['its version', (text: string) => text.replace('"version":3', '"version":4')],
  ['its format', (text: string) => text.replace('"payout-sandbox"', '"payout-town"')],
  ['the order of its lines', (text: string) => text.replace(/(\{"entry".*\n)(\{"entry".*\n)/, '$2$1')],
  ['the end of a line', (text: string) => text.replace(/\}\n(?=\{"payout")/, '} \n')],
])('a snapshot in which %s was changed is refused whole', async (_what, change) => {
  const client = await clientFor({ clock: START });
  const text = await snapshotOf(client);
  expect(change(text)).not.toBe(text);
  await expectRefused(client, change(text), expect.any(String));
});

test.each<[string, RegExp | string, string, RegExp]>([
  [
    'a balance that the entries do not explain',
    /(?<="kind":"payout".*"balancePaise":)\d+/,
    '99',
    /the entries do not explain the balance/,
  ],
  [
    'a wallet that is not the sum of its payouts',
    /"paidOutPaise":\d+/,
    '"paidOutPaise":1',
    /it does not hold that/,
  ],
  ['a payout that settled without a step', '"state":"PENDING"', '"state":"SUCCESS"', /has legal edges only/],
  [
    'a payout that lost its refund',
    /\{"entry":\{"kind":"refund".*\n/,
    '',
    /the entries do not explain the balance/,
  ],
  ['a payout that is missing', /\{"payout":.*\n(?=\{"rule")/, '', /it does not hold that balance/],
  ['a payout that is there twice', /(\{"payout":.*\n)(?=\{"rule")/, '$1$1', /is there twice/],
  ['a world before its head', /(\{"world".*\n)(\{"entry".*\n)/, '$2$1', /is not part of a world/],
  [
    'a rule that nobody can make',
    '"effect":{"delay":"1ms"}',
    '"effect":{"delay":"soon"}',
    /cannot be used here/,
  ],
  ['two rules of one name', /(\{"rule":.*\n)/, '$1$1', /two overrides have the same name/],
  ['a line of a kind that there is not', '{"rule":', '{"ruler":', /it is not part of a world/],
])('a snapshot with %s is refused, whatever its checksum says', async (_what, from, to, message) => {
  const client = await clientFor({ clock: START });
  const text = await snapshotOf(client);
  const changed = resealed(text.replace(from, to));
  expect(changed).not.toBe(text);
  await expectRefused(client, changed, expect.stringMatching(message));
});
