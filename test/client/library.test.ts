import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectSandbox, SandboxError, type Sandbox, type World, type WorldEvent } from '../../src/index.ts';
import { PAYOUT, seen, type Seen } from '../support/sandbox.ts';
import { isLong } from '../support/size.ts';
import { START, WAYS_IN } from '../support/world/ways-in.ts';
import { payMany } from '../support/many-payouts.ts';

const DAY_MS = 86_400_000;
const after = (ms: number): string => new Date(Date.parse(START) + ms).toISOString();

/** Sends an initiate over HTTP, like any client. */
const pay = async ({ url, apiKey }: World, change: Record<string, unknown> = {}): Promise<Seen> =>
  seen(
    await fetch(`${url}/payout/initiate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...PAYOUT, amount: 1000, ...change }),
    }),
  );

const status = async ({ url, apiKey }: World, reference: string): Promise<Seen> =>
  seen(
    await fetch(`${url}/payout/status?client_ref_id=${reference}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    }),
  );

describe.each(WAYS_IN)('$name', ({ start }) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await start();
  });
  afterAll(() => sandbox.close());

  test('every world has its own key and data', async () => {
    const [one, other] = [sandbox.world(), sandbox.world()];
    expect(one.apiKey).not.toBe(other.apiKey);
    expect(one.url).toBe(sandbox.url);
    await pay(one);
    expect(await one.balance()).toBe(999_000);
    expect(await other.balance()).toBe(1_000_000);
    expect(await other.transactions()).toEqual([]);
    expect((await sandbox.world(one.apiKey).summary()).id).toBe((await one.summary()).id);
  });

  test('advance moves a frozen clock and returns the changes', async () => {
    const world = sandbox.world();
    await pay(world, { transfer_mode: 'NEFT' });
    expect(await world.clock.read()).toEqual({ now: START, frozen: true, next_due: after(20_000) });
    const early = await world.clock.advance('19s');
    expect(early).toEqual({ now: after(19_000), frozen: true, changes: [] });
    const { changes } = await world.clock.advance({ by: 'PT1S' });
    expect(changes).toMatchObject([
      { client_ref_id: 'order-1', from: 'PENDING', to: 'SUCCESS', at: after(20_000) },
    ]);
    expect((await world.clock.advance({ to: after(DAY_MS) })).now).toBe(after(DAY_MS));
    expect((await world.clock.now()).getTime()).toBe(Date.parse(after(DAY_MS)));
    await expect(world.clock.advance({ to: START })).rejects.toThrow('never goes backwards');
  });

  test('advance until idle moves the clock to the last planned step', async () => {
    const world = sandbox.world();
    await pay(world, { client_ref_id: 'reversed', beneficiary_account: '9999200004' });
    await pay(world, { client_ref_id: 'hangs', beneficiary_account: '9999200005' });
    const { now, changes } = await world.clock.advance('idle');
    expect(changes.map(({ to }) => to)).toEqual(['SUCCESS', 'REVERSED']);
    expect(now).toBe(changes[1]!.at);
    expect(await world.clock.advance('idle')).toMatchObject({ now, changes: [] });
    expect((await world.summary()).transactions).toMatchObject({ PENDING: 1, REVERSED: 1 });
  });

  test('resume starts the clock, and freeze stops it', async () => {
    const world = sandbox.world();
    expect((await world.clock.resume()).frozen).toBe(false);
    await expect.poll(async () => (await world.clock.now()).getTime()).toBeGreaterThan(Date.parse(START));
    const { now, frozen } = await world.clock.freeze();
    expect(frozen).toBe(true);
    expect((await world.clock.read()).now).toBe(now);
  });

  test('a scenario is chosen by name or sent whole, and sets the balance of an unused wallet', async () => {
    const world = sandbox.world();
    expect(await world.use('insufficient-balance')).toMatchObject({
      name: 'insufficient-balance',
      chosen: true,
    });
    await world.use({
      wallet: { opening_balance: 250 },
      settlement: { IMPS: [{ to: 'FAILED', after: '1s' }] },
    });
    expect(await world.balance()).toBe(250);
    await pay(world, { amount: 200 });
    await world.clock.advance('1s');
    expect((await status(world, 'order-1')).body.data.status).toBe('FAILED');
    expect((await world.use(null)).chosen).toBe(false);
    expect(await world.balance()).toBe(250); // a used wallet keeps its balance
    expect((await world.scenarios()).scenarios.map(({ name }) => name)).toContain('rate-limited');
  });

  test('an override of a world applies before those of the scenario, is counted and can be removed', async () => {
    const world = sandbox.world();
    const rule = await world.rule({
      name: 'gone-after-commit',
      match: { route: 'initiate' },
      times: 1,
      effect: { commit: true, respond: { status: 500 } },
    });
    expect(rule).toMatchObject({ id: 'world/gone-after-commit', taken: 0 });
    expect((await pay(world)).status).toBe(500);
    expect((await pay(world)).headers.get('idempotent-replayed')).toBe('true');
    expect((await world.rules())[0]).toMatchObject({ name: 'gone-after-commit', matched: 2, taken: 1 });
    expect((await world.rules('world')).map(({ name }) => name)).toEqual(['gone-after-commit']);
    expect(await world.rules('scenario')).toEqual([]);
    const magic = await world.rules('magic');
    expect(new Set(magic.map(({ from }) => from))).toEqual(new Set(['magic']));
    await world.removeRule('gone-after-commit');
    expect((await world.rules())[0]!.from).not.toBe('world');
    await expect(world.removeRule('gone-after-commit')).rejects.toMatchObject({ code: 'RULE_NOT_FOUND' });
  });

  test('fund and withdraw move the balance, and the entries explain every paisa', async () => {
    const world = sandbox.world();
    expect((await world.fund(500.25)).balance).toBe(1_000_500.25);
    expect((await world.withdraw(0.25)).balance).toBe(1_000_500);
    const { txn_id } = (await pay(world, { beneficiary_account: '9999200001' })).body.data;
    await world.clock.advance('2s');
    expect(
      (await world.entries()).map(({ kind, amount, balance, txn_id: of }) => [kind, amount, balance, of]),
    ).toEqual([
      ['opening', 1_000_000, 1_000_000, null],
      ['credit', 500.25, 1_000_500.25, null],
      ['debit', -0.25, 1_000_500, null],
      ['payout', -1000, 999_500, txn_id],
      ['refund', 1000, 1_000_500, txn_id],
    ]);
    expect(await world.entries({ txn_id })).toHaveLength(2);
    await expect(world.withdraw(2_000_000)).rejects.toMatchObject({
      status: 402,
      code: 'INSUFFICIENT_BALANCE',
    });
  });

  test('a payout can be forced along legal transitions only', async () => {
    const world = sandbox.world();
    const { txn_id } = (await pay(world)).body.data;
    expect(await world.transition(txn_id, 'SUCCESS')).toMatchObject({
      status: 'SUCCESS',
      legal: ['REVERSED'],
      reason: expect.stringContaining('forced'),
    });
    const refused = await world.transition(txn_id, 'FAILED').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SandboxError);
    expect(refused).toMatchObject({ status: 409, code: 'ILLEGAL_TRANSITION' });
    expect((refused as SandboxError).message).toContain('it can go to REVERSED');
    await world.transition(txn_id, 'REVERSED');
    expect(await world.balance()).toBe(1_000_000);
    expect((await world.transaction(txn_id)).timeline.map(({ to, forced }) => [to, forced])).toEqual([
      ['SUCCESS', true],
      ['REVERSED', true],
    ]);
    expect((await world.clock.advance('30d')).changes).toEqual([]); // planned steps are cancelled
  });

  test('verify checks the requests of a client against the journal', async () => {
    const world = sandbox.world();
    await world.rule({ name: 'busy', match: { attempt: 1 }, effect: { respond: { status: 503 } } });
    await pay(world);
    await pay(world);
    const requests = await world.requests({ route: 'initiate' });
    expect(requests.map(({ answer, committed, attempt }) => [answer?.status, committed, attempt])).toEqual([
      [503, false, 1],
      [200, true, 2],
    ]);
    expect(await world.verify({ match: { client_ref_id: 'order-1' }, count: { exactly: 2 } })).toMatchObject({
      passed: true,
      count: 2,
    });
    expect(await world.verify({ sequence: [{ status: 503 }, { status: 200 }] })).toMatchObject({
      passed: true,
    });
    expect(await world.verify({ match: { status: 429 } })).toMatchObject({
      passed: false,
      closest: [{ id: 2, misses: [{ field: 'status', expected: 429, actual: 200 }] }, { id: 1 }],
    });
    await world.clearRequests();
    expect(await world.requests()).toEqual([]);
  });

  test('a test pays, waits for the payout and proves what came', async () => {
    const world = sandbox.world();
    await world.pay({ client_ref_id: 'order-1', transfer_mode: 'NEFT' });
    expect(await world.waitFor('order-1', 'SUCCESS')).toMatchObject({ completed_at: after(20_000) });
    await world.expect({ route: 'initiate' }).exactly(1);
    await expect(world.expect({ status: 429 }).atLeast(1)).rejects.toThrow('status is 200, expected 429');
    const har = await world.toHar();
    expect(har.log.entries.map(({ request, response }) => [request.method, response.status])).toEqual([
      ['POST', 200],
    ]);
  });

  test('reset restores the initial world', async () => {
    const world = sandbox.world();
    const initial = await world.summary();
    await world.use('happy-fast');
    await world.rule({ effect: { respond: { status: 500 } } });
    await pay(world);
    await world.fund(1);
    await world.clock.advance('1d');
    expect(await world.reset()).toEqual(initial);
    expect(await world.requests()).toEqual([]);
    expect((await world.rules()).filter(({ from }) => from === 'world')).toEqual([]);
    expect((await pay(world)).body.data.txn_id).toBeDefined();
  });

  test('a snapshot can be restored into its own world and into another', async () => {
    const [world, fork] = [sandbox.world(), sandbox.world()];
    await pay(world);
    const snapshot = await world.snapshot();
    await world.clock.advance('2s');
    expect((await status(world, 'order-1')).body.data.status).toBe('SUCCESS');
    await world.restore(snapshot);
    await fork.restore(snapshot);
    expect((await status(world, 'order-1')).body.data.status).toBe('PENDING');
    await Promise.all([world.clock.advance('2s'), fork.clock.advance('2s')]);
    expect((await status(fork, 'order-1')).text).toBe((await status(world, 'order-1')).text);
  });

  test('a world can be restored as it was before a request', async () => {
    const world = sandbox.world();
    await pay(world, { client_ref_id: 'order-1' });
    await pay(world, { client_ref_id: 'order-2' });
    await world.restore(await world.before(2));
    expect((await world.transactions()).map(({ client_ref_id }) => client_ref_id)).toEqual(['order-1']);
    expect((await world.requests()).map(({ id }) => id)).toEqual([1]);
    await expect(world.before(9)).rejects.toMatchObject({ status: 404, code: 'REQUEST_NOT_FOUND' });
  });

  test('undo takes back the last advance, and with force the requests since then', async () => {
    const world = sandbox.world();
    await expect(world.undo()).rejects.toMatchObject({ status: 409, code: 'UNDO_REFUSED' });
    await pay(world);
    const before = await world.summary();
    await world.clock.advance('2h');
    expect(await world.undo()).toEqual({ action: 'advance', at: START });
    expect(await world.summary()).toEqual(before);
    await world.clock.advance('2h');
    await status(world, 'order-1');
    await expect(world.undo()).rejects.toThrow('#2 status order-1');
    expect(await world.undo({ force: true })).toMatchObject({ action: 'advance' });
    expect(await world.requests()).toHaveLength(1);
  });

  test('a payout whose response was lost is at risk until a response shows it to the client', async () => {
    const world = sandbox.world();
    await world.rule({ times: 1, effect: { commit: true, respond: { status: 500 } } });
    await pay(world, { client_ref_id: 'lost' });
    await pay(world, { client_ref_id: 'told' });
    const references = async (isAtRisk: boolean) =>
      (await world.transactions({ at_risk: isAtRisk })).map(({ client_ref_id }) => client_ref_id);
    expect([await references(true), await references(false)]).toEqual([['lost'], ['told']]);
    await status(world, 'lost');
    expect([await references(true), await references(false)]).toEqual([[], ['lost', 'told']]);
  });

  test('the name of a world is in its summary and in the list of worlds, also after a restore from another', async () => {
    const name = 'payouts > retries “order-1” once';
    const [world, other] = [sandbox.world({ name }), sandbox.world({ name: 'other' })];
    await world.restore(await other.snapshot());
    const { id } = await world.summary();
    const shown = 'payouts > retries -order-1- once';
    expect((await world.summary()).name).toBe(shown);
    expect((await sandbox.worlds()).find((one) => one.id === id)).toMatchObject({ name: shown });
    expect((await sandbox.world({ apiKey: world.apiKey }).summary()).name).toBe(shown);
    expect((await sandbox.world({ name: 'x'.repeat(500) }).summary()).name).toBe('x'.repeat(120));
    expect((await sandbox.world({ name: '' }).summary()).name).toBeNull();
  });

  test('a new world is called like its test, and one with a key of its own is not', async () => {
    const world = sandbox.world();
    const { name } = await world.summary();
    expect(name).toMatch(/ > a new world is called like its test, and one with a key of its own is not$/);
    expect((await sandbox.world(`sk_test_${crypto.randomUUID()}`).summary()).name).toBeNull();
  });

  test('events are streamed as they happen, and continue after a known one', async () => {
    const world = sandbox.world();
    const events = await world.events();
    await pay(world);
    await world.clock.advance('2s');
    await world.reset();
    const received: WorldEvent[] = [];
    for await (const event of events) {
      received.push(event);
      if (event.type === 'reset') break;
    }
    expect(received.map(({ type }) => type)).toEqual(['request', 'settlement', 'clock', 'reset']);
    expect(received[0]).toMatchObject({
      type: 'request',
      data: { route: 'initiate', answer: { status: 200 } },
    });
    const again = await world.events({ after: received[1]!.id });
    expect((await again.next()).value).toEqual(received[2]);
    await again.return();
  });

  test('await using drops the world when it goes out of scope, or resets it without the admin token', async () => {
    const idOf = async ({ apiKey }: { readonly apiKey: string }) =>
      (await sandbox.world(apiKey).summary()).id;
    const ids = async () => (await sandbox.worlds()).map(({ id }) => id);
    const dropped = sandbox.world();
    const reset = connectSandbox({ url: sandbox.url }).world(sandbox.world().apiKey);
    const [droppedId, resetId] = [await idOf(dropped), await idOf(reset)];
    {
      await using first = dropped;
      await using second = reset;
      await Promise.all([pay(first), pay(second)]);
    }
    const left = await ids();
    expect([left.includes(droppedId), left.includes(resetId)]).toEqual([false, true]);
    expect(await reset.transactions()).toEqual([]);
    expect(await dropped.transactions()).toEqual([]);
  });

  /** Told once in `npm test`, since it takes longer than all others together. */
  test.each(isLong || start === WAYS_IN[0]!.start ? ['lists'] : [])(
    '%s of more than one page are returned whole',
    async () => {
      const world = sandbox.world();
      const count = 1100;
      const references = Array.from({ length: count }, (_, nth) => `order-${nth}`);
      await payMany(world, count);
      const known = await world.transactions();
      expect(known.map(({ client_ref_id }) => client_ref_id).toSorted()).toEqual(references.toSorted());
      expect(await world.entries()).toHaveLength(count + 1);
      expect(await world.requests()).toHaveLength(1000); // as many as the journal holds
    },
  );

  test('the owner of the sandbox can list all worlds and drop one', async () => {
    const world = sandbox.world();
    await pay(world);
    const { id } = await world.summary();
    expect((await sandbox.worlds()).find((one) => one.id === id)).toMatchObject({ transactions: 1 });
    await sandbox.dropWorld(id);
    expect((await sandbox.worlds()).map((one) => one.id)).not.toContain(id);
    expect(await world.transactions()).toEqual([]); // the key gets a new world
  });

  test('one scenario can produce pending, paid, reversed, unfunded and rate-limited payouts', async () => {
    const world = sandbox.world();
    await world.use({
      wallet: { opening_balance: 5000 },
      rate_limit: { max: 4, per: '1h' },
      settlement: {
        IMPS: [{ to: 'SUCCESS', after: '2s' }],
        NEFT: [
          { to: 'SUCCESS', after: '2h' },
          { to: 'REVERSED', after: '3d' },
        ],
        RTGS: [],
      },
    });
    expect((await pay(world, { client_ref_id: 'salary', transfer_mode: 'IMPS', amount: 1000 })).status).toBe(
      200,
    );
    expect((await pay(world, { client_ref_id: 'rent', transfer_mode: 'NEFT', amount: 3500 })).status).toBe(
      200,
    );
    const broke = await pay(world, { client_ref_id: 'tax', transfer_mode: 'RTGS', amount: 2000 });
    expect(broke).toMatchObject({ status: 402, body: { code: 'INSUFFICIENT_BALANCE' } });
    await world.clock.advance('2s');
    expect((await status(world, 'salary')).body.data).toMatchObject({ status: 'SUCCESS' });
    expect((await status(world, 'rent')).body.data).toMatchObject({ status: 'PENDING' });

    await world.fund(1500);
    expect((await pay(world, { client_ref_id: 'tax', transfer_mode: 'RTGS', amount: 2000 })).status).toBe(
      200,
    );
    const tooFast = await pay(world, { client_ref_id: 'fee', amount: 1 });
    expect(tooFast).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(await world.balance()).toBe(0);

    await world.clock.advance('1d');
    expect((await status(world, 'rent')).body.data).toMatchObject({ status: 'SUCCESS' });
    const { changes } = await world.clock.advance('2d');
    expect(changes).toMatchObject([{ client_ref_id: 'rent', from: 'SUCCESS', to: 'REVERSED' }]);
    expect(await world.balance()).toBe(3500);
    expect(await world.summary()).toMatchObject({
      transactions: { PENDING: 1, SUCCESS: 1, FAILED: 0, REVERSED: 1 },
      invariants: 'hold',
    });
    expect(
      await world.verify({ match: { route: 'initiate', status: [402, 429] }, count: { exactly: 2 } }),
    ).toMatchObject({
      passed: true,
    });
  });

  test('a test can expect good conduct of its client, and its error says what was wrong', async () => {
    const world = sandbox.world();
    await world.rule({
      match: { route: 'initiate', attempt: 1 },
      effect: { commit: true, respond: { status: 500 } },
    });
    await pay(world, { client_ref_id: 'order-1-a' });
    await world.clock.advance('1h');
    await expect(world.expectGoodConduct()).resolves.toBeUndefined();
    await expect(world.expectGoodConduct({ failOn: 'warning' })).rejects.toThrow('never-asked');
    await pay(world, { client_ref_id: 'order-1-b' });
    const conduct = world.expectGoodConduct({ name: 'shop', intent: { client_ref_id: '^(order-\\d+)' } });
    await expect(conduct).rejects.toThrow(
      /did not behave well:\nworld shop {3}1 error(.|\n)*fix: read the status/,
    );
    const { passed, checks } = await world.referee();
    expect([passed, checks[0]!.id, checks[0]!.verdict]).toEqual([false, 'paid-twice', 'found']);
  });
});
