import { z } from 'zod';
import { Result } from './conduct.ts';
import { ClockSpeed } from './times.ts';
import { State, TransferMode } from './service.ts';
import { RouteName } from './match.ts';

/** Responses of the control API. Amounts are INR, times ISO 8601 in UTC with milliseconds. */

const Inr = z.number().describe('INR');
const Time = z.iso.datetime().meta({ examples: ['2026-01-15T10:30:00.000Z'] });
const NextCursor = z.int().nullable().describe('The cursor of the next page; null for the last page');

export const HealthResponse = z
  .object({ status: z.enum(['ready', 'stopping', 'store_unavailable']), version: z.string() })
  .describe('ready; stopping; or store_unavailable: 503 before the store could be used once, else 200');

export const LiveResponse = z.object({ status: z.literal('alive'), version: z.string() }).describe('alive');

export const DroppedResponse = z.object({
  dropped: z.string().describe('The id of the world that was dropped'),
});
export const ClearedResponse = z.object({
  cleared: z.int().describe('How many entries were cleared'),
});

export const ClockResponse = z
  .object({
    now: Time,
    frozen: z.boolean().describe('Whether its speed is 0'),
    speed: ClockSpeed,
    next_due: Time.nullable().describe(
      'When the next step of a payout is due; null when nothing is scheduled that the clock can reach',
    ),
  })
  .meta({ id: 'Clock' });
export type ClockResponse = z.infer<typeof ClockResponse>;

export const ChangeResponse = z
  .object({
    txn_id: z.string(),
    client_ref_id: z.string(),
    from: State,
    to: State.describe('The same as `from` when the step only set the UTR'),
    at: Time.describe("The step's own due time"),
    utr: z.string().nullable(),
  })
  .meta({ id: 'Change', description: 'A step of a payout that was applied' });
export type ChangeResponse = z.infer<typeof ChangeResponse>;

export const AdvanceResponse = z
  .object({ now: Time, frozen: z.boolean(), speed: ClockSpeed, changes: z.array(ChangeResponse) })
  .meta({ id: 'Advanced', description: 'The new time, and the steps that were applied, in order' });
export type AdvanceResponse = z.infer<typeof AdvanceResponse>;

const AtRisk = z.object({ count: z.int(), amount: Inr }).meta({
  id: 'AtRisk',
  description:
    'Payouts that hold money and that no response has shown the client: how many, and their sum in INR',
});

const OutOfDate = z.object({ count: z.int(), amount: Inr }).meta({
  id: 'OutOfDate',
  description:
    'Payouts in a final state of which the client saw only an earlier one: how many, and their sum in INR',
});

export const ControlAction = z
  .object({
    action: z.int().describe('Its number, which the response to it has as X-Sandbox-Action'),
    name: z.string().describe('What it was, such as advance or reset'),
    at: Time.describe('World time at which it happened'),
  })
  .meta({ id: 'ControlAction' });
export type ControlAction = z.infer<typeof ControlAction>;

/** What a world holds: each event has it as it was after the command of that event. */
export interface WorldSums {
  /** INR, as all amounts. */
  readonly balance: number;
  readonly payouts: Readonly<Record<z.infer<typeof State>, Sum>>;
  readonly at_risk: Sum;
  readonly out_of_date: Sum;
}
type Sum = z.infer<typeof AtRisk>;

export const WorldResponse = z
  .object({
    id: z.string(),
    balance: Inr,
    opening_balance: Inr,
    transactions: z
      .object({ PENDING: z.int(), SUCCESS: z.int(), FAILED: z.int(), REVERSED: z.int() })
      .describe('How many payouts are in each state'),
    clock: ClockResponse,
    scenario: z.string(),
    name: z.string().nullable().describe('The name that this world was given'),
    at_risk: AtRisk,
    out_of_date: OutOfDate,
    last_action: ControlAction.nullable().describe(
      'The latest control action that can be undone; null for none',
    ),
    invariants: z
      .union([z.literal('hold'), z.array(z.string())])
      .describe('hold; otherwise the invariants that are broken, which is a bug in the sandbox'),
  })
  .meta({ id: 'World' });
export type WorldResponse = z.infer<typeof WorldResponse>;

export const WalletResponse = z
  .object({
    balance: Inr,
    opening_balance: Inr,
    in_flight: Inr.describe('INR in payouts that are PENDING'),
    paid_out: Inr.describe('INR in payouts that are SUCCESS'),
    came_back: Inr.describe('INR of payouts that FAILED or were REVERSED'),
  })
  .meta({ id: 'Wallet' });
export type WalletResponse = z.infer<typeof WalletResponse>;

export const EntryResponse = z
  .object({
    kind: z.enum(['opening', 'payout', 'refund', 'credit', 'debit']),
    amount: Inr.describe('INR, negative when the balance went down'),
    balance: Inr.describe('The balance after this entry, in INR'),
    txn_id: z.string().nullable(),
    at: Time,
  })
  .meta({ id: 'Entry', description: 'A ledger entry: one change of the balance and its reason' });
export type EntryResponse = z.infer<typeof EntryResponse>;

export const EntriesResponse = z.object({ entries: z.array(EntryResponse), next: NextCursor });
export type EntriesResponse = z.infer<typeof EntriesResponse>;

export const MoneyResponse = z.object({ balance: Inr, entry: EntryResponse });
export type MoneyResponse = z.infer<typeof MoneyResponse>;

const TimelineStep = z.object({
  to: State.nullable().describe('null when the step only sets the UTR'),
  at: Time.nullable().describe('When it is due or was applied; null at a read, or after the year 9999'),
  polls: z.int().nullable().describe('The number of the status read that applies this step'),
  utr: z.boolean(),
  done: z.boolean(),
  forced: z.boolean().describe('True when a transition forced this step'),
  after_request: z.int().nullable().describe('The id of the latest request before a forced step'),
});

export const TransactionResponse = z
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
    nth: z.int().describe('Which payout of its reference this is, counted from 1'),
    planned_by: z
      .string()
      .describe('What decided the timeline: an outcome, a rule, a settlement preset or a scenario'),
    reason: z.string().describe('Why the payout is in its state'),
    hidden_by: z
      .string()
      .nullable()
      .describe('The outcome or the rule that currently hides this payout from status reads'),
    at_risk: z
      .boolean()
      .describe('True while the payout holds money and no response has shown it to the client'),
    out_of_date: z
      .boolean()
      .describe('True when its state is final, and the client saw only another one so far'),
    told: z
      .object({
        request: z.int().describe('The id of the request whose response first showed this state'),
        at: Time.describe('World time'),
        as: State.describe('The state that the client saw last'),
      })
      .nullable()
      .describe('What the client was told of this payout; null for nothing'),
    legal: z.array(State).describe('The states that a transition can force'),
    timeline: z.array(TimelineStep),
  })
  .meta({ id: 'Transaction' });
export type TransactionResponse = z.infer<typeof TransactionResponse>;

export const TransactionsResponse = z.object({
  transactions: z.array(TransactionResponse),
  next: NextCursor,
});
export type TransactionsResponse = z.infer<typeof TransactionsResponse>;

export const RuleResponse = z
  .object({
    id: z.string().describe('scenario/rule, as in the header X-Sandbox-Rule'),
    name: z.string(),
    from: z
      .enum(['world', 'scenario', 'magic'])
      .describe('world: a rule that overrides those of the scenario'),
    description: z.string(),
    matched: z.int().describe('How many requests matched'),
    taken: z.int().describe('How many of those requests the rule changed, so that they name it'),
    rule: z.unknown().describe('The rule as written'),
  })
  .meta({ id: 'RuleInForce' });
export type RuleResponse = z.infer<typeof RuleResponse>;

export const OutcomeResponse = z
  .object({
    id: z.string().describe('scenario/outcome, as in planned_by of a payout'),
    name: z.string(),
    from: z.enum(['scenario', 'magic']),
    description: z.string(),
    outcome: z.unknown().describe('The outcome as written'),
  })
  .meta({ id: 'OutcomeInForce' });
export type OutcomeResponse = z.infer<typeof OutcomeResponse>;

export const RulesResponse = z.object({ rules: z.array(RuleResponse) });

export const ScenarioResponse = z
  .object({
    name: z.string(),
    description: z.string(),
    chosen: z.boolean().describe('False when the world uses the active scenario of the server'),
    document: z.unknown().describe('The scenario as written'),
    rules: z.array(RuleResponse),
    outcomes: z.array(OutcomeResponse).describe('In order of evaluation'),
  })
  .meta({ id: 'ScenarioInForce' });
export type ScenarioResponse = z.infer<typeof ScenarioResponse>;

export const ScenariosResponse = z.object({
  in_force: z.string().describe('The scenario of every world that has not chosen one'),
  scenarios: z.array(z.object({ name: z.string(), description: z.string() })),
});
export type ScenariosResponse = z.infer<typeof ScenariosResponse>;

export const ReloadResponse = z.object({
  reloaded: z.array(z.string()).describe('The files that had changed'),
  problems: z
    .array(z.string())
    .describe('What is wrong with files that cannot be used: their last good version stays'),
});

export const JournalEntry = z
  .object({
    id: z.int().describe('Which request of its world this is, counted from 1'),
    request_id: z.string(),
    at: Time.describe('World time when the request arrived'),
    wall_at: Time.describe('Wall time when the request arrived'),
    outcome: z.enum(['pending', 'answered', 'fault', 'client_gone']),
    route: RouteName.nullable(),
    request: z.object({
      method: z.string(),
      path: z.string(),
      headers: z.record(z.string(), z.unknown()).describe('Keys are redacted'),
      body: z.unknown().describe('The body as JSON if it is JSON, otherwise as text; null without a body'),
    }),
    answer: z
      .object({ status: z.int(), headers: z.record(z.string(), z.unknown()), body: z.unknown() })
      .nullable()
      .describe('null while the request is pending, and when the connection broke before a response'),
    duration_ms: z.number().nullable(),
    ended_after: z.int().nullable().meta({
      description:
        'The id of the newest request of this world that had begun when this one ended; null while it is pending',
    }),
    code: z.string().nullable(),
    client_ref_id: z.string().nullable(),
    txn_id: z.string().nullable(),
    attempt: z.int().nullable().describe('Which attempt of this reference this is, counted from 1'),
    rule: z.string().nullable().describe('The rule that decided it, or the outcome that hid the payout'),
    limit: z.string().nullable().describe('The setting whose limit refused the request'),
    fault: z.string().nullable(),
    delay_ms: z.number().nullable(),
    committed: z
      .boolean()
      .nullable()
      .describe('Whether the request made a payout; null for a request that cannot make one'),
    commit: z
      .object({
        due: Time.nullable().describe('World time; null while it waits for requests'),
        after_requests: z.int().nullable().describe('How many more requests it waits for'),
        result: z
          .string()
          .nullable()
          .describe(
            'made, repeated, or the code of a refusal that the client does not see; null while it waits',
          ),
      })
      .optional()
      .describe('For an initiate with a late commit: when it reaches the ledger, and the result'),
    planned_by: z
      .string()
      .nullable()
      .describe('What decided the timeline of the payout that the request made; null where it made none'),
    replayed: z.boolean(),
    warnings: z.array(z.string()),
    cut: z.array(z.enum(['body', 'headers'])).describe('What the journal shortened because it was long'),
    balance_before: Inr.nullable().describe('INR; null when the request did not reach the ledger'),
    balance_after: Inr.nullable(),
  })
  .meta({ id: 'JournalEntry' });
export type JournalEntry = z.infer<typeof JournalEntry>;

export const RequestsResponse = z.object({
  requests: z.array(JournalEntry),
  evicted: z.int().describe('How many older entries were dropped'),
  left_out: z
    .int()
    .describe('How many requests of the journal are not in this response, because of its limit and filters'),
});
export type RequestsResponse = z.infer<typeof RequestsResponse>;

export const VerifyResponse = z
  .object({
    passed: z.boolean().describe('True when the result is passed'),
    result: Result,
    count: z.int().describe('How many requests match; for a sequence, how many of its steps were found'),
    message: z.string(),
    closest: z.array(
      z.object({
        id: z.int(),
        request: z.string().describe('The request in one line'),
        misses: z.array(z.object({ field: z.string(), expected: z.unknown(), actual: z.unknown() })),
      }),
    ),
    evicted: z.int().describe('How many older requests were dropped from the journal'),
  })
  .meta({ id: 'Verified' });
export type VerifyResponse = z.infer<typeof VerifyResponse>;

export const WorldsResponse = z.object({
  worlds: z.array(
    z.object({
      id: z.string(),
      used_at: Time,
      balance: Inr,
      transactions: z.int(),
      scenario: z.string(),
      name: z.string().nullable().describe('The name that the world was given'),
    }),
  ),
  next: NextCursor,
});
export type WorldsResponse = z.infer<typeof WorldsResponse>;

const RuleVerdict = z
  .object({
    id: z.string().describe('scenario/rule or scenario/outcome'),
    taken: z.boolean(),
    reason: z
      .string()
      .describe('Why it applies or not: the first condition that fails, with the value that was seen'),
  })
  .meta({ id: 'RuleVerdict' });
export type RuleVerdict = z.output<typeof RuleVerdict>;

export const ExplainResponse = z
  .object({
    scenario: z.string(),
    now: z.iso.datetime().describe('World time'),
    attempt: z
      .int()
      .nullable()
      .describe('Which attempt of its reference it would be; null where no rule asks for it'),
    rule: z
      .string()
      .nullable()
      .describe(
        'The first rule that matches and applies; null for none. It leaves a refusal that `note` foresees as it is, unless it has a response of its own, a fault or a delay',
      ),
    payout: z
      .object({
        planned_by: z.string().describe('The outcome, rule or settlement that decides the payout'),
        timeline: z.array(z.object({ to: State.nullable(), utr: z.boolean(), when: z.string() })),
      })
      .nullable()
      .describe('The payout that the request would make; null where it makes none'),
    note: z
      .string()
      .nullable()
      .describe(
        'Why rules or outcomes do not decide, or why no payout is made or found; null if neither applies',
      ),
    rules: z
      .array(RuleVerdict)
      .describe('Every rule, in order of evaluation; none past the rate limit of the scenario'),
    outcomes: z.array(RuleVerdict).describe('Every outcome, in order of evaluation; for an initiate'),
  })
  .meta({ id: 'Explanation' });
export type ExplainResponse = z.output<typeof ExplainResponse>;

const ScenarioProblem = z
  .object({
    line: z.int().describe('The line of the text, counted from 1'),
    column: z.int().describe('The column of the line, counted from 1'),
    path: z.string().describe('rules[0].match.amount; empty for the scenario as a whole'),
    message: z.string(),
  })
  .meta({ id: 'ScenarioProblem', description: 'Something in the text of a scenario' });

export const CheckScenarioResponse = z
  .object({
    text: z.string().describe('The scenario as text: as it was sent, or written as YAML'),
    document: z
      .unknown()
      .describe('The scenario as JSON, to send with PUT /_sandbox/scenario; null if it has problems'),
    problems: z.array(ScenarioProblem).describe('Why the scenario cannot be used, at most 50'),
    more: z.int().describe('How many more problems there are'),
    warnings: z.array(ScenarioProblem).describe('Likely mistakes'),
  })
  .meta({ id: 'CheckedScenario' });
export type CheckScenarioResponse = z.output<typeof CheckScenarioResponse>;

export const UndoResponse = z
  .object({ undone: ControlAction.describe('What was taken back') })
  .meta({ id: 'Undone' });
export type UndoResponse = z.infer<typeof UndoResponse>;

export const HeldRequestResponse = z
  .object({
    id: z.int().describe('Which held request of this world it is, counted from 1'),
    at: z
      .enum(['arrived', 'committed'])
      .describe('arrived: nothing has happened yet; committed: only the response waits'),
    route: RouteName,
    client_ref_id: z.string().nullable(),
    txn_id: z.string().nullable(),
    attempt: z.int().nullable().describe('Which attempt of its reference it is, counted from 1'),
    rule: z.string().describe('The rule that holds it: scenario/rule'),
    until: z.iso.datetime().describe('Wall time at which it expires'),
  })
  .meta({ id: 'HeldRequest', description: 'A request that waits to be released' });
export type HeldRequestResponse = z.infer<typeof HeldRequestResponse>;

export const HeldResponse = z.object({
  held: z.array(HeldRequestResponse).describe('In the order in which they arrived'),
  expired: z
    .array(HeldRequestResponse)
    .describe('The latest 10 that were not released in time, since the world was reset'),
});
export type HeldResponse = z.infer<typeof HeldResponse>;
