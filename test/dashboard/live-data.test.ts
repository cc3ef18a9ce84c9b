import { expect, onTestFinished, test } from 'vitest';
import type { JournalEntry, TransactionsResponse } from '../../src/contract/control-responses.ts';
import type { EventsOptions, World, WorldEvent } from '../../src/index.ts';
import { EventFeed } from '../../src/dashboard/store/event-feed.ts';
import { News } from '../../src/dashboard/store/news.ts';
import { PayoutList } from '../../src/dashboard/store/payout-list.ts';
import { RequestList } from '../../src/dashboard/store/request-list.ts';

/** The events of a connection that a test ends. */
function connection() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  async function* read(): AsyncGenerator<WorldEvent, void> {
    await ended;
    yield* [];
  }
  return { events: read(), end };
}

/** Follows a world whose connections are these, one after the other: what the feed reports, and after which event it continues. */
function follow(...streams: AsyncGenerator<WorldEvent, void>[]) {
  const page = Object.assign(new EventTarget(), { hidden: false });
  const after: (string | undefined)[] = [];
  const opened: boolean[] = [];
  const shown: string[] = [];
  const world = {
    events: async (options: EventsOptions) => {
      after.push(options.after);
      return streams.shift() ?? Promise.reject(new Error('nobody answers'));
    },
  } as unknown as World;
  const feed = new EventFeed(
    world,
    { take: () => undefined, opened: (isNew) => void opened.push(isNew) },
    page,
  );
  onTestFinished(() => feed.close());
  feed.connection.subscribe(({ state }) => void shown.push(state));
  void feed.read();
  const show = (isShown: boolean): void => {
    page.hidden = !isShown;
    page.dispatchEvent(new Event('visibilitychange'));
  };
  return { after, opened, shown, show };
}

test('a hidden page reads nothing, and goes on where it was once it is shown', async () => {
  const [first, second] = [connection(), connection()];
  const { after, opened, show } = follow(Object.assign(first.events, { from: '7' }), second.events);
  await expect.poll(() => opened.length).toBe(1);
  show(false);
  first.end();
  await new Promise(setImmediate);
  expect(after).toEqual([undefined]);
  show(true);
  await expect.poll(() => opened).toEqual([true, false]);
  expect(after).toEqual([undefined, '7']);
});

test('a lost connection that is replaced within a second is not shown, and one that is not is shown', async () => {
  const [first, second] = [connection(), connection()];
  const { opened, shown } = follow(first.events, second.events);
  await expect.poll(() => opened.length).toBe(1);
  first.end();
  await expect.poll(() => opened.length).toBe(2);
  expect(shown).toEqual(['connecting', 'live', 'live']);
  second.end();
  await expect.poll(() => shown.slice(3)).toEqual(['reconnecting', 'gone']); // a second later
});

test('a connection that replaces one without an event continues from where that one began', async () => {
  const open = [connection(), connection()];
  const { after, opened } = follow(...open.map(({ events }) => Object.assign(events, { from: 'a.7' })));
  await expect.poll(() => opened.length).toBe(1);
  open[0]!.end();
  await expect.poll(() => opened).toEqual([true, false]);
  expect(after).toEqual([undefined, 'a.7']);
});

test('a server that does not say where its events begin may have missed any, so everything is read again', async () => {
  const open = [connection(), connection(), connection()];
  const event = { id: 'a.1.0', type: 'reset', data: { now: '' } } as WorldEvent;
  async function* withEvent(): AsyncGenerator<WorldEvent, void> {
    yield event;
    yield* open[1]!.events;
  }
  const { opened } = follow(open[0]!.events, withEvent(), open[2]!.events);
  for (const [nth, { end }] of open.entries()) {
    await expect.poll(() => opened.length).toBe(nth + 1);
    end();
  }
  expect(opened).toEqual([true, true, false]);
});

test('a list of requests says when newer ones have taken the place of its oldest', () => {
  const list = new RequestList(2);
  const requests = (...ids: number[]) => ids.map((id) => ({ id, outcome: 'answered' }) as JournalEntry);
  list.begin(requests(1), 0);
  expect(list.isCut.value).toBe(false);
  list.take(requests(2, 3));
  expect([list.rows.value, list.isCut.value]).toEqual([requests(3, 2), true]);
});

test('a screen reader announces the payouts at risk, also after several at once', () => {
  const news = new News();
  const risk = (count: number) => ({ id: '', type: 'at_risk', data: { count, amount: 500 } }) as WorldEvent;
  news.takeEvents([risk(1), risk(2)]);
  expect(news.said.value).toBe('2 payouts at risk, ₹500.00');
});

test('a sandbox that started again with its worlds is not said to be another client that loaded a snapshot', () => {
  const restore = { type: 'restore', data: { now: '2026-01-15T10:30:00.000Z' } } as WorldEvent;
  const said = (...events: readonly WorldEvent[]) => {
    const news = new News();
    news.takeEvents(events);
    return news.toasts.value.map(({ text }) => text);
  };
  expect(said(restore)).toEqual(['Another client loaded a snapshot.']);
  expect(said({ type: 'missed', data: { missed: null } } as WorldEvent, restore)).toEqual([]);
});

test('a world that is read again says how many payouts it no longer has, as far as that can be known', () => {
  const page = (next: number | null, ...ids: readonly string[]) =>
    ({ transactions: ids.map((txn_id) => ({ txn_id })), next }) as unknown as TransactionsResponse;
  const goneAfter = (now: TransactionsResponse): number => {
    const list = new PayoutList(10);
    list.begin(page(null, 'c', 'b', 'a'));
    return list.begin(now);
  };
  expect(goneAfter(page(null, 'd', 'c', 'b', 'a'))).toBe(0);
  expect(goneAfter(page(null, 'b', 'a'))).toBe(1);
  expect(goneAfter(page(null, 'z'))).toBe(3);
  expect(goneAfter(page(2, 'e', 'd'))).toBe(0); // the others are older
});
