import { z } from 'zod';
import { DialectChange } from './dialect.ts';
import {
  atMostSoMany,
  Count,
  DateText,
  During,
  Duration,
  Match,
  mappingLike,
  NO_TIME_OF_DAY,
  OutcomeMatch,
  TimeOfDay,
  TOO_MANY_HEADERS,
} from './match.ts';
import { ClockSpeed, Instant } from './times.ts';
import { inr, MAX_SEED_LENGTH, State } from './service.ts';
import { hasFields, oneOf } from './shape-issues.ts';

/** The scenario file, in YAML or JSON. It describes how a world behaves. */

/** The longest that a rule can make a client wait, in wall time. */
export const LONGEST_WAIT_MS = 3_600_000;

const Wait = Duration.refine((ms) => ms <= LONGEST_WAIT_MS, {
  error: 'must be at most 1h, since it is wall time',
});

const Name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, {
  error: 'must be a name of lower-case letters, digits and hyphens, at most 64 characters',
});

const OnWorkingDay = z.strictObject({ working_day: z.literal('next'), time: TimeOfDay });

const StepDocument = z
  .strictObject({
    to: State.exclude(['PENDING']).optional().describe('The new state of the payout'),
    after: Duration.optional().describe('When the step is due: this long after initiate'),
    at: z
      .union([TimeOfDay, OnWorkingDay], { error: NO_TIME_OF_DAY })
      .optional()
      .describe(
        'When the step is due: at the first such time of day (IST) after initiate and after the step before it, or at that of the next working day',
      ),
    polls: Count.optional().describe(
      'When the step is due: at this status read, counted from initiate, at any time',
    ),
    utr: z
      .enum(['now', 'none'])
      .optional()
      .describe('Whether this step sets the UTR; by default SUCCESS and REVERSED set it'),
  })
  .refine(oneOf('after', 'at', 'polls'), { error: 'must have exactly one of after, at and polls' })
  .refine(({ to, utr }) => to !== undefined || utr === 'now', {
    error: 'must have a state in to, or utr: now',
  })
  .meta({ id: 'Step', description: 'One step of a payout' });
export type StepDocument = z.infer<typeof StepDocument>;

const NO_PRESET = 'must be a list of steps: a preset is only for the settlement of all modes';

const Timeline = z
  .array(StepDocument, { error: ({ input }) => (typeof input === 'string' ? NO_PRESET : undefined) })
  .max(20)
  .describe('The steps of a payout, in order');

const NotFound = z
  .strictObject({ reads: Count.optional(), for: Duration.optional() })
  .refine(oneOf('reads', 'for'), { error: 'must have either reads or for' })
  .describe('Status returns "not found" for the first reads of the payout, or for this long after initiate');
export type NotFound = z.infer<typeof NotFound>;

export const SETTLEMENTS = ['demo', 'instant', 'realistic', 'manual'] as const;

const Settlement = z
  .union([
    z.enum(SETTLEMENTS),
    Timeline,
    z.strictObject({ IMPS: Timeline, NEFT: Timeline, RTGS: Timeline, UPI: Timeline }).partial(),
  ])
  .describe(
    'A preset, a timeline, or a timeline for each transfer mode; other modes use the settlement of the settings',
  );

/** @param given the value as written; the message completes a count without a time */
const noRateLimit = (given: unknown): string => {
  const max = typeof given === 'number' && given > 0 ? Math.ceil(given) : 20;
  return `must be off, a count per time such as ${max}/1s, or { max: ${max}, per: 1s }`;
};

const RateLimitWindow = Duration.refine((ms) => ms > 0 && ms <= 86_400_000, {
  error: 'must be from 1ms to 1d',
});

const inMs = ({ max, per }: { readonly max: number; readonly per: number }) => ({ max, windowMs: per });

export const RateLimit = z
  .union(
    [
      z.literal('off'),
      z
        .string()
        .regex(/^\d{1,9}\/.+$/)
        .meta({ examples: ['20/1s'] })
        .transform((text) => ({ max: Number(text.split('/')[0]), per: text.slice(text.indexOf('/') + 1) }))
        .pipe(z.object({ max: Count, per: RateLimitWindow }).transform(inMs)),
      z.strictObject({ max: Count, per: RateLimitWindow }).transform(inMs),
    ],
    { error: ({ input }) => noRateLimit(input) },
  )
  .describe('How many initiates each key may send in a window of world time: 20/1s, { max, per }, or off');

const Delay = z
  .union([
    Wait,
    z
      .strictObject({ min: Wait, max: Wait })
      .refine(({ min, max }) => min <= max, { error: 'must have a min that does not exceed max' }),
  ])
  .describe('How long the response is delayed, in wall time: fixed, or drawn from min to max; at most 1h');

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Headers that frame the response, belong to one connection (RFC 9110, 7.6.1) or are set by the sandbox. Node would throw for some of them. */
const RESERVED_HEADERS =
  /^(connection|content-length|date|expect|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|x-sandbox-.*)$/i;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

const Status = z.int().min(200).max(599).describe('HTTP status');

/** Whether a response with this status has content, by RFC 9110. */
export const hasContent = (status: number): boolean => status !== 204 && status !== 205 && status !== 304;

const HeaderValue = z
  .string()
  .regex(HEADER_VALUE, { error: 'must be a header value of printable ASCII on one line' });

const ResponseDocument = z
  .strictObject({
    status: Status,
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
        z.union([HeaderValue, z.array(HeaderValue).min(1)]),
      )
      .refine(atMostSoMany, TOO_MANY_HEADERS)
      .describe('A header that is sent several times, such as Set-Cookie, has a list')
      .optional(),
    body: z
      .union([z.string(), z.record(z.string(), z.json()), z.array(z.json())])
      .describe('A text, or JSON; by default the error body of the dialect for this status')
      .optional(),
  })
  .refine(
    ({ status, code, message, body }) =>
      hasContent(status) || (body === undefined && code === undefined && message === undefined),
    { error: 'must not have a body, a code or a message: a response with this status has no content' },
  )
  .refine(
    ({ status, code, message, body }) =>
      status >= 300 || body !== undefined || (code === undefined && message === undefined),
    { error: 'must have a body instead of a code and a message, which a status below 300 does not show' },
  )
  .meta({ id: 'Respond', description: 'The response to send instead of the normal one' });

export const Respond = z
  .union([Status.transform((status): z.output<typeof ResponseDocument> => ({ status })), ResponseDocument], {
    error: 'must be a status from 200 to 599 such as 500, or a mapping such as { status: 500 }',
  })
  .describe('The response to send instead of the normal one: its status, or all of it');

export const FAULTS = [
  'connection-reset',
  'empty-response',
  'truncated-body',
  'malformed-json',
  'garbage',
  'hang',
  'slow-body',
] as const;

const SLOW_BYTES_PER_SECOND = 50; // a successful response then takes about four seconds

type PlainFault = Exclude<(typeof FAULTS)[number], 'hang' | 'slow-body'>;

/** A hang is until the client disconnects, or for so many ms of wall time. */
type FaultValue =
  | { readonly kind: PlainFault }
  | { readonly kind: 'hang'; readonly for: number | null }
  | { readonly kind: 'slow-body'; readonly bytes_per_second: number };

export const Fault = z
  .union([
    z.enum(FAULTS).transform((kind): FaultValue => {
      if (kind === 'hang') return { kind, for: null };
      return kind === 'slow-body' ? { kind, bytes_per_second: SLOW_BYTES_PER_SECOND } : { kind };
    }),
    z.strictObject({ kind: z.literal('hang'), for: Wait }),
    z.strictObject({ kind: z.literal('slow-body'), bytes_per_second: z.int().min(1).max(1_000_000) }),
  ])
  .describe('What happens to the connection');

const BODY_FAULTS: ReadonlySet<string> = new Set(['truncated-body', 'malformed-json', 'slow-body']);

/** Whether a response has the body that a fault breaks. */
export const hasBodyToBreak = ({
  respond,
  fault,
}: {
  readonly respond?: z.output<typeof Respond> | undefined;
  readonly fault?: z.output<typeof Fault> | undefined;
}): boolean => respond === undefined || hasContent(respond.status) || !BODY_FAULTS.has(fault?.kind ?? '');
export const NO_BODY_TO_BREAK =
  'must not have a fault of the body: a response with this status has no content';

const Limit = z
  .strictObject({ max: Count, per: RateLimitWindow }, mappingLike('{ max: 3, per: 10s }'))
  .describe(
    'This many matching requests pass in a window of world time, which begins with the first of them; ' +
      'requests past it get the other effects of the rule, and a 429 with Retry-After unless it has respond or fault',
  );

const HoldPoint = z.enum(['arrived', 'committed']);

const HOLD_MS = 30_000;

const Hold = z
  .union([HoldPoint, z.strictObject({ at: HoldPoint, for: Wait.optional() })])
  .describe(
    'The request waits until it is released, before or after its payout happens: for 30s by default, at most 1h of wall time',
  )
  .transform((hold) =>
    typeof hold === 'string' ? { at: hold, forMs: HOLD_MS } : { at: hold.at, forMs: hold.for ?? HOLD_MS },
  );

const Commit = z
  .union([
    z.boolean(),
    z
      .strictObject({ after: Duration, after_requests: Count })
      .partial()
      .refine(oneOf('after', 'after_requests'), { error: 'must have either after or after_requests' }),
  ])
  .describe(
    'Whether the payout happens; by default it does only without respond, fault and limit. ' +
      'With after (world time) or after_requests (of this world), the ledger sees the initiate later',
  );

const EffectDocument = z
  .strictObject({
    delay: Delay.optional(),
    respond: Respond.optional(),
    fault: Fault.optional(),
    hold: Hold.optional(),
    commit: Commit.optional(),
    timeline: Timeline.optional(),
    not_found: NotFound.optional(),
    limit: Limit.optional(),
    stale: Duration.optional().describe(
      'Status and balance show the payout and the wallet as they were this long ago, in world time',
    ),
  })
  .refine(hasFields, { error: 'must have at least one effect' })
  .refine(hasBodyToBreak, { error: NO_BODY_TO_BREAK })
  .meta({ id: 'Effect', description: 'What the rule does; effects can be combined' });
export type EffectDocument = z.infer<typeof EffectDocument>;

export const RuleDocument = z
  .strictObject({
    name: Name.optional().describe('By default rule-1, rule-2 …'),
    description: z.string().optional(),
    match: Match.optional(),
    during: During.optional(),
    skip: z.int().min(0).optional().describe('The rule ignores this many matching requests first'),
    times: Count.optional().describe('The rule applies to at most this many requests'),
    probability: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('The probability that the rule applies to a matching request; drawn from the seed'),
    effect: EffectDocument,
  })
  .meta({ id: 'Rule', description: 'The first rule that matches a request is applied' });
export type RuleDocument = z.infer<typeof RuleDocument>;

export const NamedRuleDocument = RuleDocument.extend({ name: Name });
export type NamedRuleDocument = z.infer<typeof NamedRuleDocument>;

const LARGEST_WEIGHT = 1_000_000;

export const OutcomeDocument = z
  .strictObject({
    name: Name.optional().describe('By default outcome-1, outcome-2 … by its position'),
    description: z.string().optional(),
    match: OutcomeMatch.optional(),
    during: During.optional(),
    timeline: Timeline.optional(),
    weighted: z
      .array(
        z.strictObject({
          weight: z.number().gt(0, { error: 'must be greater than 0' }).max(LARGEST_WEIGHT),
          timeline: Timeline,
        }),
      )
      .min(1, { error: 'must have at least one timeline' })
      .max(20, { error: 'must have at most 20 timelines' })
      .optional()
      .describe('Timelines, one of which is drawn from the seed and the reference'),
    not_found: NotFound.optional(),
  })
  .refine(({ timeline, weighted }) => timeline === undefined || weighted === undefined, {
    error: 'must not have both a timeline and weighted timelines',
  })
  .refine(
    ({ timeline, weighted, not_found }) =>
      [timeline, weighted, not_found].some((value) => value !== undefined),
    { error: 'must have a timeline, weighted timelines or not_found' },
  )
  .meta({
    id: 'Outcome',
    description: 'What happens to a payout: the first outcome that matches is applied',
  });
export type OutcomeDocument = z.infer<typeof OutcomeDocument>;

const Clock = z
  .strictObject({
    at: Instant.optional().describe('The time of a new world; without it, wall time'),
    speed: ClockSpeed.optional(),
  })
  .refine(hasFields, { error: 'must have at, speed or both' })
  .describe(
    'The clock of a new world, or of one whose clock is reset; frozen at its time unless it has a speed',
  );

export const Calendar = z
  .strictObject({
    saturdays: z
      .array(z.int().min(1).max(5))
      .default([2, 4])
      .describe('Which Saturdays of a month, by default 2, 4'),
    holidays: z.array(DateText).default([]).describe('Holidays beside 26 January, 15 August and 2 October'),
  })
  .describe('On which days banks are closed, beside Sundays');
export type Calendar = z.output<typeof Calendar>;

const noSeed = ({ input }: { readonly input?: unknown }): string | undefined =>
  typeof input === 'string' || input === undefined
    ? undefined
    : `must be a text or a number${input === null ? '; leave it out for the seed of the settings' : ''}`;

export const MAX_ITEMS = 200;

export const ScenarioDocument = z
  .strictObject({
    $schema: z.string().optional(),
    description: z.string().optional().describe('What a client can expect in this scenario'),
    wallet: z.strictObject({ opening_balance: inr(z.number().min(0)) }).optional(),
    seed: z
      .union([z.string().min(1).max(MAX_SEED_LENGTH), z.number()], { error: noSeed })
      .transform(String)
      .optional(),
    clock: Clock.optional(),
    calendar: Calendar.optional(),
    settlement: Settlement.optional(),
    rate_limit: RateLimit.optional(),
    dialect: z
      .union([z.string(), DialectChange])
      .describe('The name of a preset, or changes to a preset')
      .optional(),
    outcomes: z.array(OutcomeDocument).max(MAX_ITEMS, { error: 'must be at most 200 outcomes' }).optional(),
    rules: z.array(RuleDocument).max(MAX_ITEMS, { error: 'must be at most 200 rules' }).optional(),
  })
  .meta({ title: 'Scenario of the payout sandbox', description: 'How a world behaves' });
export type ScenarioDocument = z.infer<typeof ScenarioDocument>;
