import { z } from 'zod';
import { DURATION_FORM, durationMs } from './times.ts';
import { requiredText } from './shape-issues.ts';

/** The dialect: one switch for every point that the payout API leaves open. docs/fidelity.md has a row for each, with the reason for its default. */

/** One switch. Its first choice is the default. */
const choice = <const T extends readonly (string | number | null)[]>(values: T, description: string) =>
  z.literal(values).describe(description);

/** What a service wants of a text beyond the payout API. */
const TextRule = z
  .strictObject({
    max: z.int().min(1).optional().describe('The most characters'),
    pattern: z.string().optional().describe('A regular expression (RE2) that the text must match'),
    when: choice(
      ['warn', 'refuse', 'ignore'],
      'What a text gets that breaks this: a warning, a refusal, or nothing',
    ).default('warn'),
  })
  .refine(({ max, pattern }) => max !== undefined || pattern !== undefined, {
    error: 'must have max, pattern or both',
  });
export type TextRule = z.output<typeof TextRule>;

const NO_VALIDITY = 'must be a duration of more than 0, such as 1d';

const ValidFor = requiredText(NO_VALIDITY)
  .refine((text) => (durationMs(text) ?? 0) > 0, { error: NO_VALIDITY })
  .meta({ pattern: DURATION_FORM, examples: ['1d'] });

export const Dialect = z.strictObject({
  errors: z.strictObject({
    body: choice(
      ['envelope', 'message', 'problem', 'empty'],
      'Body of an error: {status, message, code, errors}, {message}, an RFC 9457 problem, or nothing',
    ),
    status_word: choice(['error', 'failed', 'failure'], 'The value of the field status in the envelope'),
  }),
  client_ref_id: z.strictObject({
    same_body: choice(
      ['replay', 'first_answer', 'stored', 400, 409, 'second_payout'],
      'A client_ref_id sent again with the same body: the payout as it stands, as it was at first, the first response whatever it was, a refusal, or a second payout',
    ),
    changed_body: choice(
      [400, 409, 422, 'replay', 'second_payout'],
      'A client_ref_id sent again with another body: a refusal, the first payout, or a second payout',
    ),
    in_flight: choice(
      ['replay', 409],
      'A client_ref_id sent again while its first request is held, delayed, hanging or not yet processed: as at any time, or a refusal',
    ),
    valid_for: ValidFor.nullable().describe(
      'How long a client_ref_id is known, in world time from creation; then it pays again. null is for ever',
    ),
  }),
  status: z.strictObject({
    without_key: choice(
      [401, 'answered'],
      'GET /payout/status without a key: a refusal, or a response from the world of the default key',
    ),
    unknown: choice([404, 400], 'The status of a response about a transaction that does not exist'),
    both: choice(
      ['same', 'client_ref_id', 'txn_id', 400],
      'When both parameters are given: they must name the same transaction, one of them is used, or a refusal',
    ),
    completed_at_while_pending: choice(['null', 'absent'], 'completed_at of a PENDING payout'),
    utr_of_failed: choice(
      ['null', 'set'],
      'Whether a FAILED payout has a UTR, as one that the bank returned',
    ),
  }),
  requests: z.strictObject({
    formats: choice(['warn', 'refuse', 'ignore'], 'An IFSC, account number or UPI ID with an unusual format'),
    mode_limits: choice(
      ['warn', 'refuse', 'ignore'],
      'An amount outside the usual limits of its transfer mode',
    ),
    unknown_fields: choice(['ignore', 'refuse'], 'A field that is not in the payout API'),
    client_ref_id: TextRule.nullable(),
    remarks: TextRule.nullable(),
    upi_beneficiary: choice(['account_or_upi_id', 'account'], 'What beneficiary_account may contain for UPI'),
  }),
  rate_limit: z.strictObject({
    routes: choice(['initiate', 'all'], 'Which routes the rate limit applies to'),
    retry_after: choice(['seconds', 'absent'], 'The header Retry-After of a 429 response'),
  }),
  answers: z.strictObject({
    timestamps: choice(['milliseconds', 'seconds'], 'The precision of timestamps'),
  }),
});
export type Dialect = z.infer<typeof Dialect>;

const { shape } = Dialect;

/** The default of every switch: the first of its choices, or null where it is off. */
export const DEFAULT_DIALECT = Object.fromEntries(
  Object.entries(shape).map(([part, rows]) => [
    part,
    Object.fromEntries(
      Object.entries(rows.shape).map(([row, schema]) => [
        row,
        'values' in schema ? [...schema.values][0] : null,
      ]),
    ),
  ]),
) as Dialect;

export const DialectChange = z
  .strictObject({
    extends: z.string().optional().describe('The preset to start from; `default` by default'),
    errors: shape.errors.partial().optional(),
    client_ref_id: shape.client_ref_id.partial().optional(),
    status: shape.status.partial().optional(),
    requests: shape.requests.partial().optional(),
    rate_limit: shape.rate_limit.partial().optional(),
    answers: shape.answers.partial().optional(),
  })
  .meta({ id: 'Dialect', description: 'One choice for every point that the payout API leaves open' });
export type DialectChange = z.infer<typeof DialectChange>;

export const DialectFile = DialectChange.extend({ description: z.string().optional() });

export const changedDialect = (base: Dialect, change: DialectChange): Dialect =>
  Object.fromEntries(
    Object.entries(base).map(([part, rows]) => [part, { ...rows, ...change[part as keyof Dialect] }]),
  ) as Dialect;
