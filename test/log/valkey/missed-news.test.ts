import { Redis } from 'iovalkey';
import { pino } from 'pino';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { connectSandbox } from '../../../src/index.ts';
import type { PublishedEvent } from '../../../src/log/event-log.ts';
import type { ValkeyLog } from '../../../src/log/valkey/valkey-log.ts';
import { storeUnavailable } from '../../../src/log/valkey/store-connection.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { startServer } from '../../../src/server.ts';
import { readSettings } from '../../../src/settings.ts';
import { initiate, sourceOf } from '../../support/core.ts';
import { freshStore } from '../../support/fresh-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { storedLogFor } from '../../support/stored-log.ts';

const WORLD = 'c'.repeat(32);
const mayBeAway = {
  storeObserver: { away: () => undefined, back: () => undefined, warning: () => undefined },
};

const credit = async (log: ValkeyLog): Promise<void> => {
  const world = await log.use(WORLD);
  await world.submit({ kind: 'credit', amountPaise: 500 });
  await world.flush();
};

/** The types of the events that a reader at a server gets. */
async function eventsAt(log: ValkeyLog, afterId?: string) {
  const events: PublishedEvent[] = [];
  await (
    await log.use(WORLD)
  ).watch(afterId, { take: (event) => void events.push(event), end: () => undefined });
  return events;
}

const typesOf = (events: readonly PublishedEvent[]) => events.map(({ type }) => type);

/** Resolves once a server has heard all that was said before. */
async function heard(log: ValkeyLog, url: string): Promise<void> {
  const client = new Redis(url);
  let times = 0;
  let stop = (): void => undefined;
  await new Promise<void>((resolve) => {
    stop = log.store.follow('payout-sandbox:2:mark', () => {
      times += 1;
      if (times === 1)
        void client.publish('payout-sandbox:2:mark', ''); // the first is that it listens now
      else resolve();
    });
  });
  stop();
  client.disconnect();
}

describe.skipIf(inject('storeUrl') === '')('what happens while a server cannot use its store', () => {
  test('reaches its readers of events, and ends its delayed answers, once it can', async () => {
    const url = await freshStore();
    const { log: one } = await storedLogFor(url, 'one');
    const { log: other } = await storedLogFor(url, 'other', mayBeAway);
    const events = await eventsAt(other);
    let isReleased = false;
    (await other.use(WORLD)).delayed.hold(() => (isReleased = true));
    const full = vi.spyOn(other.store.client, 'set').mockRejectedValue(new Error('the store is full'));
    await expect.poll(() => other.store.isAway).toBe(true);
    await credit(one);
    await (
      await one.use(WORLD)
    ).submit({ kind: 'reset', source: (await one.use(WORLD)).latest.scenario.source });
    await heard(other, url);
    expect([typesOf(events), isReleased]).toEqual([[], false]);
    full.mockRestore();
    await expect.poll(() => [typesOf(events), isReleased]).toEqual([['wallet', 'reset'], true]);
  });

  test('and after it, also ends answers that the server began to delay meanwhile', async () => {
    const store = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    onTestFinished(() => store.end());
    const { log: one } = await storedLogFor(store.url, 'one', mayBeAway);
    const { log: other } = await storedLogFor(store.url, 'other', mayBeAway);
    const world = await other.use(WORLD);
    await store.kill();
    const released = new Promise<void>((resolve) => world.delayed.hold(resolve));
    for (const { store: away } of [one, other]) await expect.poll(() => away.isAway).toBe(true);
    await store.start();
    for (const { store: back } of [one, other]) await expect.poll(() => back.isAway).toBe(false);
    const connections = async (): Promise<number> =>
      String(await store.command('CLIENT', 'LIST'))
        .trim()
        .split('\n').length;
    await expect.poll(connections).toBe(5); // two of each server, and that which asks
    await heard(other, store.url);
    const { source } = world.latest.scenario;
    await (await one.use(WORLD)).submit({ kind: 'reset', source });
    await released;
  });
});

test.skipIf(inject('storeUrl') === '')(
  'a step that comes due while its part of the store is away is not reported as a bug of the sandbox',
  async () => {
    const failed: unknown[] = [];
    const clock = new ManualClock(systemClock().nowMs());
    const source = sourceOf({ settlement: { IMPS: [{ to: 'SUCCESS', after: '1s' }] } });
    const { log } = await storedLogFor(await freshStore(), 'one', {
      wallClock: clock,
      activeSource: () => source,
      observer: {
        settled: () => undefined,
        failed: (_worldId, error) => void failed.push(error),
        dropped: () => undefined,
      },
    });
    await (await log.use(WORLD)).submit(initiate());
    const refused = vi.spyOn(log.store, 'reliably').mockRejectedValue(storeUnavailable());
    await clock.pass(2000);
    expect(refused).toHaveBeenCalled();
    expect(failed).toEqual([]);
  },
);

describe.skipIf(inject('storeUrl') === '')('a reader of a world that is dropped as it begins to read', () => {
  async function readWhileDropped(isHead: boolean) {
    const settings = readSettings({ port: 0, store: await freshStore() }, {});
    const server = await startServer(settings, systemClock(), pino({ level: 'silent' }));
    onTestFinished(() => server.close());
    const worlds = server.worlds as ValkeyLog;
    const { apiKey } = connectSandbox({ url: server.url }).world('sk_test_reader');
    const headers = { authorization: `Bearer ${apiKey}` };
    await fetch(`${server.url}/client/fetchbalance`, { headers });
    const [id] = (await worlds.ids()) as [string];
    const script = worlds.store.script.bind(worlds.store);
    const spy = vi.spyOn(worlds.store, 'script').mockImplementation(async (name, ...args) => {
      if (name !== 'watch') return script(name, ...args);
      spy.mockRestore();
      const before = isHead ? await script(name, ...args) : undefined;
      await worlds.drop(id);
      return before ?? script(name, ...args);
    });
    const response = await fetch(`${server.url}/_sandbox/events`, { headers });
    return [response.status, response.headers.get('content-type')?.split(';')[0], await response.text()];
  }

  test('gets a stream that ends', async () => {
    expect(await readWhileDropped(true)).toEqual([
      200,
      'text/event-stream',
      expect.stringMatching(/^: the events of this world\n/),
    ]);
  });

  test('is refused when the world is dropped before the stream begins', async () => {
    expect((await readWhileDropped(false)).slice(0, 2)).toEqual([503, 'application/json']);
  });
});

test.skipIf(inject('storeUrl') === '')(
  'a reader who resumes gets the events it has missed, even while another reader is given new ones',
  async () => {
    const { log } = await storedLogFor(await freshStore(), 'one');
    const { store } = log;
    const first = await eventsAt(log);
    for (let nth = 0; nth < 2; nth += 1) await credit(log);
    await expect.poll(() => typesOf(first)).toEqual(['wallet', 'wallet']);

    const replies: (() => void)[] = [];
    const later = async <T>(reply: Promise<T>): Promise<T> => {
      const came = await reply;
      await new Promise<void>((resolve) => replies.push(resolve));
      return came;
    };
    const script = store.script.bind(store);
    const spy = vi.spyOn(store, 'script').mockImplementation((name, ...args) => {
      if (name !== 'watch') return script(name, ...args);
      spy.mockRestore();
      return later(script(name, ...args));
    });

    const second = eventsAt(log, first[0]!.id);
    await expect.poll(() => replies).toHaveLength(1); // it is known who reads
    const xrange = store.client.xrange.bind(store.client) as (...args: unknown[]) => Promise<never>;
    vi.spyOn(store.client, 'xrange').mockImplementationOnce((...args: unknown[]) => later(xrange(...args)));
    await credit(log);
    await expect.poll(() => replies).toHaveLength(2); // what is new for the first reader
    for (const come of replies) come();
    expect(typesOf(await second)).toEqual(['wallet', 'wallet']);
    await expect.poll(() => typesOf(first)).toEqual(['wallet', 'wallet', 'wallet']);
  },
);
