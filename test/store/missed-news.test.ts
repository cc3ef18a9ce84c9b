import { expect, test, vi } from 'vitest';
import type { PublishedEvent } from '../../src/worlds/world-connections.ts';
import type { StoreConnection } from '../../src/store/store-connection.ts';
import { Store } from '../../src/store/store.ts';
import type { Worlds } from '../../src/worlds/worlds.ts';
import { systemClock } from '../../src/platform/system-clock.ts';
import { serverFor } from '../support/server.ts';
import { freshStore } from '../support/store/fresh-store.ts';
import { onScripts } from '../support/store/scripts-run.ts';
import { storedLogsFor, WORLD } from '../support/store/stored-log.ts';
import { withoutPatience } from '../support/store/store-times.ts';
import { balance, initiate, load, readerOf, save } from '../support/world/core.ts';
import { ManualClock } from '../support/world/manual-clock.ts';

const MAY_BE_AWAY = { storeObserver: { away: () => undefined } };

const credit = async (log: Worlds): Promise<void> => {
  const world = await log.use(WORLD);
  await world.submit({ kind: 'credit', amountPaise: 500 });
  await world.flush();
};

const reset = async (log: Worlds): Promise<void> => {
  const world = await log.use(WORLD);
  await world.submit({ kind: 'reset', source: world.latest.scenario.source });
};

/** The events that a reader at a server gets. */
const eventsAt = async (log: Worlds, afterId?: string) =>
  (await readerOf(await log.use(WORLD), afterId)).read;

const typesOf = (events: readonly PublishedEvent[]) => events.map(({ type }) => type);

/** Resolves once a server has found out that its store cannot be used. */
const foundAway = (connection: StoreConnection): Promise<void> =>
  withoutPatience(async () => {
    await expect.poll(() => connection.isAway).toBe(true);
  });

test('what happens while a server cannot use its store reaches its readers of events, and ends its delayed responses, once it can', async () => {
  const { one, other, ofOther } = await storedLogsFor({}, MAY_BE_AWAY);
  const { connection } = ofOther.store;
  const events = await eventsAt(other);
  let isReleased = false;
  (await other.use(WORLD)).connections.wait(() => (isReleased = true));
  const full = vi.spyOn(connection.client, 'set').mockRejectedValue(new Error('the store is full'));
  await foundAway(connection);
  await credit(one);
  await reset(one);
  expect([typesOf(events), isReleased]).toEqual([[], false]);
  full.mockRestore();
  await expect.poll(() => [typesOf(events), isReleased]).toEqual([['wallet', 'reset'], true]);
});

test('how a request ended is soon known at other servers, although nobody asks the one that responded', async () => {
  const clock = new ManualClock(systemClock().nowMs());
  const { one, other } = await storedLogsFor({ wallClock: clock }, { wallClock: systemClock() });
  const world = await one.use(WORLD);
  await world.submit(balance());
  world.end({ request: 1, outcome: 'answered', durationMs: 5, after: world.position, isSent: true });
  const durations = async () =>
    (await other.use(WORLD)).read(({ requests }) => requests.list.map(({ durationMs }) => durationMs));
  expect(await durations()).not.toEqual([5]);
  let tries = 0;
  const found = onScripts(async () => {
    tries += 1;
    throw new Error('Connection is closed.');
  });
  await clock.pass(15_000);
  await expect.poll(() => tries).toBe(1);
  found(); // and it is sent again
  const later = async () => clock.pass(100).then(durations);
  await expect.poll(later).toEqual([5]);
});

test('a payout whose server has not said how its request ended is at risk at every server', async () => {
  const { one, other } = await storedLogsFor();
  const made = await one.use(WORLD);
  await made.submit(initiate());
  for (const log of [one, other])
    expect(await (await log.use(WORLD)).read(({ index }) => index.atRisk.count)).toBe(1);
});

test('a reader of a world that is dropped as it begins to read gets a stream that ends', async () => {
  let store!: Store;
  const open = Store.open.bind(Store);
  vi.spyOn(Store, 'open').mockImplementationOnce(async (options) => (store = await open(options)));
  const { url, worlds, sandbox } = await serverFor({ store: await freshStore() }, systemClock());
  const headers = { authorization: `Bearer ${sandbox.world().apiKey}` };
  await fetch(`${url}/client/fetchbalance`, { headers });
  const [id] = (await worlds.ids()) as [string];
  const listen = store.listen.bind(store);
  vi.spyOn(store, 'listen').mockImplementationOnce((world) => {
    void store.drop(id);
    listen(world);
  });
  const response = await fetch(`${url}/_sandbox/events`, { headers });
  expect(response.status).toBe(200);
  expect(await response.text()).toMatch(/^: the events of this world\n/);
});

test('a reader who resumes at another server from a reset or a restore, or across one, gets what follows once', async () => {
  const { one, other } = await storedLogsFor();
  const events = await eventsAt(one);
  const world = await one.use(WORLD);
  await credit(one);
  const state = load(save(world.latest));
  await credit(one);
  await world.submit({ kind: 'restore', state, clock: 'from-snapshot' });
  await credit(one);
  await reset(one);
  await credit(one);
  await world.submit({ kind: 'undo', isForced: true });
  await credit(one);
  const types = ['wallet', 'wallet', 'restore', 'wallet', 'reset', 'wallet', 'restore', 'wallet'];
  expect(typesOf(events)).toEqual(types);
  for (const [nth, { id }] of events.entries()) {
    for (const log of [one, other]) expect(await eventsAt(log, id)).toEqual(events.slice(nth + 1));
  }
});
