import { signal } from '@preact/signals';
import type {
  AdvanceAnswer,
  ClockAnswer,
  ScenarioAnswer,
  ScenariosAnswer,
  TransactionAnswer,
  WalletAnswer,
  WorldAnswer,
} from '../../contract/control-answers.ts';
import type { WorldEvent } from '../../client/event-stream.ts';
import { TestWorld } from '../../client/test-world.ts';
import { Announcements } from './announcements.ts';
import { BalanceLine } from '../lists/balance-line.ts';
import { EventFeed, isUnreachable } from './event-feed.ts';
import { LiveScenario } from './live-scenario.ts';
import { messageOf } from '../lists/formats.ts';
import { PayoutList, type Edges } from '../lists/payout-list.ts';
import { RequestList } from '../lists/request-list.ts';
import { Together } from './together.ts';
import { inTime, WorldPages } from './world-pages.ts';

const FIRST_PAYOUTS = 10_000;
const MOST_PAYOUTS = 20_000;
const MOST_REQUESTS = 1000;
const MOST_POINTS = 10_000;
const MOST_ASKED_AGAIN = 20;
/** How often events are applied together, and how often the page requests what they do not contain. */
const TAKE_EVERY_MS = 100;
const ASK_EVERY_MS = 300;
/** How often the world is read although nothing happens, to detect a dead connection. */
const LOOK_EVERY_MS = 15_000;

/** A reading of the world's clock, and when it was read by the browser's clock. */
interface ClockReading extends ClockAnswer {
  readonly readAtMs: number;
}

/** One world as the page shows it: read once, then updated by its events. */
export class LiveWorld {
  readonly world: TestWorld;
  readonly feed: EventFeed;
  readonly news = new Announcements();
  readonly summary = signal<WorldAnswer | null>(null);
  readonly wallet = signal<WalletAnswer | null>(null);
  readonly clock = signal<ClockReading | null>(null);
  readonly #scenario = new LiveScenario();
  readonly scenario = this.#scenario.current;
  readonly scenarios = signal<ScenariosAnswer | null>(null);
  readonly payouts = new PayoutList(MOST_PAYOUTS);
  readonly requests = new RequestList(MOST_REQUESTS);
  readonly balances = new BalanceLine(MOST_POINTS);
  /** Increased by each change of a list. */
  readonly payoutsVersion = signal(0);
  readonly requestsVersion = signal(0);
  readonly balancesVersion = signal(0);
  /** How often everything was read: the world was perhaps reset in between. */
  readonly readings = signal(0);
  readonly isLoaded = signal(false);
  /** Why the last reading failed, so that the page shows that it is out of date. */
  readonly trouble = signal<string | null>(null);
  readonly #pages: WorldPages;
  readonly #asking = new Together(() => this.#askAll(), ASK_EVERY_MS);
  #edges: Edges = {};
  #waiting: WorldEvent[] = [];
  #timers = new Set<ReturnType<typeof setTimeout>>();
  #isTaking = false;
  #isReading = false;
  #mustRead = false;
  #stale = new Set<string>();

  constructor(url: string, apiKey: string) {
    this.world = new TestWorld(url, apiKey);
    this.#pages = new WorldPages(url, apiKey);
    this.feed = new EventFeed(this.world, {
      take: (event) => this.#queue(event),
      opened: (isFirst) => {
        if (isFirst) this.#mustRead = true; // only now, since no event is missed from here on
        this.#asking.order();
      },
    });
    void this.feed.read();
    this.#lookOnAndOn();
  }

  close(): void {
    this.feed.close();
    this.#asking.close();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Loads payouts that are older than those on the page. */
  async loadOlder(): Promise<void> {
    for (let pages = 0; pages < 5 && this.payouts.before > 0; pages += 1) {
      this.payouts.takeOlder(await this.#pages.payouts(this.payouts.before), this.#edges);
      this.payoutsVersion.value += 1;
    }
  }

  /** Applies the answer to an action of this page before its event arrives. */
  takePayout(payout: TransactionAnswer): void {
    this.payouts.takeOne(payout);
    this.payoutsVersion.value += 1;
    this.#asking.order();
  }

  takeClock(clock: ClockAnswer): void {
    this.clock.value = { ...clock, readAtMs: performance.now() };
  }

  takeAdvance({ now, frozen }: AdvanceAnswer): void {
    this.takeClock({ now, frozen, next_due: null });
    this.#asking.order();
  }

  takeScenario(scenario: ScenarioAnswer): void {
    this.#scenario.take(scenario);
    this.#asking.order();
  }

  #later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }

  #lookOnAndOn(): void {
    this.#later(LOOK_EVERY_MS, () => {
      if (this.feed.connection.value.state === 'live') this.#asking.order();
      this.#lookOnAndOn();
    });
  }

  #queue(event: WorldEvent): void {
    this.#waiting.push(event);
    if (this.#isTaking) return;
    this.#isTaking = true;
    this.#takeSoon();
  }

  #takeSoon(): void {
    this.#later(TAKE_EVERY_MS, () => {
      if (this.#isReading) return this.#takeSoon(); // the answers under way may be older than these events
      this.#isTaking = false;
      this.#take(this.#waiting.splice(0));
    });
  }

  #take(events: readonly WorldEvent[]): void {
    const dataOf = <T extends WorldEvent['type']>(type: T) =>
      events
        .filter((event) => event.type === type)
        .map(({ data }) => data as Extract<WorldEvent, { type: T }>['data']);
    if (events.some(({ type }) => type === 'missed' || type === 'reset' || type === 'restore'))
      this.#mustRead = true;
    const requests = dataOf('request');
    if (requests.length > 0) {
      this.requests.take(requests);
      this.requestsVersion.value += 1;
    }
    const changes = dataOf('settlement');
    if (changes.length > 0) {
      for (const id of this.payouts.takeChanges(changes, this.#edges)) this.#stale.add(id);
      this.payoutsVersion.value += 1;
    }
    this.#scenario.takeUses(dataOf('rule'));
    if (dataOf('scenario').length > 0) this.#scenario.expire();
    const clock = dataOf('clock').at(-1);
    if (clock !== undefined) this.takeClock({ ...clock, next_due: this.clock.value?.next_due ?? null });
    this.news.takeEvents(events);
    this.#asking.order();
  }

  /** Requests what events do not contain. It never throws: the page shows what failed. */
  async #askAll(): Promise<void> {
    try {
      await inTime(this.#askEverything());
      this.isLoaded.value = true;
      this.trouble.value = null;
    } catch (error) {
      if (isUnreachable(error))
        this.feed.break(); // it reconnects, and shows it if that takes long
      else this.trouble.value = messageOf(error);
    }
  }

  async #askEverything(): Promise<void> {
    if (this.#mustRead) await this.#readAnew();
    await Promise.all([
      this.#askSums(),
      this.#askPayouts(),
      this.#askStale(),
      this.#askEntries(),
      this.#scenario.read(() => this.world.scenario()),
    ]);
  }

  async #readAnew(): Promise<void> {
    this.#mustRead = false;
    this.#isReading = true;
    this.#stale.clear();
    try {
      const [edges, journal, payouts, entries, scenarios] = await Promise.all([
        this.#pages.edges(),
        this.#pages.requests(MOST_REQUESTS),
        this.#pages.payouts(),
        this.#pages.newestEntries(),
        this.world.scenarios(),
      ]);
      this.#edges = edges;
      this.requests.begin(journal.requests, journal.evicted);
      this.requestsVersion.value += 1;
      this.readings.value += 1;
      this.payouts.clear();
      this.payouts.takeNewest(payouts, edges);
      this.payoutsVersion.value += 1;
      this.balances.begin(entries.entries, entries.next === null ? 0 : entries.next + 1);
      this.balancesVersion.value += 1;
      this.#scenario.expire();
      this.scenarios.value = scenarios;
      void this.#readOn();
    } catch (error) {
      this.#mustRead = true;
      throw error;
    } finally {
      this.#isReading = false;
    }
  }

  /** Loads the rest of the first payouts and entries in the background, page by page. */
  async #readOn(): Promise<void> {
    try {
      while (this.payouts.before > 0 && this.payouts.rows.length < FIRST_PAYOUTS) {
        const { before } = this.payouts;
        const older = await this.#pages.payouts(before);
        if (before !== this.payouts.before) return; // the world was read again in the meantime
        this.payouts.takeOlder(older, this.#edges);
        this.payoutsVersion.value += 1;
      }
      while (this.balances.before > 0 && !this.balances.isFull) {
        const { before } = this.balances;
        const older = await this.#pages.entriesBefore(before);
        if (before !== this.balances.before) return;
        this.balances.takeOlder(older.entries);
        this.balancesVersion.value += 1;
      }
    } catch {
      // the button “Load older” loads the missing payouts, and the chart says how many entries are missing
    }
  }

  async #askSums(): Promise<void> {
    const [summary, wallet] = await Promise.all([this.world.summary(), this.world.wallet()]);
    this.summary.value = summary;
    this.wallet.value = wallet;
    this.takeClock(summary.clock);
  }

  async #askPayouts(): Promise<void> {
    const isKnown = (id: string): boolean => this.payouts.get(id) !== undefined;
    const fresh = await this.#pages.payoutsDownTo(isKnown, FIRST_PAYOUTS);
    if (fresh === null) this.#readAgain();
    else this.payouts.takeNewest(fresh, this.#edges);
    this.payoutsVersion.value += 1;
  }

  async #askStale(): Promise<void> {
    const stale = [...this.#stale];
    if (stale.length > MOST_ASKED_AGAIN) {
      this.#stale.clear();
      return this.#readAgain();
    }
    for (const id of stale) {
      try {
        this.payouts.takeOne(await this.world.transaction(id));
      } catch (error) {
        if (isUnreachable(error)) throw error; // else it is gone: the world was reset in the meantime
      }
      this.#stale.delete(id);
    }
    if (stale.length > 0) this.payoutsVersion.value += 1;
  }

  async #askEntries(): Promise<void> {
    const { next } = this.balances;
    const entries = await this.#pages.entriesFrom(next);
    if (entries.length === 0 || next !== this.balances.next) return; // they were read again in the meantime
    this.balances.take(entries);
    this.balancesVersion.value += 1;
  }

  /** Reads everything again, when that is less work than applying the changes. */
  #readAgain(): void {
    this.#mustRead = true;
    this.#asking.order();
  }
}
