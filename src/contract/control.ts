import { z } from 'zod';
import { durationLike, ClockSpeed, Instant } from './times.ts';
import { Amount, InitiateRequest, State, StatusQuery } from './service.ts';
import { hasFields, oneOf } from './shape-issues.ts';
import { RequestConditions, RouteName } from './match.ts';
import {
  Fault,
  FAULTS,
  hasBodyToBreak,
  LONGEST_WAIT_MS,
  NO_BODY_TO_BREAK,
  Respond,
  RuleDocument,
  ScenarioDocument,
} from './scenario-document.ts';

/** Bodies and queries of the routes under /_sandbox. */

const LONGEST_LIST = 1000;

export const WorldName = z
  .string()
  .regex(/^[ -~]{1,120}$/, { error: 'must be 1 to 120 printable ASCII characters', abort: true });

/** A whole number that may be given as text: in a query, and on the command line. For the OpenAPI document it is a number. */
export const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.preprocess(
    (given: number | string) => (/^\d+$/.test(String(given)) ? Number(given) : given),
    z.int({ error, abort: true }).min(min, { error }).max(max, { error }),
  );
};

/** True or false in a query, as text on the wire. */
export const QueryFlag = z.preprocess(
  (given: boolean | 'true' | 'false') => (given === 'true' ? true : given === 'false' ? false : given),
  z.boolean({ error: 'must be true or false' }),
);

const Limit = wholeNumber(1, LONGEST_LIST)
  .default(100)
  .describe(`The most items to return, up to ${LONGEST_LIST}`);

const Order = z.enum(['newest', 'oldest']).default('newest').describe('The order of the list');

const Cursor = wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().describe('The `next` of the previous page');

export const AdvanceRequest = z
  .strictObject({
    by: durationLike('90s, 2h, 3d', { examples: ['90s', '2h', '3d'] })
      .optional()
      .describe('Move the clock by this duration'),
    to: Instant.optional().meta({
      description: 'Move the clock to this time; without an offset it is in IST',
      examples: ['2026-12-01T00:00:00Z'],
    }),
    until: z.literal('idle').optional().describe('Move the clock until nothing is scheduled'),
  })
  .refine(oneOf('by', 'to', 'until'), {
    error: 'must be one of {"by":"2h"}, {"to":"2026-12-01T00:00:00Z"} and {"until":"idle"}',
  })
  .meta({ id: 'AdvanceRequest', description: 'How far to move the clock', examples: [{ by: '2h' }] });
export type AdvanceRequest = z.input<typeof AdvanceRequest>;

export const SpeedRequest = z
  .strictObject({ speed: ClockSpeed })
  .meta({ id: 'SpeedRequest', description: 'How fast a clock runs', examples: [{ speed: 3600 }] });

/** The body of a call without parameters: absent, or an empty object. */
export const NoRequest = z.strictObject({}).optional();

export const MoneyRequest = z
  .strictObject({
    amount: Amount.meta({ description: 'INR, at most 2 decimals', examples: [500] }),
  })
  .meta({ id: 'MoneyRequest', description: 'Money to put into the wallet or to take out of it' });

export const ChooseRequest = z
  .strictObject({
    use: z.string().nullable().describe('The name of a scenario; null for the active scenario of the server'),
  })
  .meta({ id: 'ChooseRequest', description: 'The name of a scenario' });

export const ScenarioRequest = z.union([ChooseRequest, ScenarioDocument]).meta({
  id: 'ScenarioRequest',
  description: 'The name of a scenario, or a scenario document',
});

export const ScenarioQuery = z.strictObject({
  name: z.string().optional().describe('The name of a scenario document; by default inline'),
});

export const RuleRequest = RuleDocument.meta({
  id: 'RuleRequest',
  description: 'A rule to try before all others; without a name it is called rule-1, rule-2 …',
});
export type RuleRequest = Given<z.input<typeof RuleRequest>>;

export const RuleQuery = z.strictObject({
  last: QueryFlag.optional().describe('true: it is tried after the other overrides instead of before them'),
});

/** The same type for values that are written `as const`. */
type Given<T> = T extends object ? { readonly [K in keyof T]: K extends 'body' ? T[K] : Given<T[K]> } : T;

export type ScenarioInput = Given<z.input<typeof ScenarioDocument>>;

export const TransitionRequest = z
  .strictObject({ to: State.exclude(['PENDING']) })
  .meta({ id: 'TransitionRequest', description: 'The state to force a payout into' });

export const TransactionsQuery = z.strictObject({
  status: State.optional().describe('Only payouts in this state'),
  client_ref_id: z.string().min(1).optional(),
  at_risk: QueryFlag.optional().describe(
    'Only payouts that hold money and that no response has shown the client; with false, only the others',
  ),
  out_of_date: QueryFlag.optional().describe(
    'Only payouts in a final state that the client has not seen; with false, only the others',
  ),
  order: Order,
  limit: Limit,
  cursor: Cursor,
});
export type TransactionsQuery = z.input<typeof TransactionsQuery>;

export const WorldsQuery = z.strictObject({ limit: Limit, cursor: Cursor });

export const EntriesQuery = z.strictObject({
  txn_id: z.string().min(1).optional().describe('Only entries of this payout'),
  order: Order,
  limit: Limit,
  cursor: Cursor,
});
export type EntriesQuery = z.input<typeof EntriesQuery>;

export const MAX_HELD = 100;

export const HeldQuery = z.strictObject({
  count: wholeNumber(1, MAX_HELD)
    .optional()
    .describe('Wait until this many requests are held; without it, the response comes at once'),
  within: durationLike('500ms, 10s', { examples: ['10s'] })
    .refine((ms) => ms <= LONGEST_WAIT_MS, { error: 'must be at most 1h, since it is wall time' })
    .prefault('10s')
    .describe('How long to wait for them, in wall time'),
});

export const HeldId = z.string().describe('The id of a held request');

export const ReleaseRequest = z
  .strictObject({ respond: Respond.optional(), fault: Fault.optional() })
  .refine(hasBodyToBreak, { error: NO_BODY_TO_BREAK })
  .optional()
  .meta({
    id: 'ReleaseRequest',
    description: "What the client gets instead of the rule's effect; neither field for the normal response",
  });
export type ReleaseRequest = z.input<typeof ReleaseRequest>;

export const RequestsQuery = z.strictObject({
  route: RouteName.optional(),
  status: wholeNumber(100, 599).optional().describe('Only requests that got this HTTP status'),
  client_ref_id: z.string().min(1).optional(),
  txn_id: z.string().min(1).optional(),
  since: z
    .union([wholeNumber(0, Number.MAX_SAFE_INTEGER), Instant.transform((atMs) => ({ atMs }))], {
      error: 'must be the id of a request or an ISO 8601 time',
    })
    .optional()
    .describe(
      'Only requests after the one with this id, or since this world time (in IST without an offset)',
    ),
  order: Order,
  limit: Limit,
  format: z
    .enum(['json', 'text'])
    .default('json')
    .describe('text: a line for each request, for people, always the oldest first'),
});
export type RequestsQuery = z.input<typeof RequestsQuery>;

const oneOrMore = <T extends z.ZodType>(schema: T) => z.union([schema, z.array(schema).min(1)]);

/** Selects requests of the journal: everything a rule's `match` accepts except `payout`, plus the result of the request. */
export const RequestMatch = RequestConditions.extend({
  status: oneOrMore(z.int().min(100).max(599)).describe('The HTTP status of the response').optional(),
  outcome: oneOrMore(z.enum(['pending', 'answered', 'fault', 'client_gone'])).optional(),
  rule: z
    .string()
    .regex(/^[\w.-]+\/[\w.-]+$/, { error: 'must be scenario/rule, as in the header X-Sandbox-Rule' })
    .optional()
    .describe('The rule that decided the response: scenario/rule'),
  fault: z.enum(FAULTS).optional(),
  committed: z.boolean().optional().describe('Whether the request made a payout'),
  replayed: z.boolean().optional(),
}).meta({ id: 'RequestMatch', description: 'Which requests to select: every condition must hold' });
export type RequestMatch = z.output<typeof RequestMatch>;

const Count = z
  .strictObject({ exactly: z.int().min(0), at_least: z.int().min(0), at_most: z.int().min(0) })
  .partial()
  .refine(hasFields, { error: 'must say exactly, at_least or at_most' })
  .refine(
    ({ exactly, at_least = exactly ?? 0, at_most = exactly ?? Infinity }) =>
      at_least <= (exactly ?? at_most) && (exactly ?? at_least) <= at_most,
    { error: 'must be a possible count: at_least must not exceed at_most' },
  );

export const VerifyRequest = z
  .strictObject({
    match: RequestMatch.optional(),
    count: Count.optional().describe('How many requests must match; at least one by default'),
    sequence: z
      .array(RequestMatch)
      .min(1)
      .max(100)
      .optional()
      .describe('Requests that arrived in this order; other requests may come between them'),
  })
  .refine(oneOf('match', 'sequence'), { error: 'must have either match or sequence' })
  .refine(({ sequence, count }) => sequence === undefined || count === undefined, {
    error: 'must not have both a count and a sequence',
  })
  .meta({ id: 'VerifyRequest', description: 'What the journal is expected to show' });
export type VerifyRequest = Given<z.input<typeof VerifyRequest>>;
export type Verification = z.output<typeof VerifyRequest>;

export const UndoRequest = z
  .strictObject({
    action: z
      .int()
      .describe('The number of the action to take back; refused unless it is the latest. Absent: the latest')
      .optional(),
    force: z
      .boolean()
      .describe('Whether to undo requests that the client has sent since then, too')
      .optional(),
  })
  .optional()
  .meta({ id: 'UndoRequest', description: 'What may be undone with the last control action' });
export type UndoRequest = z.input<typeof UndoRequest>;

/** A limit, since a text is parsed in one go while all other requests wait. */
export const MAX_CHECKED_TEXT = 32 * 1024;

export const CheckScenarioRequest = z
  .strictObject({
    text: z
      .string()
      .max(MAX_CHECKED_TEXT)
      .optional()
      .describe('A scenario as the text of a file, in YAML or JSON'),
    document: z.record(z.string(), z.unknown()).optional().describe('A scenario as JSON, to write as YAML'),
  })
  .refine(oneOf('text', 'document'), { error: 'must have either text or document' })
  .meta({
    id: 'CheckScenarioRequest',
    description: 'A scenario to check. No world changes',
    examples: [{ text: 'rate_limit: 20/1s' }],
  });

/** The part of a request that holds its fields. */
const PART_OF_ROUTE = { initiate: 'body', status: 'query', balance: null } as const;

export const ExplainRequest = z
  .strictObject({
    route: RouteName,
    body: InitiateRequest.optional().describe('The body of an initiate'),
    query: StatusQuery.optional().describe('The query of a status read'),
    headers: z.record(z.string(), z.string()).default({}).describe('The headers of the request, by name'),
    attempt: z
      .int()
      .min(1)
      .optional()
      .describe('Which attempt of its reference it is; by default the next one'),
  })
  .superRefine((request, context) => {
    const needed = PART_OF_ROUTE[request.route];
    for (const part of ['body', 'query'] as const) {
      if ((request[part] !== undefined) === (part === needed)) continue;
      const message = part === needed ? 'is required' : `has no place in a request to ${request.route}`;
      context.addIssue({ code: 'custom', path: [part], message });
    }
  })
  .meta({
    id: 'ExplainRequest',
    description: 'A request to explain: it is not sent, and nothing is counted',
    examples: [{ route: 'status', query: { client_ref_id: 'order-1' } }],
  });
export type ExplainRequest = z.output<typeof ExplainRequest>;
export type ExplainInput = z.input<typeof ExplainRequest>;

/** A snapshot as the control API shows it. */
export const SnapshotText = z.string().meta({
  id: 'Snapshot',
  description: [
    'All that the future of a world depends on, as lines of JSON, to store and send back unchanged:',
    '`{"format":"payout-sandbox","version":6}`, then the world (`{"world":"…",…}`: clock, wallet, scenario),',
    'one line for each entry, payout, override, count of a rule, count of attempts, window of a rate limit, reference that stays refused and recent request, the settings of the referee and its reports from before resets,',
    '`{"end":"…","checksum":"…"}` with the SHA-256 of the lines of the world, and `{"worlds":1}`.',
    'Amounts are paise, times ms since the epoch.',
  ].join(' '),
});
