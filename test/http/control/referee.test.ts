import { expect, test } from 'vitest';
import type { CheckId } from '../../../src/contract/conduct.ts';
import type { SettingsInput } from '../../../src/index.ts';
import { heldBy } from '../../support/control.ts';
import { clientFor, sandboxFor, type Client } from '../../support/sandbox.ts';
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

const put = (client: Client, settings: object, path = '/_sandbox/referee', token?: string) =>
  client.send('PUT', path, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    json: settings,
  });

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
    ['text', 'text/plain; charset=utf-8', /^world shop {3}1 error/],
    ['junit', 'application/xml; charset=utf-8', /^<\?xml/],
    ['markdown', 'text/markdown; charset=utf-8', /^## Payout referee: failed/],
    ['github', 'text/plain; charset=utf-8', /^::error title=payout referee \(paid-twice\)::/],
    ['json', 'application/json; charset=utf-8', /^\{"name":"shop"/],
  ] as const) {
    const report = await one.send('GET', `/_sandbox/referee?format=${format}`);
    expect([format, report.headers.get('content-type')]).toEqual([format, type]);
    expect(report.text).toMatch(text);
  }
});

test('once the referee has settings for a world, its findings outlive a reset and a cleared journal, and each is found once', async () => {
  const one = await judged(BY_REFERENCE);
  await payTwice(one);
  await clear(one);
  expect(await errorsOf(one)).toBe(1);
  for (let nth = 2; nth <= 12; nth += 1) {
    await one.world.reset();
    await payTwice(one);
  }
  await one.world.reset();
  expect(await errorsOf(one)).toBe(12);
});

test('a mistake is found once, also if its requests come back by a restore or an undo, with those after it or without', async () => {
  const one = await judged(BY_REFERENCE);
  await payTwice(one);
  const snapshot = await one.world.snapshot();
  for (let time = 1; time <= 2; time += 1) await one.world.restore(snapshot);
  expect(await errorsOf(one)).toBe(1);
  await one.balance();
  for (const act of ['reset', 'undo', 'reset', 'restore', 'reset'] as const) {
    await (act === 'restore' ? one.world.restore(snapshot) : one.world[act]());
    expect([act, await errorsOf(one)]).toEqual([act, 1]);
  }
});

test('of many mistakes, each is found once and put right once, whatever a world goes back to', async () => {
  const one = await judged(BY_REFERENCE, { settlement: 'instant' });
  await one.world.rule(lostResponse);
  for (let nth = 1; nth <= 7; nth += 1) await one.pay({ client_ref_id: `order-${nth}-a`, amount: nth });
  const found = async () => (await one.world.referee()).counts;
  const { error, warning } = await found();
  expect(error + warning).toBe(7);
  await one.world.fund(1);
  await one.world.undo();
  await one.world.reset();
  await one.world.undo();
  expect(await found()).toMatchObject({ error, warning });
  for (let nth = 1; nth <= 7; nth += 1) await one.status({ client_ref_id: `order-${nth}-a` });
  expect(await found()).toMatchObject({ error: 0, warning: 0 });
});

test('a mistake is found once, also if another world was restored in between', async () => {
  const { client } = await sandboxFor();
  const [one, other] = [client('sk_test_one'), client('sk_test_other')];
  await put(one, BY_REFERENCE);
  await payTwice(one);
  for (const reference of ['a', 'b']) await other.pay({ client_ref_id: reference });
  await one.world.restore(await other.world.snapshot());
  await one.world.undo();
  expect(await errorsOf(one)).toBe(1);
});

test('a table of expected payouts is compared with those that came back, and not before', async () => {
  const one = await judged(
    { expect: [{ account: '000123456789', amount: 1500.5 }] },
    { settlement: 'instant' },
  );
  await one.balance();
  await one.world.reset();
  await one.world.undo();
  await one.world.restore(await one.world.snapshot());
  await one.pay();
  expect(await errorsOf(one)).toBe(0);
  await one.world.reset(); // after which nothing has happened
  expect(await errorsOf(one)).toBe(0);
});

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
    expect((await one.world.referee()).counts).toMatchObject(NOTHING_FOUND);
  },
);

test.each([
  ['all', ['fund', 'order-1-a', 'order-1-b']],
  ['some', ['order-1-a', 'fund', 'order-1-b']],
])('a finding outlives an undo that takes back %s of its requests', async (_which, steps) => {
  const one = await judged(BY_REFERENCE);
  for (const step of steps) await (step === 'fund' ? one.world.fund(1) : one.pay({ client_ref_id: step }));
  await one.world.undo({ force: true });
  expect(await one.world.requests()).toHaveLength(steps.indexOf('fund'));
  expect(await errorsOf(one)).toBe(1);
});

test('what a client finds out after a restore is not held against it', async () => {
  const one = await judged(BY_REFERENCE);
  await one.world.rule(lostResponse);
  await one.pay({ client_ref_id: 'order-1-a' });
  await one.world.restore(await one.world.snapshot());
  await one.status({ client_ref_id: 'order-1-a' });
  expect((await one.world.referee()).counts).toMatchObject({ error: 0, warning: 0 });
});

test('a payment is not called the only one while a cleared journal may hide another', async () => {
  const one = await judged({ intent: 'beneficiary_account' });
  const verdict = async () =>
    (await one.world.referee()).checks.find(({ id }) => id === 'paid-more-often')!.verdict;
  await one.pay({ client_ref_id: 'x' });
  expect(await verdict()).toBe('passed');
  await clear(one);
  expect(await verdict()).toBe('inconclusive');
  await one.pay({ client_ref_id: 'y' });
  expect(await verdict()).toBe('inconclusive');
  await one.status({ client_ref_id: 'x' });
  expect(await verdict()).toBe('inconclusive');
  const table = [{ account: '000123456789', amount: 1500.5, times: 2 }];
  await put(one, { intent: 'client_ref_id', expect: table }); // which says what was to be paid
  expect(await verdict()).toBe('passed');
});

test('two payments whose requests were cleared are no proof that nothing was paid twice', async () => {
  const one = await clientFor({ settlement: 'instant' });
  for (const client_ref_id of ['a', 'b']) await one.pay({ client_ref_id });
  await one.world.clearRequests();
  const reason =
    '2 payouts were made by requests that were cleared from the journal, and may have been paid again';
  for (const settings of [undefined, { intent: 'beneficiary_account' } as const]) {
    const { checks } = await one.world.referee(settings, { ended: true });
    for (const id of ['paid-twice', 'paid-more-often'])
      expect(checks.find((check) => check.id === id)).toMatchObject({ verdict: 'inconclusive', reason });
  }
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
  const adminToken = 'the-token-of-the-admin';
  const one = await clientFor({ adminToken, maxWorlds: 99 }); // a sandbox that no other test gets
  await payTwice(one);
  expect((await put(one, BY_REFERENCE)).body.passed).toBe(false);
  await one.world.reset();
  await one.pay();
  expect((await put(one, BY_REFERENCE)).body).toMatchObject({ passed: true, counts: { error: 0 } });
  await put(one, {}, '/_sandbox/worlds/referee', adminToken);
  await payTwice(one);
  await one.world.reset();
  expect((await put(one, BY_REFERENCE)).body.passed).toBe(false);
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

test('an expected payout that was missed before a reset is found, also if it is made after that', async () => {
  const one = await judged({ expect: [{ account: '000123456789', amount: 1500.5 }] });
  await one.balance();
  await one.world.reset();
  await one.pay();
  expect(await errorsOf(one)).toBe(1);
});

testRows<[what: string, errors: number, act: (client: Client) => Promise<unknown>]>([
  ['a request that makes no payout', 2, ({ pay }) => pay({ amount: 0.001 })],
  [
    'a payout whose request was cleared',
    1,
    async ({ pay, send }) => {
      for (const client_ref_id of ['x', 'y']) await pay({ client_ref_id });
      await send('DELETE', '/_sandbox/requests');
    },
  ],
])('what follows a reset is judged, also where a table was met before: %s', async (_what, errors, act) => {
  const one = await judged({ expect: [{ account: '000123456789', amount: 1500.5 }] });
  await one.pay();
  await one.world.reset();
  await act(one);
  expect((await one.world.referee(undefined, { ended: true })).counts.error).toBe(errors);
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

test('a reference that was paid twice is found once, however often its requests are cleared', async () => {
  const dialect = { client_ref_id: { same_body: 'second_payout' } } as const;
  const one = await clientFor({ scenario: { dialect } });
  for (let sent = 1; sent <= 2; sent += 1) await one.pay();
  const clear = () => one.send('DELETE', '/_sandbox/requests');
  await clear();
  expect(await errorsOf(one)).toBe(1);
  await put(one, {});
  await one.pay();
  for (const lose of [clear, clear, () => one.world.reset()]) {
    await lose();
    expect(await errorsOf(one)).toBe(1);
    await one.balance();
  }
});

test('a reference that was paid twice is found once, also where a reset without its requests is undone', async () => {
  const dialect = { client_ref_id: { same_body: 'second_payout' } } as const;
  const one = await judged({}, { scenario: { dialect } });
  for (let sent = 1; sent <= 2; sent += 1) await one.pay();
  await clear(one);
  for (const act of [() => one.world.reset(), () => one.world.undo()]) {
    for (let round = 1; round <= 2; round += 1) {
      await act();
      expect(await errorsOf(one)).toBe(1);
    }
  }
});

test('an expected payout may still be made after the journal was cleared', async () => {
  const one = await judged(
    { expect: [{ account: '000123456789', amount: 1500.5 }] },
    { settlement: 'instant' },
  );
  await one.balance();
  await clear(one);
  await one.pay();
  expect((await one.world.referee()).counts).toMatchObject({ error: 0 });
});

test('expected payouts are compared with those of the world, even if its journal was cleared and no request came since', async () => {
  const one = await judged(
    { expect: [{ account: '000123456789', amount: 1500.5, times: 2 }] },
    { settlement: 'instant' },
  );
  for (const ask of [() => one.balance(), () => one.pay()]) {
    await ask();
    await clear(one);
    expect((await one.world.referee(undefined, { ended: true })).counts).toMatchObject({ error: 1 });
  }
  await one.pay({ client_ref_id: 'the second' });
  await clear(one);
  expect((await one.world.referee(undefined, { ended: true })).counts).toMatchObject({ error: 0 });
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

const ADMIN = 'the-token-of-the-admin';

test('with the admin token, the clients of all worlds are judged, also of those that were dropped', async () => {
  const { client } = await sandboxFor({ adminToken: ADMIN });
  const [one, other, quiet] = [client(), client(), client()];
  const all = (query = '') =>
    one.send('GET', `/_sandbox/worlds/referee${query}`, { headers: { authorization: `Bearer ${ADMIN}` } });
  expect((await put(one, { intent: 'beneficiary_account' }, '/_sandbox/worlds/referee', ADMIN)).body).toEqual(
    {
      passed: false,
      worlds: [],
    },
  );
  await payTwice(one);
  await other.balance();
  await quiet.world.summary(); // a world to which no request came is not in the report
  const { id } = await one.world.summary();
  const before = await all();
  expect(before.body.passed).toBe(false);
  expect(
    before.body.worlds.map(({ counts }: { counts: { error: number } }) => counts.error).toSorted(),
  ).toEqual([0, 1]);
  await one.send('DELETE', `/_sandbox/worlds/${id}`, { headers: { authorization: `Bearer ${ADMIN}` } });
  const after = await all();
  expect(after.body.worlds).toHaveLength(2);
  expect(after.body.passed).toBe(false);
  expect((await all('?format=text')).text).toContain('2 worlds, 1 without findings');
});

test('the verdict on a world that was dropped to make room for another is kept', async () => {
  const { client } = await sandboxFor({ adminToken: ADMIN, maxWorlds: '1' });
  const [one, other] = [client(), client()];
  await put(one, { intent: 'beneficiary_account' }, '/_sandbox/worlds/referee', ADMIN);
  await payTwice(one);
  await other.balance();
  const { body } = await other.send('GET', '/_sandbox/worlds/referee', {
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  expect(body.worlds.map(({ passed }: { passed: boolean }) => passed).toSorted()).toEqual([false, true]);
});

const asAdmin = { headers: { authorization: `Bearer ${ADMIN}` } };
const drop = async ({ world, send }: Client) =>
  send('DELETE', `/_sandbox/worlds/${(await world.summary()).id}`, asAdmin);

testRows<[how: string, lose: (client: Client, other: Client, empty: string) => Promise<unknown>]>([
  ['a reset', ({ world }) => world.reset()],
  ['a restore', ({ world }, _other, empty) => world.restore(empty)],
  ['an admin', drop],
  ['another world that needs the room', (_client, other) => other.balance()],
])('whoever loses a world to %s can no longer ask what became of its payouts', async (_how, lose) => {
  const { client } = await sandboxFor({ adminToken: ADMIN, maxWorlds: '1' });
  const [one, other] = [client(), client()];
  await put(one, {}, '/_sandbox/worlds/referee', ADMIN);
  const empty = await one.world.snapshot();
  await one.world.rule(lostResponse);
  await one.pay(); // and it is still PENDING
  await lose(one, other, empty);
  const { worlds } = (await one.send('GET', '/_sandbox/worlds/referee', asAdmin)).body;
  expect(worlds.map(({ counts }: { counts: { warning: number } }) => counts.warning)).toContain(1);
});

test('a world that is dropped by an admin takes its settings with it', async () => {
  const { client } = await sandboxFor({ adminToken: ADMIN });
  const one = client();
  await put(one, BY_REFERENCE);
  expect((await one.world.referee()).name).toBe('shop');
  await drop(one);
  expect((await one.world.referee()).name).not.toBe('shop');
});

test('the report on all worlds counts what a world has together with what it lost', async () => {
  const one = await clientFor({ adminToken: ADMIN, maxWorlds: 98 }); // a sandbox that no other test gets
  await put(one, BY_REFERENCE, '/_sandbox/worlds/referee', ADMIN);
  await payTwice(one);
  await one.world.reset();
  await payTwice(one);
  const headers = { authorization: `Bearer ${ADMIN}` };
  const { worlds } = (await one.send('GET', '/_sandbox/worlds/referee', { headers })).body;
  expect(worlds.map(({ counts }: { counts: { error: number } }) => counts.error)).toEqual([2]);
});

test('the counts of a report fit its checks, also after its journal was cleared', async () => {
  const one = await clientFor({ settlement: 'instant', adminToken: ADMIN, maxWorlds: 97 }); // a sandbox that no other test gets
  await put(one, {}, '/_sandbox/worlds/referee', ADMIN);
  await one.world.rule(lostResponse);
  await one.pay({ client_ref_id: 'order-1' });
  await clear(one);
  const headers = { authorization: `Bearer ${ADMIN}` };
  const [{ checks, counts }] = (await one.send('GET', '/_sandbox/worlds/referee', { headers })).body.worlds;
  for (const verdict of ['passed', 'not_exercised', 'inconclusive', 'off']) {
    const judged = checks.filter((check: { readonly verdict: string }) => check.verdict === verdict);
    expect([verdict, counts[verdict]]).toEqual([verdict, judged.length]);
  }
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
