import type {
  AdvanceRequest,
  UndoRequest,
  EntriesQuery,
  ReleaseRequest,
  RequestsQuery,
  RuleRequest,
  ScenarioInput,
  TransactionsQuery,
  VerifyRequest,
  ExplainInput,
} from '../contract/control.ts';
import type { ClientReport, RefereeSettingsInput, Severity } from '../contract/conduct.ts';
import type {
  AdvanceResponse,
  ClockResponse,
  EntryResponse,
  ExplainResponse,
  JournalEntry,
  MoneyResponse,
  RequestsResponse,
  RuleResponse,
  ScenarioResponse,
  ScenariosResponse,
  TransactionResponse,
  UndoResponse,
  VerifyResponse,
  WalletResponse,
  WorldResponse,
  HeldRequestResponse,
} from '../contract/control-responses.ts';
import type { InitiateRequest } from '../contract/service.ts';
import { rupees } from '../contract/words.ts';
import {
  callerFrames,
  ControlClient,
  LONGEST_PAGE,
  LONGEST_SNAPSHOT_MIB,
  queryText,
  SandboxError,
  textOf,
  type Send,
  type ServiceCallInit,
  type ServiceResponse,
} from './control-client.ts';
import {
  checkReference,
  Expectation,
  ExpectationError,
  UnknownResultError,
  type ExpectedRequest,
} from './expectation.ts';
import { openEvents, type EventsOptions, type WorldEvents } from './event-stream.ts';
import { shareMisreport } from './joined-sandbox.ts';
import { unknownReference, waitForPayout, type WaitOptions } from './payout-wait.ts';

/** A snapshot of a world, as lines of JSON. Pass it to `restore` unchanged. */
export type WorldSnapshot = string;

export type UndoOptions = NonNullable<UndoRequest>;

/** A payout to make. Fields that are not given have the values of a valid IMPS payout of ₹1,000. */
export type PayoutInput = Partial<Readonly<InitiateRequest>>;

/** The response to a payout, as a client would have got it. */
export interface PayResponse extends ServiceResponse {
  /** The reference of the payout, given or generated. */
  readonly client_ref_id: string;
}

/** The fields of a payout that are not given. */
export const SOME_PAYOUT = {
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1000,
  transfer_mode: 'IMPS',
} as const satisfies PayoutInput;

const PAYOUT_FIELDS: readonly string[] = ['client_ref_id', ...Object.keys(SOME_PAYOUT), 'remarks'];

/** What a client can say of a payout in the end. */
const OUTCOMES = ['paid', 'failed', 'in-doubt'] as const;

/** @throws TypeError for anything but fields of a payout: a default would be paid in place of a misspelt field */
function checkPayout(payout: unknown): void {
  if (typeof payout !== 'object' || payout === null || Array.isArray(payout)) {
    throw new TypeError(
      `pay takes the fields of a payout, such as { client_ref_id: 'order-1' }, not ${JSON.stringify(payout)}`,
    );
  }
  const unknown = Object.keys(payout).find((field) => !PAYOUT_FIELDS.includes(field));
  if (unknown === undefined) return;
  throw new TypeError(`a payout has no field ${unknown}: it has ${PAYOUT_FIELDS.join(', ')}`);
}

/** What the client of a released request sees: the normal response if nothing is given. */
export type ReleaseOrder = NonNullable<ReleaseRequest>;

/** A request that a rule holds. */
export interface HeldRequest extends HeldRequestResponse {
  /**
   * Releases it. A request that has only arrived makes its payout now, before this resolves.
   *
   * @param order what the client sees instead of the response: `{ fault: 'connection-reset' }`, `{ respond: { status: 500 } }`
   * @throws SandboxError HELD_NOT_FOUND when it was released, expired, or its client left
   */
  release(order?: ReleaseOrder): Promise<void>;
}

export interface HeldOptions {
  /** How long to wait for the requests, in wall time: `10s` by default. */
  readonly within?: string;
}

/** The most severe first. */
export const SEVERITIES = ['error', 'warning', 'notice'] as const satisfies readonly Severity[];

/** How far to move a clock. */
export type ClockMove = string | Date | AdvanceRequest | { readonly to: Date };

/** What to verify. Counts have the names of the control API, or those of the methods of `expect`. */
export type Verification = Omit<VerifyRequest, 'count'> & {
  readonly count?: VerifyRequest['count'] & { readonly atLeast?: number; readonly atMost?: number };
};

/** The clock of one world. It never goes backwards. */
export class WorldClock {
  readonly #control: ControlClient;

  constructor(control: ControlClient) {
    this.#control = control;
  }

  /** World time, whether the clock is frozen, and when the next step of a payout is due. */
  read(): Promise<ClockResponse> {
    return this.#control.get('/clock');
  }

  /** World time. */
  async now(): Promise<Date> {
    return new Date((await this.read()).now);
  }

  /** Lets the clock go on from its time at this speed: so many seconds in a second of real time, from 0 (frozen) to 86,400. */
  speed(speed: number): Promise<ClockResponse> {
    return this.#control.put('/clock', { speed });
  }

  /** Freezes the clock at its current time: speed 0. */
  freeze(): Promise<ClockResponse> {
    return this.speed(0);
  }

  /** Lets the clock run in real time from its current time: speed 1. */
  resume(): Promise<ClockResponse> {
    return this.speed(1);
  }

  /**
   * Moves the clock forward, and resolves when all steps that are due by then are applied.
   *
   * @param move a duration (`'90s'`, `'2h'`, `'3d'`), a time (a Date, or `'2026-12-01 10:00'` in IST, or with an offset), `'idle'` until
   *   nothing is scheduled, or `{ by }`, `{ to }`, `{ until: 'idle' }`
   * @returns the new time, and the steps that were applied, in order
   */
  advance(move: ClockMove): Promise<AdvanceResponse> {
    const bodyOf = (text: string): AdvanceRequest =>
      text === 'idle' ? { until: text } : /^\d{4}-/.test(text) ? { to: text } : { by: text };
    const body = move instanceof Date ? { to: move } : typeof move === 'object' ? move : bodyOf(move);
    return this.#control.post('/clock/advance', body); // as JSON, a Date is ISO 8601
  }
}

/**
 * The world of one API key. Give the key to the client under test; the test controls and inspects the world here.
 * Every method throws SandboxError for an error of the sandbox. Amounts are INR, times ISO 8601.
 */
export class World implements AsyncDisposable {
  readonly apiKey: string;
  /** The base URL for a payout client; the same for every world. */
  readonly url: string;
  readonly clock: WorldClock;
  readonly #control: ControlClient;
  readonly #drop: ((id: string) => Promise<void>) | undefined;
  #lastNumber: number | undefined;

  /** @param drop drops a world by its id; undefined without the admin token */
  constructor(send: Send, url: string, apiKey: string, name?: string, drop?: (id: string) => Promise<void>) {
    this.apiKey = apiKey;
    this.#drop = drop;
    this.#control = new ControlClient(send, url, apiKey, name);
    this.url = this.#control.url;
    this.clock = new WorldClock(this.#control);
  }

  /** The state of the world: balance, payouts by state, clock, scenario, and whether all invariants hold. */
  summary(): Promise<WorldResponse> {
    return this.#control.get('/world');
  }

  /** INR in the wallet. */
  async balance(): Promise<number> {
    return (await this.wallet()).balance;
  }

  wallet(): Promise<WalletResponse> {
    return this.#control.get('/wallet');
  }

  /** Puts money into the wallet. @param amount INR, at most 2 decimals */
  fund(amount: number): Promise<MoneyResponse> {
    return this.#control.post('/wallet/credit', { amount });
  }

  /** Takes money out of the wallet without a payout. @param amount INR, at most 2 decimals */
  withdraw(amount: number): Promise<MoneyResponse> {
    return this.#control.post('/wallet/debit', { amount });
  }

  /** The entries of the ledger, which explain the balance, oldest first. */
  entries(query: Pick<EntriesQuery, 'txn_id'> = {}): Promise<readonly EntryResponse[]> {
    return this.#control.all('/wallet/entries', 'entries', { ...query, order: 'oldest' });
  }

  /**
   * The payouts, oldest first, with their past and scheduled steps.
   *
   * @param query `{ at_risk: true }` selects those whose money is out although no response has told the client of them,
   *   `{ out_of_date: true }` those in a final state of which the client saw only another one
   */
  transactions(
    query: Pick<TransactionsQuery, 'status' | 'client_ref_id' | 'at_risk' | 'out_of_date'> = {},
  ): Promise<readonly TransactionResponse[]> {
    return this.#control.all('/transactions', 'transactions', { ...query, order: 'oldest' });
  }

  transaction(txnId: string): Promise<TransactionResponse> {
    return this.#control.get(`/transactions/${encodeURIComponent(txnId)}`);
  }

  /**
   * Forces a payout into a state, by a legal transition. Its scheduled steps are cancelled.
   *
   * @param id its txn_id, or its reference
   */
  async transition(id: string, to: 'SUCCESS' | 'FAILED' | 'REVERSED'): Promise<TransactionResponse> {
    checkReference(id);
    const [payout] = (await this.transactions({ client_ref_id: id })).slice(-1);
    return this.#control.post(`/transactions/${encodeURIComponent(payout?.txn_id ?? id)}/transition`, { to });
  }

  /** The names and descriptions of all scenarios. */
  scenarios(): Promise<ScenariosResponse> {
    return this.#control.get('/scenarios');
  }

  /** The scenario of this world, with all rules and how often each was applied. */
  scenario(): Promise<ScenarioResponse> {
    return this.#control.get('/scenario');
  }

  /**
   * Chooses a scenario: a name, a document, or null for the active scenario of the server. Overrides stay. The opening
   * balance of the scenario applies only if nothing has happened to the wallet.
   *
   * @param name of a document: letters, digits, dots, hyphens and underscores, at most 64 characters; `inline` by default
   */
  use(
    scenario: string | ScenarioInput | null,
    { name }: { readonly name?: string } = {},
  ): Promise<ScenarioResponse> {
    const isName = typeof scenario === 'string' || scenario === null;
    return this.#control.put(`/scenario${queryText({ name })}`, isName ? { use: scenario } : scenario);
  }

  /**
   * Every active rule, in the order in which they are tried, with how often each was applied.
   *
   * @param from only the overrides of the `world`, those of its `scenario`, or those of the `magic` beneficiaries
   */
  async rules(from?: 'world' | 'scenario' | 'magic'): Promise<readonly RuleResponse[]> {
    const { rules } = await this.#control.get<{ rules: RuleResponse[] }>('/rules');
    return from === undefined ? rules : rules.filter((rule) => rule.from === from);
  }

  /** Adds an override, before all others, or with `last` after the other overrides. Replaces the override with the same name. */
  rule(rule: RuleRequest, { last = false }: { readonly last?: boolean } = {}): Promise<RuleResponse> {
    return this.#control.post(last ? '/rules?last=true' : '/rules', rule);
  }

  /**
   * Which rule and which outcome a request would take in this world as it is now, and why no other. The request is not sent,
   * and nothing is counted.
   */
  explain(request: ExplainInput): Promise<ExplainResponse> {
    return this.#control.post('/rules/explain', request);
  }

  /** Removes an override; without a name, all of them. */
  async removeRule(name?: string): Promise<void> {
    await this.#control.delete(name === undefined ? '/rules' : `/rules/${encodeURIComponent(name)}`);
  }

  /** The requests to this world, oldest first. */
  async requests(
    query: Omit<RequestsQuery, 'order' | 'limit' | 'format' | 'since'> & {
      readonly since?: RequestsQuery['since'] | Date;
    } = {},
  ): Promise<readonly JournalEntry[]> {
    const known: JournalEntry[] = [];
    for (let { since } = query; ; since = known.at(-1)!.id) {
      const { requests } = await this.#control.get<RequestsResponse>('/requests', {
        ...query,
        since,
        order: 'oldest',
        limit: LONGEST_PAGE,
      });
      known.push(...requests);
      if (requests.length < LONGEST_PAGE) return known;
    }
  }

  /** The journal as a person reads it: a line for each request. @param last how many of the latest to show, at most 1,000 */
  async journalText(last = 100): Promise<string> {
    const response = await this.#control.open('GET', `/requests?format=text&limit=${last}`);
    return (await textOf(response)).trimEnd();
  }

  /** Clears the journal of requests. */
  async clearRequests(): Promise<void> {
    await this.#control.delete('/requests');
  }

  /** Checks the journal against an expectation: a count of requests that match, or a sequence. */
  verify({ count, ...expected }: Verification): Promise<VerifyResponse> {
    const { atLeast: at_least, atMost: at_most, ...others } = count ?? {};
    const counts = count && { count: { at_least, at_most, ...others } };
    return this.#control.post('/requests/verify', { ...expected, ...counts });
  }

  /**
   * The requests that rules with `effect: { hold }` hold, in the order in which they arrived.
   *
   * @param count waits until this many are held; without it, returns those that are held now
   * @throws SandboxError TOO_FEW_HELD, or NOT_RELEASED when a held request of this world has expired
   */
  async held(count?: number, { within }: HeldOptions = {}): Promise<readonly HeldRequest[]> {
    const { held } = await this.#control.get<{ held: HeldRequestResponse[] }>('/held', { count, within });
    return held.map((request) =>
      Object.assign(request, {
        release: async (order?: ReleaseOrder): Promise<void> => {
          await this.#control.post(`/held/${request.id}/release`, order);
        },
      }),
    );
  }

  /**
   * Judges how the client of this world has behaved so far.
   *
   * @param settings of the referee for this world; they apply until others are set. Setting them begins the verdict anew
   * @param options `ended` once the client sends no more, so that what it has not asked for counts
   */
  async referee(
    settings?: RefereeSettingsInput,
    { ended = false }: { readonly ended?: boolean } = {},
  ): Promise<ClientReport> {
    const report =
      settings === undefined ? null : await this.#control.put<ClientReport>('/referee', settings);
    return ended || report === null ? this.#control.get('/referee', { ended }) : report;
  }

  /**
   * Throws an ExpectationError that shows every finding, if the client, which must be done, has behaved badly, or if nobody knows:
   * requests were dropped for want of room, or never kept.
   *
   * @param settings as for `referee`; `failOn` is the lowest severity that counts, `error` by default
   */
  async expectGoodConduct({
    failOn = 'error',
    ...settings
  }: RefereeSettingsInput & { readonly failOn?: Severity } = {}): Promise<void> {
    const frames = callerFrames();
    if (!SEVERITIES.includes(failOn))
      throw new TypeError(`failOn must be one of ${SEVERITIES.join(', ')}, not ${failOn}`);
    const given = Object.keys(settings).length > 0 ? settings : undefined;
    const report = await this.referee(given, { ended: true });
    const counting = SEVERITIES.slice(0, SEVERITIES.indexOf(failOn) + 1);
    const isFound = counting.some((severity) => report.counts[severity] > 0);
    if (!isFound && report.unknown === null) return;
    const text = await textOf(await this.#control.open('GET', '/referee?format=text&ended=true'));
    const by = given === undefined && report.judged_by ? `, judged by ${report.judged_by}, set earlier` : '';
    if (isFound)
      throw new ExpectationError(`the client of this world did not behave well${by}:\n${text}`, frames);
    const why = `nobody knows whether the client of this world behaved well: ${report.unknown}`;
    throw new UnknownResultError(`${why}\n${text}`, frames);
  }

  /** Resets the world to a new one: wallet, payouts, clock, scenario, rules and journal. Delayed responses are aborted. */
  reset(): Promise<WorldResponse> {
    return this.#control.post('/reset');
  }

  /**
   * Takes back the last control action of this object: an advance, reset, restore, transition, credit or debit, or a change of the
   * clock, the scenario or the rules. Returns what it was, and the world time at which it had happened.
   *
   * @param options `action` is the number of another client's, from `summary`; `force` also takes back the requests that the
   *   client has sent since then
   * @throws SandboxError UNDO_REFUSED with nothing to take back, for a later action of another client, or for requests since then,
   *   which the message names
   */
  async undo({ action = this.lastAction, force }: UndoOptions = {}): Promise<UndoResponse['undone']> {
    if (action === undefined) {
      const why =
        'There is nothing to undo that was done here: give it the `action` of `last_action` in the summary';
      throw new SandboxError(409, 'UNDO_REFUSED', why);
    }
    const { undone } = await this.#control.post<UndoResponse>('/undo', { action, force });
    this.#control.actions = this.#control.actions.filter((number) => number < undone.action);
    return undone;
  }

  /** The number of the last control action that was carried out here and not taken back; undefined without one. */
  get lastAction(): number | undefined {
    return this.#control.actions.at(-1);
  }

  /** The whole world, with its newest requests and what the client was told of its payouts. */
  async snapshot(): Promise<WorldSnapshot> {
    return textOf(await this.#control.open('GET', '/state'), LONGEST_SNAPSHOT_MIB);
  }

  /** Replaces this world with a snapshot of this or another world. Its clock continues from the snapshot. */
  async restore(snapshot: WorldSnapshot): Promise<WorldResponse> {
    const headers = { 'content-type': 'application/x-ndjson' };
    const response = await this.#control.open('PUT', '/state', { headers, body: snapshot });
    return JSON.parse(await textOf(response)) as WorldResponse;
  }

  /**
   * Reads the events of this world from now on: `for await (const event of await world.events())`. Leaving the loop stops
   * reading.
   */
  events(options: EventsOptions = {}): Promise<WorldEvents> {
    return openEvents(this.#control, options);
  }

  /**
   * Makes a payout, as a request of the service with the key of this world. Rules, limits and the journal treat it like any
   * other. If a fault breaks the connection, it rejects with a TypeError, as `fetch` does.
   *
   * @param payout fields that are not given are filled in; a reference is `payout-1`, `payout-2` …
   * @throws TypeError for a field that a payout does not have
   */
  async pay(payout: PayoutInput = {}, init: ServiceCallInit = {}): Promise<PayResponse> {
    checkPayout(payout);
    const client_ref_id = payout.client_ref_id ?? (await this.#newReference());
    const body = { ...SOME_PAYOUT, ...payout, client_ref_id };
    return { ...(await this.#control.service({ ...init, path: '/payout/initiate', body })), client_ref_id };
  }

  /**
   * The payout with this reference; the latest, if a dialect allows several.
   *
   * @throws ExpectationError if there is none
   */
  async payout(reference: string): Promise<TransactionResponse> {
    const frames = callerFrames();
    checkReference(reference);
    const payout = (await this.transactions({ client_ref_id: reference })).at(-1);
    if (payout !== undefined) return payout;
    throw new ExpectationError(await unknownReference(this, reference), frames);
  }

  /**
   * Compares what the client says of a payout in the end with the ledger. A client that says that it is in doubt is right.
   *
   * @throws ExpectationError if the client reports a failure of a payout that was or may still be paid, or reports as paid what is not
   *   SUCCESS
   */
  async reported(reference: string, outcome: (typeof OUTCOMES)[number]): Promise<void> {
    const frames = callerFrames();
    if (!OUTCOMES.includes(outcome))
      throw new TypeError(`reported takes one of ${OUTCOMES.join(', ')}, not ${outcome}`);
    checkReference(reference);
    const payouts = await this.transactions({ client_ref_id: reference });
    const latest =
      payouts.find(({ status }) => status === 'SUCCESS') ??
      payouts.find(({ status }) => status === 'PENDING') ??
      payouts.at(-1);
    const status = latest?.status;
    const state = latest && `${reference} is ${latest.status} (${rupees(latest.amount)})`;
    let fault: string | undefined;
    if (outcome === 'failed' && status === 'SUCCESS') {
      fault = `${reference} was paid (${rupees(latest!.amount)}), but the client reports a failure`;
    } else if (outcome === 'failed' && status === 'PENDING') {
      fault = `${state} and may still be paid, but the client reports a failure`;
    } else if (outcome === 'paid' && status !== 'SUCCESS') {
      const why = status === 'PENDING' ? ', which it cannot know' : '';
      const what = state ?? (await unknownReference(this, reference));
      fault = `${what}, but the client reports that it was paid${why}`;
    }
    if (fault === undefined) return;
    await shareMisreport(this.#control.send, fault);
    throw new ExpectationError(fault, frames);
  }

  /**
   * Waits until a payout is in a state, and returns it. A frozen clock is moved to that moment; on a running clock the wait
   * takes real time, and may begin before the payout is made.
   *
   * @throws ExpectationError if the payout does not get there; the message says why
   */
  waitFor(
    reference: string,
    state: TransactionResponse['status'],
    options: WaitOptions = {},
  ): Promise<TransactionResponse> {
    const frames = callerFrames();
    return waitForPayout(this, reference, state, options, (reason) => new ExpectationError(reason, frames));
  }

  /** What to expect of the requests to this world: `await world.expect({ route: 'initiate' }).exactly(1)`. */
  expect(match: ExpectedRequest = {}): Expectation {
    return new Expectation(this, match);
  }

  /** The reference of the next payout that is made without one. No payout of this world has it, unless the test chose the same. */
  async nextReference(): Promise<string> {
    if (this.#lastNumber === undefined) {
      const { transactions } = await this.summary();
      const made = Object.values(transactions).reduce((sum, count) => sum + count, 0);
      this.#lastNumber ??= made; // another call may have counted meanwhile
    }
    return `payout-${this.#lastNumber + 1}`;
  }

  async #newReference(): Promise<string> {
    await this.nextReference();
    this.#lastNumber! += 1;
    return `payout-${this.#lastNumber}`;
  }

  /** Drops the world, so that nothing of it stays in the sandbox. Without the admin token, it is reset. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#drop === undefined) await this.reset();
    else await this.#drop((await this.summary()).id);
  }
}
