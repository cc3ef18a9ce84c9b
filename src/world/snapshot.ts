import {
  type Payout,
  type PayoutStep,
  REQUEST_FIELDS,
  type StoredRequest,
  type WorldHead,
  type WorldItem,
} from '../contract/snapshot.ts';
import { MAX_ENDED_JOURNALS } from '../contract/conduct.ts';
import { Refusal } from '../contract/errors.ts';
import { timelineFault } from '../payout/timeline.ts';
import { ScenarioError } from '../scenario/scenario-file.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { noRequests, type KeptRequest } from './journal/kept-request.ts';
import { sentResponse } from './request/response.ts';
import { openWorld, useScenario } from './opening.ts';
import { indexPayout } from './state.ts';
import { noneHeld, type WorldState, type HeldRequest } from './state-shape.ts';
import { brokenInvariants } from './ledger.ts';
import { MAX_OVERRIDES } from './operations.ts';

/** A world as data, at one moment: later changes of the world do not affect it. */
export interface Snapshot {
  readonly head: WorldHead;
  /** In the order of the items of the format; generated as they are read. */
  readonly items: Iterable<WorldItem>;
}

/** Takes a snapshot. It copies lists of references, and nothing else. @param isLive whether the world goes on from it at other servers */
export function takeSnapshot(state: Readonly<WorldState>, isLive = false): Snapshot {
  const { count, evicted, list, pending } = state.requests;
  const { waiting, expired, made } = state.held;
  const oldest = list[0]?.nth ?? Infinity;
  const lists = {
    entry: state.entries.slice(),
    payout: state.payouts.slice(),
    rule: state.overrides,
    use: [...state.uses].map(([rule, { matched, taken }]) => ({ rule, matched, taken })),
    attempts: [...state.attempts.counts].map(([of, { count, payout }]) => ({ of, count, payout })),
    window: [...state.windows].map(([of, { beganMs, count }]) => ({ of, beganMs, count })),
    stored: state.stored.slice(),
    late: state.late,
    pending: storedRequests(isLive ? pending.filter(({ nth }) => nth < oldest) : [], isLive),
    request: storedRequests(list.slice(), isLive),
    waiting: isLive ? waiting : [],
    expired: isLive ? expired : [],
    referee: state.referee.settings === null ? [] : [state.referee.settings],
    report: state.referee.ended,
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
      held: made || undefined, // so that a world without any has the bytes that 1.0.0 writes and reads
      ...(isLive && { generation: state.generation, eventCount: state.eventCount }),
    },
    items: itemsOf(lists),
  };
}

function* itemsOf(lists: Readonly<Record<string, Iterable<unknown>>>): Generator<WorldItem> {
  for (const [name, list] of Object.entries(lists)) {
    for (const item of list) yield { [name]: item } as WorldItem;
  }
}

/** Requests as a snapshot has them, with the text of what was sent. */
function* storedRequests(requests: readonly KeptRequest[], isLive: boolean): Generator<object> {
  const elsewhere = isLive ? {} : { position: undefined, server: undefined };
  for (const kept of requests) {
    const request: StoredRequest = { ...kept, response: sentResponse(kept), ...elsewhere };
    // in one order, whatever this server read and what it made itself
    yield Object.fromEntries(REQUEST_FIELDS.map((name) => [name, request[name]]));
  }
}

/** A request that was read. One that came to another world has no place in the log of this one. */
const placed = ({ position = 0, server = '', ...request }: StoredRequest): KeptRequest => ({
  ...request,
  position,
  server,
});

export const refusedSnapshot = (message: string): Refusal => new Refusal('STATE_REFUSED', { message });

/** @param otherwise the contradiction, for the message. @throws Refusal STATE_REFUSED unless it holds */
function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw refusedSnapshot(`This snapshot contradicts itself: ${otherwise}`);
}

/**
 * Builds a state from the parts of a snapshot, which come one by one. Their shapes have been checked. The state is not visible
 * before it is complete: its checksum shows damage, and the invariants of the ledger show a state that no world can have.
 */
export class SnapshotReader {
  readonly #state: WorldState;
  readonly #compiler: ScenarioCompiler;
  /** Payouts with the same timeline share it. */
  readonly #timelines = new Map<string, readonly PayoutStep[]>();

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
  }

  /** @throws Refusal STATE_REFUSED for an entry or a payout that breaks the rules of money */
  add(item: WorldItem): void {
    const { overrides, uses, attempts, windows, stored, index, requests, referee, held } = this.#state;
    if ('entry' in item) {
      const { amountPaise, balancePaise } = item.entry;
      const before = this.#state.entries.at(-1)?.balancePaise ?? 0;
      demand(before + amountPaise === balancePaise, 'the entries do not explain the balance');
      this.#state.entries.push(item.entry);
    } else if ('payout' in item) this.#addPayout(item.payout);
    else if ('rule' in item) {
      demand(overrides.length < MAX_OVERRIDES, `it has more than ${MAX_OVERRIDES} overrides`);
      this.#state.overrides = [...overrides, item.rule];
    } else if ('use' in item) {
      const { rule, ...use } = item.use;
      uses.set(rule, use);
    } else if ('attempts' in item) {
      const { of, ...attempt } = item.attempts;
      attempts.counts.set(of, attempt);
    } else if ('window' in item) {
      const { of, ...window } = item.window;
      windows.set(of, window);
    } else if ('pending' in item) requests.pending.push(placed(item.pending));
    else if ('request' in item) {
      const request = placed(item.request);
      requests.list.push(request);
      if (request.outcome === 'pending') requests.pending.push(request);
    } else if ('waiting' in item) {
      this.#state.held = { ...held, waiting: [...held.waiting, item.waiting as unknown as HeldRequest] };
    } else if ('expired' in item) {
      this.#state.held = { ...held, expired: [...held.expired, item.expired as unknown as HeldRequest] };
    } else if ('referee' in item) this.#state.referee = { ...referee, settings: item.referee };
    else if ('report' in item) {
      demand(referee.ended.length < MAX_ENDED_JOURNALS, `it has more than ${MAX_ENDED_JOURNALS} reports`);
      this.#state.referee = { ...referee, ended: [...referee.ended, item.report] };
    } else if ('late' in item) this.#state.late = [...this.#state.late, item.late];
    else index.stored.set(item.stored.clientRefId, stored.push(item.stored) - 1);
  }

  /** @returns the complete state. @throws Refusal STATE_REFUSED when it contradicts itself */
  finish(): WorldState {
    const state = this.#state;
    const { scenario, overrides } = state;
    const [broken] = brokenInvariants(state);
    demand(broken === undefined, `it does not hold that ${broken}`);
    usable(() => useScenario(state, scenario, overrides, this.#compiler));
    return state;
  }

  #addPayout(item: Payout): void {
    const { txnId, timeline, stepsDone, state } = item;
    const fault = timelineFault(timeline.slice(stepsDone), state);
    demand(fault === null, `${txnId}: ${fault}`);
    const payout = { ...item, timeline: this.#sharedTimeline(timeline) };
    indexPayout(this.#state, payout, this.#state.payouts.push(payout) - 1);
  }

  #sharedTimeline(timeline: readonly PayoutStep[]): readonly PayoutStep[] {
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
