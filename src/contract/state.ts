import { z } from 'zod';
import { State, TransferMode } from './payout.ts';

/** A world as it is kept in a snapshot. Money is whole paise, times are ms since the epoch. */

const Paise = z.int();
const LATEST_MS = 8.64e15; // what a date can hold
const Ms = z.int().min(-LATEST_MS).max(LATEST_MS);
const Count = z.int().min(0);

const Clock = z.union([
  z.strictObject({ frozenAtMs: Ms }),
  z.strictObject({ frozenAtMs: z.null(), aheadMs: z.int() }),
]);

const Step = z.strictObject({
  dueMs: Ms.nullable(),
  polls: Count.nullable(),
  to: State.nullable(),
  utr: z.boolean(),
  forced: z.boolean(),
});

const Hidden = z.union([
  z.strictObject({ reads: Count, by: z.string() }),
  z.strictObject({ untilMs: Ms, by: z.string() }),
]);

const Transaction = z.strictObject({
  txnId: z.string(),
  utrSerial: Count,
  clientRefId: z.string(),
  nth: Count,
  fingerprint: z.string(),
  amountPaise: Paise,
  transferMode: TransferMode,
  beneficiaryName: z.string(),
  beneficiaryAccount: z.string(),
  beneficiaryIfsc: z.string(),
  createdAtMs: Ms,
  plannedBy: z.string(),
  timeline: z.array(Step),
  hidden: Hidden.nullable(),
  stepsDone: Count,
  reads: Count,
  state: State,
  utr: z.string().nullable(),
  completedAtMs: Ms.nullable(),
});

const Entry = z.strictObject({
  kind: z.enum(['opening', 'payout', 'refund', 'credit', 'debit']),
  amountPaise: Paise,
  balancePaise: Paise,
  txnId: z.string().nullable(),
  atMs: Ms,
});

const RateLimit = z.union([z.literal('off'), z.strictObject({ max: Count, windowMs: Count })]);

const Settings = z.strictObject({
  openingBalancePaise: Paise,
  seed: z.string(),
  clock: Clock,
  settlement: z.enum(['demo', 'instant', 'realistic', 'manual']),
  rateLimit: RateLimit,
  isMagic: z.boolean(),
});

const Counters = z.array(z.tuple([z.string(), Count]));

/** All of a world but its entries and transactions, which are many. */
export const StateHead = z.strictObject({
  identity: z.string(),
  nowMs: Ms,
  openingBalancePaise: Paise,
  wallet: z.strictObject({ balancePaise: Paise, putInPaise: Paise, paidOutPaise: Paise }),
  refused: z.array(z.string()),
  clock: Clock,
  scenario: z.strictObject({
    name: z.string(),
    source: z.strictObject({ document: z.unknown(), settings: Settings }),
    isChosen: z.boolean(),
  }),
  rules: z.array(z.unknown()),
  uses: z.array(z.tuple([z.string(), z.strictObject({ matched: Count, taken: Count })])),
  attempts: z.strictObject({ old: Counters, young: Counters }),
});
export type StateHead = z.infer<typeof StateHead>;

export const StateEntries = z.array(Entry);
export const StateTransactions = z.array(Transaction);

/** The snapshot of a world as it travels: `GET /_sandbox/state`, and back with `PUT`. */
export const StateDocument = z
  .strictObject({
    format: z.literal('payout-sandbox/world'),
    version: z.literal(1),
    world: z.strictObject({ head: StateHead, entries: StateEntries, transactions: StateTransactions }),
    checksum: z.string(),
  })
  .meta({ id: 'State', description: 'All that the future of a world depends on. Not for changing by hand' });
export type StateDocument = z.infer<typeof StateDocument>;
