import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectSandbox, type Sandbox } from '../../src/index.ts';
import { clientOf } from '../support/sandbox.ts';
import { isLong } from '../support/size.ts';
import { START, WAYS_IN } from '../support/world/ways-in.ts';
import { payMany } from '../support/many-payouts.ts';

const after = (ms: number): string => new Date(Date.parse(START) + ms).toISOString();
const LOST = { commit: true, respond: { status: 500 } } as const;

test('a sandbox that another process runs is used like one of this process', async () => {
  await using sandbox = await WAYS_IN.at(-1)!.start();
  await using world = sandbox.world();
  const { txn_id } = await world.pay();
  expect([await world.balance(), await world.transition(txn_id!, 'FAILED')]).toMatchObject([999_000, {}]);
  expect((await sandbox.worlds()).map(({ balance }) => balance)).toContain(1_000_000);
});

// all that is said goes over HTTP, in a process or out of it
describe.each(isLong ? WAYS_IN : WAYS_IN.slice(0, 1))('$name', ({ start }) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await start();
  });
  afterAll(() => sandbox.close());

  test('a clock is advanced by a duration, to a time and until nothing is scheduled, and returns the changes', async () => {
    const { clock, pay } = clientOf(sandbox.world());
    await pay({ transfer_mode: 'NEFT' });
    expect(await clock.read()).toEqual({ now: START, frozen: true, speed: 0, next_due: after(20_000) });
    expect(await clock.advance('19s')).toEqual({ now: after(19_000), frozen: true, speed: 0, changes: [] });
    const step = { client_ref_id: 'order-1', from: 'PENDING', to: 'SUCCESS', at: after(20_000) };
    expect((await clock.advance({ by: 'PT1S' })).changes).toMatchObject([step]);
    await pay({ client_ref_id: 'reversed', beneficiary_account: '9999200004' });
    const { now, changes } = await clock.advance('idle');
    expect([changes.map(({ to }) => to), changes[1]!.at]).toEqual([['SUCCESS', 'REVERSED'], now]);
    expect((await clock.advance(new Date('2026-12-30'))).now).toBe('2026-12-30T00:00:00.000Z');
    expect((await clock.advance({ to: '2026-12-31' })).now).toBe('2026-12-30T18:30:00.000Z');
    expect((await clock.advance({ to: '2027-01-01T00:00:00Z' })).changes).toEqual([]);
    expect((await clock.now()).getTime()).toBe(Date.UTC(2027, 0, 1));
    await expect(clock.advance(10 as never)).rejects.toThrow('10 has no unit, write 10s');
    expect(await clock.speed(3600)).toMatchObject({ frozen: false, speed: 3600 });
    expect((await clock.resume()).speed).toBe(1);
    await expect.poll(async () => (await clock.now()).getTime()).toBeGreaterThan(Date.UTC(2027, 0, 1));
    expect(await clock.freeze()).toMatchObject({ frozen: true, now: (await clock.read()).now });
  });

  test('a test pays, waits for the payout, and verifies what came', async () => {
    const world = sandbox.world();
    await world.rule({ match: { attempt: 1 }, effect: { respond: { status: 503 } } });
    await world.pay({ client_ref_id: 'order-1' });
    await world.pay({ client_ref_id: 'order-1' });
    expect(await world.waitFor('order-1', 'SUCCESS')).toMatchObject({ completed_at: expect.any(String) });
    const requests = await world.requests({ route: 'initiate' });
    expect(requests.map(({ answer, committed, attempt }) => [answer?.status, committed, attempt])).toEqual([
      [503, false, 1],
      [200, true, 2],
    ]);
    await world.expect({ route: 'initiate' }).exactly(2);
    expect(await world.verify({ sequence: [{ status: 503 }, { status: 200 }] })).toMatchObject({
      passed: true,
    });
    expect(await world.verify({ match: { status: 503 }, count: { atLeast: 2 } })).toMatchObject({
      passed: false,
    });
    expect(await world.verify({ match: { status: 429 } })).toMatchObject({
      passed: false,
      closest: [{ id: 2, misses: [{ field: 'status', expected: 429, actual: 200 }] }, { id: 1 }],
    });
    await world.clearRequests();
    expect(await world.requests()).toEqual([]);
  });

  test('a world is taken back by undo, from a snapshot into another world, and by a reset', async () => {
    const [world, fork] = [sandbox.world(), sandbox.world()];
    const initial = await world.summary();
    const references = async () => (await world.transactions()).map(({ client_ref_id }) => client_ref_id);
    await expect(world.undo()).rejects.toMatchObject({ status: 409, code: 'UNDO_REFUSED' });
    await world.pay({ client_ref_id: 'order-1' });
    const paid = await world.summary();
    await world.clock.advance('2h');
    const done = { action: expect.any(Number), name: 'advance', at: START };
    expect((await world.summary()).last_action).toEqual(done);
    expect(await world.undo()).toEqual(done);
    expect(await world.summary()).toEqual(paid);
    await world.clock.advance('2h');
    await world.pay({ client_ref_id: 'order-2' });
    await expect(world.undo()).rejects.toThrow('#2 initiate order-2');
    await fork.restore(await world.snapshot());
    expect((await fork.transactions()).map(({ status }) => status)).toEqual(['SUCCESS', 'PENDING']);
    await fork.pay();
    expect(await fork.undo({ force: true })).toMatchObject({ name: 'restore' });
    expect(await fork.transactions()).toEqual([]);
    await world.rule({ effect: LOST });
    expect({ ...(await world.reset()), last_action: null }).toEqual(initial);
    expect([await references(), await world.requests(), await world.rules('world')]).toEqual([[], [], []]);
  });

  test('an undo takes back nothing that another client has done, unless it names that', async () => {
    const one = sandbox.world();
    const other = sandbox.world({ apiKey: one.apiKey });
    await one.fund(1);
    await other.clock.advance('2h');
    const { last_action: theirs } = await one.summary();
    await expect(one.undo({ force: true })).rejects.toMatchObject({
      code: 'UNDO_REFUSED',
      message: expect.stringMatching(`^The latest action .* is advance \\(number ${theirs!.action}\\)`),
    });
    await one.undo({ action: theirs!.action });
    expect(await one.undo()).toMatchObject({ name: 'credit' });
    await expect(one.undo()).rejects.toThrow('nothing to undo that was done here');
  });

  test('a world has the name of its test or a given one, also after a restore, unless its key was given', async () => {
    const nameOf = async (given?: Parameters<Sandbox['world']>[0]) =>
      (await sandbox.world(given).summary()).name;
    expect(await nameOf()).toMatch(/ > a world has the name of its test or a given one, also after a resto/);
    expect(await nameOf(`sk_test_${crypto.randomUUID()}`)).toBeNull();
    expect([await nameOf({ name: 'x'.repeat(500) }), await nameOf({ name: '' })]).toEqual([
      'x'.repeat(120),
      null,
    ]);
    const world = sandbox.world({ name: 'payouts > retries “order-1” once' });
    await world.restore(await sandbox.world({ name: 'other' }).snapshot());
    const { id } = await world.summary();
    const shown = 'payouts > retries -order-1- once';
    expect([await nameOf(world.apiKey), (await sandbox.worlds()).find((one) => one.id === id)?.name]).toEqual(
      [shown, shown],
    );
  });

  test('the owner lists and drops worlds; await using drops a world, or resets it without the admin token', async () => {
    const idOf = async ({ apiKey }: { readonly apiKey: string }) =>
      (await sandbox.world(apiKey).summary()).id;
    const [using, dropped] = [sandbox.world(), sandbox.world()];
    const reset = connectSandbox({ url: sandbox.url }).world(sandbox.world().apiKey);
    const ids = [await idOf(using), await idOf(dropped), await idOf(reset)];
    {
      await using first = using;
      await using second = reset;
      await Promise.all([first, second, dropped].map((world) => world.pay()));
    }
    expect((await sandbox.worlds()).find(({ id }) => id === ids[1])).toMatchObject({ transactions: 1 });
    await sandbox.dropWorld(ids[1]!);
    const left = new Set((await sandbox.worlds()).map(({ id }) => id));
    expect(ids.map((id) => left.has(id))).toEqual([false, false, true]);
    for (const world of [using, dropped, reset]) expect(await world.transactions()).toEqual([]);
  });

  test('lists of more than one page are returned whole', async () => {
    const world = sandbox.world();
    const count = 1100;
    const references = Array.from({ length: count }, (_, nth) => `order-${nth}`);
    await payMany(world, count);
    const known = await world.transactions();
    expect(known.map(({ client_ref_id }) => client_ref_id).toSorted()).toEqual(references.toSorted());
    expect(await world.entries()).toHaveLength(count + 1);
    const ids = (await world.requests()).map(({ id }) => id);
    expect(ids).toEqual(references.map((_, nth) => nth + 1));
    const { changes } = await world.clock.advance('1d'); // in two parts: there are more than fit in one turn
    expect(new Set(changes.map(({ client_ref_id }) => client_ref_id))).toEqual(new Set(references));
  });

  test('a test can expect good conduct of its client, and its error says what was wrong', async () => {
    const world = sandbox.world();
    await world.rule({ match: { route: 'initiate', attempt: 1 }, effect: LOST });
    await world.pay({ client_ref_id: 'order-1-a' });
    await world.clock.advance('1h');
    await expect(world.expectGoodConduct()).resolves.toBeUndefined();
    await expect(world.expectGoodConduct({ failOn: 'warning' })).rejects.toThrow('never-asked');
    await expect(world.expectGoodConduct({ failOn: 'warnings' as never })).rejects.toThrow(
      'failOn must be one of error, warning, notice, not warnings',
    );
    await world.pay({ client_ref_id: 'order-1-b' });
    const typo = world.expectGoodConduct({ intent: { client_ref_id: '^(odrer-\\d+)' } });
    await expect(typo).rejects.toThrow(
      'nobody knows whether the client of this world behaved well: the intent',
    );
    const conduct = world.expectGoodConduct({ name: 'shop', intent: { client_ref_id: '^(order-\\d+)' } });
    await expect(conduct).rejects.toThrow(
      /did not behave well:\nworld shop\n {2}error(.|\n)*fix: read the status/,
    );
    await expect(world.expectGoodConduct({ failOn: 'warning' })).rejects.toThrow(
      'did not behave well, judged by intent client_ref_id=^(order-\\d+), set earlier:\nworld shop\n  error',
    );
    const { passed, checks } = await world.referee();
    expect([passed, checks[0]!.id, checks[0]!.verdict]).toEqual([false, 'paid-twice', 'found']);
  });
});
