import { computed, signal } from '@preact/signals';
import type { WorldReport } from '../../contract/conduct.ts';
import type {
  ClockResponse,
  JournalEntry,
  ScenarioResponse,
  ScenariosResponse,
  TransactionResponse,
  WalletResponse,
  WorldResponse,
} from '../../contract/control-responses.ts';
import type { WorldEvent } from '../../client/event-stream.ts';
import { World, type HeldRequest } from '../../client/controlled-world.ts';
import { clientFindings } from '../conduct/client-findings.ts';
import { address, amend } from '../shell/navigation.ts';
import { messageOf } from '../ui/formats.ts';
import { EventFeed, isUnreachable } from './event-feed.ts';
import { News, REPLACING } from './news.ts';
import { PayoutList } from './payout-list.ts';
import { RequestList } from './request-list.ts';
import { StalePayouts } from './stale-payouts.ts';
import { Together } from './together.ts';
import { inTime, WorldPages } from './world-pages.ts';

const FIRST_PAYOUTS = 10_000;
const MOST_PAYOUTS = 20_000;
const MORE_PAYOUTS = 5000;
const MOST_REQUESTS = 1000;
/** How often events are applied together, and how often the page requests what they do not contain. */
const TAKE_EVERY_MS = 100;
const ASK_EVERY_MS = 300;
/** How often the world is judged while the page shows it, since that takes the server longer than most calls. */
const JUDGE_EVERY_MS = 5000;
/** How often the sums are requested although nothing happens: a server or a store may be gone. */
const LOOK_EVERY_MS = 3000;

/** @property readAtMs when it was read, by the browser's clock */
type ClockReading = ClockResponse & { readonly readAtMs: number };

/** One world as the page shows it: read once, then updated by its events. */
export class LiveWorld {
  readonly world: World;
  readonly feed: EventFeed;
  readonly news = new News();
  readonly summary = signal<WorldResponse | null>(null);
  readonly wallet = signal<WalletResponse | null>(null);
  readonly clock = signal<ClockReading | null>(null);
  readonly scenario = signal<ScenarioResponse | null>(null);
  readonly scenarios = signal<ScenariosResponse | null>(null);
  /** What the referee finds in the requests of this world while `watchConduct` runs. The last report stays while the server is away. */
  readonly report = signal<WorldReport | null>(null);
  readonly payouts = new PayoutList(MOST_PAYOUTS);
  readonly #oldRisks = signal<readonly TransactionResponse[] | null>(null);
  /** The payouts at risk, the newest first, also those that are older than the loaded ones; null before they are read. */
  readonly atRisk = computed(() =>
    this.payouts.before.value > 0
      ? this.#oldRisks.value
      : this.payouts.rows.value.filter(({ at_risk: isAtRisk }) => isAtRisk),
  );
  readonly requests = new RequestList(MOST_REQUESTS);
  /** The requests that rules hold. */
  readonly held = signal<readonly HeldRequest[]>([]);
  readonly findings = computed(() => clientFindings(this.report.value, this.requests.rows.value));
  /** How often everything was read: the world was perhaps reset in between. */
  readonly readings = signal(0);
  /** Why the last reading failed, so that the page shows that it is out of date. */
  readonly trouble = signal<string | null>(null);
  readonly isLoaded = computed(() => this.readings.value > 0 && this.summary.value !== null);
  /** When the server was last heard, by the browser's clock. */
  heardMs = performance.now();
  /** Why nothing can be done now; null while the server answers. */
  readonly away = computed(() => {
    const connection = this.feed.connection.value;
    if (!this.isLoaded.value) return 'The world is not loaded yet';
    if (connection.state === 'live' || connection.state === 'reconnecting') return null;
    const said = 'message' in connection ? connection.message : null;
    return said ?? 'The sandbox does not respond';
  });
  readonly #pages: WorldPages;
  readonly #asking = new Together(() => this.#askAll(), ASK_EVERY_MS);
  readonly #waiting: WorldEvent[] = [];
  #taking: ReturnType<typeof setTimeout> | undefined;
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  /** The reading of the whole world that is under way; null for none. */
  #reading: Promise<void> | null = null;
  #mustRead = false;
  /** Whether events were missed since the last reading. */
  #isMissing = false;
  #isScenarioOld = true;
  #areRisksOld = true;
  readonly #stale: StalePayouts;

  constructor(url: string, apiKey: string) {
    this.world = new World(url, apiKey);
    this.#pages = new WorldPages(url, apiKey);
    this.#stale = new StalePayouts(this.payouts, this.#pages);
    const reader = {
      take: (event: WorldEvent) => {
        this.#waiting.push(event);
        this.#taking ??= setTimeout(() => this.#takeWaiting(), TAKE_EVERY_MS);
      },
      opened: (isNew: boolean) => {
        if (isNew) this.#mustRead = true; // only now, since no event is missed from here on
        this.#asking.order();
      },
    };
    this.feed = new EventFeed(this.world, reader);
    void this.feed.read();
  }

  close(): void {
    this.feed.close();
    this.#asking.close();
    clearInterval(this.#timer);
    clearTimeout(this.#taking);
  }

  /** Has the world judged now, and again 5 s after each report. @returns ends that */
  watchConduct(): () => void {
    let timer: ReturnType<typeof setTimeout>;
    let isEnded = false;
    const judge = async (): Promise<void> => {
      const report = document.hidden ? null : await this.feed.answerTo(this.world.referee());
      if (isEnded) return;
      this.report.value = report ?? this.report.value;
      timer = setTimeout(() => void judge(), JUDGE_EVERY_MS);
    };
    void judge();
    return () => {
      isEnded = true;
      clearTimeout(timer);
    };
  }

  /** One request of the journal, also if the page does not have it; undefined if there is none. */
  request(id: number): Promise<JournalEntry | undefined> {
    return this.#pages.request(id);
  }

  /** Loads payouts that are older than those on the page, page by page. @param count how many the page then has, if there are so many */
  async loadOlder(count = this.payouts.rows.value.length + MORE_PAYOUTS): Promise<void> {
    const { before, rows } = this.payouts;
    while (before.value > 0 && rows.value.length < count) {
      const from = before.value;
      const older = await this.#pages.payouts(from);
      if (from !== before.value) return; // the world was read again, or others are loading them
      this.payouts.takeOlder(older);
    }
    this.#asking.order(); // some of them may have changed meanwhile
  }

  #look(): void {
    if (!document.hidden && this.feed.connection.value.state === 'live') this.#asking.order();
  }

  #takeWaiting(): void {
    const mustWait = this.#reading !== null; // the responses under way may be older than these events
    this.#taking = mustWait ? setTimeout(() => this.#takeWaiting(), TAKE_EVERY_MS) : undefined;
    if (!mustWait) this.#take(this.#waiting.splice(0));
  }

  #take(events: readonly WorldEvent[]): void {
    this.heardMs = performance.now();
    const dataOf = <T extends WorldEvent['type']>(type: T) =>
      events
        .filter((event) => event.type === type)
        .map(({ data }) => data as Extract<WorldEvent, { type: T }>['data']);
    if (events.some(({ type }) => REPLACING.has(type))) this.#mustRead = true;
    if (dataOf('missed').length > 0) this.#isMissing = true;
    const changes = dataOf('settlement');
    for (const { txn_id: id } of changes) this.#stale.add(id);
    const requests = dataOf('request');
    if (requests.length > 0) this.requests.take(requests);
    for (const request of requests) this.#stale.takeRequest(request);
    if (events.some(({ type }) => type === 'rule' || type === 'scenario')) this.#isScenarioOld = true;
    if (changes.length > 0 || dataOf('at_risk').length > 0) this.#areRisksOld = true;
    const clock = dataOf('clock').at(-1);
    if (clock !== undefined) this.#takeClock({ ...clock, next_due: this.clock.value?.next_due ?? null });
    this.news.takeEvents(events);
    this.#asking.order();
  }

  /** Requests what events do not contain. It never throws: the page shows what failed. */
  async #askAll(): Promise<void> {
    try {
      await inTime(this.#askEverything());
      this.heardMs = performance.now();
      this.trouble.value = null;
    } catch (error) {
      if (isUnreachable(error)) this.feed.break(error); // it reconnects, and shows it if that takes long
      else this.trouble.value = messageOf(error);
    }
  }

  async #askEverything(): Promise<void> {
    // one that takes longer than a try is waited for by the next try: nothing else is shown before it
    while (this.#mustRead || this.#reading !== null) await (this.#reading ??= this.#readAnew());
    await Promise.all([
      this.#sums().then((take) => {
        take();
        return this.#askRisks();
      }),
      this.#askPayouts(),
      this.#askScenario(),
      this.world.held().then((held) => (this.held.value = held)),
    ]);
    if (this.#stale.size > 0) this.#asking.order();
  }

  async #readAnew(): Promise<void> {
    this.#mustRead = false;
    this.#stale.clear();
    try {
      const [journal, payouts, scenarios, takeSums] = await Promise.all([
        this.#pages.requests(MOST_REQUESTS),
        this.#pages.payouts(),
        this.world.scenarios(),
        this.#sums(),
      ]);
      takeSums(); // together with the lists: this may be another world
      this.requests.begin(journal.requests, journal.evicted);
      const gone = this.payouts.begin(payouts);
      if (gone > 0 && this.payouts.get(address.value.payout ?? '') === undefined) amend({ payout: null });
      if (this.#isMissing) this.news.takeMissed(gone);
      this.#isMissing = false;
      this.#oldRisks.value = null;
      this.#areRisksOld = true;
      this.#isScenarioOld = true;
      this.scenarios.value = scenarios;
      this.readings.value += 1;
      void this.feed.answerTo(this.loadOlder(FIRST_PAYOUTS));
    } catch (error) {
      this.#mustRead = true;
      throw error;
    } finally {
      this.#reading = null;
    }
  }

  /** Reads the sums. @returns what shows them */
  async #sums(): Promise<() => void> {
    const [summary, wallet] = await Promise.all([this.world.summary(), this.world.wallet()]);
    return () => {
      this.summary.value = summary;
      this.wallet.value = wallet;
      this.#takeClock(summary.clock);
    };
  }

  #takeClock(clock: ClockResponse): void {
    this.clock.value = { ...clock, readAtMs: performance.now() };
  }

  async #askPayouts(): Promise<void> {
    const fresh = await this.#pages.newPayouts(({ txn_id: id }) => this.payouts.get(id) !== undefined);
    if (fresh === null) {
      this.#mustRead = true; // reading everything is less work than reading all that is new
      return this.#asking.order();
    }
    this.payouts.takeNewest(fresh);
    await this.#stale.renew(); // only now, since it knows better
  }

  /** Reads the payouts at risk where the list may lack some of them, if any payout has changed. */
  async #askRisks(): Promise<void> {
    if (this.payouts.before.value === 0 || !this.#areRisksOld) return;
    this.#areRisksOld = false; // before they are asked for: they may change once more meanwhile
    try {
      const { count } = this.summary.value!.at_risk;
      this.#oldRisks.value = await this.#pages.atRisk(Math.min(count, MOST_PAYOUTS));
    } catch (error) {
      this.#areRisksOld = true;
      throw error;
    }
  }

  async #askScenario(): Promise<void> {
    if (!this.#isScenarioOld) return;
    this.#isScenarioOld = false; // before it is asked: it may change once more meanwhile
    try {
      this.scenario.value = await this.world.scenario();
    } catch (error) {
      this.#isScenarioOld = true;
      throw error;
    }
  }
}
