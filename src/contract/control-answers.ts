import { z } from 'zod';
import { State, TransferMode } from './payout.ts';
import { RouteName } from './scenario.ts';

/** What the control API answers. Amounts are INR, times ISO 8601 in UTC with milliseconds. */

const Inr = z.number().meta({ description: 'INR' });
const Time = z.iso.datetime().meta({ examples: ['2026-01-15T10:30:00.000Z'] });
const NextCursor = z
  .number()
  .nullable()
  .meta({ description: 'The cursor of the next page; null when this was the last' });

export const HealthAnswer = z
  .object({ status: z.enum(['ready', 'stopping']), version: z.string() })
  .meta({ description: 'ready, or stopping' });

export const DroppedAnswer = z.object({
  dropped: z.string().meta({ description: 'The id of the world that ended' }),
});
export const ClearedAnswer = z.object({ cleared: z.int().meta({ description: 'How many there were' }) });

export const ClockAnswer = z
  .object({
    now: Time,
    frozen: z.boolean(),
    next_due: Time.nullable().meta({ description: 'When the next step of a payout is due' }),
  })
  .meta({ id: 'Clock' });
export type ClockAnswer = z.infer<typeof ClockAnswer>;

export const ChangeAnswer = z
  .object({
    txn_id: z.string(),
    client_ref_id: z.string(),
    from: State,
    to: State.meta({ description: 'The same as `from` when only the UTR came' }),
    at: Time.meta({ description: "The step's own due time" }),
    utr: z.string().nullable(),
  })
  .meta({ id: 'Change', description: 'A step of a payout that has happened' });
export type ChangeAnswer = z.infer<typeof ChangeAnswer>;

export const AdvanceAnswer = z
  .object({ now: Time, frozen: z.boolean(), changes: z.array(ChangeAnswer) })
  .meta({ id: 'Advanced', description: 'What happened, in its order' });
export type AdvanceAnswer = z.infer<typeof AdvanceAnswer>;

export const WorldAnswer = z
  .object({
    id: z.string(),
    balance: Inr,
    opening_balance: Inr,
    transactions: z
      .object({ PENDING: z.int(), SUCCESS: z.int(), FAILED: z.int(), REVERSED: z.int() })
      .meta({ description: 'How many payouts are in each state' }),
    clock: ClockAnswer,
    scenario: z.string(),
    invariants: z
      .union([z.literal('hold'), z.array(z.string())])
      .meta({ description: 'hold; or those that do not, which is a fault of the sandbox' }),
  })
  .meta({ id: 'World' });
export type WorldAnswer = z.infer<typeof WorldAnswer>;

export const WalletAnswer = z
  .object({
    balance: Inr,
    currency: z.literal('INR'),
    opening_balance: Inr,
    in_flight: Inr.meta({ description: 'INR in payouts that are PENDING' }),
    paid_out: Inr.meta({ description: 'INR in payouts that are SUCCESS' }),
    came_back: Inr.meta({ description: 'INR of payouts that FAILED or were REVERSED' }),
    last_updated: Time,
  })
  .meta({ id: 'Wallet' });
export type WalletAnswer = z.infer<typeof WalletAnswer>;

export const EntryAnswer = z
  .object({
    kind: z.enum(['opening', 'payout', 'refund', 'credit', 'debit']),
    amount: Inr.meta({ description: 'INR, below 0 when it left the balance' }),
    balance: Inr.meta({ description: 'INR in the wallet after it' }),
    txn_id: z.string().nullable(),
    at: Time,
  })
  .meta({ id: 'Entry', description: 'One line of the book: why the balance changed' });
export type EntryAnswer = z.infer<typeof EntryAnswer>;

export const EntriesAnswer = z.object({ entries: z.array(EntryAnswer), next: NextCursor });
export type EntriesAnswer = z.infer<typeof EntriesAnswer>;

export const MoneyAnswer = z.object({ balance: Inr, entry: EntryAnswer });
export type MoneyAnswer = z.infer<typeof MoneyAnswer>;

const TimelineStep = z.object({
  to: State.nullable().meta({ description: 'null when only the UTR comes' }),
  at: Time.nullable().meta({
    description: 'When it happened or is due; null while it waits for status reads',
  }),
  polls: z.int().nullable().meta({ description: 'The status read that it waits for' }),
  utr: z.boolean(),
  done: z.boolean(),
  forced: z.boolean().meta({ description: 'Ordered by a transition, and not planned' }),
});

export const TransactionAnswer = z
  .object({
    txn_id: z.string(),
    client_ref_id: z.string(),
    status: State,
    amount: Inr,
    transfer_mode: TransferMode,
    beneficiary_name: z.string(),
    beneficiary_account: z.string(),
    beneficiary_ifsc: z.string(),
    utr: z.string().nullable(),
    created_at: Time,
    completed_at: Time.nullable(),
    nth: z.int().meta({ description: 'Which payout of its reference it is, from 1' }),
    planned_by: z
      .string()
      .meta({ description: 'What decided its timeline: a rule, a settlement preset, a scenario' }),
    reason: z.string().meta({ description: 'Why it is in the state that it is in' }),
    hidden_by: z.string().nullable().meta({ description: 'The rule that hides it from status reads now' }),
    legal: z.array(State).meta({ description: 'The states that it can be forced into' }),
    timeline: z.array(TimelineStep),
  })
  .meta({ id: 'Transaction' });
export type TransactionAnswer = z.infer<typeof TransactionAnswer>;

export const TransactionsAnswer = z.object({ transactions: z.array(TransactionAnswer), next: NextCursor });
export type TransactionsAnswer = z.infer<typeof TransactionsAnswer>;

export const RuleAnswer = z
  .object({
    id: z.string().meta({ description: 'scenario/rule, as the header X-Sandbox-Rule says it' }),
    name: z.string(),
    from: z.enum(['world', 'scenario', 'magic']).meta({ description: 'world: put on top of this world' }),
    description: z.string(),
    matched: z.int().meta({ description: 'How many requests it matched' }),
    taken: z.int().meta({ description: 'How many of them it was taken for' }),
    rule: z.unknown().meta({ description: 'The rule as it was written' }),
  })
  .meta({ id: 'RuleInForce' });
export type RuleAnswer = z.infer<typeof RuleAnswer>;

export const RulesAnswer = z.object({ rules: z.array(RuleAnswer) });

export const ScenarioAnswer = z
  .object({
    name: z.string(),
    description: z.string(),
    chosen: z.boolean().meta({ description: 'False for a world that follows the one in force' }),
    document: z.unknown().meta({ description: 'The scenario as it was written' }),
    rules: z.array(RuleAnswer),
  })
  .meta({ id: 'ScenarioInForce' });
export type ScenarioAnswer = z.infer<typeof ScenarioAnswer>;

export const ScenariosAnswer = z.object({
  in_force: z.string().meta({ description: 'That of every world that has not chosen another' }),
  scenarios: z.array(z.object({ name: z.string(), description: z.string() })),
});
export type ScenariosAnswer = z.infer<typeof ScenariosAnswer>;

export const JournalEntry = z
  .object({
    id: z.int().meta({ description: 'The how manieth request of its world, from 1' }),
    request_id: z.string(),
    at: Time.meta({ description: 'World time at which it came' }),
    wall_at: Time.meta({ description: 'Wall time at which it came' }),
    outcome: z.enum(['pending', 'answered', 'fault', 'client_gone']),
    route: RouteName.nullable(),
    request: z.object({
      method: z.string(),
      path: z.string(),
      headers: z.record(z.string(), z.unknown()).meta({ description: 'Without keys' }),
      body: z.unknown().meta({ description: 'JSON where it is JSON, else a text; null without one' }),
    }),
    answer: z
      .object({ status: z.int(), headers: z.record(z.string(), z.unknown()), body: z.unknown() })
      .nullable()
      .meta({ description: 'null while there is none, and where the connection broke before one' }),
    duration_ms: z.number().nullable(),
    code: z.string().nullable(),
    client_ref_id: z.string().nullable(),
    txn_id: z.string().nullable(),
    attempt: z.int().nullable().meta({ description: 'The how manieth time this reference was sent' }),
    rule: z.string().nullable().meta({ description: 'The rule that made the answer: scenario/rule' }),
    limit: z.string().nullable().meta({ description: 'The setting whose limit made the answer' }),
    fault: z.string().nullable(),
    delay_ms: z.number().nullable(),
    committed: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether it made a payout; null for what makes none' }),
    replayed: z.boolean(),
    warnings: z.array(z.string()),
    balance_before: Inr.nullable().meta({ description: 'INR; null where the ledger was not asked' }),
    balance_after: Inr.nullable(),
  })
  .meta({ id: 'JournalEntry' });
export type JournalEntry = z.infer<typeof JournalEntry>;

export const RequestsAnswer = z.object({
  requests: z.array(JournalEntry),
  evicted: z.int().meta({ description: 'How many had to make room, and are not known any more' }),
});
export type RequestsAnswer = z.infer<typeof RequestsAnswer>;

export const VerifyAnswer = z
  .object({
    passed: z.boolean(),
    count: z.int().meta({ description: 'How many match; of a sequence, how much of it was found' }),
    message: z.string(),
    closest: z.array(
      z.object({
        id: z.int(),
        request: z.string().meta({ description: 'What it was, in a line' }),
        misses: z.array(z.object({ field: z.string(), expected: z.unknown(), actual: z.unknown() })),
      }),
    ),
    evicted: z.int().meta({ description: 'How many requests are not known any more' }),
  })
  .meta({ id: 'Verified' });
export type VerifyAnswer = z.infer<typeof VerifyAnswer>;

export const ModelAnswer = z.object({
  initial: State,
  states: z.array(z.object({ name: State, final: z.boolean(), money_back: z.boolean() })),
  edges: z.array(z.object({ from: State, to: State })),
});
export type ModelAnswer = z.infer<typeof ModelAnswer>;

export const WorldsAnswer = z.object({
  worlds: z.array(
    z.object({
      id: z.string(),
      made_at: Time,
      used_at: Time,
      balance: Inr,
      transactions: z.int(),
      scenario: z.string(),
    }),
  ),
});
export type WorldsAnswer = z.infer<typeof WorldsAnswer>;
