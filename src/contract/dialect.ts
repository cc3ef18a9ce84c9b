import { z } from 'zod';

/**
 * The dialect: one switch for every point that the interface leaves open. docs/fidelity.md has a row for each, with
 * the reason for its default.
 */

const choice = <const T extends readonly (string | number | null)[]>(values: T, description: string) =>
  z.literal(values).meta({ description });

const ErrorRows = z.strictObject({
  body: choice(
    ['envelope', 'message', 'problem', 'empty'],
    'Body of an error: {status, message, code, errors}, {message}, an RFC 9457 problem, or nothing',
  ),
  status_word: choice(['error', 'failed', 'failure'], 'The value of the field status in the envelope'),
});

const ReferenceRows = z.strictObject({
  same_body: choice(
    ['replay', 'first_answer', 400, 409, 'second_payout'],
    'A client_ref_id sent again with the same body: the payout as it stands, its first answer, a refusal, or a second payout',
  ),
  changed_body: choice(
    [400, 409, 'replay', 'second_payout'],
    'A client_ref_id sent again with another body: a refusal, the first payout, or a second payout',
  ),
  after_402: choice(
    ['forget', 'remember'],
    'A client_ref_id that was refused with 402: usable again, or refused from then on',
  ),
});

const StatusRows = z.strictObject({
  without_key: choice(
    [401, 'answered'],
    'GET /payout/status without a key: a refusal, or an answer from the world of the default key',
  ),
  unknown: choice([404, 400], 'The status of an answer about a transaction that does not exist'),
  both: choice(
    ['same', 'client_ref_id', 'txn_id', 400],
    'When both parameters are given: they must name the same transaction, one of them is used, or a refusal',
  ),
  completed_at_while_pending: choice(['null', 'absent'], 'completed_at of a PENDING payout'),
  utr_of_failed: choice(['null', 'set'], 'Whether a FAILED payout has a UTR, as one that the bank returned'),
});

const RequestRows = z.strictObject({
  formats: choice(['warn', 'refuse', 'ignore'], 'An IFSC, account number or UPI ID with an unusual format'),
  mode_limits: choice(
    ['warn', 'refuse', 'ignore'],
    'An amount outside the usual limits of its transfer mode',
  ),
  unknown_fields: choice(['ignore', 'refuse'], 'A field that is not in the interface'),
  upi_beneficiary: choice(['account_or_upi_id', 'account'], 'What beneficiary_account may contain for UPI'),
});

const RateLimitRows = z.strictObject({
  routes: choice(['initiate', 'all'], 'Which routes the rate limit applies to'),
  retry_after: choice(['seconds', 'absent'], 'The header Retry-After of a 429 response'),
});

const AnswerRows = z.strictObject({
  timestamps: choice(['milliseconds', 'seconds'], 'The precision of timestamps'),
  sandbox_headers: choice(['sent', 'not_sent'], 'Headers that the real service does not send'),
});

/** A complete dialect. */
export const Dialect = z.strictObject({
  errors: ErrorRows,
  client_ref_id: ReferenceRows,
  status: StatusRows,
  requests: RequestRows,
  rate_limit: RateLimitRows,
  answers: AnswerRows,
});
export type Dialect = z.infer<typeof Dialect>;

/** The default of every switch. */
export const DEFAULT_DIALECT: Dialect = {
  errors: { body: 'envelope', status_word: 'error' },
  client_ref_id: { same_body: 'replay', changed_body: 400, after_402: 'forget' },
  status: {
    without_key: 401,
    unknown: 404,
    both: 'same',
    completed_at_while_pending: 'null',
    utr_of_failed: 'null',
  },
  requests: {
    formats: 'warn',
    mode_limits: 'warn',
    unknown_fields: 'ignore',
    upi_beneficiary: 'account_or_upi_id',
  },
  rate_limit: { routes: 'initiate', retry_after: 'seconds' },
  answers: { timestamps: 'milliseconds', sandbox_headers: 'sent' },
};

/** Changes to a preset. */
export const DialectChange = z
  .strictObject({
    extends: z.string().optional().meta({ description: 'The preset to start from; `default` by default' }),
    errors: ErrorRows.partial().optional(),
    client_ref_id: ReferenceRows.partial().optional(),
    status: StatusRows.partial().optional(),
    requests: RequestRows.partial().optional(),
    rate_limit: RateLimitRows.partial().optional(),
    answers: AnswerRows.partial().optional(),
  })
  .meta({ id: 'Dialect', description: 'One choice for every point that the interface leaves open' });
export type DialectChange = z.infer<typeof DialectChange>;

/** Applies changes to a preset. */
export const changedDialect = (base: Dialect, change: DialectChange): Dialect => ({
  errors: { ...base.errors, ...defined(change.errors) },
  client_ref_id: { ...base.client_ref_id, ...defined(change.client_ref_id) },
  status: { ...base.status, ...defined(change.status) },
  requests: { ...base.requests, ...defined(change.requests) },
  rate_limit: { ...base.rate_limit, ...defined(change.rate_limit) },
  answers: { ...base.answers, ...defined(change.answers) },
});

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const defined = <T extends object>(rows: T | undefined): Defined<T> =>
  Object.fromEntries(Object.entries(rows ?? {}).filter(([, value]) => value !== undefined)) as Defined<T>;
