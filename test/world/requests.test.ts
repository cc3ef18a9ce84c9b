import { describe, expect, test } from 'vitest';
import { REQUEST_FIELDS } from '../../src/contract/snapshot.ts';
import { seenIn } from '../../src/world/journal/kept-request.ts';
import { journalEntry } from '../../src/world/journal/journal-entry.ts';
import { responseOf } from '../../src/world/request/response.ts';
import type { CommandOf } from '../../src/world/commands.ts';
import { balance, Core, initiate, load, oneRule, save, sourceOf, START_MS } from '../support/world/core.ts';
import { testRows } from '../support/test-rows.ts';

const numbers = ({ state }: Core) => state.requests.list.map(({ nth }) => nth);

describe('the requests that a world remembers', () => {
  test('are a sixteenth more than it may keep until they make room together', () => {
    const world = new Core();
    world.keep = 32;
    const lengths: number[] = [];
    for (let nth = 1; nth <= 36; nth += 1) {
      world.balance();
      lengths.push(world.state.requests.list.length);
    }
    expect(lengths.slice(30)).toEqual([31, 32, 33, 34, 32, 33]);
    expect(world.state.requests.evicted).toBe(3);
  });

  test('are kept with the fields of the interface, and in part where they are long', () => {
    const world = new Core(
      oneRule({ respond: { status: 400, body: '{{remarks}}' } }, { match: { client_ref_id: 'a' } }),
    );
    const remarks = 'r'.repeat(20_000);
    const long = { other: 'x'.repeat(9000), ...initiate().body, remarks };
    const headers = { 'x-long': 'x'.repeat(5000), 'x-short': 'y' };
    const result = world.submit(
      initiate({ remarks }, { request: { method: 'POST', body: JSON.stringify(long), headers } }),
    );
    world.submit(refused({ body: `{${'z'.repeat(9000)}` }));
    expect(Object.keys(world.state.requests.list[0]!).slice(0, REQUEST_FIELDS.length)).toEqual(
      REQUEST_FIELDS,
    );
    const [one, other] = world.state.requests.list.map(journalEntry);
    expect(one).toMatchObject({ cut: ['body', 'headers'], request: { headers: { 'x-short': 'y' } } });
    expect(one!.request.headers).not.toHaveProperty('x-long');
    expect(one!.request.body).toEqual({
      ...initiate().body,
      remarks: expect.stringMatching(/^r{1000,8000}$/),
    });
    expect([responseOf(result).body, one!.answer!.body]).toEqual(Array(2).fill('r'.repeat(200)));
    expect(other).toMatchObject({ cut: ['body'], request: { body: `{${'z'.repeat(8191)}` } });
  });

  test('are kept so that what a rule says of their fields can be said again, whatever characters are in them', () => {
    const world = new Core(oneRule({ respond: { status: 400, body: '{{remarks}}{{now}}' } }));
    const remarks = '\u0001'.repeat(9000);
    const sent = { ...initiate().body, remarks, now: 'never' };
    const result = world.submit(initiate({ remarks }, { request: { body: JSON.stringify(sent) } }));
    expect(responseOf(result).body).toBe(`${remarks.slice(0, 200)}2026-01-15T10:30:00.000Z`);
  });

  test('are kept with the response that was sent, although what it shows had changed before that ended', () => {
    const world = new Core(oneRule({ delay: '5s' }));
    const sent = responseOf(world.pay('a'));
    world.force('a', 'FAILED');
    world.end(1, 'answered');
    expect(journalEntry(world.state.requests.list[0]!).answer!.body).toEqual(JSON.parse(sent.body));
    expect(world.payout('a').told?.as).toBe('PENDING');
  });

  test('are all counted as dropped when others need their room, again and again', () => {
    const world = new Core();
    for (let time = 1; time <= 2; time += 1) {
      world.balance();
      world.submit({ kind: 'forget', as: 'evicted' });
    }
    expect(world.state.requests.evicted).toBe(2);
  });

  test('stay while they are under way, and count as before, when a client clears them', () => {
    const world = new Core(oneRule({ delay: '1s' }, { match: { route: 'balance' } }));
    world.submit(balance());
    world.submit({ kind: 'forget', as: 'cleared' });
    expect(numbers(world)).toEqual([1]);
  });

  test('have numbers that are never given again, whatever the world becomes', () => {
    const world = new Core();
    const earlier = new Core();
    for (let nth = 1; nth <= 3; nth += 1) world.balance();
    world.submit({ kind: 'reset', source: sourceOf() });
    world.balance();
    world.restore(earlier);
    world.balance();
    expect(numbers(world)).toEqual([5]);
  });

  test('end once, and an end changes none of another world that was restored meanwhile', () => {
    const world = new Core(oneRule({ delay: '1s' }, { match: { route: 'balance' } }));
    world.submit(balance());
    const elsewhere = new Core({ rules: [] });
    elsewhere.restore(world);
    elsewhere.end(1, 'answered');
    expect(elsewhere.state.requests.list).toMatchObject([{ outcome: 'client_gone', response: undefined }]);
    world.end(1, 'client_gone', { durationMs: 30 });
    expect(world.state.requests.list).toMatchObject([{ outcome: 'client_gone', durationMs: 30 }]);
    expect(world.state.requests.list[0]!.response).toBeUndefined();
    expect(world.events.at(-1)).toMatchObject({ type: 'request', request: { nth: 1, endedAfter: 1 } });
  });
});

/** A request that has ended before it reached the ledger. */
const refused = (change: Partial<CommandOf<'refused'>['request']> = {}): CommandOf<'refused'> => ({
  kind: 'refused',
  route: 'initiate',
  request: { ...balance().request, ...change },
  end: {
    outcome: 'answered',
    durationMs: 1,
    after: 0,
    isSent: true,
    refused: { code: 'INVALID_JSON', response: { status: 400, headers: {}, body: '{}' } },
  },
});

test('a request that has ended before it reached the ledger is remembered like any other', () => {
  const world = new Core();
  world.submit(refused({ worldName: 'payroll', waitedMs: 30 }), 100);
  const ended = {
    nth: 1,
    wallMs: START_MS + 70,
    outcome: 'answered',
    code: 'INVALID_JSON',
    response: { status: 400 },
    durationMs: 1,
    endedAfter: 1,
  };
  expect(world.state.requests.list).toMatchObject([ended]);
  expect(world.events).toMatchObject([{ type: 'request', request: ended }]);
  expect(world.state.name).toBe('payroll');
  world.submit(refused());
  expect(world.state.name).toBe('payroll');
});

/** The newest request that had arrived when each of these had ended. */
const endedAfter = ({ state }: Core) => state.requests.list.map((request) => request.endedAfter);

describe('a request overlaps', () => {
  const delayed = oneRule({ delay: '1s' }, { match: { route: 'balance' }, times: 1 });

  test('those that came before it ended, and none that came later, also after a snapshot', () => {
    const world = new Core(delayed);
    world.balance();
    world.balance();
    world.end(1, 'client_gone');
    world.balance();
    expect(endedAfter(world)).toEqual([2, 2, 3]);
    expect(load(save(world.state)).requests.list.map((request) => request.endedAfter)).toEqual([2, 2, 3]);
  });

  test('one that had arrived at its server before it was processed there', () => {
    const world = new Core();
    world.balance();
    const before = world.position;
    world.balance();
    world.submit(balance({ request: { after: before } }));
    expect(endedAfter(world)).toEqual([1, 3, 3]);
  });

  test('one of another server only if its own server knew that one when it ended', () => {
    const world = new Core(delayed);
    world.balance();
    const before = world.position;
    for (let nth = 2; nth <= 3; nth += 1) {
      world.server = 'other';
      world.submit(balance({ request: { after: 0 } })); // what that server had applied proves nothing here
    }
    world.end(1, 'answered', { after: before });
    expect(endedAfter(world)).toEqual([1, 3, 3]);
  });
});

test('only what is gone from the list is announced', () => {
  const world = new Core();
  world.balance();
  for (const as of ['cleared', 'cleared', 'evicted'] as const) world.submit({ kind: 'forget', as });
  expect(world.events.filter(({ type }) => type === 'journal')).toEqual([
    { type: 'journal', removed: 1, as: 'cleared' },
  ]);
  expect(world.state.requests.evicted).toBe(0);
});

const STATE = { kind: 'state', state: 'SUCCESS' };
const UNKNOWN = { kind: 'unknown' };
const paid = { data: { status: 'SUCCESS' } };
const holding = (balance: unknown) => ({ data: { balance } });

testRows<[route: 'initiate' | 'status' | 'balance', status: number | null, body: unknown, seen: object]>([
  ['initiate', 200, paid, STATE],
  ['status', 201, paid, STATE],
  ['status', 200, { data: { status: 'PAID' } }, UNKNOWN],
  ['status', 200, 'SUCCESS', UNKNOWN],
  ['initiate', null, paid, UNKNOWN],
  ['initiate', 204, paid, UNKNOWN],
  ['initiate', 299, paid, STATE],
  ['initiate', 300, paid, UNKNOWN],
  ['initiate', 399, paid, UNKNOWN],
  ['initiate', 400, paid, { kind: 'refused' }],
  ['initiate', 408, paid, UNKNOWN],
  ['initiate', 404, paid, { kind: 'refused' }],
  ['status', 404, null, { kind: 'not-found' }],
  ['status', 499, paid, { kind: 'refused' }],
  ['status', 500, paid, UNKNOWN],
  ['balance', 200, holding(0), { kind: 'balance', paise: 0 }],
  ['balance', 200, holding(1500.5), { kind: 'balance', paise: 150_050 }],
  ['balance', 200, holding(-0.01), UNKNOWN],
  ['balance', 200, holding(0.001), UNKNOWN],
  ['balance', 200, holding('10'), UNKNOWN],
  ['balance', 200, holding(1e300), UNKNOWN],
  ['balance', 200, paid, UNKNOWN],
])(
  'what a client learns from a response follows from its status and its body',
  (route, status, body, seen) => {
    expect(seenIn({ route, status, code: null, body, asked: {} })).toEqual(seen);
  },
);

test('who asks for the rest of a response to initiate learns nothing from a whole one', () => {
  const asked = { range: 'bytes=10-' };
  const seen = (route: 'initiate' | 'status', status: number) =>
    seenIn({ route, status, code: null, body: paid, asked });
  expect([seen('initiate', 200), seen('initiate', 206), seen('status', 200)]).toEqual([
    UNKNOWN,
    STATE,
    STATE,
  ]);
});
