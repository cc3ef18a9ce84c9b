import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CheckId, ConductReports } from '../../../src/contract/conduct.ts';
import type { SettingsInput } from '../../../src/index.ts';
import { heldBy } from '../../support/control.ts';
import { clientFor, sandboxFor, type Client } from '../../support/sandbox.ts';
import { sized, SLOW } from '../../support/size.ts';
import { testRows } from '../../support/test-rows.ts';

const lostResponse = {
  match: { route: 'initiate', attempt: 1 },
  effect: { commit: true, respond: { status: 500 } },
} as const;

/** A client that pays again under a new reference after a 500. */
async function payTwice({ world, pay }: Client): Promise<void> {
  await world.rule(lostResponse);
  await pay({ client_ref_id: 'order-1-a' });
  await pay({ client_ref_id: 'order-1-b' });
}

const ADMIN = 'the-token-of-the-admin';
const AS_ADMIN = { headers: { authorization: `Bearer ${ADMIN}` } };

const put = ({ send }: Client, json: object) => send('PUT', '/_sandbox/referee', { json });
const putForAll = ({ send }: Client, json: object) =>
  send('PUT', '/_sandbox/worlds/referee', { ...AS_ADMIN, json });

const BY_REFERENCE = { name: 'shop', intent: { client_ref_id: '^(order-\\d+)' } };

const clear = ({ world }: Client): Promise<unknown> => world.clearRequests();
const errorsOf = async ({ world }: Client): Promise<number> => (await world.referee()).counts.error;
const NOTHING_FOUND = { error: 0, warning: 0, notice: 0 };

/** A client whose world has the referee's settings. */
async function judged(settings: object, options: SettingsInput = {}): Promise<Client> {
  const one = await clientFor(options);
  await put(one, settings);
  return one;
}

test('the referee judges a world by the settings that it was given for the client', async () => {
  const one = await clientFor();
  await payTwice(one);
  const untold = await one.send('GET', '/_sandbox/referee');
  expect(untold.body).toMatchObject({ passed: true, counts: { error: 0, warning: 1 } });
  const told = await put(one, BY_REFERENCE);
  expect(told.body).toMatchObject({ name: 'shop', passed: false, counts: { error: 1 } });
  expect(told.body.checks[0]).toMatchObject({ id: 'paid-twice', verdict: 'found' });
  expect((await one.send('GET', '/_sandbox/referee')).body).toEqual(told.body);
});

test('amounts that no wallet can hold, sent or answered, do not keep the referee from judging', async () => {
  const one = await clientFor();
  const huge = { status: 200, body: { status: 'success', data: { balance: 1e300 } } };
  await one.world.rule({ match: { route: 'balance' }, effect: { respond: huge } });
  expect((await one.pay({ amount: 1e300 })).status).toBe(400);
  expect((await one.balance()).body.data.balance).toBe(1e300);
  expect(await one.send('GET', '/_sandbox/referee')).toMatchObject({ status: 200, body: { passed: true } });
});

test('a report has every format', async () => {
  const one = await clientFor();
  await payTwice(one);
  await put(one, BY_REFERENCE);
  for (const [format, type, text] of [
    ['text', 'text/plain; charset=utf-8', /^world shop\n {2}error/],
    ['junit', 'application/xml; charset=utf-8', /^<\?xml/],
    ['markdown', 'text/markdown; charset=utf-8', /^## Payout referee: failed/],
    ['json', 'application/json; charset=utf-8', /^\{"name":"shop"/],
  ] as const) {
    const report = await one.send('GET', `/_sandbox/referee?format=${format}`);
    expect([format, report.headers.get('content-type')]).toEqual([format, type]);
    expect(report.text).toMatch(text);
  }
});

/** Pays an order, or pays it again under a new reference. */
async function payOrder({ world, pay }: Client, order: number): Promise<void> {
  const paid = new Set((await world.transactions()).map(({ client_ref_id }) => client_ref_id));
  const left = ['a', 'b'].map((which) => `order-${order}-${which}`).find((one) => !paid.has(one));
  if (left !== undefined) await pay({ client_ref_id: left });
}

/** What a client and its world do. The snapshot is one of this world or, before there is any, of another one. */
const MOVES: Readonly<Record<string, (client: Client, snapshot: string) => Promise<unknown>>> = {
  pay: (client) => payOrder(client, 1),
  'pay another': (client) => payOrder(client, 2),
  balance: ({ balance }) => balance(),
  fund: ({ world }) => world.fund(1),
  snapshot: ({ world }) => world.snapshot(),
  restore: ({ world }, snapshot) => world.restore(snapshot),
  reset: ({ world }) => world.reset(),
  clear,
  undo: ({ send }) => send('POST', '/_sandbox/undo', { json: { force: true } }),
};

/** Makes the moves. @param look is called after each of them @param elsewhere a snapshot of another world */
async function tell(
  one: Client,
  moves: readonly string[],
  look: (move: string) => Promise<void>,
  elsewhere = '',
): Promise<void> {
  let snapshot = elsewhere;
  for (const move of moves) {
    const result = await MOVES[move]!(one, snapshot);
    if (move === 'snapshot') snapshot = result as string;
    await look(move);
  }
}

/** Stories that are always told; with TESTS=long, also any others. */
const STORIES = [
  'pay, pay, clear, balance, reset, pay, pay, pay another, pay another, reset, undo, reset',
  'pay, pay, snapshot, restore, restore, balance, reset, undo, reset, restore, reset, reset, reset, restore',
  'pay, pay, restore, undo, undo', // of another world
  'fund, pay, pay, undo', // which takes all requests back
  'pay, fund, pay, undo', // which takes some requests back
].map((story) => story.split(', '));

test('each mistake is found once, whatever a world loses and goes back to', SLOW, async () => {
  const { client } = await sandboxFor();
  const other = client();
  for (let nth = 1; nth <= 2; nth += 1) await other.balance(); // with the numbers of other requests
  const elsewhere = await other.world.snapshot();
  const property = fc.asyncProperty(fc.array(fc.constantFrom(...Object.keys(MOVES))), async (moves) => {
    const one = client();
    await put(one, BY_REFERENCE);
    const mistakes = new Set<string>();
    const look = async (move: string): Promise<void> => {
      const requests = await one.world.requests();
      for (const order of ['order-1', 'order-2']) {
        const [first, second] = requests.filter(({ client_ref_id }) => client_ref_id?.startsWith(order));
        if (second !== undefined) mistakes.add(`${first!.request_id} ${second.request_id}`);
      }
      expect([move, await errorsOf(one)]).toEqual([move, mistakes.size]);
    };
    await tell(one, moves, look, elsewhere);
  });
  const examples = STORIES.map((story): [string[]] => [story]);
  await fc.assert(property, { examples, numRuns: sized(STORIES.length, 200) });
});

test('a reference that was paid twice is found once, also where its requests are gone', async () => {
  const dialect = { client_ref_id: { same_body: 'second_payout' } } as const;
  const one = await clientFor({ scenario: { dialect } });
  for (let sent = 1; sent <= 2; sent += 1) await one.pay();
  const look = async (move: string) => expect([move, await errorsOf(one)]).toEqual([move, 1]);
  await tell(one, ['clear'], look); // before the referee has settings
  await put(one, {});
  await tell(one, ['balance', 'clear', 'reset', 'reset', 'undo', 'undo', 'balance', 'clear'], look);
});

testRows<[errors: number, times: number, moves: string]>([
  // what came back is compared, and what was lost is not
  [0, 1, 'balance, reset, undo, snapshot, restore, pay'],
  [0, 1, 'balance, reset, undo, snapshot, restore, pay, reset'],
  // what was missed before a reset is found, also if it is made after that
  [1, 1, 'balance, reset, pay'],
  // what follows a reset is judged, also where the table was met before
  [1, 1, 'pay, reset, balance'],
  [1, 1, 'pay, reset, pay, pay, clear'],
  // after a cleared journal, payouts may still be made, and those of the world are compared
  [0, 1, 'balance, clear, pay'],
  [1, 2, 'balance, clear'],
  [1, 2, 'balance, clear, pay, clear'],
  [0, 2, 'balance, clear, pay, clear, pay, clear'],
])(
  'a table of expected payouts is compared with what a world has or has lost for good',
  async (errors, times, moves) => {
    const table = { expect: [{ account: '000123456789', amount: 1500.5, times }] };
    const one = await judged(table, { settlement: 'instant' });
    await tell(one, moves.split(', '), () => Promise.resolve());
    expect((await one.world.referee(undefined, { ended: true })).counts.error).toBe(errors);
  },
);

const ORDER_1 = { client_ref_id: 'order-1' };
const returned = {
  match: { route: 'initiate' },
  effect: {
    timeline: [
      { to: 'SUCCESS', after: '2s' },
      { to: 'REVERSED', after: '3d' },
    ],
  },
} as const;
const hidden = { match: { route: 'status', attempt: 1 }, effect: { respond: { status: 404 } } } as const;

/** Makes the client pay order-1 and leave something open that it would find out by a read. */
testRows<[check: CheckId, payAndLeave: (client: Client) => Promise<unknown>]>([
  [
    'never-asked',
    async ({ world, pay, clock }) => {
      await world.rule(lostResponse);
      await pay();
      await clock.advance('1h');
    },
  ],
  [
    'not-found-believed',
    async ({ world, pay, status }) => {
      await world.rule(hidden);
      await pay();
      await status(ORDER_1);
    },
  ],
  [
    'pending-left',
    async ({ pay, balance, clock }) => {
      await pay();
      await clock.advance('1h');
      await balance();
    },
  ],
  [
    'reversal-unseen',
    async ({ world, pay, status, balance, clock }) => {
      await world.rule(returned);
      await pay();
      await clock.advance('1h');
      await status(ORDER_1);
      await clock.advance('5d');
      await balance();
    },
  ],
])(
  'a client is not accused of what it can still put right after its journal was cleared',
  async (id, payAndLeave) => {
    const one = await judged(BY_REFERENCE, { clock: '2026-01-15T10:30:00Z' });
    const verdict = async (ended = false) =>
      (await one.world.referee(undefined, { ended })).checks.find((check) => check.id === id)!.verdict;
    await payAndLeave(one);
    expect(await verdict(true)).toBe('found');
    await clear(one);
    await one.status(ORDER_1);
    expect(await verdict()).toBe('inconclusive');
    const { checks, counts } = await one.world.referee();
    expect(counts).toMatchObject(NOTHING_FOUND);
    for (const each of ['passed', 'not_exercised', 'inconclusive', 'off'] as const) {
      const judged = checks.filter((check) => check.verdict === each);
      expect([each, counts[each]]).toEqual([each, judged.length]);
    }
  },
);

test('what a client finds out after a restore is not held against it', async () => {
  const one = await judged(BY_REFERENCE);
  await one.world.rule(lostResponse);
  await one.pay({ client_ref_id: 'order-1-a' });
  await one.world.restore(await one.world.snapshot());
  await one.status({ client_ref_id: 'order-1-a' });
  expect((await one.world.referee()).counts).toMatchObject({ error: 0, warning: 0 });
});

test('nobody can still ask for a payout that an undo has taken back, and the verdict does not say so', async () => {
  const one = await judged(BY_REFERENCE);
  await one.world.rule(lostResponse);
  await one.world.fund(1);
  await one.pay({ client_ref_id: 'order-1-a' });
  await one.world.undo({ force: true });
  const { checks } = await one.world.referee(undefined, { ended: true });
  expect(checks.find(({ id }) => id === 'never-asked')).toMatchObject({
    verdict: 'inconclusive',
    reason: 'the client had not asked for order-1-a yet (from before an undo)',
  });
});

test('nothing is said to be paid only once while a cleared journal may hide another payment', async () => {
  const one = await clientFor({ settlement: 'instant' });
  const said = async (check: CheckId) => {
    const { checks } = await one.world.referee(undefined, { ended: true });
    return checks.find(({ id }) => id === check)!;
  };
  for (const client_ref_id of ['a', 'b']) await one.pay({ client_ref_id });
  await clear(one);
  const reason =
    '2 payouts were made by requests that were cleared from the journal, and may have been paid again';
  for (const check of ['paid-twice', 'paid-more-often'] as const)
    expect(await said(check)).toMatchObject({ verdict: 'inconclusive', reason });
  await put(one, { intent: 'beneficiary_account' });
  for (const ask of [
    () => one.balance(),
    () => one.pay({ client_ref_id: 'c' }),
    () => one.status({ client_ref_id: 'a' }),
  ]) {
    await ask();
    expect((await said('paid-more-often')).verdict).toBe('inconclusive');
  }
  const table = [{ account: '000123456789', amount: 1500.5, times: 3 }];
  await put(one, { intent: 'client_ref_id', expect: table }); // which says what was to be paid
  expect((await said('paid-more-often')).verdict).toBe('passed');
});

test('a payout whose send was cleared casts no doubt on the intents of others to its account', async () => {
  const one = await judged({ intent: 'client_ref_id' });
  await one.world.rule({ match: { route: 'initiate' }, effect: lostResponse.effect });
  await one.pay({ client_ref_id: 'order-1' });
  await clear(one);
  await one.status(ORDER_1);
  for (const client_ref_id of ['order-2', 'order-3']) await one.pay({ client_ref_id });
  const { checks } = await one.world.referee(undefined, { ended: true });
  const found = checks.filter(({ verdict }) => verdict === 'found').map(({ id }) => id);
  expect(found).toEqual(['never-asked']);
  expect(checks.find(({ id }) => id === 'paid-more-often')).toMatchObject({
    verdict: 'inconclusive',
    reason: expect.stringContaining('cleared from the journal'),
  });
});

test('a client that sends again what a restore has ended is not accused', async () => {
  const one = await judged(BY_REFERENCE);
  await one.world.rule({ match: { route: 'initiate', attempt: 1 }, effect: { hold: 'committed' } });
  const lost = one.pay({ client_ref_id: 'order-1-a' });
  await heldBy(one.world, 1);
  await one.world.restore(await one.world.snapshot());
  expect((await lost).status).toBe(504);
  expect((await one.pay({ client_ref_id: 'order-1-a' })).status).toBe(200);
  expect((await one.world.referee()).counts).toMatchObject({ error: 0, warning: 0 });
});

test('a client that is fixed passes after a reset, unless the verdicts on all worlds are kept', async () => {
  const one = await clientFor({ adminToken: ADMIN, maxWorlds: 99 }); // a sandbox that no other test gets
  await payTwice(one);
  expect((await put(one, BY_REFERENCE)).body.passed).toBe(false);
  await one.world.reset();
  await one.pay();
  expect((await put(one, BY_REFERENCE)).body).toMatchObject({ passed: true, counts: { error: 0 } });
  await putForAll(one, {});
  await payTwice(one);
  await one.world.reset();
  expect((await put(one, BY_REFERENCE)).body.passed).toBe(false);
  await payTwice(one);
  const { worlds } = await reportOnAll(one);
  expect(worlds).toMatchObject([{ counts: { error: 2 } }]); // what the world has together with what it lost
});

testRows<[what: string, from: string, lose: (client: Client, empty: string) => Promise<unknown>]>([
  ['a cleared journal', 'the journal was cleared', ({ world }) => world.clearRequests()],
  ['an undo', 'an undo', ({ world }) => world.undo({ force: true })],
  ['a restore', 'a restore', ({ world }, empty) => world.restore(empty)],
])(
  'settings that are given again leave out what was found before a reset, not before %s',
  async (_what, from, lose) => {
    const one = await clientFor();
    const messages = async (settings?: object) => {
      const { checks } = await one.world.referee(settings, { ended: true });
      return checks.flatMap(({ findings }) => findings.map(({ message }) => message));
    };
    const amount = '₹1,500.50 too much';
    const again = (reference: string) =>
      `order-${reference}-b is a second payment of order-${reference}-a: ${amount}`;
    const pay = async (reference: string) => {
      for (const which of ['a', 'b']) await one.pay({ client_ref_id: `order-${reference}-${which}` });
    };
    await put(one, BY_REFERENCE);
    await pay('1');
    const empty = await one.world.reset().then(() => one.world.snapshot());
    await one.world.fund(1);
    await pay('2');
    await lose(one, empty);
    expect(await messages()).toEqual([
      `${again('1')} (from before a reset)`,
      `${again('2')} (from before ${from})`,
    ]);
    for (let time = 1; time <= 2; time += 1)
      expect(await messages(BY_REFERENCE)).toEqual([`${again('2')} (from before ${from})`]);
    for (let cleared = 1; cleared <= 12; cleared += 1) {
      await one.balance();
      await one.world.clearRequests();
    }
    expect(await messages(BY_REFERENCE)).toEqual([`${again('2')} (from before ${from})`]);
    await one.world.reset();
    expect(await messages(BY_REFERENCE)).toEqual([]);
  },
);

test('after many lost journals, settings still leave out only what came before the last reset', async () => {
  const one = await judged(BY_REFERENCE);
  for (let nth = 1; nth <= 24; nth += 1) {
    for (const which of ['a', 'b']) await one.pay({ client_ref_id: `order-${nth}-${which}` });
    await (nth === 12 ? one.world.reset() : one.world.clearRequests());
  }
  expect(await errorsOf(one)).toBe(24);
  expect((await put(one, BY_REFERENCE)).body.counts.error).toBe(12);
});

test('a table says what was meant to be paid, also of requests that were cleared', async () => {
  const one = await judged(
    { expect: [{ account: '000123456789', amount: 1500.5, times: 2 }] },
    { settlement: 'instant' },
  );
  await one.world.rule(lostResponse);
  for (const client_ref_id of ['x', 'y']) await one.pay({ client_ref_id });
  for (const client_ref_id of ['x', 'y']) await one.status({ client_ref_id });
  const before = (await one.world.referee()).counts;
  expect(before).toMatchObject(NOTHING_FOUND);
  await clear(one);
  await one.balance();
  expect((await one.world.referee()).counts).toMatchObject(NOTHING_FOUND);
});

test('a request that the rate limit of a scenario refused is judged with its reference', async () => {
  const one = await clientFor({ scenario: { rate_limit: { max: 1, per: '1h' } } });
  await one.pay({ client_ref_id: 'order-1' });
  for (let sent = 1; sent <= 2; sent += 1) await one.pay({ client_ref_id: 'order-2' });
  const { checks } = await one.world.referee();
  expect(checks.find(({ id }) => id === 'retry-after-ignored')!.findings).toMatchObject([
    { references: ['order-2'], requests: [2, 3] },
  ]);
});

/** The report on all worlds. */
const reportOnAll = async ({ send }: Client): Promise<ConductReports> =>
  (await send('GET', '/_sandbox/worlds/referee', AS_ADMIN)).body;
const drop = async ({ world, send }: Client) =>
  send('DELETE', `/_sandbox/worlds/${(await world.summary()).id}`, AS_ADMIN);

test('with the admin token, the clients of all worlds are judged, also of those that were dropped', async () => {
  const { client } = await sandboxFor({ adminToken: ADMIN });
  const [one, other, quiet] = [client(), client(), client()];
  expect((await putForAll(one, { intent: 'beneficiary_account' })).body).toEqual({
    passed: false,
    worlds: [],
    notes: [],
  });
  await payTwice(one);
  await other.balance();
  await quiet.world.summary(); // a world to which no request came is not in the report
  const before = await reportOnAll(one);
  expect([before.passed, before.worlds.length]).toEqual([false, 2]);
  expect(new Set(before.worlds.map(({ counts }) => counts.error))).toEqual(new Set([0, 1]));
  await drop(one);
  const after = await reportOnAll(one);
  expect([after.passed, after.worlds.length]).toEqual([false, 2]);
  const { text } = await one.send('GET', '/_sandbox/worlds/referee?format=text', AS_ADMIN);
  expect(text).toContain('2 worlds, 1 without findings');
});

testRows<[how: string, lose: (client: Client, other: Client, empty: string) => Promise<unknown>]>([
  ['a reset', ({ world }) => world.reset()],
  ['a restore', ({ world }, _other, empty) => world.restore(empty)],
  ['an admin', drop],
  ['another world that needs the room', (_client, other) => other.balance()],
])('whoever loses a world to %s can no longer ask what became of its payouts', async (_how, lose) => {
  const { client } = await sandboxFor({ adminToken: ADMIN, maxWorlds: '1' });
  const [one, other] = [client(), client()];
  await putForAll(one, {});
  const empty = await one.world.snapshot();
  await one.world.rule(lostResponse);
  await one.pay(); // and it is still PENDING
  await lose(one, other, empty);
  expect((await reportOnAll(one)).worlds.map(({ counts }) => counts.warning)).toContain(1);
});

test('a world that is dropped by an admin takes its settings with it', async () => {
  const { client } = await sandboxFor({ adminToken: ADMIN });
  const one = client();
  await put(one, BY_REFERENCE);
  expect((await one.world.referee()).name).toBe('shop');
  await drop(one);
  expect((await one.world.referee()).name).not.toBe('shop');
});

const FROZEN = { clock: '2026-01-15T10:30:00Z', settlement: 'manual' } as const;
const untilReversed = {
  name: 'returned',
  match: { route: 'initiate' },
  times: 1,
  effect: { timeline: returned.effect.timeline },
} as const;

testRows<[how: string, found: CheckId, settle: (client: Client) => Promise<unknown>]>([
  ['advance', 'reversal-unseen', ({ clock }) => clock.advance('idle')],
  ['a transition', 'reversal-unseen', ({ world }) => world.transition('order-1', 'REVERSED')],
  ['a transition', 'pending-left', ({ world }) => world.transition('order-1', 'FAILED')],
])('on a frozen clock, requests right after the step of %s show that %s', async (_how, found, settle) => {
  const one = await clientFor(FROZEN);
  const verdict = async () =>
    (await one.world.referee({}, { ended: true })).checks.find(({ id }) => id === found)!.verdict;
  if (found === 'reversal-unseen') await one.world.rule(untilReversed);
  await one.pay();
  if (found === 'reversal-unseen') await one.clock.advance('2s');
  if (found === 'reversal-unseen') await one.status(ORDER_1);
  await one.balance(); // the same moment as the step that a test forces, and before it
  await settle(one);
  expect(await verdict()).toBe('not_exercised');
  await one.balance();
  expect(await verdict()).toBe('found');
  await one.world.restore(await one.world.snapshot());
  expect(await verdict()).toBe('found');
});
