import { signal } from '@preact/signals';
import type {
  AdvanceAnswer,
  ClockAnswer,
  RuleAnswer,
  ScenarioAnswer,
  ScenariosAnswer,
  TransactionAnswer,
  WalletAnswer,
  WorldAnswer,
} from '../contract/control-answers.ts';
import { SandboxError } from '../client/control-client.ts';
import type { WorldEvent } from '../client/event-stream.ts';
import { World } from '../client/world.ts';
import { Announcements } from './announcements.ts';
import { BalanceLine } from './balance-line.ts';
import { EventFeed } from './event-feed.ts';
import { messageOf } from './formats.ts';
import { PayoutList, type Edges } from './payout-list.ts';
import { RequestList } from './request-list.ts';
import { Together } from './together.ts';
import { inTime, WorldPages } from './world-pages.ts';

const FIRST_PAYOUTS = 10_000;
const MOST_PAYOUTS = 20_000;
const MOST_REQUESTS = 1000;
const MOST_POINTS = 5000;
const MOST_ASKED_AGAIN = 20;
/** Events are taken together so often, and what they leave open is asked for so often. */
const TAKE_EVERY_MS = 100;
const ASK_EVERY_MS = 300;
/** So often the world is looked at although nothing happens: a connection that is dead is noticed then. */
const LOOK_EVERY_MS = 15_000;

/** What the page knows of the clock: what it was, and when that was on the browser's own. */
interface ClockReading extends ClockAnswer {
  readonly readAtMs: number;
}

/** One world as the page sees it: read once, and kept right by its events. */
export class LiveWorld {
  readonly world: World;
  readonly feed: EventFeed;
  readonly news = new Announcements();
  readonly summary = signal<WorldAnswer | null>(null);
  readonly wallet = signal<WalletAnswer | null>(null);
  readonly clock = signal<ClockReading | null>(null);
  readonly scenario = signal<ScenarioAnswer | null>(null);
  readonly scenarios = signal<ScenariosAnswer | null>(null);
  readonly payouts = new PayoutList(MOST_PAYOUTS);
  readonly requests = new RequestList(MOST_REQUESTS);
  readonly balances = new BalanceLine(MOST_POINTS);
  /** Another number after each change of a list. */
  readonly payoutsVersion = signal(0);
  readonly requestsVersion = signal(0);
  readonly balancesVersion = signal(0);
  readonly isLoaded = signal(false);
  /** What went wrong in asking, so that the page is not silently behind. */
  readonly trouble = signal<string | null>(null);
  readonly #pages: WorldPages;
  readonly #asking = new Together(() => this.#askAll(), ASK_EVERY_MS);
  #edges: Edges = {};
  #waiting: WorldEvent[] = [];
  #timers = new Set<ReturnType<typeof setTimeout>>();
  #isTaking = false;
  #isReading = false;
  #mustRead = false;
  #isScenarioOld = true;
  #stale = new Set<string>();

  constructor(url: string, apiKey: string) {
    this.world = new World(url, apiKey);
    this.#pages = new WorldPages(url, apiKey);
    this.feed = new EventFeed(this.world, {
      take: (event) => this.#queue(event),
      opened: (isFirst) => {
        if (isFirst) this.#mustRead = true; // the events are open: what happens from now on is not missed
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

  /** Payouts that are older than those that are known. */
  async loadOlder(): Promise<void> {
    for (let pages = 0; pages < 5 && this.payouts.before > 0; pages += 1) {
      this.payouts.takeOlder(await this.#pages.payouts(this.payouts.before), this.#edges);
      this.payoutsVersion.value += 1;
    }
  }

  /** Takes what an order of this page was answered, before its event is here. */
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
    this.scenario.value = scenario;
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
      if (this.#isReading) return this.#takeSoon(); // what is read now may be older than these
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
    this.#takeRules(dataOf('rule'));
    if (dataOf('scenario').length > 0) this.#isScenarioOld = true;
    const clock = dataOf('clock').at(-1);
    if (clock !== undefined) this.takeClock({ ...clock, next_due: this.clock.value?.next_due ?? null });
    this.news.takeEvents(events);
    this.#asking.order();
  }

  #takeRules(
    used: readonly { readonly rule: string; readonly matched: number; readonly taken: number }[],
  ): void {
    const scenario = this.scenario.value;
    if (used.length === 0 || scenario === null) return;
    const byId = new Map(used.map((use) => [use.rule, use]));
    const rules = scenario.rules.map((rule): RuleAnswer => {
      const use = byId.get(rule.id);
      return use === undefined ? rule : { ...rule, matched: use.matched, taken: use.taken };
    });
    this.scenario.value = { ...scenario, rules };
  }

  /** Asks for what events leave open. It fails nobody: what it could not get is told on the page. */
  async #askAll(): Promise<void> {
    try {
      await inTime(this.#askEverything());
      this.isLoaded.value = true;
      this.trouble.value = null;
    } catch (error) {
      this.trouble.value = messageOf(error);
      if (!(error instanceof SandboxError)) this.feed.break(); // it comes back, and reads on
    }
  }

  async #askEverything(): Promise<void> {
    if (this.#mustRead) await this.#readAnew();
    await Promise.all([
      this.#askSums(),
      this.#askPayouts(),
      this.#askStale(),
      this.#askEntries(),
      this.#askScenario(),
    ]);
  }

  async #readAnew(): Promise<void> {
    this.#mustRead = false;
    this.#isReading = true;
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
      this.payouts.clear();
      this.payouts.takeNewest(payouts, edges);
      this.payoutsVersion.value += 1;
      this.balances.begin(entries.entries, entries.next === null ? 0 : entries.next + 1);
      this.balancesVersion.value += 1;
      this.#isScenarioOld = true;
      this.scenarios.value = scenarios;
      void this.#readOn();
    } catch (error) {
      this.#mustRead = true;
      throw error;
    } finally {
      this.#isReading = false;
    }
  }

  /** The rest of what is shown at first, page by page, while the page is already there. */
  async #readOn(): Promise<void> {
    try {
      while (this.payouts.before > 0 && this.payouts.rows.length < FIRST_PAYOUTS) {
        const { before } = this.payouts;
        const older = await this.#pages.payouts(before);
        if (before !== this.payouts.before) return; // the world was read anew meanwhile
        this.payouts.takeOlder(older, this.#edges);
        this.payoutsVersion.value += 1;
      }
    } catch {
      // what is missing can be loaded by hand
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
    this.#stale.clear();
    if (stale.length > MOST_ASKED_AGAIN) return this.#readAgain();
    for (const id of stale) this.payouts.takeOne(await this.world.transaction(id));
    if (stale.length > 0) this.payoutsVersion.value += 1;
  }

  async #askEntries(): Promise<void> {
    const entries = await this.#pages.entriesFrom(this.balances.next);
    if (entries.length === 0) return;
    this.balances.take(entries);
    this.balancesVersion.value += 1;
  }

  async #askScenario(): Promise<void> {
    if (!this.#isScenarioOld) return;
    this.#isScenarioOld = false;
    this.scenario.value = await this.world.scenario();
  }

  /** So much has changed that it is less to read all of it. */
  #readAgain(): void {
    this.#mustRead = true;
    this.#asking.order();
  }
}
