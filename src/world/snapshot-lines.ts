import { z } from 'zod';
import { ClockSpeed } from '../contract/instant.ts';
import { EndedJournal, StoredSettings } from '../contract/conduct.ts';
import { WorldName } from '../contract/control.ts';
import { Dialect } from '../contract/dialect.ts';
import { RouteName } from '../contract/match.ts';
import { SETTLEMENTS } from '../contract/scenario-document.ts';
import { LATEST_MS } from '../payout/settlement.ts';
import {
  InitiateRequest,
  MAX_AMOUNT_INR,
  MAX_SEED_LENGTH,
  MAX_TEXT_LENGTH,
  State,
  TransferMode,
} from '../contract/service.ts';
import type * as money from '../payout/money.ts';
import { MAX_COUNT } from '../payout/payout.ts';
import type * as payout from '../payout/payout.ts';
import type * as settlement from '../payout/settlement.ts';
import type * as limit from '../scenario/rate-limit.ts';
import type * as scenario from '../scenario/scenario.ts';

/**
 * A world as data: what `GET /_sandbox/state` answers, what a state file holds and what a store keeps beside a log, as lines of
 * JSON (NDJSON). Money is whole paise, times are ms since the epoch.
 *
 * A document is one `FileHead`, then for each world one `WorldHead`, its `WORLD_ITEMS` and one `WorldEnd`, then one
 * `FileEnd`.
 */

export const SNAPSHOT_FORMAT = 'payout-sandbox';
export const SNAPSHOT_VERSION = 5;

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

const ClockState = z.strictObject({
  atMs: Ms,
  setMs: Ms,
  speed: ClockSpeed,
}) satisfies z.ZodType<settlement.ClockState>;
const ClockStart = z.strictObject({
  atMs: Ms.nullable(),
  speed: ClockSpeed,
}) satisfies z.ZodType<settlement.ClockStart>;

const RateLimit = z.strictObject({
  max: z.int().min(1),
  windowMs: z.int().min(1).max(86_400_000),
}) satisfies z.ZodType<limit.RateLimit>;

const ScenarioSettings = z.strictObject({
  openingBalancePaise: Paise,
  seed: z.string().max(MAX_SEED_LENGTH),
  clock: ClockStart,
  settlement: z.enum(SETTLEMENTS),
  dialect: Dialect.optional(),
  rateLimit: z.union([z.literal('off'), RateLimit]),
  isMagic: z.boolean(),
}) satisfies z.ZodType<scenario.ScenarioSettings>;

export const ScenarioSource = z.strictObject({
  name: Name,
  document: z.unknown(),
  settings: ScenarioSettings,
}) satisfies z.ZodType<scenario.ScenarioSource>;

/** A number of status reads in a scenario, of any size. */
const Reads = z.int().min(0);

const PayoutStep = z.strictObject({
  afterMs: Duration.nullable(),
  polls: Reads.nullable(),
  to: State.nullable(),
  utr: z.boolean(),
  forced: z.boolean(),
  requests: Count.optional(),
}) satisfies z.ZodType<payout.PayoutStep>;

/** The longest timeline that a scenario can plan, and two forced steps after it. */
const MAX_STEPS = 22;

const Hidden = z.union([
  z.strictObject({ reads: Reads, by: Origin }),
  z.strictObject({ untilMs: z.int().min(0).max(1e15), by: Origin }),
]) satisfies z.ZodType<payout.Hidden>;

const Told = z.strictObject({
  request: z.int().min(1).max(MAX_COUNT),
  atMs: Ms,
  as: State,
}) satisfies z.ZodType<payout.Told>;

const Payout = z.strictObject({
  txnId: Text,
  clientRefId: Text,
  nth: z.int().min(1).max(MAX_COUNT),
  amountPaise: Paise.min(1),
  transferMode: TransferMode,
  beneficiaryName: Text,
  beneficiaryAccount: Text,
  beneficiaryIfsc: Text,
  remarks: z.string().max(64).nullable(),
  createdAtMs: Ms,
  plannedBy: Origin,
  timeline: z.array(PayoutStep).max(MAX_STEPS).readonly(),
  stepsDone: Count,
  hidden: Hidden.nullable(),
  reads: Count,
  state: State,
  utrSerial: z.int().min(0).max(999_999_999),
  utr: z.string().min(1).max(32).nullable(),
  completedAtMs: Ms.nullable(),
  told: Told.nullable(),
}) satisfies z.ZodType<payout.Payout>;

const Entry = z.strictObject({
  kind: z.enum(['opening', 'payout', 'refund', 'credit', 'debit']),
  amountPaise: SignedPaise,
  balancePaise: Paise,
  txnId: Text.nullable(),
  atMs: Ms,
}) satisfies z.ZodType<money.Entry>;

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

const PlannedStep = z.strictObject({
  when: z.union([
    z.strictObject({ afterMs: Duration }),
    z.strictObject({ atMinute: z.int().min(0).max(1439), onNextWorkingDay: z.boolean().optional() }),
    z.strictObject({ polls: Reads }),
  ]),
  to: State.nullable(),
  utr: z.boolean().nullable(),
}) satisfies z.ZodType<settlement.PlannedStep>;

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
  /** The scenario that it chose; null for that of the world. */
  scenario: ScenarioSource.nullable(),
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
  wallet: z.strictObject({ balancePaise: Paise, putInPaise: Paise, paidOutPaise: Paise }),
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
  attempts: z.strictObject({
    of: z.string().max(160),
    count: Count.min(1),
    payout: Count,
    isRecent: z.boolean(),
  }),
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
