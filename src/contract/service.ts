import { z } from 'zod';
import type { Dialect } from './dialect.ts';
import { fieldError, type FieldError } from './errors.ts';
import { grouped } from './words.ts';

/**
 * Requests of the payout service. Names, types and codes are those of the payout API. The length limits are
 * our choice, since the payout API shows none (docs/fidelity.md).
 */

/** The Content-Type of every response that has a normal body. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The longest text field that is stored with a payout, so that the memory of a payout is bounded. */
export const MAX_TEXT_LENGTH = 128;

/** With the flag `u`, an emoji is one character, as for zod and JSON Schema, and not two UTF-16 units. */
const SHORT_TEXT = new RegExp(`^.{0,${MAX_TEXT_LENGTH}}$`, 'su');

/** Whether a text is longer than any that a payout can have. */
export const isTooLong = (text: string): boolean => text.length > MAX_TEXT_LENGTH && !SHORT_TEXT.test(text);

/** A field of a request that may be anything; undefined unless its text is one that a payout could have. */
export const textField = (value: unknown): string | undefined =>
  typeof value === 'string' && !isTooLong(value) ? value : undefined;

/** The longest seed: every draw hashes it. */
export const MAX_SEED_LENGTH = 128;

/** The most headers of a request, and of a response that a rule orders: each takes memory in addition to its text. */
export const MAX_HEADERS = 512;

/** The last instant of a clock: the last that an ISO 8601 timestamp with a four-digit year can show. */
export const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** More than one world can ever count, and far from where numbers stop being exact. */
export const MAX_COUNT = 1e12;

/** The maximum of a payout and of a wallet in INR: 1e13 paise. */
export const MAX_AMOUNT_INR = 1e11;

/** True when an INR amount has at most two decimals. Checks the shortest decimal text, since a product of floats would round. */
export const isWholePaise = (amount: number): boolean =>
  Number.isInteger(amount) || /^\d+\.\d{1,2}$/.test(String(amount));

export const TOO_MANY_DECIMALS = 'must have at most 2 decimals (INR, whole paise)';

/** The digits of a number without its point, its exponent and the zeros around it. */
const digitsOf = (number: string): string => number.replace(/e.*|[^\de]/gi, '').replace(/^0+|0+$/g, '');

/** Whether an amount in a JSON text has more digits than a number holds: 99999999999.999999 would be read as 100000000000. */
export const hasInexactAmount = (json: string): boolean =>
  LONG_AMOUNT.test(json) &&
  [...json.matchAll(new RegExp(LONG_AMOUNT, 'gi'))].some(
    ([, sent]) => digitsOf(sent!) !== digitsOf(String(Number(sent))),
  );
const LONG_AMOUNT = /"amount"\s*:\s*(-?\d(?=[\d.]{15}|[\d.]*e)[\d.e+-]*)/i;

/** INR on the wire: a decimal number of rupees with at most two places. Internally it is whole paise. */
export const inr = (number: z.ZodNumber) =>
  number
    .max(MAX_AMOUNT_INR, { error: `must be at most ${MAX_AMOUNT_INR} (INR)` })
    .refine(isWholePaise, { error: TOO_MANY_DECIMALS });

export const Amount = inr(z.number().gt(0, { error: 'must be greater than 0' }));

const WellFormed = z
  .string()
  .refine((text) => text.isWellFormed(), { error: 'must be well-formed Unicode text' });

/** A text field that is stored with a payout: not empty, bounded, and well-formed Unicode. */
const Text = WellFormed.min(1).max(MAX_TEXT_LENGTH);

export const TRANSFER_MODES = ['IMPS', 'NEFT', 'RTGS', 'UPI'] as const;
export const TransferMode = z.enum(TRANSFER_MODES);
export type TransferMode = z.infer<typeof TransferMode>;

export const STATES = ['PENDING', 'SUCCESS', 'FAILED', 'REVERSED'] as const;
export const State = z.enum(STATES);
export type State = z.infer<typeof State>;

export const InitiateRequest = z
  .object({
    client_ref_id: Text.describe("Unique transaction reference from the client's system"),
    beneficiary_name: Text.describe('Name of the beneficiary'),
    beneficiary_account: Text.describe('Bank account number, or a UPI ID (name@handle)'),
    beneficiary_ifsc: Text.describe('Bank IFSC code'),
    amount: Amount.meta({ description: 'INR, at most 2 decimals', examples: [1500.5] }),
    transfer_mode: TransferMode,
    remarks: WellFormed.optional().describe('Transaction remarks'),
  })
  .meta({ id: 'InitiateRequest', description: 'Body of POST /payout/initiate' });
export type InitiateRequest = z.infer<typeof InitiateRequest>;

const IFSC = /^[A-Z]{4}0[A-Z0-9]{6}$/;
const ACCOUNT = /^\d{9,18}$/;
const UPI_ID = /^[a-zA-Z0-9.-]+@[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?$/;
const UPI_ID_MAX_LENGTH = 100;

/** What the rails usually carry, in INR, as of 2026: RBI for IMPS (Oct 2021) and RTGS, NPCI for UPI. */
const MODE_LIMITS_INR: Record<TransferMode, { readonly min?: number; readonly max?: number }> = {
  IMPS: { max: 500_000 },
  NEFT: {},
  RTGS: { min: 200_000 },
  UPI: { max: 100_000 },
};

const ifscProblem = (ifsc: string): string | undefined =>
  IFSC.test(ifsc) ? undefined : 'is not an IFSC (4 capital letters, 0, 6 capital letters or digits)';

function accountProblem(account: string, mayBeUpiId: boolean): string | undefined {
  if (ACCOUNT.test(account)) return undefined;
  if (!mayBeUpiId) return 'is not 9 to 18 digits';
  if (UPI_ID.test(account) && account.length <= UPI_ID_MAX_LENGTH) return undefined;
  return 'is neither 9 to 18 digits nor a UPI ID (name@handle)';
}

function amountProblem(amount: number, mode: TransferMode): string | undefined {
  const { min = 0, max = Infinity } = MODE_LIMITS_INR[mode];
  if (amount < min) return `is below INR ${grouped(min)}, the minimum of ${mode}`;
  if (amount > max) return `is above INR ${grouped(max)}, the usual limit of ${mode}`;
  return undefined;
}

/** What may be wrong with a field, and what the dialect makes of that. */
export interface RailProblem {
  readonly field: string;
  readonly row: 'warn' | 'refuse' | 'ignore';
  readonly problem: string | undefined;
}

/**
 * Checks what a real bank might refuse in a request that the payout API allows. docs/fidelity.md has the sources. Warnings are ASCII
 * and have no values from the request, so that a header can contain them. @param more what else was found
 */
export function checkRailRules(
  request: InitiateRequest,
  rows: Dialect['requests'],
  more: readonly RailProblem[] = [],
) {
  const { transfer_mode: mode, amount, beneficiary_account: account, beneficiary_ifsc: ifsc } = request;
  const mayBeUpiId = mode === 'UPI' && rows.upi_beneficiary === 'account_or_upi_id';
  const warnings: string[] = [];
  const errors: FieldError[] = [];
  const found = (field: string, row: RailProblem['row'], problem: string | undefined): void => {
    if (problem === undefined) return;
    const error = fieldError(field, problem);
    if (row === 'warn') warnings.push(error.message);
    if (row === 'refuse') errors.push(error);
  };
  for (const { field, row, problem } of more) found(field, row, problem);
  found('beneficiary_ifsc', rows.formats, ifscProblem(ifsc));
  found('beneficiary_account', rows.formats, accountProblem(account, mayBeUpiId));
  found('amount', rows.mode_limits, amountProblem(amount, mode));
  return { warnings, errors };
}

const Parameter = z
  .string({ error: ({ input }) => (Array.isArray(input) ? 'must be given once, as a string' : undefined) })
  .min(1)
  .optional();

export const StatusQuery = z
  .object({
    client_ref_id: Parameter.describe("The client's unique reference"),
    txn_id: Parameter.describe("The service's transaction identifier"),
  })
  .meta({ id: 'StatusQuery', description: 'Query of GET /payout/status: at least one of the two' });
export type StatusQuery = z.infer<typeof StatusQuery>;

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Headers that hold a key. No rule, journal or log sees their values. */
export const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
]);

const HIDDEN_KEY = '***';

export function withoutKeys(headers: RequestHeaders): RequestHeaders {
  const shown = { ...headers };
  for (const name of SECRET_HEADERS) if (shown[name] !== undefined) shown[name] = HIDDEN_KEY;
  return shown;
}

/** An account number with only its last four characters shown; none of one with four or fewer. */
export const maskAccount = (account: string): string =>
  account.length <= 4 ? '*'.repeat(account.length) : '*'.repeat(account.length - 4) + account.slice(-4);

/** How deep JSON may be nested: deeper than any real request, but far from overflowing the stack. */
export const MAX_NESTING = 100;
export const TOO_NESTED = `must not be nested deeper than ${MAX_NESTING} levels`;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [LIST, LIST_END] = [0x5b, 0x5d];
const [OBJECT, OBJECT_END] = [0x7b, 0x7d];

/** Whether the lists and objects of a JSON text are nested deeper than that. Linear in the text. */
export function isTooNested(text: string): boolean {
  let depth = 0;
  let isText = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) isText = !isText;
    else if (isText) index += code === BACKSLASH ? 1 : 0;
    else if (code === LIST || code === OBJECT) depth += 1;
    else if (code === LIST_END || code === OBJECT_END) depth -= 1;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}
