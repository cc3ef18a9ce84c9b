import { expect, test } from 'vitest';
import type { ScenarioInput } from '../../../src/index.ts';
import { ask, refusal } from '../../support/control.ts';
import { sandboxFor } from '../../support/sandbox.ts';
import { payMany } from '../../support/many-payouts.ts';

const START = '2026-01-15T10:30:00.000Z';
const FROZEN = { clock: START, settlement: 'manual' } as const;

/** World time `ms` after the start. */
const after = (ms: number): string => new Date(Date.parse(START) + ms).toISOString();
const S = 1000;
const H = 3600 * S;
const D = 24 * H;

const SLOW: ScenarioInput = {
  settlement: {
    IMPS: [{ to: 'SUCCESS', after: '2s' }],
    NEFT: [
      { to: 'SUCCESS', after: '1h', utr: 'none' },
      { utr: 'now', after: '2h' },
      { to: 'REVERSED', after: '3d' },
    ],
    RTGS: [{ to: 'FAILED', after: '40m' }],
    UPI: [{ to: 'SUCCESS', polls: 2 }],
  },
};

test('the clock shows the time, whether it is frozen and when the next step is due', async () => {
  const { client } = await sandboxFor({ clock: START, scenario: SLOW });
  const world = client();
  expect((await ask(world, 'GET', '/clock')).body).toEqual({ now: START, frozen: true, next_due: null });
  await world.pay({ client_ref_id: 'late', transfer_mode: 'RTGS' });
  expect((await ask(world, 'GET', '/clock')).body.next_due).toBe(after(40 * 60 * S));
  await world.pay({ client_ref_id: 'soon', transfer_mode: 'IMPS' });
  expect((await ask(world, 'GET', '/clock')).body.next_due).toBe(after(2 * S));
});

test('an advance answers with every change, in order, each at its own time', async () => {
  const { client } = await sandboxFor({ clock: START, scenario: SLOW });
  const world = client();
  const id: Record<string, string> = {};
  for (const transfer_mode of ['NEFT', 'RTGS', 'IMPS', 'UPI']) {
    id[transfer_mode] = (await world.pay({ client_ref_id: transfer_mode, transfer_mode })).body.data.txn_id;
  }
  const advanced = await ask(world, 'POST', '/clock/advance', { by: '3d' });
  const utr = expect.stringMatching(/^\S+$/);
  const change = (mode: string, from: string, to: string, ms: number, hasUtr: boolean) => ({
    txn_id: id[mode],
    client_ref_id: mode,
    from,
    to,
    at: after(ms),
    utr: hasUtr ? utr : null,
  });
  expect(advanced).toMatchObject({ status: 200 });
  expect(advanced.body).toEqual({
    now: after(3 * D),
    frozen: true,
    changes: [
      change('IMPS', 'PENDING', 'SUCCESS', 2 * S, true),
      change('RTGS', 'PENDING', 'FAILED', 40 * 60 * S, false),
      change('NEFT', 'PENDING', 'SUCCESS', H, false),
      change('NEFT', 'SUCCESS', 'SUCCESS', 2 * H, true),
      change('NEFT', 'SUCCESS', 'REVERSED', 3 * D, true),
    ],
  });
  expect((await world.status({ client_ref_id: 'RTGS' })).body.data).toMatchObject({
    status: 'FAILED',
    completed_at: after(40 * 60 * S),
  });
  expect((await world.balance()).body.data.last_updated).toBe(after(3 * D));
  expect((await ask(world, 'POST', '/clock/advance', { by: '30d' })).body.changes).toEqual([]);
});

test('many short advances have the same result as one long advance', async () => {
  const books = [];
  for (const moves of [['4d'], ['1s', '1s', '1999ms', '1ms', '40m', '20m', '1h', '3d', '1h']]) {
    const { client } = await sandboxFor({ clock: START, scenario: SLOW });
    const world = client('sk_test_moves');
    for (const transfer_mode of ['NEFT', 'RTGS', 'IMPS']) {
      await world.pay({ client_ref_id: transfer_mode, transfer_mode });
    }
    const changes = [];
    for (const by of moves) changes.push(...(await world.clock.advance(by)).changes);
    books.push({
      changes,
      entries: await world.world.entries(),
      transactions: await world.world.transactions(),
    });
  }
  expect(books[0]!.changes).toHaveLength(5);
  expect(books[1]).toEqual(books[0]);
});

test('an advance accepts a time in any zone, and the current time', async () => {
  const { client } = await sandboxFor(FROZEN);
  const world = client();
  const to = '2026-12-01T05:30:00+05:30';
  expect((await ask(world, 'POST', '/clock/advance', { to })).body).toEqual({
    now: '2026-12-01T00:00:00.000Z',
    frozen: true,
    changes: [],
  });
  expect((await ask(world, 'POST', '/clock/advance', { to: '2026-12-01T00:00:00Z' })).status).toBe(200);
  expect((await ask(world, 'POST', '/clock/advance', { by: '0s' })).body.now).toBe(
    '2026-12-01T00:00:00.000Z',
  );
});

test('an advance until idle stops at the last timed step, and ignores steps that wait for status reads', async () => {
  const { client } = await sandboxFor({ clock: START, scenario: SLOW });
  const world = client();
  expect((await world.clock.advance('idle')).now).toBe(START);
  for (const transfer_mode of ['NEFT', 'IMPS', 'UPI']) {
    await world.pay({ client_ref_id: transfer_mode, transfer_mode });
  }
  const { now, changes } = await world.clock.advance({ until: 'idle' });
  expect(now).toBe(after(3 * D));
  expect(changes.map(({ client_ref_id, to }) => [client_ref_id, to])).toEqual([
    ['IMPS', 'SUCCESS'],
    ['NEFT', 'SUCCESS'],
    ['NEFT', 'SUCCESS'],
    ['NEFT', 'REVERSED'],
  ]);
  expect((await world.status({ client_ref_id: 'UPI' })).body.data.status).toBe('PENDING');
  expect(await world.clock.read()).toEqual({ now: after(3 * D), frozen: true, next_due: null });
});

test('an advance over thousands of payouts lists the change of each', async () => {
  const { client } = await sandboxFor({ clock: START, journalEntries: 0 });
  const world = client();
  const count = 2500; // more than are written into the response at once
  await payMany(world, count);
  const advanced = await ask(world, 'POST', '/clock/advance', { by: '1h' });
  expect(advanced.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(advanced.body).toMatchObject({ now: after(H), frozen: true });
  expect(new Set(advanced.body.changes.map((change: { txn_id: string }) => change.txn_id)).size).toBe(count);
  expect((await world.world.summary()).transactions).toMatchObject({ PENDING: 0, SUCCESS: count });
});

test('a resumed clock continues from the frozen time, and payouts settle when due', async () => {
  const { client } = await sandboxFor({
    scenario: { settlement: { IMPS: [{ to: 'SUCCESS', after: '10ms' }] } },
  });
  const world = client();
  const { now: frozenAt, frozen } = await world.clock.freeze();
  expect(frozen).toBe(true);
  expect((await world.clock.freeze()).now).toBe(frozenAt);
  await world.pay();
  const due = new Date(Date.parse(frozenAt) + 10).toISOString();
  expect(await world.clock.read()).toEqual({ now: frozenAt, frozen: true, next_due: due });
  const resumed = await world.clock.resume();
  expect(resumed.frozen).toBe(false);
  expect(Date.parse(resumed.now)).toBeGreaterThanOrEqual(Date.parse(frozenAt));
  const settled = async () => (await world.status({ client_ref_id: 'order-1' })).body.data;
  await expect.poll(settled).toMatchObject({ status: 'SUCCESS', completed_at: due });
});

test('a running clock keeps running after an advance', async () => {
  const { client } = await sandboxFor();
  const world = client();
  const { now: before } = await world.clock.read();
  const { now, frozen } = await world.clock.advance('30d');
  expect(frozen).toBe(false);
  expect(Date.parse(now) - Date.parse(before)).toBeGreaterThanOrEqual(30 * D);
  await expect.poll(async () => (await world.clock.read()).now > now).toBe(true);
});

test.each([
  ['nothing', undefined, 'body must be a JSON object such as {"by":"2h"}', ['body']],
  ['a list', [], 'body must be a JSON object such as {"by":"2h"}', ['body']],
  ['no move', {}, expect.stringMatching(/^body must be one of .*"by".*"to".*"until":"idle"/), ['body']],
  ['two moves', { by: '1h', until: 'idle' }, expect.stringMatching(/^body must be one of/), ['body']],
  [
    'a number',
    { by: 5 },
    'by must be a duration such as 90s, 2h, 3d or PT90S: 5 has no unit, write 5s for seconds or 5ms for milliseconds',
    ['by'],
  ],
  ['a negative duration', { by: '-2h' }, 'by must be a duration such as 90s, 2h, 3d or PT90S', ['by']],
  ['a month', { by: 'P1M' }, 'by must be a duration such as 90s, 2h, 3d or PT90S', ['by']],
  ['a date without a time', { to: '2026-12-01' }, expect.stringContaining('2026-12-01T00:00:00Z'), ['to']],
  ['a time in the past', { to: '2026-01-15T10:29:59Z' }, expect.stringContaining(START), ['to']],
  ['an unknown condition', { until: 'done' }, 'until must be one of idle', ['until']],
  ['a misspelt move', { untill: 'idle' }, 'untill is not known here (did you mean until?)', ['untill']],
  ['the year 10000', { by: '9999999d' }, 'The clock of a world ends with the year 9999', undefined],
])(
  'an advance with %s is refused with the expected form, and moves nothing',
  async (_what, body, message, fields) => {
    const { client } = await sandboxFor({ clock: START });
    const world = client();
    await world.pay();
    expect(await ask(world, 'POST', '/clock/advance', body)).toMatchObject(
      refusal(400, 'INVALID_REQUEST', message, fields),
    );
    expect(await world.clock.read()).toEqual({ now: START, frozen: true, next_due: after(2 * S) });
  },
);

test.each([
  ['with its offset', '2026-12-01T05:30:00+05:30'],
  ['with a short offset', '2026-12-01T05:30+0530'],
  ['west of Greenwich', '2026-11-30T19:00:00-05:00'],
  ['in UTC', '2026-12-01T00:00Z'],
  ['without an offset, which is IST', '2026-12-01T05:30:00'],
])('the clock can be moved to a time %s', async (_what, to) => {
  const { client } = await sandboxFor(FROZEN);
  expect((await client().clock.advance({ to })).now).toBe('2026-12-01T00:00:00.000Z');
});

test.each(['2026-02-30T00:00:00', '2026-12-01T00:00:00+25:00', '2026-12-01 00:00', 'tomorrow'])(
  'the clock cannot be moved to %s',
  async (to) => {
    const { client } = await sandboxFor(FROZEN);
    await expect(client().clock.advance({ to })).rejects.toThrow(
      'to must be an ISO 8601 time such as 2026-12-01T00:00:00Z or 2026-12-01T05:30:00+05:30',
    );
  },
);

test('an advance by a number is refused with the unit that is missing', async () => {
  const { clock } = (await sandboxFor(FROZEN)).client();
  await expect(clock.advance(7200 as never)).rejects.toThrow('7200 has no unit, write 7200s for seconds');
});

test('a clock can be reset to that of a new world until something happens in the world', async () => {
  const { client } = await sandboxFor(FROZEN);
  const world = client();
  await world.clock.advance('2h');
  await world.clock.resume();
  expect(await world.clock.reset()).toEqual({ now: START, frozen: true, next_due: null });
  await world.clock.advance('2h');
  await world.pay();
  expect(await ask(world, 'POST', '/clock/reset')).toMatchObject(
    refusal(409, 'CLOCK_BACKWARDS', expect.stringContaining('POST /_sandbox/reset')),
  );
  expect((await world.clock.read()).now).toBe(after(2 * H));
  await world.world.reset();
  expect(await world.clock.read()).toEqual({ now: START, frozen: true, next_due: null });
});

test('resetting a frozen clock returns it to real time, and settles what came due meanwhile', async () => {
  const { client } = await sandboxFor({
    scenario: { settlement: { IMPS: [{ to: 'SUCCESS', after: '1ms' }] } },
  });
  const world = client();
  await world.clock.freeze();
  const { created_at } = (await world.pay()).body.data;
  await expect.poll(() => Date.now() > Date.parse(created_at) + 10).toBe(true);
  expect(await world.clock.reset()).toMatchObject({ frozen: false, next_due: null });
  const completed_at = new Date(Date.parse(created_at) + 1).toISOString();
  expect((await world.status({ client_ref_id: 'order-1' })).body.data).toMatchObject({ completed_at });
});

test('advancing the clock of one world does not move the clock of another', async () => {
  const { client } = await sandboxFor({ clock: START });
  const [one, other] = [client(), client()];
  await other.pay();
  await one.clock.advance('400d');
  await one.clock.resume();
  expect(await other.clock.read()).toEqual({ now: START, frozen: true, next_due: after(2 * S) });
});

test('a step planned beyond the year 9999 is shown, and never reached', async () => {
  const { client } = await sandboxFor({ clock: '2026-01-15T10:30:00Z' });
  const world = client();
  const timeline = [{ to: 'SUCCESS', after: '3000000d' }];
  await ask(world, 'PUT', '/scenario', { settlement: { IMPS: timeline } });
  await world.pay();
  for (const path of ['/clock', '/world', '/transactions', '/state']) {
    expect((await ask(world, 'GET', path)).status).toBe(200);
  }
  expect(await ask(world, 'POST', '/clock/advance', { until: 'idle' })).toMatchObject({
    status: 200,
    body: { now: '2026-01-15T10:30:00.000Z', changes: [] },
  });
  expect((await world.status({ client_ref_id: 'order-1' })).body.data.status).toBe('PENDING');
});

test('a scenario with a step beyond the last representable date is refused', async () => {
  const { client } = await sandboxFor();
  const timeline = [{ to: 'SUCCESS', after: '100000000d' }];
  expect(await ask(client(), 'PUT', '/scenario', { settlement: { IMPS: timeline } })).toMatchObject(
    refusal(400, 'INVALID_REQUEST', expect.stringContaining('must be at most'), ['settlement.IMPS[0].after']),
  );
});
