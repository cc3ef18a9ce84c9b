import { computed, signal } from '@preact/signals';
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
import { sendWithFetch } from './fetch-client.ts';
import { messageOf } from '../ui/formats.ts';
import { EventFeed, isUnreachable } from './event-feed.ts';
import { News, REPLACING } from './news.ts';
import { PayoutList, type Mark } from './payout-list.ts';
import { RequestList } from './request-list.ts';
import { Together } from './together.ts';
import { inTime, WorldPages } from './world-pages.ts';

const MOST_PAYOUTS = 20_000;
const MOST_REQUESTS = 1000;
/** For how long a row shows that it has just changed. */
const CHANGED_MS = 500;
/** How often events are applied together, and how often the sums are read after them. */
const TAKE_EVERY_MS = 100;
const ASK_EVERY_MS = 300;
/** How often the sums are read although nothing happens: a server or a store may be gone. */
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
  readonly payouts = new PayoutList(MOST_PAYOUTS);
  readonly requests = new RequestList(MOST_REQUESTS);
  /** The payouts, by id, and the requests, by number, that have just changed. */
  readonly changed = signal<ReadonlySet<string>>(new Set());
  /** The requests that rules hold. */
  readonly held = signal<readonly HeldRequest[]>([]);
  /** How often everything was read: the world was perhaps reset in between. */
  readonly readings = signal(0);
  /** When the client's last request came before somebody said that the client had ended; null if nobody did. */
  readonly endedAt = signal<string | null>(null);
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
  #fading: ReturnType<typeof setTimeout> | undefined;
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  /** The reading of the whole world that is under way; null for none. */
  #reading: Promise<void> | null = null;
  #mustRead = false;
  /** How many lists are being read: events wait for them, since they may be newer. */
  #lists = 0;
  /** Whether events were missed since the last reading. */
  #isMissing = false;
  /** What events say has changed without saying how. */
  readonly #old = new Set<'scenario' | 'held'>();

  constructor(url: string, apiKey: string) {
    this.world = new World(sendWithFetch, url, apiKey);
    this.#pages = new WorldPages(url, apiKey);
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
    clearTimeout(this.#fading);
  }

  /** One request of the journal, also if the page does not have it; undefined if there is none. */
  request(id: number): Promise<JournalEntry | undefined> {
    return this.#pages.request(id);
  }

  #look(): void {
    if (!document.hidden && this.feed.connection.value.state === 'live') this.#asking.order();
  }

  /** A list, which events wait for. */
  async #listed<T>(list: Promise<T>): Promise<T> {
    this.#lists += 1;
    try {
      return await inTime(list);
    } finally {
      this.#lists -= 1;
    }
  }

  #takeWaiting(): void {
    const mustWait = this.#reading !== null || this.#lists > 0;
    this.#taking = mustWait ? setTimeout(() => this.#takeWaiting(), TAKE_EVERY_MS) : undefined;
    if (!mustWait) this.#take(this.#waiting.splice(0));
  }

  #take(events: readonly WorldEvent[]): void {
    this.heardMs = performance.now();
    const made = new Set<string | null>();
    const payouts: TransactionResponse[] = [];
    const requests: JournalEntry[] = [];
    for (const { type, data } of events) {
      if (REPLACING.has(type)) this.#mustRead = true;
      if (type === 'missed') this.#isMissing = true;
      else if (type === 'settlement') payouts.push(data.transaction);
      else if (type === 'request') {
        requests.push(data);
        if (data.committed === true) made.add(data.txn_id);
        if (data.transaction !== null) payouts.push(data.transaction);
      } else if (type === 'scenario') this.#old.add('scenario');
      else if (type === 'held' || type === 'released') this.#old.add('held');
      else if (type === 'rule') this.#takeUse(data);
      else if (type === 'clock') this.#takeClock({ ...data, next_due: this.clock.value?.next_due ?? null });
    }
    if (requests.length > 0) this.requests.take(requests);
    if (payouts.length > 0) this.payouts.take(payouts, (id) => made.has(id));
    this.changed.value = new Set([
      ...payouts.map(({ txn_id: id }) => id),
      ...requests.map(({ id }) => String(id)),
    ]);
    clearTimeout(this.#fading);
    this.#fading = setTimeout(() => (this.changed.value = new Set()), CHANGED_MS);
    this.news.takeEvents(events);
    this.#asking.order();
  }

  /** Takes how often a rule was used. */
  #takeUse({ rule, ...use }: Extract<WorldEvent, { type: 'rule' }>['data']): void {
    const scenario = this.scenario.value;
    if (scenario === null) return;
    const rules = scenario.rules.map((one) => (one.id === rule ? { ...one, ...use } : one));
    this.scenario.value = { ...scenario, rules };
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
      this.#sums().then((take) => take()),
      this.#renew('scenario', async () => void (this.scenario.value = await this.world.scenario())),
      this.#renew('held', async () => void (this.held.value = await this.world.held())),
    ]);
  }

  /** Reads something again if an event has said that it changed. */
  async #renew(name: 'scenario' | 'held', read: () => Promise<void>): Promise<void> {
    if (!this.#old.delete(name)) return; // before it is asked: it may change once more meanwhile
    try {
      await read();
    } catch (error) {
      this.#old.add(name);
      throw error;
    }
  }

  async #readAnew(): Promise<void> {
    this.#mustRead = false;
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
      if (this.#isMissing) this.news.takeMissed(gone);
      this.#isMissing = false;
      this.#old.add('scenario').add('held');
      this.scenarios.value = scenarios;
      this.readings.value += 1;
      void this.feed.answerTo(this.#loadMore());
    } catch (error) {
      this.#mustRead = true;
      throw error;
    } finally {
      this.#reading = null;
    }
  }

  /** Loads what a first look does not need: older payouts, and those among the oldest of which the client does not know enough. */
  async #loadMore(): Promise<void> {
    const { before, rows } = this.payouts;
    while (before.value > 0 && rows.value.length < MOST_PAYOUTS) {
      const from = before.value;
      const older = await this.#listed(this.#pages.payouts(from));
      if (from !== before.value) return; // the world was read again
      this.payouts.takeOlder(older);
    }
    const marks: readonly Mark[] = before.value > 0 ? ['at_risk', 'out_of_date'] : [];
    for (const mark of marks) this.payouts.take(await this.#listed(this.#pages.marked(mark)), () => false);
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
}
