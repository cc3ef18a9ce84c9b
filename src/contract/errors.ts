import { z } from 'zod';

/**
 * Every error that a payout client can receive, with its HTTP status. docs/errors.md lists the same
 * (a test compares the two). The payout API names the statuses 400, 401, 402, 429 and 500 for initiate and
 * shows neither bodies nor codes, so those are our choice.
 */
export const SERVICE_REFUSALS = {
  INVALID_REQUEST: { status: 400, message: 'The request does not match the API' },
  INVALID_JSON: { status: 400, message: 'The request body is not valid JSON' },
  MALFORMED_REQUEST: { status: 400, message: 'The request is not valid HTTP' },
  DUPLICATE_REFERENCE: { status: 400, message: 'This client_ref_id was used before, for another payout' },
  TRANSACTION_UNKNOWN: { status: 400, message: 'No such transaction, in a dialect that returns 400' },
  UNAUTHORIZED: { status: 401, message: 'The API key is missing or not accepted' },
  INSUFFICIENT_BALANCE: { status: 402, message: 'The wallet balance cannot cover this payout' },
  HOST_NOT_ALLOWED: { status: 403, message: 'This sandbox does not serve that host name' },
  ORIGIN_NOT_ALLOWED: { status: 403, message: 'A web page of another origin cannot change anything here' },
  TRANSACTION_NOT_FOUND: { status: 404, message: 'No such transaction' },
  ROUTE_NOT_FOUND: { status: 404, message: 'No such route' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This route does not support this method' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request was not sent in time' },
  REFERENCE_CONFLICT: {
    status: 409,
    message: 'This client_ref_id was used before, in a dialect that returns 409',
  },
  REQUEST_IN_PROGRESS: {
    status: 409,
    message: 'The first request with this client_ref_id is still being processed',
  },
  BODY_TOO_LARGE: { status: 413, message: 'The request body is larger than 64 KiB' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The request body must be JSON in UTF-8: send Content-Type: application/json',
  },
  REFERENCE_REUSED: { status: 422, message: 'This client_ref_id was used before, for another payout' },
  RATE_LIMITED: { status: 429, message: 'Too many requests' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The request headers are larger than 16 KiB, or more than 512' },
  INTERNAL_ERROR: { status: 500, message: 'The sandbox itself failed; see its log' },
  SANDBOX_FULL: { status: 500, message: 'The sandbox holds the maximum number of transactions' },
  SANDBOX_BUSY: {
    status: 503,
    message: 'The sandbox has too much to do or too little memory: try again soon',
  },
  STORE_UNAVAILABLE: { status: 503, message: 'The store of the worlds cannot be used now: try again soon' },
  NOT_RELEASED: { status: 504, message: 'A rule held this request, and nobody released it' },
} as const;

/** Additional errors of the control API. docs/errors.md lists the same. */
export const CONTROL_REFUSALS = {
  HELD_NOT_FOUND: { status: 404, message: 'No such request is held' },
  RULE_NOT_FOUND: { status: 404, message: 'This world has no such override' },
  SCENARIO_NOT_FOUND: { status: 404, message: 'No such scenario' },
  WORLD_NOT_FOUND: { status: 404, message: 'No such world' },
  ILLEGAL_TRANSITION: { status: 409, message: 'The payout cannot go from its state to this one' },
  WORLD_REPLACED: { status: 409, message: 'The world was reset or restored in the meantime' },
  UNDO_REFUSED: { status: 409, message: 'There is nothing to undo' },
  TOO_FEW_HELD: { status: 409, message: 'Fewer requests are held than were waited for' },
  WALLET_FULL: { status: 409, message: 'The wallet cannot hold this amount' },
  STATE_REFUSED: { status: 422, message: 'The snapshot cannot be restored' },
  TOO_MANY_READERS: { status: 429, message: 'This world has too many event readers' },
  TOO_MANY_RULES: { status: 409, message: 'This world has the maximum number of overrides' },
} as const;

export const REFUSALS = { ...SERVICE_REFUSALS, ...CONTROL_REFUSALS } as const;
export type RefusalCode = keyof typeof REFUSALS;
export type ServiceRefusalCode = keyof typeof SERVICE_REFUSALS;

/** One invalid field and a message that begins with its name: `{field: 'amount', message: 'amount is required'}`. */
const FieldError = z.object({ field: z.string(), message: z.string() });
export type FieldError = z.infer<typeof FieldError>;

/** @param problem the rest of a sentence that begins with the name of the field */
export const fieldError = (field: string, problem: string): FieldError => ({
  field,
  message: `${field} ${problem}`,
});

/** The body of every error in the default dialect. */
export const ErrorResponse = z
  .object({
    status: z.literal('error'),
    message: z.string().describe('What happened, what was received, and what would have been valid'),
    code: z.string().meta({
      description: 'A code of the catalogue, or one that a rule sets',
      examples: ['INVALID_REQUEST'],
    }),
    errors: z
      .array(FieldError)
      .optional()
      .describe('Every invalid field; at most 50 for a request of the control API'),
  })
  .meta({ id: 'Error', description: 'The request was refused' });

export interface RefusalDetails {
  /** A more specific message than that of the catalogue. */
  readonly message?: string;
  readonly errors?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The setting whose limit refused the request. */
  readonly limit?: string;
  /** The rule that decided the response: `scenario/rule`. */
  readonly rule?: string;
}

const errorsText = (errors: readonly FieldError[] = []): string =>
  [...new Set(errors.map(({ message }) => message))].join('; ');

export interface RefusalData {
  readonly code: RefusalCode;
  readonly details: RefusalDetails;
}

/** What a refusal says: its own words, those of its fields, or those of the catalogue. */
export const refusalMessage = ({ code, details }: RefusalData): string =>
  details.message ?? (errorsText(details.errors) || REFUSALS[code].message);

/** An error of the caller, or a limit that the caller reached. A bug in the sandbox is an assertion, never a `Refusal`. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly details: RefusalDetails;

  constructor(code: RefusalCode, details: RefusalDetails = {}) {
    super(refusalMessage({ code, details }));
    this.code = code;
    this.details = details;
  }

  get data(): RefusalData {
    return { code: this.code, details: this.details };
  }
}

/** A refusal that names what is wrong with a part of a request. @param more how many further problems there are */
export function invalidRequest(errors: readonly FieldError[], more = 0): Refusal {
  const message = errors.map((error) => error.message).join('; ') + (more > 0 ? `; and ${more} more` : '');
  return new Refusal('INVALID_REQUEST', { message, errors });
}

/** The same for one field. @param problem the rest of a sentence that begins with the name of the field */
export const invalidField = (field: string, problem: string): Refusal =>
  invalidRequest([fieldError(field, problem)]);

/** The refusal in a sandbox that holds as many transactions as it may. */
export const full = (maxTransactions: number): Refusal =>
  new Refusal('SANDBOX_FULL', {
    message: `The sandbox is full: SANDBOX_MAX_TRANSACTIONS is ${maxTransactions}`,
    limit: 'SANDBOX_MAX_TRANSACTIONS',
  });

export const noRoomForRules = (): Refusal =>
  new Refusal('SANDBOX_FULL', {
    message: 'The scenarios and rules of all worlds are as many as SANDBOX_MAX_RULES allows',
    limit: 'SANDBOX_MAX_RULES',
  });
