import { z } from 'zod';
import { EndedJournal, StoredSettings } from './conduct.ts';
import { WorldName } from './control.ts';
import { Dialect } from './dialect.ts';
import { ClockSpeed } from './times.ts';
import { RouteName } from './match.ts';
import { SETTLEMENTS } from './scenario-document.ts';
import {
  InitiateRequest,
  LATEST_MS,
  MAX_AMOUNT_INR,
  MAX_COUNT,
  MAX_SEED_LENGTH,
  MAX_TEXT_LENGTH,
  State,
  TransferMode,
} from './service.ts';

/**
 * A world as data: what `GET /_sandbox/state` answers, what a state file holds and what a store keeps beside a log, as lines of
 * JSON (NDJSON). Money is whole paise, times are ms since the epoch. Its parts are the types of the domain, too: plain data that is
 * replaced as a whole when it changes.
 *
 * A document is one `FileHead`, then for each world one `WorldHead`, its `WORLD_ITEMS` and one `WorldEnd`, then one
 * `FileEnd`.
 */

export const SNAPSHOT_FORMAT = 'payout-sandbox';
export const SNAPSHOT_VERSION = 6;

const MAX_PAISE = MAX_AMOUNT_INR * 100;
const Paise = z.int().min(0).max(MAX_PAISE);
const SignedPaise = z.int().min(-MAX_PAISE).max(MAX_PAISE);
const Ms = z.int().min(0).max(LATEST_MS);
const Duration = z.int().min(0).max(4e14); // ten thousand years and more
const Count = z.int().min(0).max(MAX_COUNT);
const Text = z.string().min(1).max(MAX_TEXT_LENGTH);
const Name = z.string().regex(/^[\w.-]{1,64}$/);
/** `scenario/rule` or `scenario/outcome`, or the name of a settlement or scenario. */
const Origin = z.string().regex(/^[\w.-]{1,64}(\/[\w.-]{1,64})?$/);

/** A world's clock: world time was `atMs` at wall time `setMs`, and moves `speed` times as fast. 0 is frozen, 1 is real time. */
const ClockState = z.strictObject({ atMs: Ms, setMs: Ms, speed: ClockSpeed });
export type ClockState = Readonly<z.infer<typeof ClockState>>;

/** The clock that a world starts with. @property atMs null for wall time */
const ClockStart = z.strictObject({ atMs: Ms.nullable(), speed: ClockSpeed });
export type ClockStart = Readonly<z.infer<typeof ClockStart>>;

/** At most `max` requests in a window of `windowMs`: of wall time for the server's own limit, of world time for all others. */
const RateLimit = z.strictObject({ max: z.int().min(1), windowMs: z.int().min(1).max(86_400_000) });
export type RateLimit = Readonly<z.infer<typeof RateLimit>>;

/** The settings that apply where a scenario sets nothing itself. */
const ScenarioSettings = z.strictObject({
  openingBalancePaise: Paise,
  seed: z.string().max(MAX_SEED_LENGTH),
  clock: ClockStart,
  settlement: z.enum(SETTLEMENTS),
  /** The default dialect when absent. */
  dialect: Dialect.optional(),
  rateLimit: z.union([z.literal('off'), RateLimit]),
  /** Whether magic beneficiaries force a response. */
  isMagic: z.boolean(),
});
export type ScenarioSettings = Readonly<z.infer<typeof ScenarioSettings>>;

/** What a scenario is compiled from: its document as written, and the settings below it. */
export const ScenarioSource = z.strictObject({
  name: Name,
  document: z.unknown(),
  settings: ScenarioSettings,
});
export type ScenarioSource = Readonly<z.infer<typeof ScenarioSource>>;

/** A number of status reads in a scenario, of any size. */
const Reads = z.int().min(0);

/** One step of a timeline: what happens to a payout, and when. Payouts with the same settlement share their steps. */
const PayoutStep = z.strictObject({
  /**
   * When it is due, in ms after the payout was created; null while it waits for status reads. A step that waited for a
   * read, or was forced, holds the time at which it happened.
   */
  afterMs: Duration.nullable(),
  /** The status read, counted from initiate, that triggers it; null for a step that waits for its time. */
  polls: Reads.nullable(),
  /** The state it goes to; null when only the UTR is set. */
  to: State.nullable(),
  /** Whether the payout has a UTR from this step on. */
  utr: z.boolean(),
  /** True for a step that a forced transition put in place of the planned ones. */
  forced: z.boolean(),
  /** How many requests its world had counted when it was forced; absent for other steps. */
  requests: Count.optional(),
});
export type PayoutStep = Readonly<z.infer<typeof PayoutStep>>;

/** The longest timeline that a scenario can plan, and two forced steps after it. */
const MAX_STEPS = 22;

/** How long status reads do not find a payout, as a number of reads or a world time, and the rule or outcome that hides it. */
const Hidden = z.union([
  z.strictObject({ reads: Reads, by: Origin }),
  z.strictObject({ untilMs: z.int().min(0).max(1e15), by: Origin }),
]);
export type Hidden = Readonly<z.infer<typeof Hidden>>;

/** What the client was told of a payout: the state that it saw last, and the request that first showed that state, counted from 1. */
const Told = z.strictObject({ request: z.int().min(1).max(MAX_COUNT), atMs: Ms, as: State });

/** One payout. */
const Payout = z.strictObject({
  txnId: Text,
  clientRefId: Text,
  /** Which payout of its reference it is, from 1. More than one only in a dialect that pays twice. */
  nth: z.int().min(1).max(MAX_COUNT),
  amountPaise: Paise.min(1),
  transferMode: TransferMode,
  beneficiaryName: Text,
  beneficiaryAccount: Text,
  beneficiaryIfsc: Text,
  /** The remarks, or a digest of long ones, compared when a client_ref_id is sent again; null for none. */
  remarks: z.string().max(64).nullable(),
  createdAtMs: Ms,
  /** What decided its timeline: a rule (`scenario/rule`), an outcome (`scenario/outcome`), or the settlement of a scenario. */
  plannedBy: Origin,
  /** Decided at initiate. The first `stepsDone` of it have happened. */
  timeline: z.array(PayoutStep).max(MAX_STEPS).readonly(),
  stepsDone: Count,
  hidden: Hidden.nullable(),
  /** Status reads so far; counted only while something waits for them. */
  reads: Count,
  state: State,
  /** Drawn at initiate: the UTR is derived from it. */
  utrSerial: z.int().min(0).max(999_999_999),
  utr: z.string().min(1).max(32).nullable(),
  /** When it left PENDING; a later reversal does not change it. */
  completedAtMs: Ms.nullable(),
  /** null while no response has shown its client that it was made: it is at risk. */
  told: Told.nullable(),
});
export type Payout = Readonly<z.infer<typeof Payout>>;

/** The money of one world. Everything ever added is either in the balance or in payouts that are PENDING or SUCCESS. */
const Wallet = z.strictObject({ balancePaise: Paise, putInPaise: Paise, paidOutPaise: Paise });
export type Wallet = Readonly<z.infer<typeof Wallet>>;

/** One line of the wallet's ledger: why the balance changed, by how much (below 0 when it left), and to what. */
const Entry = z.strictObject({
  kind: z.enum(['opening', 'payout', 'refund', 'credit', 'debit']),
  amountPaise: SignedPaise,
  balancePaise: Paise,
  txnId: Text.nullable(),
  atMs: Ms,
});
export type Entry = Readonly<z.infer<typeof Entry>>;

const Texts = z.union([z.string(), z.array(z.string())]);

/** How a request ended: not so far, answered, broken by a fault that a rule ordered, or abandoned by its client. */
const RequestOutcome = z.enum(['pending', 'answered', 'fault', 'client_gone']);

/** What a client was sent: status, headers and the text of the body. */
export const SentResponse = z.strictObject({
  status: z.int(),
  headers: z.record(z.string(), Texts.or(z.number()).optional()),
  body: z.string(),
});
export type SentResponse = Readonly<z.infer<typeof SentResponse>>;

/** The first response of a reference, which repetitions get again. */
const StoredAnswer = z.strictObject({
  clientRefId: Text,
  /** How many payouts of the reference there were then. */
  nth: Count,
  atMs: Ms,
  /** A digest of the body of the request. */
  body: z.string().max(64),
  code: z.string().optional(),
  response: SentResponse,
});
export type StoredAnswer = Readonly<z.infer<typeof StoredAnswer>>;

/** One step of a scenario, before there is a payout. */
const PlannedStep = z.strictObject({
  when: z.union([
    z.strictObject({ afterMs: Duration }),
    z.strictObject({ atMinute: z.int().min(0).max(1439), onNextWorkingDay: z.boolean().optional() }),
    z.strictObject({ polls: Reads }),
  ]),
  to: State.nullable(),
  /** null: the state and the dialect decide. */
  utr: z.boolean().nullable(),
});
export type PlannedStep = Readonly<z.infer<typeof PlannedStep>>;

/** What was decided for a payout before it is made. */
const Future = z.strictObject({
  steps: z.array(PlannedStep).max(MAX_STEPS).readonly(),
  plannedBy: Origin,
  hider: z.strictObject({ by: Origin, reads: Reads.optional(), for: Duration.optional() }).nullable(),
});
export type Future = Readonly<z.infer<typeof Future>>;

/** When the ledger sees an initiate that is late: at a world time, or after so many requests. */
const LateTime = { dueMs: z.int().min(0).max(1e15).nullable(), requestsLeft: Count.nullable() };

/** An initiate that the ledger has not seen yet. */
const LateInitiate = z.strictObject({
  /** Its number in the journal. */
  request: z.int().min(1).max(MAX_COUNT),
  ...LateTime,
  body: InitiateRequest,
  future: Future,
});
export type LateInitiate = Readonly<z.infer<typeof LateInitiate>>;

/** One request to a world, and its response as text. */
export const Request = z.strictObject({
  nth: z.int().min(1).max(MAX_COUNT),
  requestId: z.string(),
  route: RouteName,
  method: z.string(),
  url: z.string(),
  /** Without keys. */
  headers: z.record(z.string(), Texts.optional()),
  body: z.string().optional(),
  /** World time and wall time at which it arrived. */
  atMs: Ms,
  wallMs: Ms,
  outcome: RequestOutcome,
  /** What was sent, or will be to one that is pending; absent for nothing. */
  response: SentResponse.optional(),
  /** Whether a rule delays or holds its response, or leaves it hanging; absent once it has ended. */
  waits: z.literal(true).optional(),
  durationMs: z.number().min(0).optional(),
  /** The newest request of its world that had arrived when this one ended. */
  endedAfter: z.int().min(1).max(MAX_COUNT).optional(),
  attempt: Count.optional(),
  balanceBeforePaise: Paise.optional(),
  balancePaise: Paise.optional(),
  code: z.string().optional(),
  clientRefId: z.string().optional(),
  txnId: z.string().optional(),
  replayed: z.boolean().optional(),
  warnings: z.array(z.string()).readonly().optional(),
  /** What was too long to be kept whole. */
  cut: z
    .array(z.enum(['body', 'headers']))
    .readonly()
    .optional(),
  limit: z.string().optional(),
  rule: z.string().optional(),
  committed: z.boolean().optional(),
  plannedBy: z.string().optional(),
  delayMs: z.number().optional(),
  /** When the ledger sees it or has seen it, and what came of that: made, repeated, or the code of a refusal. */
  commit: z.strictObject({ ...LateTime, result: z.string().nullable() }).optional(),
  fault: z.string().optional(),
  /** In a store, the place of its command in the log, and the server that has its connection. */
  position: Count.optional(),
  server: z.string().optional(),
});
export type StoredRequest = Readonly<z.infer<typeof Request>>;
export const REQUEST_FIELDS = Object.keys(Request.shape) as readonly (keyof StoredRequest)[];

export const FileHead = z.strictObject({
  format: z.literal(SNAPSHOT_FORMAT),
  version: z.literal(SNAPSHOT_VERSION),
});

/** A world without its lists. */
export const WorldHead = z.strictObject({
  world: z.string().regex(/^[0-9a-f]{32}$/),
  identity: z.string().min(1).max(64),
  wallMs: Ms,
  clock: ClockState,
  openingBalancePaise: Paise,
  wallet: Wallet,
  scenario: z.strictObject({ source: ScenarioSource, isChosen: z.boolean() }),
  /** How many new references initiates have brought so far. */
  references: Count,
  name: WorldName.nullable(),
  /** How many requests it had, and how many of the newest were dropped from its list. */
  requests: z.strictObject({ count: Count, evicted: Count }),
  /** How many of its requests rules have held so far; absent for none. */
  held: Count.optional(),
  /** In a store, from which the world goes on at other servers. */
  generation: Count.optional(),
  eventCount: Count.optional(),
});
export type WorldHead = z.infer<typeof WorldHead>;

/** The lists of a world, one item a line: `{"entry":{…}}`. They come in this order. */
export const WORLD_ITEMS = {
  entry: Entry,
  payout: Payout,
  /** An override, the newest first. */
  rule: z.record(z.string(), z.unknown()),
  use: z.strictObject({ rule: Origin, matched: Count, taken: Count }),
  /** `payout` is the number that an initiate gave a new reference; 0 for other routes. */
  attempts: z.strictObject({ of: z.string().max(160), count: Count.min(1), payout: Count }),
  /** How many requests a limit in world time has counted in its latest window. */
  window: z.strictObject({ of: Origin, beganMs: Ms, count: Count.min(1) }),
  stored: StoredAnswer,
  late: LateInitiate,
  /** In a store, a request that is under way, although it was dropped from the list. */
  pending: Request,
  /** One of the newest requests, the oldest first. */
  request: Request,
  /**
   * In a store, a request that waits to be released, and one of the latest that nobody released in time. Nobody else writes them, and
   * a restore ignores them, so their contents are not checked.
   */
  waiting: z.record(z.string(), z.unknown()),
  expired: z.record(z.string(), z.unknown()),
  /** The settings of the referee for this world; absent for none. */
  referee: StoredSettings,
  /** The referee's report on a journal that a reset has ended, the oldest first. */
  report: EndedJournal,
} as const;

export type WorldItem = {
  [Name in keyof typeof WORLD_ITEMS]: { readonly [Key in Name]: z.infer<(typeof WORLD_ITEMS)[Name]> };
}[keyof typeof WORLD_ITEMS];

/** `checksum` is the SHA-256 of all lines of the world, from its head on, each with its line end. */
export const WorldEnd = z.strictObject({ end: z.string(), checksum: z.string() });

export const FileEnd = z.strictObject({ worlds: z.int().min(0) });
