import { Refusal } from '../contract/errors.ts';
import {
  REQUEST_FIELDS,
  type Entry,
  type Payout,
  type Step,
  type StoredRequest,
  type WORLD_ITEMS,
  type WorldHead,
  type WorldItem,
} from '../contract/snapshot-lines.ts';
import { isMoneyBack, timelineFault } from '../payout/payout.ts';
import { ScenarioError } from '../scenario/scenario-file.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { attemptsHeld } from './attempts.ts';
import {
  charactersOf,
  endsOf,
  noRequests,
  plannedResponse,
  requestCharacters,
  sentResponse,
  type Exchange,
} from './journal/exchange.ts';
import { extrasHeld, indexPayout, nowMs, openWorld, useScenario, type WorldState } from './state.ts';
import { noneHeld } from './request/hold-state.ts';
import { brokenInvariants, findPayout } from './ledger.ts';
import { MAX_OVERRIDES } from './operations.ts';

/** A world as data, at one moment: later changes of the world do not affect it. */
export interface Snapshot {
  readonly head: WorldHead;
  /** In the order of `WORLD_ITEMS`; generated as they are read. */
  readonly items: Iterable<WorldItem>;
  readonly length: number;
}

/** Takes a snapshot. It copies two lists of references, and nothing else. */
export function takeSnapshot(state: Readonly<WorldState>): Snapshot {
  const { count, evicted, list } = state.requests;
  const exchanges = list.slice();
  const lists: Readonly<Record<keyof typeof WORLD_ITEMS, Iterable<unknown> & { readonly length: number }>> = {
    entry: state.entries.slice(),
    payout: state.payouts.slice(),
    rule: state.overrides,
    use: [...state.uses].map(([rule, { matched, taken }]) => ({ rule, matched, taken })),
    attempts: [
      ...[...state.attempts.older].map(([of, { count, payout }]) => ({ of, count, payout, isRecent: false })),
      ...[...state.attempts.recent].map(([of, { count, payout }]) => ({ of, count, payout, isRecent: true })),
    ],
    window: [...state.windows].map(([of, { beganMs, count }]) => ({ of, beganMs, count })),
    refused: [...state.refused],
    request: { length: exchanges.length, [Symbol.iterator]: () => storedRequests(exchanges) },
  };
  return {
    head: {
      world: state.id,
      identity: state.identity,
      wallMs: state.wallMs,
      clock: state.clock,
      openingBalancePaise: state.openingBalancePaise,
      wallet: state.wallet,
      scenario: state.scenario,
      references: state.attempts.references,
      name: state.name,
      requests: { count, evicted },
      held: state.held.made || undefined, // so that a world without any has the bytes that 1.0.0 writes and reads
    },
    items: itemsOf(lists),
    length: Object.values(lists).reduce((sum, { length }) => sum + length, 0),
  };
}

function* itemsOf(lists: Readonly<Record<string, Iterable<unknown>>>): Generator<WorldItem> {
  for (const [name, list] of Object.entries(lists)) {
    for (const item of list) yield { [name]: item } as WorldItem;
  }
}

/** Requests as a snapshot has them, with the text of what was sent. */
function* storedRequests(exchanges: readonly Exchange[]): Generator<StoredRequest> {
  const ends = endsOf(exchanges);
  for (const exchange of exchanges) {
    const {
      result: _r,
      position: _p,
      endPosition: _e,
      span: _s,
      requestCharacters: _c,
      ...stored
    } = exchange;
    const isPending = exchange.outcome === 'pending';
    const request: StoredRequest = {
      ...stored,
      response: sentResponse(exchange),
      planned: isPending ? sentResponse({ ...exchange, response: plannedResponse(exchange) }) : undefined,
      endedAfter: ends.get(exchange.nth),
    };
    // in one order, whatever this server read and what it made itself
    yield Object.fromEntries(REQUEST_FIELDS.map((name) => [name, request[name]])) as StoredRequest;
  }
}

export const refusedSnapshot = (message: string): Refusal => new Refusal('STATE_REFUSED', { message });

/** @param otherwise the contradiction, for the message. @throws Refusal STATE_REFUSED unless it holds */
function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw refusedSnapshot(`This snapshot contradicts itself: ${otherwise}`);
}

/** How many attempts one snapshot may count: somewhat more than a world does. */
const MAX_ATTEMPTS = 20_000;
/** How many rules and limits one snapshot may count: it has every one that ever matched. */
const MAX_USES = 100_000;

/**
 * Builds a state from the parts of a snapshot, which come one by one. The state is not visible before it is complete: its checksum
 * shows damage, and the invariants of the ledger show a state that no world can have.
 */
export class SnapshotReader {
  readonly #state: WorldState;
  readonly #compiler: ScenarioCompiler;
  /** Payouts with the same timeline share it. */
  readonly #timelines = new Map<string, readonly Step[]>();
  /** The opening and the refunds, which take no room of their own. */
  #freeEntries = 0;
  /** Where the entry is that debits the latest payout: the entries of payouts are in the order of the payouts. */
  #debit = 0;
  /** Where the refunds are whose payouts have not come yet, by txn_id. */
  readonly #refunds = new Map<string, number>();

  /** @throws Refusal STATE_REFUSED when its scenario cannot be used here */
  constructor(head: WorldHead, compiler: ScenarioCompiler) {
    const { world, wallMs, references, requests, held = 0, ...others } = head;
    this.#compiler = compiler;
    this.#state = usable(() => openWorld(world, others.scenario.source, wallMs, compiler));
    const { count, evicted } = requests;
    Object.assign(this.#state, {
      ...others,
      requests: { ...noRequests(count), evicted },
      held: noneHeld(held),
      entries: [],
    });
    this.#state.attempts.references = references;
    demand(nowMs(this.#state) >= 0, 'its clock is before 1970');
  }

  /** What has been read, as `transactionsHeld` will count it. A payout counts with the entry that debits it, which comes first. */
  get transactions(): number {
    const { refused, entries, payouts } = this.#state;
    return refused.size + Math.max(entries.length - this.#freeEntries, payouts.length);
  }

  /** As `recordsHeld` will count it. */
  get records(): number {
    return this.transactions + extrasHeld(this.#state);
  }

  /** @throws Refusal STATE_REFUSED for an item that contradicts earlier ones */
  add(item: WorldItem): void {
    const { overrides, uses, attempts, windows, refused, requests } = this.#state;
    if ('entry' in item) this.#addEntry(item.entry);
    else if ('payout' in item) this.#addPayout(item.payout);
    else if ('rule' in item) {
      demand(overrides.length < MAX_OVERRIDES, `it has more than ${MAX_OVERRIDES} overrides`);
      const rules = [...overrides, item.rule];
      usable(() => this.#compiler.rules(rules)); // each when it comes, so that they are not all compiled at the end
      this.#state.overrides = rules;
    } else if ('use' in item) {
      const { rule, matched, taken } = item.use;
      demand(uses.size < MAX_USES, `it counts more than ${MAX_USES} rules`);
      uses.set(rule, { matched, taken });
    } else if ('attempts' in item) {
      const { of, isRecent, ...attempt } = item.attempts;
      demand(attemptsHeld(attempts) < MAX_ATTEMPTS, `it counts more than ${MAX_ATTEMPTS} attempts`);
      attempts[isRecent ? 'recent' : 'older'].set(of, attempt);
    } else if ('window' in item) {
      const { of, ...window } = item.window;
      demand(windows.size < MAX_USES, `it counts more than ${MAX_USES} limits`);
      windows.set(of, window);
    } else if ('request' in item) {
      const exchange = {
        ...item.request,
        requestCharacters: requestCharacters(item.request),
        position: 0,
      };
      demand(exchange.nth > (requests.list.at(-1)?.nth ?? 0), 'its requests are out of order');
      demand(exchange.nth <= requests.count, 'a request has a number that was not given');
      requests.list.push(exchange);
      requests.characters += charactersOf(exchange);
    } else refused.add(item.refused);
  }

  /** @returns the complete state. @throws Refusal STATE_REFUSED when it contradicts itself */
  finish(): WorldState {
    const state = this.#state;
    const { entries, openingBalancePaise, scenario, overrides } = state;
    demand(entries[0]?.amountPaise === openingBalancePaise, 'its opening balance is another');
    const [other] = this.#refunds.keys();
    demand(other === undefined, `an entry refunds ${other}, which is not there`);
    demand(this.#nextDebit() === undefined, 'an entry debits a payout that is not there');
    const [broken] = brokenInvariants(state);
    demand(broken === undefined, `it does not hold that ${broken}`);
    usable(() => useScenario(state, scenario, overrides, this.#compiler));
    const names = new Set(state.index.overrides.map(({ id }) => id));
    demand(names.size === overrides.length, 'two overrides have the same name');
    return state;
  }

  #addEntry(entry: Entry): void {
    const { entries } = this.#state;
    const last = entries.at(-1);
    demand(
      (entry.kind === 'opening') === (last === undefined),
      'a ledger begins with its opening, and has one',
    );
    demand(
      (last?.balancePaise ?? 0) + entry.amountPaise === entry.balancePaise,
      'the entries do not explain the balance',
    );
    const { kind, txnId } = entry;
    const isOfPayout = kind === 'payout' || kind === 'refund';
    demand(isOfPayout === (txnId !== null), 'only the entries of payouts name one');
    if (kind === 'refund') {
      demand(!this.#refunds.has(txnId!), `${txnId} is refunded twice`);
      this.#refunds.set(txnId!, entries.length);
    }
    entries.push(entry);
    if (kind === 'opening' || kind === 'refund') this.#freeEntries += 1;
  }

  /** Goes to the entry that debits the next payout. */
  #nextDebit(): Entry | undefined {
    const { entries } = this.#state;
    do this.#debit += 1;
    while (this.#debit < entries.length && entries[this.#debit]!.kind !== 'payout');
    return entries[this.#debit];
  }

  /** Each payout has one entry that debits it and, if its money was returned, one after that which refunds it. */
  #checkEntries({ txnId, amountPaise, state }: Payout): void {
    const debit = this.#nextDebit();
    const isDebited = debit?.txnId === txnId && debit.amountPaise === -amountPaise;
    demand(isDebited, `no entry debits ${txnId}, or not in the order of the payouts`);
    const position = this.#refunds.get(txnId) ?? -1;
    this.#refunds.delete(txnId);
    const isRefunded = position > this.#debit && this.#state.entries[position]!.amountPaise === amountPaise;
    const isRight = isMoneyBack(state) ? isRefunded : position === -1;
    demand(isRight, `${txnId} is ${state}, and the entries say otherwise`);
  }

  #addPayout(item: Payout): void {
    const { payouts, index } = this.#state;
    const { txnId, clientRefId, nth, utr, timeline, stepsDone, state } = item;
    const earlier = findPayout(this.#state, { clientRefId });
    demand(!index.byTxnId.has(txnId), `${txnId} is there twice`);
    this.#checkEntries(item);
    demand(nth === (earlier?.nth ?? 0) + 1, `the payouts of ${clientRefId} are not numbered without a gap`);
    demand(stepsDone <= timeline.length, `${txnId}: more of its steps have happened than it has`);
    const fault = timelineFault(timeline.slice(stepsDone), state);
    demand(fault === null, `${txnId}: ${fault}`);
    demand(utr === null || !index.utrs.has(utr), `the UTR of ${txnId} is that of another payout`);
    const payout = { ...item, timeline: this.#sharedTimeline(timeline) };
    indexPayout(this.#state, payout, payouts.push(payout) - 1);
  }

  #sharedTimeline(timeline: readonly Step[]): readonly Step[] {
    const text = JSON.stringify(timeline);
    const known = this.#timelines.get(text);
    if (known === undefined) this.#timelines.set(text, timeline);
    return known ?? timeline;
  }
}

/** @throws Refusal STATE_REFUSED for a scenario or a rule that cannot be used here */
function usable<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    throw refusedSnapshot(`The scenario of this snapshot cannot be used here: ${error.lines.join('; ')}`);
  }
}
