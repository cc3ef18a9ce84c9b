import { z } from 'zod';

/**
 * Requests and responses of the payout service. Names, types and codes are those of the interface. The length limits are
 * our choice, since the interface shows none (docs/fidelity.md).
 */

/** The longest text field that is stored with a payout, so that the memory of a payout is bounded. */
export const MAX_TEXT_LENGTH = 128;

/** The maximum of a payout and of a wallet in INR: 1e13 paise. */
export const MAX_AMOUNT_INR = 1e11;

/** True when an INR amount has at most two decimals. Checks the shortest decimal text, since a product of floats would round. */
export const isWholePaise = (amount: number): boolean =>
  Number.isInteger(amount) || /^\d+\.\d{1,2}$/.test(String(amount));

const amountRule = (amount: number): string | undefined => {
  if (amount <= 0) return 'must be greater than 0';
  if (amount > MAX_AMOUNT_INR) return `must be at most ${MAX_AMOUNT_INR} (INR)`;
  if (!isWholePaise(amount)) return 'must have at most 2 decimals (INR, whole paise)';
  return undefined;
};

/** Adds an issue for the first rule that a value breaks. The message is the rest of a sentence that begins with the field's name. */
const refuseWith =
  <T>(rule: (value: T) => string | undefined) =>
  (context: z.core.ParsePayload<T>): void => {
    const message = rule(context.value);
    if (message !== undefined) context.issues.push({ code: 'custom', input: context.value, message });
  };

/** INR on the wire: a decimal number of rupees with at most two places. Internally it is whole paise. */
const Amount = z
  .number()
  .check(refuseWith(amountRule))
  .meta({
    description: 'INR, at most 2 decimals',
    examples: [1500.5],
    exclusiveMinimum: 0,
    maximum: MAX_AMOUNT_INR,
  });

const wellFormed = (text: string): string | undefined =>
  text.isWellFormed() ? undefined : 'must be well-formed Unicode text';

/** A text field that is stored with a payout: not empty, bounded, and well-formed Unicode. */
const Text = z.string().min(1).max(MAX_TEXT_LENGTH).check(refuseWith(wellFormed));

export const TRANSFER_MODES = ['IMPS', 'NEFT', 'RTGS', 'UPI'] as const;
export const TransferMode = z.enum(TRANSFER_MODES);
export type TransferMode = z.infer<typeof TransferMode>;

export const STATES = ['PENDING', 'SUCCESS', 'FAILED', 'REVERSED'] as const;
export const State = z.enum(STATES);
export type State = z.infer<typeof State>;

export const InitiateRequest = z
  .object({
    client_ref_id: Text.meta({ description: "Unique transaction reference from the client's system" }),
    beneficiary_name: Text.meta({ description: 'Name of the beneficiary' }),
    beneficiary_account: Text.meta({ description: 'Bank account number, or a UPI ID (name@handle)' }),
    beneficiary_ifsc: Text.meta({ description: 'Bank IFSC code' }),
    amount: Amount,
    transfer_mode: TransferMode,
    remarks: z.string().check(refuseWith(wellFormed)).optional().meta({ description: 'Transaction remarks' }),
  })
  .meta({ id: 'InitiateRequest', description: 'Body of POST /payout/initiate' });
export type InitiateRequest = z.infer<typeof InitiateRequest>;

const Parameter = z
  .string({ error: ({ input }) => (Array.isArray(input) ? 'must be given once, as a string' : undefined) })
  .min(1)
  .optional();

export const StatusQuery = z
  .object({
    client_ref_id: Parameter.meta({ description: "The client's unique reference" }),
    txn_id: Parameter.meta({ description: "The service's transaction identifier" }),
  })
  .meta({ id: 'StatusQuery', description: 'Query of GET /payout/status: at least one of the two' });
export type StatusQuery = z.infer<typeof StatusQuery>;

/** The header that chooses a scenario for one request. */
export const ScenarioHeader = z.object({
  'X-Sandbox-Scenario': z
    .string()
    .optional()
    .meta({
      description: 'The name of a scenario, for this request only',
      examples: ['timeout-after-commit'],
    }),
});

const Timestamp = z.string().meta({ description: 'ISO 8601, UTC', examples: ['2026-01-15T10:30:00.000Z'] });
const Utr = z
  .string()
  .nullable()
  .meta({ description: 'Bank reference of the transfer; null until there is one' });

export const InitiateAnswer = z
  .object({
    status: z.literal('success'),
    message: z.string(),
    data: z.object({
      txn_id: z.string(),
      client_ref_id: z.string(),
      status: State,
      amount: z.number(),
      utr: Utr,
      created_at: Timestamp,
    }),
  })
  .meta({ id: 'InitiateAnswer', description: 'The payout was accepted' });
export type InitiateAnswer = z.infer<typeof InitiateAnswer>;

export const BalanceAnswer = z
  .object({
    status: z.literal('success'),
    data: z.object({ balance: z.number(), currency: z.literal('INR'), last_updated: Timestamp }),
  })
  .meta({ id: 'BalanceAnswer', description: 'The current wallet balance' });
export type BalanceAnswer = z.infer<typeof BalanceAnswer>;

export const StatusAnswer = z
  .object({
    status: z.literal('success'),
    data: z.object({
      txn_id: z.string(),
      client_ref_id: z.string(),
      status: State,
      amount: z.number(),
      utr: Utr,
      beneficiary_name: z.string(),
      beneficiary_account: z.string(),
      created_at: Timestamp,
      completed_at: Timestamp.nullable().optional(),
    }),
  })
  .meta({ id: 'StatusAnswer', description: 'The current state of a payout' });
export type StatusAnswer = z.infer<typeof StatusAnswer>;
