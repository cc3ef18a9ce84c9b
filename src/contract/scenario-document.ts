import { z } from 'zod';
import { DialectChange } from './dialect.ts';
import { DURATION_FORM, durationLike } from './duration.ts';
import { inr, MAX_HEADERS, MAX_SEED_LENGTH, State, TransferMode } from './service.ts';
import { requiredText } from './shape-issues.ts';

/** The scenario file, in YAML or JSON. It describes how a world behaves. */

/** The longest time in wall time for which a rule makes a client wait. */
export const LONGEST_WAIT_MS = 3_600_000;
const LONGEST_MS = 3_650_000 * 86_400_000; // ten thousand years: timestamps cannot show later times

/** A duration; parsed to whole milliseconds. */
const Duration = durationLike('300ms, 90s, 40m, 2h, 3d', {
  pattern: DURATION_FORM,
  examples: ['300ms', '90s', '40m', '2h', '3d', 'PT90S'],
}).refine((ms) => ms <= LONGEST_MS, { error: 'must be at most 3650000d' });

const NO_TIME_OF_DAY = 'must be a time of day (IST) such as "06:30"';

/** A duration in wall time for which a client waits. */
const Wait = Duration.refine((ms) => ms <= LONGEST_WAIT_MS, {
  error: 'must be at most 1h, since it is wall time',
});

/** A time of day in IST; parsed to minutes after midnight. */
const TimeOfDay = requiredText(NO_TIME_OF_DAY)
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: NO_TIME_OF_DAY })
  .meta({ examples: ['06:30'] })
  .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

const Count = z.int().min(1);

const Name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, {
  error: 'must be a name of lower-case letters, digits and hyphens, at most 64 characters',
});

const Step = z
  .strictObject({
    to: State.exclude(['PENDING']).optional().describe('The new state of the payout'),
    after: Duration.optional().describe('When the step is due: this long after initiate'),
    at: TimeOfDay.optional().describe(
      'When the step is due: at this time of day (IST), for the first time after initiate',
    ),
    polls: Count.optional().describe(
      'When the step is due: at this status read, counted from initiate, at any time',
    ),
    utr: z
      .enum(['now', 'none'])
      .optional()
      .describe('Whether this step sets the UTR; by default SUCCESS and REVERSED set it'),
  })
  .refine(({ after, at, polls }) => [after, at, polls].filter((when) => when !== undefined).length === 1, {
    error: 'must have exactly one of after, at and polls',
  })
  .refine(({ to, utr }) => to !== undefined || utr === 'now', {
    error: 'must have a state in to, or utr: now',
  })
  .meta({ id: 'Step', description: 'One step of a payout' });
export type Step = z.infer<typeof Step>;

const Timeline = z.array(Step).max(20).describe('The steps of a payout, in order');

/** The presets that say how payouts settle after initiate. */
export const SETTLEMENTS = ['demo', 'instant', 'realistic', 'manual'] as const;

const Settlement = z
  .union([
    z.enum(SETTLEMENTS),
    z.strictObject({ IMPS: Timeline, NEFT: Timeline, RTGS: Timeline, UPI: Timeline }).partial(),
  ])
  .describe('A preset, or a timeline for each transfer mode; other modes use the settlement of the settings');

const NO_RATE_LIMIT = 'must be off, a count per time such as 20/1s, or { max: 20, per: 1s }';

const RateLimitWindow = Duration.refine((ms) => ms > 0 && ms <= 86_400_000, {
  error: 'must be from 1ms to 1d',
});

const RateLimit = z
  .union(
    [
      z.literal('off'),
      z
        .string()
        .regex(/^\d{1,9}\/.+$/)
        .meta({ examples: ['20/1s'] })
        .transform((text) => ({ max: Number(text.split('/')[0]), per: text.slice(text.indexOf('/') + 1) }))
        .pipe(z.object({ max: Count, per: RateLimitWindow })),
      z.strictObject({ max: Count, per: RateLimitWindow }),
    ],
    { error: NO_RATE_LIMIT },
  )
  .describe('How many initiates each key may send in a window of wall time: 20/1s, { max, per }, or off');

const atMostSoMany = (headers: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(headers).length <= MAX_HEADERS;
const TOO_MANY_HEADERS = { error: `must be at most ${MAX_HEADERS} headers` };

const TextMatch = z
  .union([
    z.string(),
    z.array(z.string()).min(1),
    z.strictObject({
      prefix: z.string().optional(),
      suffix: z.string().optional(),
      matches: z.string().optional().describe('A regular expression (RE2: linear time, no look-around)'),
    }),
  ])
  .describe('A text, a list of texts, or conditions on a text: prefix, suffix, matches');

const NumberMatch = z
  .union([
    z.number(),
    z.array(z.number()).min(1),
    z.strictObject({ gt: z.number(), gte: z.number(), lt: z.number(), lte: z.number() }).partial(),
  ])
  .describe('A number, a list of numbers, or bounds: gt, gte, lt, lte');

export const ROUTE_NAMES = ['initiate', 'status', 'balance'] as const;
export const RouteName = z.enum(ROUTE_NAMES);
export type RouteName = z.infer<typeof RouteName>;

export const Match = z
  .strictObject({
    route: z.union([RouteName, z.array(RouteName).min(1)]).optional(),
    client_ref_id: TextMatch.optional(),
    txn_id: TextMatch.optional(),
    beneficiary_name: TextMatch.optional(),
    beneficiary_account: TextMatch.optional(),
    beneficiary_ifsc: TextMatch.optional(),
    transfer_mode: z.union([TransferMode, z.array(TransferMode).min(1)]).optional(),
    remarks: TextMatch.optional(),
    amount: NumberMatch.optional(),
    header: z
      .record(z.string(), TextMatch)
      .refine(atMostSoMany, TOO_MANY_HEADERS)
      .optional()
      .describe('Request headers, by name'),
    attempt: NumberMatch.optional().describe(
      'Which attempt of this reference on this route this is, counted from 1',
    ),
    hours: z
      .strictObject({ from: TimeOfDay, to: TimeOfDay })
      .optional()
      .describe(
        "The world's time of day (IST) is in this range, which may include midnight; `to` is exclusive",
      ),
  })
  .meta({ id: 'Match', description: 'Which requests to match: every condition must hold' });
export type Match = z.infer<typeof Match>;

const Delay = z
  .union([
    Wait,
    z
      .strictObject({ min: Wait, max: Wait })
      .refine(({ min, max }) => min <= max, { error: 'must have a min that does not exceed max' }),
    z.strictObject({ median: Wait, sigma: z.number().min(0).max(5) }),
  ])
  .describe(
    'How long the answer is delayed, in wall time: fixed, uniform (min, max) or log-normal (median, sigma); at most 1h',
  );

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** They frame the answer or belong to one connection (RFC 9110, 7.6.1), or the sandbox writes them: Node would throw at some. */
const RESERVED_HEADERS =
  /^(connection|content-length|date|expect|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|x-sandbox-.*)$/i;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

const Respond = z
  .strictObject({
    status: z.int().min(200).max(599).describe('HTTP status'),
    code: z
      .string()
      .min(1)
      .optional()
      .describe('The code in the body; by default that of the catalogue for this status'),
    message: z.string().optional(),
    headers: z
      .record(
        z
          .string()
          .regex(HEADER_NAME, { error: 'must be a header name' })
          .refine((name) => !RESERVED_HEADERS.test(name), {
            error: 'must not be a header of the connection or of the sandbox itself',
          }),
        z.string().regex(HEADER_VALUE, { error: 'must be a header value of printable ASCII on one line' }),
      )
      .refine(atMostSoMany, TOO_MANY_HEADERS)
      .optional(),
    body: z
      .union([z.string(), z.record(z.string(), z.json()), z.array(z.json())])
      .describe('A text, or JSON; by default the error body of the dialect for this status')
      .optional(),
  })
  .meta({ id: 'Respond', description: 'The answer to send instead of the normal one' });

export const FAULTS = [
  'connection-reset',
  'empty-response',
  'truncated-body',
  'malformed-json',
  'garbage',
  'hang',
  'slow-body',
] as const;

const Fault = z
  .union([
    z.enum(FAULTS),
    z.strictObject({ kind: z.literal('hang'), for: Wait }),
    z.strictObject({ kind: z.literal('slow-body'), bytes_per_second: z.int().min(1).max(1_000_000) }),
  ])
  .describe('What happens to the connection');

const Effect = z
  .strictObject({
    delay: Delay.optional(),
    respond: Respond.optional(),
    fault: Fault.optional(),
    commit: z
      .boolean()
      .optional()
      .describe('Whether the payout happens; by default it does only without respond and fault'),
    timeline: Timeline.optional(),
    not_found: z
      .strictObject({ reads: Count.optional(), for: Duration.optional() })
      .refine((until) => (until.reads === undefined) !== (until.for === undefined), {
        error: 'must have either reads or for',
      })
      .optional()
      .describe(
        'Status answers "not found" for the first reads of the payout, or for this long after initiate',
      ),
    stale: Duration.optional().describe('Status shows the payout as it was this long ago, in world time'),
  })
  .refine((effect) => Object.values(effect).some((value) => value !== undefined), {
    error: 'must have at least one effect',
  })
  .meta({ id: 'Effect', description: 'What the rule does; effects can be combined' });
export type Effect = z.infer<typeof Effect>;

export const RuleDocument = z
  .strictObject({
    name: Name,
    description: z.string().optional(),
    match: Match.optional(),
    skip: z.int().min(0).optional().describe('The rule ignores this many matching requests first'),
    times: Count.optional().describe('The rule applies to at most this many requests'),
    probability: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('The probability that the rule applies to a matching request; drawn from the seed'),
    effect: Effect,
  })
  .meta({ id: 'Rule', description: 'The first rule that matches a request is applied' });
export type RuleDocument = z.infer<typeof RuleDocument>;

export const ScenarioDocument = z
  .strictObject({
    $schema: z.string().optional(),
    description: z.string().optional().describe('What a client can expect in this scenario'),
    wallet: z.strictObject({ opening_balance: inr(z.number().min(0)) }).optional(),
    seed: z
      .union([z.string().min(1).max(MAX_SEED_LENGTH), z.number()])
      .transform(String)
      .optional(),
    settlement: Settlement.optional(),
    rate_limit: RateLimit.optional(),
    dialect: z
      .union([z.string(), DialectChange])
      .describe('The name of a preset, or changes to a preset')
      .optional(),
    rules: z.array(RuleDocument).optional(),
  })
  .meta({ title: 'Scenario of the payout sandbox', description: 'How a world behaves' });
export type ScenarioDocument = z.infer<typeof ScenarioDocument>;
