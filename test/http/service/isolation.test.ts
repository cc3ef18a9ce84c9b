import { expect, onTestFinished, test } from 'vitest';
import { connectSandbox, startSandbox, type Sandbox } from '../../../src/index.ts';
import { startProgram } from '../../support/program.ts';
import { clientOf, type Client } from '../../support/sandbox.ts';
import { sized } from '../../support/size.ts';

const WORLDS = sized(14, 200); // each of the seven stories twice, or several times
const OPENING = 1_000_000;
const DAY_MS = 86_400_000;

/** A sandbox shared by many tests: in this process, or as a program. */
const SHARED: readonly [string, () => Promise<Sandbox>][] = [
  ['in this process', () => startSandbox()],
  [
    'in its own process',
    async () => connectSandbox({ url: (await startProgram({ LOG_LEVEL: 'warn' })).url }),
  ],
];

/** What one test does in its world. Its amounts are unique, so that money of another world would be noticed. */
type Story = (client: Client, nth: number) => Promise<void>;

const journalOf = async ({ world }: Client) =>
  (await world.requests()).map(({ route, answer, client_ref_id }) => [route, answer?.status, client_ref_id]);

/** Advances over days: its payout is settled, then reversed. */
const advances: Story = async (client, nth) => {
  const { world, clock } = client;
  await world.use({
    settlement: {
      IMPS: [
        { to: 'SUCCESS', after: '1h' },
        { to: 'REVERSED', after: `${nth}d` },
      ],
    },
  });
  const { now } = await clock.freeze();
  await client.pay({ amount: nth });
  expect((await clock.advance('1h')).changes).toMatchObject([{ to: 'SUCCESS' }]);
  expect(await world.balance()).toBe(OPENING - nth);
  const advanced = await clock.advance('idle');
  expect(Date.parse(advanced.now)).toBe(Date.parse(now) + nth * DAY_MS);
  expect(advanced.changes).toMatchObject([{ to: 'REVERSED', at: advanced.now }]);
  expect(await world.balance()).toBe(OPENING);
  expect(await journalOf(client)).toEqual([['initiate', 200, 'order-1']]);
};

/** Refuses its first attempts with its own rule, and counts them. */
const refuses: Story = async (client, nth) => {
  const { world } = client;
  const times = 1 + (nth % 3);
  await world.rule({
    name: 'refuse',
    match: { route: 'initiate' },
    times,
    effect: { respond: { status: 503 } },
  });
  const answers = [];
  for (let attempt = 0; attempt < 5; attempt += 1) answers.push((await client.pay({ amount: nth })).status);
  expect(answers).toEqual([...Array<number>(times).fill(503), ...Array<number>(5 - times).fill(200)]);
  expect(await world.verify({ match: { status: 503 }, count: { exactly: times } })).toMatchObject({
    passed: true,
  });
  expect(await world.verify({ match: { replayed: true }, count: { exactly: 4 - times } })).toMatchObject({
    passed: true,
  });
  expect((await world.rules())[0]).toMatchObject({ name: 'refuse', matched: 5, taken: times });
  expect(await world.balance()).toBe(OPENING - nth);
};

/** Drains its wallet to the last paisa, and funds it again. */
const drains: Story = async (client, nth) => {
  const { world } = client;
  await world.withdraw(OPENING - nth);
  expect((await client.pay({ client_ref_id: 'dear', amount: nth + 0.01 })).status).toBe(402);
  expect((await client.pay({ client_ref_id: 'all', amount: nth })).status).toBe(200);
  expect(await world.balance()).toBe(0);
  await world.fund(nth / 100);
  expect((await world.entries()).map(({ kind, amount }) => [kind, amount])).toEqual([
    ['opening', OPENING],
    ['debit', nth - OPENING],
    ['payout', -nth],
    ['credit', nth / 100],
  ]);
};

/** Forces its payout to FAILED, and resets. */
const resets: Story = async (client, nth) => {
  const { world } = client;
  await client.clock.freeze();
  const { txn_id } = (await client.pay({ amount: nth })).body.data;
  await world.transition(txn_id, 'FAILED');
  expect(await world.balance()).toBe(OPENING);
  await world.reset();
  expect(await world.transactions()).toEqual([]);
  expect(await world.requests()).toEqual([]);
  expect((await client.pay({ amount: nth })).body.data).toMatchObject({ txn_id, amount: nth });
};

/** Delays a response, and releases it with a reset. */
const hangs: Story = async (client, nth) => {
  const { world } = client;
  await world.rule({ match: { client_ref_id: `stuck-${nth}` }, effect: { delay: '1h' } });
  const stuck = client.pay({ client_ref_id: `stuck-${nth}`, amount: nth });
  await expect
    .poll(() => world.requests(), { timeout: 20_000 })
    .toMatchObject([{ outcome: 'pending', delay_ms: 3_600_000 }]);
  expect(await world.balance()).toBe(OPENING - nth);
  await world.reset();
  expect((await stuck).status).toBe(200);
  expect(await world.balance()).toBe(OPENING);
};

/** Reaches its own rate limit. */
const limits: Story = async (client, nth) => {
  const max = 1 + (nth % 4);
  await client.world.use({ rate_limit: { max, per: '1h' } });
  const answers = [];
  for (let more = 0; more < 5; more += 1)
    answers.push((await client.pay({ client_ref_id: `${more}`, amount: nth })).status);
  expect(answers).toEqual([...Array<number>(max).fill(200), ...Array<number>(5 - max).fill(429)]);
  expect(await client.world.balance()).toBe(OPENING - max * nth);
};

/** Is copied into another world; afterwards they are independent. */
const forks =
  (sandbox: Sandbox): Story =>
  async (client, nth) => {
    await client.clock.freeze();
    await client.pay({ amount: nth });
    const other = clientOf(sandbox.world());
    await other.world.restore(await client.world.snapshot());
    await other.pay({ client_ref_id: 'of-the-fork', amount: nth });
    await client.world.fund(nth);
    expect([await client.world.balance(), await other.world.balance()]).toEqual([OPENING, OPENING - 2 * nth]);
    expect(await journalOf(other)).toEqual([...(await journalOf(client)), ['initiate', 200, 'of-the-fork']]);
  };

test.each(SHARED)(
  `${WORLDS} tests at once share one sandbox %s without affecting each other`,
  { timeout: 120_000 },
  async (_where, start) => {
    const sandbox = await start();
    onTestFinished(() => sandbox.close());
    const stories = [advances, refuses, drains, resets, hangs, limits, forks(sandbox)];
    const clients = Array.from({ length: WORLDS }, () => clientOf(sandbox.world()));
    expect(new Set(clients.map(({ apiKey }) => apiKey)).size).toBe(WORLDS);
    await Promise.all(clients.map((client, nth) => stories[nth % stories.length]!(client, nth + 1)));
    const summaries = await Promise.all(clients.map(({ world }) => world.summary()));
    expect(new Set(summaries.map(({ id }) => id)).size).toBe(WORLDS);
    expect(summaries.filter(({ invariants }) => invariants !== 'hold')).toEqual([]);
  },
);

test('the same requests in twenty worlds at once give the same bytes, except for the ids', async () => {
  const sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z', rateLimit: 'off' });
  onTestFinished(() => sandbox.close());
  const story = async (client: Client) => {
    await client.pay({ amount: 10 });
    await client.pay({ client_ref_id: 'other', amount: 0 });
    await client.clock.advance('1h');
    await client.world.fund(5);
    return [await client.world.entries(), await client.world.transactions(), await client.world.clock.read()];
  };
  const books = await Promise.all(Array.from({ length: 20 }, () => story(clientOf(sandbox.world()))));
  const withoutIds = (book: unknown) =>
    JSON.stringify(book).replace(/"(txn_id|utr)":"\w+"/g, (_all, name: string) => `"${name}":"-"`);
  expect(new Set(books.map(withoutIds)).size).toBe(1);
  expect(new Set(books.map((book) => JSON.stringify(book))).size).toBe(20);
});
