import TinyQueue from 'tinyqueue';
import type { EndedJournal, RefereeSettings } from '../contract/conduct.ts';
import { Refusal } from '../contract/errors.ts';
import { type ClockState, LATEST_MS } from '../payout/settlement.ts';
import type { Entry, Wallet } from '../payout/money.ts';
import { type Payout, isAtRisk, isOutOfDate, nextDueMs } from '../payout/payout.ts';
import type { Scenario, ScenarioSource } from '../scenario/scenario.ts';
import type { HeldRequests } from './request/hold-state.ts';
import type { RateWindows, Rule, RuleUse } from '../scenario/rule.ts';
import type { Requests } from './journal/exchange.ts';

/** Everything that the future of one world depends on. Only `apply` changes it. */
export interface WorldState {
  readonly id: string;
  /** What its ids are derived from: its own id, unless it was forked from another world. */
  identity: string;
  generation: number;
  /** The latest wall time of a command, ms since the epoch. It never goes back. */
  wallMs: number;
  clock: ClockState;
  scenario: { readonly source: ScenarioSource; readonly isChosen: boolean };
  /** The rules that were put on top of the scenario, as they were written, the newest first. */
  overrides: readonly unknown[];
  /** How many times each rule matched and was taken, by its id. */
  uses: Map<string, RuleUse>;
  /** The windows of the limits of its rules and scenarios, in world time. */
  windows: RateWindows;
  attempts: Attempts;
  /** The name that its client gave it, for people; null for none. */
  name: string | null;
  referee: RefereeState;
  /** The newest requests, what each did, and what its client was sent. */
  requests: Requests;
  /** How many events there have been: the number of the latest. */
  eventCount: number;
  /** What the world was before each of the latest control actions, the newest last. */
  readonly undoPoints: UndoPoint[];
  /** A snapshot has only their number, since a request belongs to a connection. */
  held: HeldRequests;
  openingBalancePaise: number;
  wallet: Wallet;
  /** In the order in which they were made, as the payouts are. */
  entries: Entry[];
  payouts: Payout[];
  /** References that were refused with 402, in a dialect that remembers them. */
  refused: Set<string>;
  /** Derived from the rest, and not part of a snapshot. */
  index: ReturnType<typeof openIndex>;
}

export interface Attempt {
  /** How many times the reference was sent on its route. */
  readonly count: number;
  /** Which new reference of its world it was; 0 on routes other than initiate. */
  readonly payout: number;
}

/**
 * How many times each reference of one world was sent, by `route reference`. A reference that is sent again moves from `older` to
 * `recent`. When `recent` holds half of what a world may count, it becomes `older`, and what was still there is forgotten.
 */
export interface Attempts {
  recent: Map<string, Attempt>;
  older: Map<string, Attempt>;
  /** How many new references initiates have sent. */
  references: number;
  /** What the counts that have changed since the latest control action were before, for an undo; null without one. */
  former: Map<string, Attempt | undefined> | null;
}

export const noAttempts = (): Attempts => ({
  recent: new Map(),
  older: new Map(),
  references: 0,
  former: null,
});

/** A control action that changed the ledger, the clock or the scenario. */
export interface Action {
  /** The position of its command in the order of the world, which is the same on all servers. */
  readonly number: number;
  readonly name: string;
  /** World time. */
  readonly atMs: number;
}

/**
 * What a world was before a control action. No list is copied: the lists of a ledger only grow, so their lengths are enough, and an
 * action that replaces one leaves the old one as it was.
 */
export interface UndoPoint extends Action {
  /** The fields of the state. */
  readonly fields: Readonly<WorldState>;
  readonly lengths: { readonly payouts: number; readonly entries: number; readonly refused: number };
  /** The payouts that were replaced since then, by position: what they were before. */
  readonly formerPayouts: Map<number, Payout>;
  readonly formerAttempts: NonNullable<Attempts['former']>;
  readonly references: number;
  readonly uses: WorldState['uses'];
  readonly windows: WorldState['windows'];
  readonly scenario: Pick<WorldState['index'], 'base' | 'overrides' | 'active'>;
  /** How many requests the world had had after the action. */
  requests: number;
  /** Whether the action began another journal. */
  hasOtherJournal: boolean;
}

/** What the referee keeps with a world. It outlives a reset, as the name of the world does. */
export interface RefereeState {
  /** null for none of its own. */
  readonly settings: RefereeSettings | null;
  /** The reports on the journals that resets have ended, the oldest first. */
  readonly ended: readonly EndedJournal[];
}

/** A payout whose next step waits for its time. */
export interface Due {
  readonly dueMs: number;
  readonly createdAtMs: number;
  readonly txnId: string;
  readonly position: number;
}

/** The order in which steps happen: by due time, then creation, then id, so that the order of arrival does not matter. */
const byDueTime = (a: Due, b: Due): number =>
  a.dueMs - b.dueMs || a.createdAtMs - b.createdAtMs || (a.txnId < b.txnId ? -1 : 1);

/** Lookup tables of a world, derived from its state: those of one without payouts. */
export const openIndex = (base: Scenario) => ({
  byTxnId: new Map<string, number>(),
  /** The position of the latest payout of each reference. */
  byReference: new Map<string, number>(),
  utrs: new Set<string>(),
  /** For UTRs that were already taken when a payout drew them: the serial from which to search for a free one. */
  nextSerials: new Map<string, number>(),
  due: new TinyQueue<Due>([], byDueTime),
  /** The number and the sum of payouts by state. Kept separately from the wallet, so that each verifies the other. */
  tallies: {
    PENDING: { count: 0, paise: 0 },
    SUCCESS: { count: 0, paise: 0 },
    FAILED: { count: 0, paise: 0 },
    REVERSED: { count: 0, paise: 0 },
  },
  /** The payouts at risk: how many, and their sum. One whose response is being sent does not count yet. */
  atRisk: { count: 0, paise: 0 },
  outOfDate: { count: 0, paise: 0 },
  /** The payouts whose requests are being answered, by txn_id. */
  beingTold: new Set<string>(),
  /** The scenario without the overrides. */
  base,
  /** The overrides, the newest first. */
  overrides: [] as readonly Rule[],
  /** The scenario with the overrides. */
  active: base,
});

/** World time at a wall time, ms since the epoch. A running clock stops at the last time that a timestamp can show. */
export const worldTimeMs = (clock: ClockState, wallMs: number): number =>
  clock.frozenAtMs === null ? Math.min(wallMs + clock.aheadMs, LATEST_MS) : clock.frozenAtMs;

/** The wall time at which a running world reaches `worldMs`; null when it is frozen, or never gets there. */
export const wallTimeMs = (clock: ClockState, worldMs: number): number | null =>
  clock.frozenAtMs === null && worldMs <= LATEST_MS ? worldMs - clock.aheadMs : null;

/** World time, as of the latest command. */
export const nowMs = ({ clock, wallMs }: Pick<WorldState, 'clock' | 'wallMs'>): number =>
  worldTimeMs(clock, wallMs);

/** What a world holds at a moment: how many payouts are in each state, at risk and out of date, and their sums, in this order. */
export function sumsOf(state: Readonly<WorldState>) {
  const { tallies, atRisk, outOfDate } = state.index;
  const all = [tallies.PENDING, tallies.SUCCESS, tallies.FAILED, tallies.REVERSED, atRisk, outOfDate];
  return {
    nowMs: nowMs(state),
    balancePaise: state.wallet.balancePaise,
    counts: all.map(({ count }) => count),
    paise: all.map(({ paise }) => paise),
  };
}
export type Sums = ReturnType<typeof sumsOf>;

/** True while nothing has happened to the wallet since its opening. */
export const isUntouched = ({ entries, refused }: WorldState): boolean =>
  entries.length === 1 && refused.size === 0;

/** What counts against SANDBOX_MAX_TRANSACTIONS: payouts, each with the entry that debits it, remembered refusals, credits and debits. */
export const transactionsHeld = ({ refused, entries, index }: WorldState): number => {
  const { FAILED, REVERSED } = index.tallies;
  const openingAndRefunds = 1 + FAILED.count + REVERSED.count;
  return refused.size + entries.length - openingAndRefunds;
};

/** What counts against SANDBOX_MAX_RULES: its overrides, and its scenario if it chose one; otherwise it shares the server's. */
export const rulesHeld = (
  { isChosen }: WorldState['scenario'],
  { base, overrides }: Pick<WorldState['index'], 'base' | 'overrides'>,
): number => overrides.length + (isChosen ? base.size : 0);

export const noRoomForRules = (): Refusal =>
  new Refusal('SANDBOX_FULL', {
    message: 'The scenarios and rules of all worlds are as many as SANDBOX_MAX_RULES allows',
    limit: 'SANDBOX_MAX_RULES',
  });

/** How many requests and payouts are kept for an undo, beside those of the world itself. */
export const undoHeld = ({ undoPoints }: WorldState): number =>
  undoPoints.reduce(
    (sum, { fields, lengths, formerPayouts, hasOtherJournal }) =>
      sum + formerPayouts.size + (hasOtherJournal ? lengths.payouts + fields.requests.list.length : 0),
    0,
  );

export const full = (maxTransactions: number): Refusal =>
  new Refusal('SANDBOX_FULL', {
    message: `The sandbox is full: SANDBOX_MAX_TRANSACTIONS is ${maxTransactions}`,
    limit: 'SANDBOX_MAX_TRANSACTIONS',
  });

/** Puts a payout into the index. @param position where it is in `payouts` */
export function indexPayout({ index }: WorldState, payout: Payout, position: number): void {
  index.byTxnId.set(payout.txnId, position);
  index.byReference.set(payout.clientRefId, position);
  if (payout.utr !== null) index.utrs.add(payout.utr);
  tally(index, payout, 1);
  scheduleStep(index, payout, position);
}

export function tally(index: WorldState['index'], payout: Payout, by: 1 | -1): void {
  addTo(index.tallies[payout.state], payout, by);
  if (isAtRisk(payout) && !index.beingTold.has(payout.txnId)) addTo(index.atRisk, payout, by);
  if (isOutOfDate(payout)) addTo(index.outOfDate, payout, by);
}

function addTo(sum: { count: number; paise: number }, { amountPaise }: Payout, by: 1 | -1): void {
  sum.count += by;
  sum.paise += by * amountPaise;
}

/** The latest point, if a list that is about to change is the one that it knew. */
export function latestPoint({ undoPoints }: WorldState, isKnown: (fields: UndoPoint['fields']) => boolean) {
  const point = undoPoints.at(-1);
  return point !== undefined && isKnown(point.fields) ? point : null;
}

/** Replaces a payout by one that has changed. */
export function replacePayout(state: WorldState, position: number, payout: Payout): void {
  const before = state.payouts[position]!;
  const point = latestPoint(state, ({ payouts }) => payouts === state.payouts);
  if (point !== null && position < point.lengths.payouts && !point.formerPayouts.has(position))
    point.formerPayouts.set(position, before);
  tally(state.index, before, -1);
  tally(state.index, payout, 1);
  state.payouts[position] = payout;
}

/** Puts the next step of a payout into the queue, if it waits for its time. */
export function scheduleStep({ due }: WorldState['index'], payout: Payout, position: number): void {
  const dueMs = nextDueMs(payout);
  const { createdAtMs, txnId } = payout;
  if (dueMs !== null) due.push({ dueMs, createdAtMs, txnId, position });
}
