import type { State } from '../contract/service.ts';
import { Refusal } from '../contract/errors.ts';
import type { Entry, Payout, Step, WORLD_ITEMS, WorldHead, WorldItem } from '../contract/snapshot-lines.ts';
import { isMoneyBack, timelineFault } from '../payout/payout.ts';
import { documentBytes } from '../scenario/rule.ts';
import { ScenarioError } from '../scenario/scenario-file.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { attemptsHeld } from './attempts.ts';
import {
  COUNTS_A_RECORD,
  hasLongTimeline,
  indexPayout,
  nowMs,
  openWorld,
  useScenario,
  type WorldState,
} from './state.ts';
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
  const { id: world, identity, wallMs, clock, openingBalancePaise, wallet, scenario, attempts } = state;
  const lists: Readonly<Record<keyof typeof WORLD_ITEMS, readonly unknown[]>> = {
    entry: state.entries.slice(),
    payout: state.payouts.slice(),
    rule: state.overrides,
    use: [...state.uses].map(([rule, { matched, taken }]) => ({ rule, matched, taken })),
    attempts: [
      ...[...attempts.older].map(([of, { count, payout }]) => ({ of, count, payout, isRecent: false })),
      ...[...attempts.recent].map(([of, { count, payout }]) => ({ of, count, payout, isRecent: true })),
    ],
    window: [...state.windows].map(([of, { beganMs, count }]) => ({ of, beganMs, count })),
    refused: [...state.refused],
  };
  return {
    head: {
      world,
      identity,
      wallMs,
      clock,
      openingBalancePaise,
      wallet,
      scenario,
      references: attempts.references,
    },
    items: itemsOf(lists),
    length: Object.values(lists).reduce((sum, { length }) => sum + length, 0),
  };
}

function* itemsOf(lists: Readonly<Record<string, readonly unknown[]>>): Generator<WorldItem> {
  for (const [name, list] of Object.entries(lists)) {
    for (const item of list) yield { [name]: item } as WorldItem;
  }
}

/**
 * How much an item counts against SANDBOX_MAX_TRANSACTIONS. A payout counts with the entry that debits it, which comes first,
 * and once more for a long timeline.
 */
export function recordsOf(item: WorldItem): number {
  if ('entry' in item) return item.entry.kind === 'opening' || item.entry.kind === 'refund' ? 0 : 1;
  if ('use' in item || 'attempts' in item || 'window' in item) return 1 / COUNTS_A_RECORD;
  if ('payout' in item) return hasLongTimeline(item.payout) ? 1 : 0;
  return 'refused' in item ? 1 : 0;
}

/** About how many bytes an item counts against SANDBOX_SCENARIO_MEMORY, before its patterns are compiled. */
export const documentBytesOf = (item: WorldItem): number =>
  'rule' in item ? documentBytes(item.rule, 0) : 0;

/** A snapshot that cannot be restored. */
export const refusedSnapshot = (message: string): Refusal => new Refusal('STATE_REFUSED', { message });

/** @param otherwise the contradiction, for the message. @throws Refusal STATE_REFUSED unless it holds */
function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw refusedSnapshot(`This snapshot contradicts itself: ${otherwise}`);
}

/** How many attempts one snapshot may count: somewhat more than a world does. */
const MAX_ATTEMPTS = 20_000;
/** How many rules and limits one snapshot may count: it has every one that ever matched. */
const MAX_USES = 100_000;

/** What the entries say about a payout. */
interface Moved {
  /** Its position among the payouts of the entries. */
  readonly nth: number;
  readonly amountPaise: number;
  readonly outAtMs: number;
  /** When the money was returned; null if it was not. */
  backAtMs: number | null;
}

/**
 * Builds a state from the parts of a snapshot, which come one by one, and audits each: every entry, every transition, every
 * time, every sum. The state is not visible before it is complete.
 */
export class SnapshotReader {
  readonly #state: WorldState;
  readonly #compiler: ScenarioCompiler;
  readonly #nowMs: number;
  /** By txn_id, in the order of the entries, which must be that of the payouts. */
  readonly #moved = new Map<string, Moved>();
  /** Payouts with the same timeline share it. */
  readonly #timelines = new Map<string, readonly Step[]>();

  /** @throws Refusal STATE_REFUSED when its scenario cannot be used here */
  constructor(head: WorldHead, compiler: ScenarioCompiler) {
    const { world, identity, wallMs, clock, openingBalancePaise, wallet, scenario, references } = head;
    this.#compiler = compiler;
    this.#state = usable(() => openWorld(world, scenario.source, wallMs, compiler));
    Object.assign(this.#state, { identity, clock, openingBalancePaise, wallet, scenario, entries: [] });
    this.#state.attempts.references = references;
    this.#nowMs = nowMs(this.#state);
    demand(this.#nowMs >= 0, 'its clock is before 1970');
  }

  /** @throws Refusal STATE_REFUSED for an item that contradicts earlier ones */
  add(item: WorldItem): void {
    const { overrides, uses, attempts, windows, refused } = this.#state;
    if ('entry' in item) this.#addEntry(item.entry);
    else if ('payout' in item) this.#addPayout(item.payout);
    else if ('rule' in item) {
      demand(overrides.length < MAX_OVERRIDES, `it has more than ${MAX_OVERRIDES} rules on top`);
      usable(() => this.#compiler.rules([item.rule])); // one by one, so that they are not all compiled at the end
      this.#state.overrides = [...overrides, item.rule];
    } else if ('use' in item) {
      const { rule, matched, taken } = item.use;
      demand(taken <= matched, `${rule} was taken more often than it matched`);
      demand(!uses.has(rule), `${rule} is counted twice`);
      demand(uses.size < MAX_USES, `it counts more than ${MAX_USES} rules`);
      uses.set(rule, { matched, taken });
    } else if ('attempts' in item) {
      const { of, isRecent, ...attempt } = item.attempts;
      demand(!attempts.recent.has(of) && !attempts.older.has(of), `${of} is counted twice`);
      demand(attemptsHeld(attempts) < MAX_ATTEMPTS, `it counts more than ${MAX_ATTEMPTS} attempts`);
      demand(attempt.payout <= attempts.references, `${of} has a number that was not given`);
      attempts[isRecent ? 'recent' : 'older'].set(of, attempt);
    } else if ('window' in item) {
      const { of, ...window } = item.window;
      demand(!windows.has(of), `${of} is counted twice`);
      demand(windows.size < MAX_USES, `it counts more than ${MAX_USES} limits`);
      demand(window.beganMs <= this.#nowMs, `the window of ${of} is out of its time`);
      windows.set(of, window);
    } else {
      demand(!refused.has(item.refused), `${item.refused} is remembered twice`);
      refused.add(item.refused);
    }
  }

  /** @returns the complete state. @throws Refusal STATE_REFUSED when it contradicts itself */
  finish(): WorldState {
    const state = this.#state;
    const { payouts, entries, openingBalancePaise, scenario, overrides } = state;
    demand(payouts.length === this.#moved.size, 'an entry names a payout that is missing');
    demand(entries[0]?.amountPaise === openingBalancePaise, 'its opening balance is another');
    const [broken] = brokenInvariants(state);
    demand(broken === undefined, `it does not hold that ${broken}`);
    usable(() => useScenario(state, scenario, overrides, this.#compiler));
    const names = new Set(state.index.overrides.map(({ id }) => id));
    demand(names.size === overrides.length, 'two rules on top have the same name');
    return state;
  }

  #addEntry(entry: Entry): void {
    const { entries, payouts } = this.#state;
    const { kind, amountPaise, balancePaise, txnId, atMs } = entry;
    const last = entries.at(-1);
    const isOfPayout = kind === 'payout' || kind === 'refund';
    const sign = kind === 'payout' || kind === 'debit' ? -1 : 1;
    demand(payouts.length === 0, 'an entry comes after the payouts');
    demand((kind === 'opening') === (last === undefined), 'a ledger begins with its opening, and has one');
    demand(
      (last?.balancePaise ?? 0) + amountPaise === balancePaise,
      'the entries do not explain the balance',
    );
    demand(
      kind === 'opening' || Math.sign(amountPaise) === sign,
      `an entry of kind ${kind} has the wrong sign`,
    );
    demand((txnId !== null) === isOfPayout, 'an entry names the wrong payout');
    demand(atMs >= (last?.atMs ?? 0) && atMs <= this.#nowMs, 'an entry is out of its time');
    if (txnId !== null && kind === 'payout') this.#moveOut(txnId, -amountPaise, atMs);
    if (txnId !== null && kind === 'refund') this.#moveBack(txnId, amountPaise, atMs);
    entries.push(entry);
  }

  #moveOut(txnId: string, amountPaise: number, outAtMs: number): void {
    demand(!this.#moved.has(txnId), `the money of ${txnId} was debited twice`);
    this.#moved.set(txnId, { nth: this.#moved.size, amountPaise, outAtMs, backAtMs: null });
  }

  #moveBack(txnId: string, amountPaise: number, backAtMs: number): void {
    const moved = this.#moved.get(txnId);
    demand(
      moved?.amountPaise === amountPaise && moved.backAtMs === null,
      `the money of ${txnId} was returned without a debit`,
    );
    moved.backAtMs = backAtMs;
  }

  #addPayout(item: Payout): void {
    const { payouts, index } = this.#state;
    const { txnId, clientRefId, nth, amountPaise, createdAtMs, utr } = item;
    const moved = this.#moved.get(txnId);
    const earlier = findPayout(this.#state, { clientRefId });
    demand(!index.byTxnId.has(txnId), `${txnId} is there twice`);
    demand(nth === (earlier?.nth ?? 0) + 1, `the payouts of ${clientRefId} are not numbered without a gap`);
    demand(
      createdAtMs >= (payouts.at(-1)?.createdAtMs ?? 0),
      'the payouts are not in the order in which they were made',
    );
    const fault = payoutFault(item, this.#nowMs);
    demand(fault === null, `${txnId}: ${fault}`);
    demand(
      moved?.nth === payouts.length &&
        moved.amountPaise === amountPaise &&
        moved.outAtMs === createdAtMs &&
        moved.backAtMs === returnedAtMs(item),
      `the entries of ${txnId} do not fit it`,
    );
    demand(utr === null || !index.utrs.has(utr), `the UTR of ${txnId} is that of another payout`);
    const payout = { ...item, timeline: this.#sharedTimeline(item.timeline) };
    indexPayout(this.#state, payout, payouts.push(payout) - 1);
  }

  #sharedTimeline(timeline: readonly Step[]): readonly Step[] {
    const text = JSON.stringify(timeline);
    const known = this.#timelines.get(text);
    if (known === undefined) this.#timelines.set(text, timeline);
    return known ?? timeline;
  }
}

/** When the money of a payout was returned; null if it was not. */
function returnedAtMs({ timeline, stepsDone, createdAtMs }: Payout): number | null {
  const step = timeline.slice(0, stepsDone).find(({ to }) => to !== null && isMoneyBack(to));
  return step === undefined ? null : createdAtMs + step.afterMs!;
}

/** What is wrong with a payout; null if its state follows from its past steps, and its remaining steps are legal. */
function payoutFault(payout: Payout, nowMs: number): string | null {
  const { timeline, stepsDone, createdAtMs, completedAtMs } = payout;
  if (stepsDone > timeline.length) return 'more of its steps have happened than it has';
  const done = timeline.slice(0, stepsDone);
  const ahead = timeline.slice(stepsDone);
  const doneAtMs = done.map(({ afterMs }) => createdAtMs + (afterMs ?? Number.NaN));
  if (!doneAtMs.every((atMs, nth) => atMs >= (doneAtMs[nth - 1] ?? createdAtMs) && atMs <= nowMs)) {
    return 'its steps are out of their time';
  }
  const fault =
    timelineFault(done.map((step) => ({ ...step, polls: null }))) ?? timelineFault(ahead, payout.state);
  if (fault !== null) return fault;
  const state: State = done.findLast(({ to }) => to !== null)?.to ?? 'PENDING';
  if (state !== payout.state) return `it is ${payout.state}, where its steps lead to ${state}`;
  const leftAtMs = doneAtMs[done.findIndex(({ to }) => to !== null)] ?? null;
  if (completedAtMs !== leftAtMs) return 'its completion is not when it left PENDING';
  if ((payout.utr !== null) !== done.some(({ utr }) => utr)) return 'its UTR is not what its steps set';
  return null;
}

/** @throws Refusal STATE_REFUSED for a scenario or a rule that cannot be used here */
function usable<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw refusedScenario(error);
  }
}

/** The refusal of a snapshot for an error of its scenario. @returns any other error unchanged */
export const refusedScenario = (error: unknown): unknown =>
  error instanceof ScenarioError
    ? refusedSnapshot(`The scenario of this snapshot cannot be used here: ${error.lines.join('; ')}`)
    : error;
