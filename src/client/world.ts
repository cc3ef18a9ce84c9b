import type {
  EntriesQuery,
  RequestsQuery,
  RuleRequest,
  ScenarioInput,
  TransactionsQuery,
  VerifyRequest,
} from '../contract/control.ts';
import type {
  EntriesAnswer,
  EntryAnswer,
  JournalEntry,
  MoneyAnswer,
  RequestsAnswer,
  RuleAnswer,
  ScenarioAnswer,
  ScenariosAnswer,
  TransactionsAnswer,
  TransactionAnswer,
  VerifyAnswer,
  WalletAnswer,
  WorldAnswer,
} from '../contract/control-answers.ts';
import { ControlClient } from './control-client.ts';
import { openEvents, type EventsOptions, type WorldEvent } from './event-stream.ts';
import { WorldClock } from './world-clock.ts';

/** A snapshot of a world, as lines of JSON: to be kept and given back as it is. */
export type WorldSnapshot = string;

type Without<T, K extends string> = Omit<T, K>;

const LONGEST_PAGE = 1000;

const NDJSON = 'application/x-ndjson';

/**
 * One API key, and all that it sees: to be given to the client under test, and to be steered and asked by the test.
 * Every method throws SandboxError for what the sandbox refuses. Amounts are INR, times ISO 8601.
 */
export class World implements AsyncDisposable {
  readonly apiKey: string;
  /** The base address for a payout client: the same for every world. */
  readonly url: string;
  readonly clock: WorldClock;
  readonly #control: ControlClient;

  constructor(url: string, apiKey: string) {
    this.apiKey = apiKey;
    this.#control = new ControlClient(url, apiKey);
    this.url = this.#control.url;
    this.clock = new WorldClock(this.#control);
  }

  /** How it stands: balance, payouts by state, clock, scenario, and whether all invariants hold. */
  summary(): Promise<WorldAnswer> {
    return this.#control.get('/world');
  }

  /** INR in the wallet. */
  async balance(): Promise<number> {
    return (await this.wallet()).balance;
  }

  wallet(): Promise<WalletAnswer> {
    return this.#control.get('/wallet');
  }

  /** Puts money into the wallet. @param amount INR, at most 2 decimals */
  fund(amount: number): Promise<MoneyAnswer> {
    return this.#control.post('/wallet/credit', { amount });
  }

  /** Takes money out of the wallet, by no payout. @param amount INR, at most 2 decimals */
  withdraw(amount: number): Promise<MoneyAnswer> {
    return this.#control.post('/wallet/debit', { amount });
  }

  /** Why the balance is what it is, the oldest entry first. */
  entries(query: Pick<EntriesQuery, 'txn_id'> = {}): Promise<readonly EntryAnswer[]> {
    return this.#all(async (page) => {
      const { entries, next } = await this.#control.get<EntriesAnswer>('/wallet/entries', {
        ...query,
        ...page,
      });
      return { items: entries, next };
    });
  }

  /** The payouts, the oldest first, with what has happened to them and what is planned. */
  transactions(
    query: Pick<TransactionsQuery, 'status' | 'client_ref_id'> = {},
  ): Promise<readonly TransactionAnswer[]> {
    return this.#all(async (page) => {
      const answer = await this.#control.get<TransactionsAnswer>('/transactions', { ...query, ...page });
      return { items: answer.transactions, next: answer.next };
    });
  }

  transaction(txnId: string): Promise<TransactionAnswer> {
    return this.#control.get(`/transactions/${encodeURIComponent(txnId)}`);
  }

  /** Forces a payout into a state, by a legal edge only. What was planned for it is called off. */
  transition(txnId: string, to: 'SUCCESS' | 'FAILED' | 'REVERSED'): Promise<TransactionAnswer> {
    return this.#control.post(`/transactions/${encodeURIComponent(txnId)}/transition`, { to });
  }

  /** The names and descriptions of all scenarios. */
  scenarios(): Promise<ScenariosAnswer> {
    return this.#control.get('/scenarios');
  }

  /** The scenario of this world, with all rules and how often each was used. */
  scenario(): Promise<ScenarioAnswer> {
    return this.#control.get('/scenario');
  }

  /**
   * Chooses a scenario: by its name, a whole document, or null for the one in force. Rules on top stay. The opening balance
   * of a scenario holds for a world whose wallet nothing has happened to.
   */
  use(scenario: string | ScenarioInput | null): Promise<ScenarioAnswer> {
    const isName = typeof scenario === 'string' || scenario === null;
    return this.#control.put('/scenario', isName ? { use: scenario } : scenario);
  }

  /**
   * Every rule that holds, in the order in which they are asked, with how often each was used.
   *
   * @param from only those on top of the `world`, of its `scenario`, or of the `magic` beneficiaries
   */
  async rules(from?: 'world' | 'scenario' | 'magic'): Promise<readonly RuleAnswer[]> {
    return (await this.#control.get<{ rules: RuleAnswer[] }>('/rules', { from })).rules;
  }

  /** Puts a rule first, in the place of one of the same name on top. */
  rule(rule: RuleRequest): Promise<RuleAnswer> {
    return this.#control.post('/rules', rule);
  }

  /** Takes a rule on top away; without a name, all of them. */
  async removeRule(name?: string): Promise<void> {
    await this.#control.delete(name === undefined ? '/rules' : `/rules/${encodeURIComponent(name)}`);
  }

  /** What this world was asked, the oldest request first. */
  async requests(query: Without<RequestsQuery, 'order' | 'limit'> = {}): Promise<readonly JournalEntry[]> {
    const known: JournalEntry[] = [];
    for (let since = query.since; ; since = String(known.at(-1)!.id)) {
      const { requests } = await this.#control.get<RequestsAnswer>('/requests', {
        ...query,
        since,
        order: 'oldest',
        limit: LONGEST_PAGE,
      });
      known.push(...requests);
      if (requests.length < LONGEST_PAGE) return known;
    }
  }

  /** Forgets what it was asked. */
  async clearRequests(): Promise<void> {
    await this.#control.delete('/requests');
  }

  /** Holds the journal against what it is expected to show: a count of requests that match, or a sequence. */
  verify(expected: VerifyRequest): Promise<VerifyAnswer> {
    return this.#control.post('/requests/verify', expected);
  }

  /** Makes the world as new: wallet, payouts, clock, scenario, rules and journal. Answers that it holds back are ended. */
  reset(): Promise<WorldAnswer> {
    return this.#control.post('/reset');
  }

  /** All that its future depends on, but not its journal. */
  async snapshot(): Promise<WorldSnapshot> {
    return (await this.#control.open('GET', '/state')).text();
  }

  /** Puts a snapshot, of this world or of another, in the place of all that this one is. Its time goes on from there. */
  async restore(snapshot: WorldSnapshot): Promise<WorldAnswer> {
    const headers = { 'content-type': NDJSON };
    return (
      await this.#control.open('PUT', '/state', { headers, body: snapshot })
    ).json() as Promise<WorldAnswer>;
  }

  /**
   * What happens in this world from now on, as it happens: `for await (const event of await world.events())`. Leaving the loop
   * ends it.
   */
  events(options: EventsOptions = {}): Promise<AsyncGenerator<WorldEvent, void>> {
    return openEvents(this.#control, options);
  }

  /** Makes the world as new, so that nothing of it stays in memory. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.reset();
  }

  /** All of a list, page by page. */
  async #all<T>(
    read: (page: object) => Promise<{ readonly items: readonly T[]; readonly next: number | null }>,
  ): Promise<readonly T[]> {
    const all: T[] = [];
    for (let cursor: number | undefined; ;) {
      const { items, next } = await read({ order: 'oldest', limit: LONGEST_PAGE, cursor });
      all.push(...items);
      if (next === null) return all;
      cursor = next;
    }
  }
}
