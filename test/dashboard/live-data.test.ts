import { expect, onTestFinished, test } from 'vitest';
import type {
  JournalEntry,
  ScenarioResponse,
  TransactionResponse,
} from '../../src/contract/control-responses.ts';
import type { EventsOptions, World, WorldEvent } from '../../src/index.ts';
import type { Tabs } from '../../src/dashboard/store/browser-tabs.ts';
import { EventFeed } from '../../src/dashboard/store/event-feed.ts';
import { LiveScenario } from '../../src/dashboard/store/live-scenario.ts';
import { PayoutList } from '../../src/dashboard/store/payout-list.ts';
import { RequestList } from '../../src/dashboard/store/request-list.ts';
import { StalePayouts } from '../../src/dashboard/store/stale-payouts.ts';
import type { WorldPages } from '../../src/dashboard/store/world-pages.ts';

/** A tab that reads for itself. */
const ALONE: Tabs = {
  takeTurns: (over, read) => read(over),
  say: () => undefined,
  listen: () => undefined,
};

const feedOf = (world: World, opened: (isNew: boolean) => void): EventFeed =>
  new EventFeed(world, { take: () => undefined, opened }, ALONE);

/** A scenario with one rule, as a response of the sandbox. */
const scenario = (name: string, taken = 0): ScenarioResponse =>
  ({ name, rules: [{ id: 'a/b', matched: taken, taken }] }) as unknown as ScenarioResponse;
const USE = { rule: 'a/b', matched: 1, taken: 1 };

/** A request for the scenario, which the test answers. */
function asked(live: LiveScenario) {
  let answered: (answer: ScenarioResponse | Promise<never>) => void = () => undefined;
  const reading = live.read(() => new Promise((resolve) => (answered = resolve)));
  return {
    answer: (answer: ScenarioResponse): Promise<void> => (answered(answer), reading),
    fail: (): Promise<void> => (answered(Promise.reject(new Error('lost'))), reading),
  };
}

test('a scenario whose reading failed is read the next time', async () => {
  const live = new LiveScenario();
  await expect(asked(live).fail()).rejects.toThrow('lost');
  await asked(live).answer(scenario('first'));
  expect(live.current.value).toEqual(scenario('first'));
});

test.each([
  ['of the first reading', false],
  ['of a later reading', true],
])(
  'a use of a rule is counted, although the response %s is older than its event',
  async (_which, isKnown) => {
    const live = new LiveScenario();
    if (isKnown) {
      await asked(live).answer(scenario('first'));
      live.expire();
    }
    const reading = asked(live);
    live.takeUses([USE]);
    await reading.answer(scenario('first', 0));
    await asked(live).answer(scenario('first', 1));
    expect(live.current.value).toEqual(scenario('first', 1));
  },
);

test('a response that is older than an action of the page does not undo it, and the scenario is read again', async () => {
  const live = new LiveScenario();
  const reading = asked(live);
  live.take(scenario('chosen here'));
  await reading.answer(scenario('before'));
  expect(live.current.value).toEqual(scenario('chosen here'));
  await asked(live).answer(scenario('chosen elsewhere'));
  expect(live.current.value).toEqual(scenario('chosen elsewhere'));
});

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

test('a lost connection that is replaced within a second is not shown, and one that is not is shown', async () => {
  const first = connection();
  const second = connection();
  const open = [first.events, second.events];
  const world = {
    events: () => {
      const events = open.shift();
      return events === undefined ? Promise.reject(new Error('nobody answers')) : Promise.resolve(events);
    },
  } as unknown as World;
  let opened = 0;
  const feed = feedOf(world, () => void (opened += 1));
  onTestFinished(() => feed.close());
  const shown: string[] = [];
  feed.connection.subscribe(({ state }) => void shown.push(state));
  void feed.read();
  await expect.poll(() => opened).toBe(1);
  first.end();
  await expect.poll(() => opened).toBe(2);
  expect(shown).toEqual(['connecting', 'live', 'live']);
  second.end();
  await expect.poll(() => shown.slice(3, 4)).toEqual(['reconnecting']);
});

test('a connection that replaces one without an event continues from where that one began', async () => {
  const open = [connection(), connection()];
  const streams = open.map(({ events }) => Object.assign(events, { from: 'a.7' }));
  const after: (string | undefined)[] = [];
  const world = {
    events: (options: EventsOptions) => {
      after.push(options.after);
      return Promise.resolve(streams.shift()!);
    },
  } as unknown as World;
  const opened: boolean[] = [];
  const feed = feedOf(world, (isNew) => void opened.push(isNew));
  onTestFinished(() => feed.close());
  void feed.read();
  await expect.poll(() => opened.length).toBe(1);
  open[0]!.end();
  await expect.poll(() => opened).toEqual([true, false]);
  expect(after).toEqual([undefined, 'a.7']);
});

test('a server that does not say where its events begin may have missed any, so everything is read again', async () => {
  const open = [connection(), connection(), connection()];
  const event = { id: 'a.1.0', type: 'reset', data: { now: '' } } as const;
  async function* withEvent(): AsyncGenerator<WorldEvent, void> {
    yield event;
    yield* open[1]!.events;
  }
  const streams = [open[0]!.events, withEvent(), open[2]!.events];
  const world = { events: () => Promise.resolve(streams.shift()!) } as unknown as World;
  const opened: boolean[] = [];
  const feed = feedOf(world, (isNew) => void opened.push(isNew));
  onTestFinished(() => feed.close());
  void feed.read();
  for (const [nth, { end }] of open.entries()) {
    await expect.poll(() => opened.length).toBe(nth + 1);
    end();
  }
  expect(opened).toEqual([true, true, false]);
});

test('many payouts that are older than the newest page are read again, too', async () => {
  const payouts = (status: string) =>
    Array.from(
      { length: 100 },
      (_, nth) => ({ txn_id: `t${99 - nth}`, status, timeline: [] }) as unknown as TransactionResponse,
    );
  const list = new PayoutList(1000);
  list.takeNewest({ transactions: payouts('PENDING'), next: null }, {});
  const pages = {
    payouts: async (before = 100) => ({
      transactions: payouts('FAILED').slice(100 - before, 140 - before),
      next: null,
    }),
  } as unknown as WorldPages;
  const stale = new StalePayouts(list);
  stale.add(...Array.from({ length: 30 }, (_, nth) => `t${nth}`));
  await stale.renew({} as World, pages);
  expect(stale.size).toBe(0);
  expect(list.get('t29')!.status).toBe('FAILED');
});

test('a list of requests says when newer ones have taken the place of its oldest', () => {
  const list = new RequestList(2);
  const requests = (...ids: number[]) => ids.map((id) => ({ id, outcome: 'answered' }) as JournalEntry);
  list.begin(requests(1), 0);
  expect(list.isCut.value).toBe(false);
  list.take(requests(2, 3));
  expect([list.rows.value, list.isCut.value]).toEqual([requests(3, 2), true]);
});
