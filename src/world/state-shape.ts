import type {
  ClockState,
  Entry,
  LateInitiate,
  Payout,
  ScenarioSource,
  StoredAnswer,
  Wallet,
} from '../contract/snapshot.ts';
import type TinyQueue from 'tinyqueue';
import type { EndedJournal, RefereeSettings } from '../contract/conduct.ts';
import type { State } from '../contract/service.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Rule, RuleUse, Effect, Hold } from '../scenario/rule.ts';
import type { RateWindows } from '../scenario/rate-limit.ts';
import type { Requests, Decided } from './journal/kept-request.ts';
import type { RequestCommand } from './request/request-commands.ts';

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
  /** The first responses that are sent again, in a dialect that wants that; in the order in which they were made. */
  stored: StoredAnswer[];
  /** Initiates that the ledger has not seen, in the order in which they arrived. Replaced as a whole. */
  late: readonly LateInitiate[];
  /** Derived from the rest, and not part of a snapshot. */
  index: StateIndex;
}

export interface Attempt {
  /** How many times the reference was sent on its route. */
  readonly count: number;
  /** Which new reference of its world it was; 0 on routes other than initiate. */
  readonly payout: number;
}

/** How many times each reference of one world was sent. */
export interface Attempts {
  /** By `route reference`, in the order in which they first came. */
  readonly counts: Map<string, Attempt>;
  /** How many new references initiates have sent. */
  references: number;
  /** What the counts that have changed since the latest control action were before, for an undo; null without one. */
  former: Map<string, Attempt | undefined> | null;
}

export const noAttempts = (): Attempts => ({ counts: new Map(), references: 0, former: null });

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
  readonly lengths: { readonly payouts: number; readonly entries: number; readonly stored: number };
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
  /** The settings of the referee after the action. */
  settings: RefereeState['settings'];
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

/** How many of something, and the sum of their amounts. */
interface Tally {
  count: number;
  paise: number;
}

/** Lookup tables of a world. */
export interface StateIndex {
  readonly byTxnId: Map<string, number>;
  /** The position of the latest payout of each reference. */
  readonly byReference: Map<string, number>;
  /** The position of the latest response that is kept for each reference. */
  readonly stored: Map<string, number>;
  readonly utrs: Set<string>;
  /** For UTRs that were already taken when a payout drew them: the serial from which to search for a free one. */
  readonly nextSerials: Map<string, number>;
  readonly due: TinyQueue<Due>;
  /** The payouts by state. Kept separately from the wallet, so that each verifies the other. */
  readonly tallies: Readonly<Record<State, Tally>>;
  /** The payouts at risk. One whose response is being sent does not count yet. */
  readonly atRisk: Tally;
  readonly outOfDate: Tally;
  /** The positions of the payouts whose requests are being answered. */
  readonly beingTold: Set<number>;
  /** The scenario without the overrides. */
  base: Scenario;
  /** The overrides, the newest first. */
  overrides: readonly Rule[];
  /** The scenario with the overrides. */
  active: Scenario;
}

/** A request that waits to be released. */
export interface HeldRequest extends Hold {
  /** Which held request of its world it is, from 1. Never reused. */
  readonly id: number;
  /** The effect of the rule that holds it, which may be gone when the request is released. */
  readonly effect: Effect;
  /** As it was when it was held. */
  readonly request: Decided;
  /** Wall time at which it expires, ms since the epoch. */
  readonly untilMs: number;
  /** The command to handle when it is released; null when it was handled before. */
  readonly command: RequestCommand | null;
}

/** The requests of one world that wait to be released. */
export interface HeldRequests {
  /** How many there have been. */
  readonly made: number;
  /** In the order in which they arrived. */
  readonly waiting: readonly HeldRequest[];
  /** The latest that nobody released in time. */
  readonly expired: readonly HeldRequest[];
}

/** @param made how many requests of the world were held before */
export const noneHeld = (made: number): HeldRequests => ({ made, waiting: [], expired: [] });

/** What the client of a released request sees, if that differs from what the rule orders. */
export type ReleaseOrder = Pick<Effect, 'respond' | 'fault'>;

/** How the wait of a held request ended: it was released, it expired, or its client left. */
export type Released = 'released' | 'expired' | 'left';
