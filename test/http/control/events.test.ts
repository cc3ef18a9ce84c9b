import { getEventListeners, once } from 'node:events';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { connectSandbox, type EventsOptions, type World, type WorldEvent } from '../../../src/index.ts';
import type { WorldSums } from '../../../src/contract/control-responses.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';
import { serveInProcess } from '../../support/program.ts';
import { rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { clientFor, clientOf, sandboxFor } from '../../support/sandbox.ts';
import { serverFor } from '../../support/server.ts';

const START = '2026-01-15T10:30:00.000Z';
const SETTINGS = { clock: START, openingBalance: 10_000 } as const;

const NONE = { count: 0, amount: 0 };
const NO_PAYOUTS = { PENDING: NONE, SUCCESS: NONE, FAILED: NONE, REVERSED: NONE };

/** Reads the events of a world one by one, until the test ends. */
async function readerOf(world: World, options: EventsOptions = {}) {
  const events = await world.events(options);
  const leave = async (): Promise<void> => void (await events.return());
  onTestFinished(leave);
  const next = async (): Promise<WorldEvent> => {
    const { value, done } = await events.next();
    if (done) throw new Error('the stream ended');
    return value;
  };
  return { next, leave, events };
}

/** A reader on its own socket, with all bytes received so far. */
async function socketReader(url: string, apiKey: string, headers: Record<string, string> = {}) {
  const socket: Socket = rawSocket(url);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.write(rawRequest('GET /_sandbox/events', { authorization: `Bearer ${apiKey}`, ...headers }));
  await expect.poll(() => text).toContain(': the events of this world');
  return { socket, text: () => text };
}

test('events are sent as server-sent events, each with an id, a type and JSON data', async () => {
  const world = await clientFor(SETTINGS);
  const { socket, text } = await socketReader(world.url, world.apiKey);
  await world.world.fund(5);
  await world.world.fund(7);
  await expect.poll(text).toContain('"balance":10012');
  const [head, ...body] = text().split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(head).toMatch(/^content-type: text\/event-stream; charset=utf-8$/im);
  expect(head).toMatch(/^cache-control: no-store$/im);
  const entry = (amount: number, balance: number) =>
    JSON.stringify({
      balance,
      entry: { kind: 'credit', amount, balance, txn_id: null, at: START },
      sums: { balance, payouts: NO_PAYOUTS, at_risk: NONE, out_of_date: NONE },
    });
  const frames = body
    .join('')
    .split(/\r\n|\n\n/)
    .filter((part) => part.startsWith('id: '))
    .map((frame) => frame.replace(/^id: \w+-/, 'id: '));
  expect(frames).toEqual([
    'id: 0', // where it begins, for a reader whose connection breaks before the first event
    `id: 1\nevent: wallet\ndata: ${entry(5, 10_005)}`,
    `id: 2\nevent: wallet\ndata: ${entry(7, 10_012)}`,
  ]);
  socket.destroy();
});

test('every change in a world is sent as an event, in order', async () => {
  const { world, ...payouts } = await clientFor(SETTINGS);
  const { next } = await readerOf(world);
  const expectNext = async (type: string, expected: object) => {
    const event = await next();
    const { sums: _sums, ...data } = event.data as { sums?: unknown };
    expect([event.type, data]).toEqual([type, expected]);
  };
  const some = (data: object): object => expect.objectContaining(data) as object;
  await world.fund(5);
  await expectNext('wallet', some({ balance: 10_005 }));
  await world.withdraw(5);
  await expectNext('wallet', some({ balance: 10_000 }));
  await world.rule({ name: 'mine', match: { route: 'initiate' }, effect: { delay: '1ms' } });
  await expectNext('scenario', { scenario: 'default', rule: 'world/mine' });
  const { txn_id } = (await payouts.pay({ amount: 100 })).body.data;
  await expectNext('rule', { rule: 'world/mine', matched: 1, taken: 1 });
  await expectNext('request', some({ id: 1, outcome: 'pending', delay_ms: 1 }));
  await expectNext('at_risk', { count: 1, amount: 100 });
  const transaction = await world.transaction(txn_id);
  await expectNext('request', some({ id: 1, outcome: 'answered', rule: 'world/mine', transaction }));
  await expectNext('at_risk', { count: 0, amount: 0 });
  const snapshot = await world.snapshot();
  await world.removeRule('mine');
  await expectNext('scenario', { scenario: 'default' });
  await world.use('happy-fast');
  await expectNext('scenario', { scenario: 'happy-fast' });
  const { changes } = await world.clock.advance('1h');
  expect(changes).toHaveLength(1);
  await expectNext('settlement', { ...changes[0]!, transaction: await world.transaction(txn_id) });
  await expectNext('clock', { now: '2026-01-15T11:30:00.000Z', frozen: true, speed: 0 });
  await world.transition(txn_id, 'REVERSED');
  await expectNext('settlement', some({ from: 'SUCCESS', to: 'REVERSED' }));
  await world.clearRequests();
  await expectNext('journal', { removed: 1, as: 'cleared' });
  await world.reset();
  await expectNext('reset', { now: START });
  await world.restore(snapshot);
  await expectNext('restore', { now: START });
  for (const turn of ['freeze', 'resume'] as const) {
    await world.reset();
    await next();
    await world.clock[turn]();
    await expectNext('clock', some({ frozen: turn !== 'resume' }));
  }
});

test('an event has the sums of the world right after it, also for a reader that resumes', async () => {
  const { world, pay } = await clientFor({ ...SETTINGS, settlement: 'manual' });
  const { events, next } = await readerOf(world);
  const sums: unknown[] = [];
  /** @param about what the data of the last event have: in a store, the end of an earlier request may come before */
  const act = async (action: Promise<unknown>, last: string, about = '') => {
    await action;
    let event: WorldEvent;
    do event = await next();
    while (event.type !== last || !JSON.stringify(event.data).includes(about));
    const { balance, transactions, at_risk, out_of_date } = await world.summary();
    const { in_flight, paid_out } = await world.wallet();
    expect(event.data).toMatchObject({
      sums: {
        payouts: { PENDING: { amount: in_flight }, SUCCESS: { amount: paid_out } },
        balance,
        at_risk,
        out_of_date,
      },
    });
    const { payouts } = (event.data as { sums: WorldSums }).sums;
    expect(Object.entries(payouts).map(([state, { count }]) => [state, count])).toEqual(
      Object.entries(transactions),
    );
    sums.push([event.id, event.data]);
  };
  await world.rule({
    match: { route: 'initiate' },
    times: 1,
    effect: { commit: true, respond: { status: 500 } },
  });
  await act(pay({ client_ref_id: 'lost', amount: 100 }), 'at_risk');
  await act(pay({ client_ref_id: 'told', amount: 10 }), 'request', '"client_ref_id":"told"');
  const [lost, told] = await world.transactions();
  await act(world.transition(told!.txn_id, 'SUCCESS'), 'settlement');
  await act(world.transition(lost!.txn_id, 'FAILED'), 'at_risk');
  await act(world.fund(5), 'wallet');
  const again = await readerOf(world, { after: events.from! });
  for (const expected of sums as [string, unknown][]) {
    let event: WorldEvent;
    do event = await again.next();
    while (event.id !== expected[0]);
    expect(event.data).toEqual(expected[1]);
  }
});

test('events show no key, no other world and no control calls', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const [one, other] = [client(), client()];
  const { next } = await readerOf(one.world);
  await other.world.fund(1);
  await one.world.summary();
  await one.balance();
  const event = await next();
  expect(event).toMatchObject({ type: 'request', data: { request: { headers: { authorization: '***' } } } });
  expect(JSON.stringify(event)).not.toContain(one.apiKey);
});

test('a reader that waits before it reads its first event misses none, even after a garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const { world } = await clientFor(SETTINGS);
  const { next } = await readerOf(world);
  for (let nth = 0; nth < 2; nth += 1) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve)); // the collector's own callbacks run between turns
  }
  await world.fund(1);
  expect(await next()).toMatchObject({ type: 'wallet' });
});

test('a reader that stops reading does not delay the others, and learns what it has missed when it goes on', async () => {
  const world = await clientFor(SETTINGS);
  const large = 'x'.repeat(60_000);
  await world.world.rule({
    match: { route: 'initiate' },
    effect: { respond: { status: 500, body: large } },
  });
  const slow = await socketReader(world.url, world.apiKey);
  slow.socket.pause(); // for less than the ten seconds after which its connection is ended
  const quick = await readerOf(world.world);
  const send = async (count: number, one: () => Promise<unknown>): Promise<void> => {
    await Promise.all(Array.from({ length: count }, one));
    for (let requests = 0; requests < count;) if ((await quick.next()).type === 'request') requests += 1;
  };
  for (let sent = 0; sent < 120; sent += 20) await send(20, () => world.pay({ remarks: large })); // more than the buffers of sockets hold
  for (let sent = 0; sent < 1050; sent += 150) await send(150, () => world.balance()); // and more than a world keeps
  slow.socket.resume();
  await world.world.fund(1);
  expect((await quick.next()).type).toBe('wallet');
  await expect.poll(() => slow.text().includes('\nevent: wallet\n')).toBe(true);
  expect(slow.text().split('\nevent: missed\n')).toHaveLength(2);
  expect(slow.text().split('\nevent: request\n').length).toBeLessThan(1170);
});

test('a reader can leave before its first event, and while it waits for one, and leaves no listener on its signal', async () => {
  const { world } = await clientFor(SETTINGS);
  const { signal } = new AbortController();
  const first = await readerOf(world, { signal });
  const never = first.events.next();
  await first.leave();
  expect(await never).toEqual({ value: undefined, done: true });
  const { events, next } = await readerOf(world, { signal });
  await world.fund(1);
  await next();
  await world.reset();
  for await (const { type } of events) if (type === 'reset') break;
  for (let nth = 0; nth < 32; nth += 1) await readerOf(world);
  await expect(world.events({ signal })).rejects.toMatchObject({ code: 'TOO_MANY_READERS' });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a reader ends with its signal', async () => {
  const { world } = await clientFor(SETTINGS);
  const end = new AbortController();
  const { events } = await readerOf(world, { signal: end.signal });
  const never = events.next();
  end.abort();
  expect(await never).toEqual({ value: undefined, done: true });
});

test('a stream without events gets a heartbeat every 15 seconds, until its client leaves', async () => {
  const wallClock = new ManualClock();
  const { url } = await serverFor({}, wallClock);
  const { socket, text } = await socketReader(url, 'sk_test_events');
  for (const beats of [1, 2, 3]) {
    await wallClock.pass(15_000);
    await expect.poll(() => text().split(': alive\n\n').length - 1).toBe(beats);
  }
  const { timers } = wallClock;
  socket.destroy();
  await expect.poll(() => wallClock.timers).toBe(timers - 1);
});

test('a sandbox that stops ends every event stream properly, and does not wait for readers', async () => {
  const { url, stop } = await serveInProcess();
  const { socket, text } = await socketReader(url, 'sk_test_events');
  const { world } = clientOf(connectSandbox({ url }).world('sk_test_events'));
  const { events } = await readerOf(world);
  const closed = once(socket, 'close');
  const [, last] = await Promise.all([stop(), events.next(), closed]);
  expect(last).toEqual({ value: undefined, done: true });
  expect(text()).toMatch(/\r\n0\r\n\r\n$/); // ended, not cut off
});
