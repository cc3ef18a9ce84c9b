import { z } from 'zod';
import { durationMs } from './duration.ts';
import { isWholePaise, MAX_AMOUNT_INR, State } from './payout.ts';
import { FAULTS, Match, RouteName, RuleDocument, ScenarioDocument } from './scenario.ts';

/** What the control API is asked: the bodies and queries of the routes below /_sandbox. */

const LONGEST_LIST = 1000;

const queryNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string({ error })
    .regex(/^\d{1,15}$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });
};

const Limit = queryNumber(1, LONGEST_LIST)
  .optional()
  .meta({ description: `At most so many, up to ${LONGEST_LIST}; 100 when absent` });

const Order = z
  .enum(['newest', 'oldest'])
  .optional()
  .meta({ description: 'Which comes first; newest when absent' });

const Cursor = queryNumber(0, Number.MAX_SAFE_INTEGER)
  .optional()
  .meta({ description: 'The `next` of the page before' });

/** ISO 8601 with a zone, as ms since the epoch. */
const Instant = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time such as 2026-12-01T00:00:00Z' })
  .transform((text) => Date.parse(text));

const NO_DURATION = 'must be a duration such as 90s, 2h, 3d or PT90S';
const Duration = z
  .string({ error: NO_DURATION })
  .meta({ examples: ['90s', '2h', '3d'] })
  .transform((text, context) => {
    const ms = durationMs(text);
    if (ms !== undefined) return ms;
    context.issues.push({ code: 'custom', message: NO_DURATION, input: text });
    return z.NEVER;
  });

const oneOf =
  (...keys: readonly string[]) =>
  (value: Readonly<Record<string, unknown>>): boolean =>
    keys.filter((key) => value[key] !== undefined).length === 1;

export const AdvanceRequest = z
  .strictObject({
    by: Duration.optional().meta({ description: 'So far' }),
    to: Instant.optional().meta({ description: 'Up to this time', examples: ['2026-12-01T00:00:00Z'] }),
    until: z.literal('idle').optional().meta({ description: 'Until nothing is planned any more' }),
  })
  .refine(oneOf('by', 'to', 'until'), {
    error: 'must be one of {"by":"2h"}, {"to":"2026-12-01T00:00:00Z"} and {"until":"idle"}',
  })
  .meta({ id: 'AdvanceRequest', description: 'How far a clock moves' });
export type AdvanceRequest = z.input<typeof AdvanceRequest>;

/** The body of a call that takes none; an empty object is none. */
export const NoRequest = z.strictObject({}).optional();

export const MoneyRequest = z
  .strictObject({
    amount: z
      .number()
      .gt(0, { error: 'must be greater than 0' })
      .max(MAX_AMOUNT_INR)
      .refine(isWholePaise, { error: 'must have at most 2 decimals (INR, whole paise)' })
      .meta({ description: 'INR, at most 2 decimals', examples: [500] }),
  })
  .meta({ id: 'MoneyRequest', description: 'Money put into the wallet, or taken out of it' });

export const ChooseRequest = z
  .strictObject({
    use: z.string().nullable().meta({ description: 'The name of a scenario; null for the one in force' }),
  })
  .meta({ id: 'ChooseRequest', description: 'A scenario by its name' });

/** What chooses a scenario: its name, or all of it. */
export const ScenarioRequest = z.union([ChooseRequest, ScenarioDocument]).meta({
  id: 'ScenarioRequest',
  description: 'The name of a scenario, or a whole one',
});

/** A rule whose name may be left out. */
export const RuleRequest = RuleDocument.partial({ name: true }).meta({
  id: 'RuleRequest',
  description: 'One rule, put first; without a name it is called rule-1, rule-2 …',
});
export type RuleRequest = Given<z.input<typeof RuleRequest>>;

/** The same, also for what is given `as const`. */
type Given<T> = T extends object ? { readonly [K in keyof T]: K extends 'body' ? T[K] : Given<T[K]> } : T;

export type ScenarioInput = Given<z.input<typeof ScenarioDocument>>;

export const RulesQuery = z.strictObject({
  from: z
    .enum(['world', 'scenario', 'magic'])
    .optional()
    .meta({ description: 'Only those on top of the world, of its scenario, or of the magic beneficiaries' }),
});

export const TransitionRequest = z
  .strictObject({ to: State.exclude(['PENDING']) })
  .meta({ id: 'TransitionRequest', description: 'The state that a payout is forced into' });

export const TransactionsQuery = z.strictObject({
  status: State.optional().meta({ description: 'Only those in this state' }),
  client_ref_id: z.string().min(1).optional(),
  order: Order,
  limit: Limit,
  cursor: Cursor,
});
export type TransactionsQuery = z.input<typeof TransactionsQuery>;

export const EntriesQuery = z.strictObject({
  txn_id: z.string().min(1).optional().meta({ description: 'Only those of this payout' }),
  order: Order,
  limit: Limit,
  cursor: Cursor,
});
export type EntriesQuery = z.input<typeof EntriesQuery>;

const NO_SINCE = 'must be the id of a request or an ISO 8601 time';
const HttpStatus = z.int().min(100).max(599);

export const RequestsQuery = z.strictObject({
  route: RouteName.optional(),
  status: queryNumber(100, 599).optional().meta({ description: 'Only those answered with this HTTP status' }),
  client_ref_id: z.string().min(1).optional(),
  txn_id: z.string().min(1).optional(),
  since: z
    .union([queryNumber(0, Number.MAX_SAFE_INTEGER), Instant.transform((atMs) => ({ atMs }))], {
      error: NO_SINCE,
    })
    .optional()
    .meta({ description: 'Only those after the request of this id, or since this world time' }),
  order: Order,
  limit: Limit,
});
export type RequestsQuery = z.input<typeof RequestsQuery>;

const oneOrMore = <T extends z.ZodType>(schema: T) => z.union([schema, z.array(schema).min(1)]);

/** Which requests of the journal: as in the match of a rule, and what became of them. */
export const RequestMatch = Match.extend({
  status: oneOrMore(HttpStatus).optional().meta({ description: 'The HTTP status of the answer' }),
  outcome: oneOrMore(z.enum(['pending', 'answered', 'fault', 'client_gone'])).optional(),
  rule: z
    .string()
    .regex(/^[\w.-]+\/[\w.-]+$/, { error: 'must be scenario/rule, as X-Sandbox-Rule says it' })
    .optional()
    .meta({ description: 'The rule that made the answer: scenario/rule' }),
  fault: z.enum(FAULTS).optional(),
  committed: z.boolean().optional().meta({ description: 'Whether a payout was made under a rule' }),
  replayed: z.boolean().optional(),
}).meta({ id: 'RequestMatch', description: 'Which requests: all that is named must hold' });
export type RequestMatch = z.output<typeof RequestMatch>;

const Count = z
  .strictObject({
    exactly: z.int().min(0).optional(),
    at_least: z.int().min(0).optional(),
    at_most: z.int().min(0).optional(),
  })
  .refine((count) => Object.values(count).some((value) => value !== undefined), {
    error: 'must say exactly, at_least or at_most',
  })
  .refine(
    ({ exactly, at_least = exactly ?? 0, at_most = exactly ?? Infinity }) =>
      at_least <= (exactly ?? at_most) && (exactly ?? at_least) <= at_most,
    { error: 'must be a count that there can be: at_least up to at_most' },
  );

export const VerifyRequest = z
  .strictObject({
    match: RequestMatch.optional(),
    count: Count.optional().meta({ description: 'How many must match; at least one when absent' }),
    sequence: z
      .array(RequestMatch)
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Requests that came in this order; others may lie between them' }),
  })
  .refine(oneOf('match', 'sequence'), { error: 'must have either match or sequence' })
  .refine(({ sequence, count }) => sequence === undefined || count === undefined, {
    error: 'must have no count beside a sequence',
  })
  .meta({ id: 'VerifyRequest', description: 'What the journal is expected to show' });
export type VerifyRequest = Given<z.input<typeof VerifyRequest>>;
export type Verification = z.output<typeof VerifyRequest>;
