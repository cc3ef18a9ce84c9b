import { expect, onTestFinished, test, vi } from 'vitest';
import type { CheckId, ConductReports } from '../../../src/contract/conduct.ts';
import type { SettingsInput } from '../../../src/index.ts';
import { heldBy } from '../../support/control.ts';
import { clientFor, clientOf, sandboxFor, type Client } from '../../support/sandbox.ts';
import { serverFor } from '../../support/server.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';
import { isStored } from '../../support/size.ts';
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

test('an intent that reads no reference fails the report of a world, also after a reset, until it reads one', async () => {
  const one = await judged({ intent: { client_ref_id: '^(invoice-\\d+)' } });
  const reportIn = async () => (await one.send('GET', '/_sandbox/referee')).body;
  await one.pay({ client_ref_id: 'order-1' });
  const unknown = expect.stringMatching(/^the intent reads none of 1 reference, so .* of this client have$/);
  expect(await reportIn()).toMatchObject({ passed: false, result: 'unknown', unknown });
  await one.world.reset();
  expect(await reportIn()).toMatchObject({ passed: false, result: 'unknown', unknown });
  await one.pay({ client_ref_id: 'invoice-1' });
  expect(await reportIn()).toMatchObject({ passed: true, result: 'passed', unknown: null });
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

test.each([
  ['the payout of one order under two references', 'same-payout-at-once', 'error', 'b'],
  ['one reference', 'same-reference-at-once', 'warning', 'a'],
])('a client that sends %s twice at once is found by the journal: %s', async (_what, id, severity, other) => {
  const one = await judged(BY_REFERENCE);
  await one.world.rule({ match: { route: 'initiate' }, effect: { hold: 'arrived' } });
  const pays = ['a', other].map((which) => one.pay({ client_ref_id: `order-1-${which}` }));
  for (const held of await heldBy(one.world, 2)) await held.release();
  await Promise.all(pays);
  const { checks } = await one.world.referee(undefined, { ended: true });
  const found = checks.filter((check) => check.findings.some((finding) => finding.severity === severity));
  expect(found.map((check) => check.id)).toContain(id);
});

/** What a client and its world do. */
const MOVES: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  pay: ({ world }) => world.pay(),
  balance: ({ balance }) => balance(),
  reset: ({ world }) => world.reset(),
  clear,
};

test('a reference that was paid twice is found once, also where its requests are gone', async () => {
  const dialect = { client_ref_id: { same_body: 'second_payout' } } as const;
  const one = await judged({}, { scenario: { dialect } });
  for (let sent = 1; sent <= 2; sent += 1) await one.pay();
  for (const move of ['clear', 'balance', 'clear', 'reset', 'balance']) {
    await MOVES[move]!(one);
    expect(await errorsOf(one)).toBe(1);
  }
});

test('a journal that an undo or a restore takes away is not judged, and one that it brings back is judged once', async () => {
  const one = await judged(BY_REFERENCE);
  const { world } = one;
  await payTwice(one);
  const snapshot = await world.snapshot();
  const errorsAfter = async (act: () => Promise<unknown>) => (await act(), errorsOf(one));
  expect(await errorsAfter(() => world.reset())).toBe(1);
  expect(await errorsAfter(() => world.undo())).toBe(1);
  expect(await errorsAfter(() => world.reset())).toBe(1);
  expect(await errorsAfter(() => world.restore(snapshot))).toBe(1);
  expect(await errorsAfter(() => clear(one))).toBe(2); // that from before the resets is again another one; the ledger shows this one
});

testRows<[errors: number, times: number, moves: string]>([
  // what was missed before a reset is found, also if it is made after that
  [1, 1, 'balance, reset, pay'],
  // what was met before a reset is not missed again in a world that was not used since, but what follows is judged
  [0, 1, 'pay, reset'],
  [1, 1, 'pay, reset, balance'],
  // a cleared journal leaves the payouts of the world, which are compared
  [0, 1, 'balance, clear, pay'],
  [1, 2, 'balance, clear, pay, clear'],
  [0, 2, 'balance, clear, pay, clear, pay, clear'],
])('a table of expected payouts is compared with each journal of a world', async (errors, times, moves) => {
  const table = { expect: [{ account: '000123456789', amount: 1000, times }] };
  const one = await judged(table, { settlement: 'instant' });
  for (const move of moves.split(', ')) await MOVES[move]!(one);
  expect((await one.world.referee(undefined, { ended: true })).counts.error).toBe(errors);
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
  await put(one, { intent: 'remarks' }); // which the ledger does not have
  await one.pay({ client_ref_id: 'c', remarks: 'order 1' });
  expect((await said('paid-more-often')).verdict).toBe('inconclusive');
  await put(one, { intent: 'beneficiary_account' });
  expect((await said('paid-more-often')).verdict).toBe('found');
  const table = [{ account: '000123456789', amount: 1500.5, times: 3 }];
  await put(one, { intent: 'client_ref_id', expect: table }); // which says what was to be paid
  expect((await said('paid-more-often')).verdict).toBe('passed');
});

test('a payout whose send was cleared casts no doubt on the intents of others to its account', async () => {
  const one = await judged({ intent: 'client_ref_id' });
  await one.world.rule({ match: { route: 'initiate' }, effect: lostResponse.effect });
  await one.pay({ client_ref_id: 'order-1' });
  await clear(one);
  await one.status({ client_ref_id: 'order-1' });
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

test('a verdict that waits while the world is reset has what was found before it', async () => {
  const wallClock = new ManualClock();
  const { sandbox } = await serverFor({}, wallClock);
  const one = clientOf(sandbox.world());
  await put(one, BY_REFERENCE);
  await payTwice(one);
  const asked: Promise<unknown>[] = [];
  wallClock.others = async () => {
    wallClock.others = () => undefined; // only the first verdict, while the others wait for it
    for (const ask of [() => errorsOf(one), () => one.world.reset()]) {
      asked.push(ask());
      await one.world.summary(); // which has come after it
    }
  };
  expect(await errorsOf(one)).toBe(1);
  expect((await Promise.all(asked))[0]).toBe(1);
  expect(await errorsOf(one)).toBe(1);
});

test('after many resets the reports of all journals are added up, and settings that are given again begin anew', async () => {
  const one = await judged(BY_REFERENCE);
  for (let nth = 1; nth <= 24; nth += 1) {
    for (const which of ['a', 'b']) await one.pay({ client_ref_id: `order-${nth}-${which}` });
    await one.world.reset();
  }
  const { checks, counts } = await one.world.referee();
  expect(counts.error).toBe(24);
  expect(checks[0]!.findings[0]!.message).toBe(
    'order-1-b is a second payment of order-1-a: ₹1,500.50 too much (from before a reset)',
  );
  expect((await put(one, BY_REFERENCE)).body.counts.error).toBe(0);
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
    result: 'unknown',
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

const losses: [how: string, lose: (client: Client, other: Client) => Promise<unknown>][] = [
  ['a reset', ({ world }) => world.reset()],
  ['an admin', drop],
];
// a world that makes room in a store leaves no report
if (!isStored) losses.push(['another world that needs the room', (_client, other) => other.balance()]);

testRows(losses)(
  'whoever loses a world to %s can no longer ask what became of its payouts',
  async (_how, lose) => {
    const { client } = await sandboxFor({ adminToken: ADMIN, maxWorlds: '1' });
    const [one, other] = [client(), client()];
    await putForAll(one, {});
    await one.world.rule(lostResponse);
    await one.pay(); // and it is still PENDING
    await lose(one, other);
    expect((await reportOnAll(one)).worlds.map(({ counts }) => counts.warning)).toContain(1);
  },
);

test('a world that is dropped by an admin takes its settings with it', async () => {
  const { client } = await sandboxFor({ adminToken: ADMIN });
  const one = client();
  await put(one, BY_REFERENCE);
  expect((await one.world.referee()).name).toBe('shop');
  await drop(one);
  expect((await one.world.referee()).name).not.toBe('shop');
});

test('on a frozen clock, requests right after a forced step show that its payout was left PENDING', async () => {
  const one = await clientFor({ clock: '2026-01-15T10:30:00Z', settlement: 'manual' });
  const verdict = async () =>
    (await one.world.referee({}, { ended: true })).checks.find(({ id }) => id === 'pending-left')!.verdict;
  await one.pay();
  await one.balance(); // the same moment as the step that a test forces, and before it
  await one.world.transition('order-1', 'FAILED');
  expect(await verdict()).toBe('not_exercised');
  await one.balance();
  expect(await verdict()).toBe('found');
  await one.world.restore(await one.world.snapshot());
  expect(await verdict()).toBe('found');
});

test('the report on a journal that a reset ends has every request before it, however busy the client is', async () => {
  let elapsedMs = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => (elapsedMs += 20)); // each step takes a slice
  onTestFinished(() => now.mockRestore());
  const clock = new ManualClock();
  const { sandbox } = await serverFor({}, clock);
  const one = clientOf(sandbox.world());
  await put(one, {});
  let paid = 0;
  const pay = () => one.pay({ client_ref_id: `order-${(paid += 1)}`, amount: 10.005 });
  for (let nth = 1; nth <= 2; nth += 1) await pay();
  clock.others = pay;
  await one.world.reset();
  clock.others = () => undefined;
  expect(paid).toBeGreaterThan(2);
  const { checks } = await one.world.referee();
  const found = checks.find(({ id }) => id === 'amount-not-paise')!;
  expect(found.findings.length + found.more).toBe(paid);
});

test('a report says what the client has made of each override since it was added', async () => {
  const { world, pay, status } = await clientFor();
  const scoreOf = async (options = {}) => {
    const { overrides } = await world.referee(undefined, options);
    return overrides.map(({ id, taken, verdict, requests }) => [id, taken, verdict, requests]);
  };
  await world.rule({ name: 'lost', ...lostResponse, times: 1 });
  await world.rule(
    { name: 'busy', match: { route: 'initiate' }, times: 1, effect: { respond: 429 } },
    { last: true },
  );
  expect(await scoreOf()).toEqual([
    ['world/lost', 0, 'waiting', []],
    ['world/busy', 0, 'waiting', []],
  ]);
  for (const amount of [1, 2]) await pay({ client_ref_id: `order-${amount}`, amount });
  expect(await scoreOf()).toEqual([
    ['world/lost', 1, 'open', [1]],
    ['world/busy', 1, 'open', [2]],
  ]);
  await status({ client_ref_id: 'order-1' });
  const lost = ['world/lost', 1, 'survived', [1, 3]];
  expect(await scoreOf()).toEqual([lost, ['world/busy', 1, 'open', [2]]]);
  expect(await scoreOf({ ended: true })).toEqual([lost, ['world/busy', 1, 'survived', [2]]]); // it may give up
  await world.rule({ name: 'lost', ...lostResponse, times: 1 });
  expect((await scoreOf())[0]).toEqual(['world/lost', 0, 'waiting', []]); // it begins again
  await pay({ client_ref_id: 'order-3-a' });
  await pay({ client_ref_id: 'order-3-b' });
  expect((await scoreOf())[0]).toEqual(['world/lost', 1, 'failed', [4, 5]]);
});

/** A client that pays one payout under three references, each of which a rule of its own makes fail, and then asks for the last. */
async function payThreeTimes(): Promise<Client> {
  const one = await judged(BY_REFERENCE);
  for (const name of ['first', 'second', 'third'])
    await one.world.rule({ name, ...lostResponse, times: 1 }, { last: true });
  for (const end of ['a', 'b', 'c']) await one.pay({ client_ref_id: `order-1-${end}` });
  return one;
}

test('an override fails only for what the requests that it changed led to', async () => {
  const { world, status } = await payThreeTimes();
  await status({ client_ref_id: 'order-1-c' });
  const { overrides } = await world.referee(undefined, { ended: true });
  const again = (one: string, other: string): string =>
    `paid-twice: order-1-${one} is a second payment of order-1-${other}: ₹1,500.50 too much`;
  expect(overrides).toMatchObject([
    { verdict: 'failed', requests: [1, 2], reason: again('b', 'a') },
    { verdict: 'failed', requests: [2, 3], reason: again('c', 'b') },
    { verdict: 'survived', requests: [3, 4] },
  ]);
});

test('an override fails also for what the report leaves out as part of a worse finding', async () => {
  const { world } = await payThreeTimes();
  const { checks, overrides } = await world.referee(undefined, { ended: true });
  expect(checks.find(({ id }) => id === 'never-asked')!.findings).toEqual([]);
  expect(overrides[2]).toMatchObject({ verdict: 'failed', requests: [3] });
  expect(overrides[2]!.reason).toContain('never-asked');
});

test('what the dashboard sends is not judged: it is not the client', async () => {
  const { world } = await clientFor();
  const send = (client_ref_id: string, headers = {}) =>
    world.pay({ client_ref_id, amount: 10.005 }, { headers });
  await send('order-1', { 'x-sandbox-dashboard': 'pay' });
  expect((await world.referee()).counts.error).toBe(0);
  await send('order-2');
  expect((await world.referee()).counts.error).toBe(1);
});
