import { z } from 'zod';
import { WEEKDAYS, DURATION_FORM, durationLike } from './times.ts';
import { MAX_HEADERS, SECRET_HEADERS, TransferMode } from './service.ts';
import { hasFields, requiredText } from './shape-issues.ts';

/** Which requests a rule or an outcome of a scenario applies to, and when. */

export const Duration = durationLike('300ms, 90s, 40m, 2h, 3d', {
  pattern: DURATION_FORM,
  examples: ['300ms', '90s', '40m', '2h', '3d', 'PT90S'],
});

export const NO_TIME_OF_DAY = 'must be a time of day (IST) such as "06:30", from "00:00" to "23:59"';

/** A time of day in IST; parsed to minutes after midnight. */
export const TimeOfDay = requiredText(NO_TIME_OF_DAY)
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: NO_TIME_OF_DAY })
  .meta({ examples: ['06:30'] })
  .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

export const Count = z.int().min(1);

export const atMostSoMany = (headers: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(headers).length <= MAX_HEADERS;
export const TOO_MANY_HEADERS = { error: `must be at most ${MAX_HEADERS} headers` };

const textMatch = (text: z.ZodString) =>
  z
    .union([
      text,
      z.array(text).min(1),
      z.strictObject({
        prefix: z.string().optional(),
        suffix: z.string().optional(),
        matches: z.string().optional().describe('A regular expression (RE2: linear time, no look-around)'),
      }),
    ])
    .describe('A text, a list of texts, or conditions on a text: prefix, suffix, matches');

const TextMatch = textMatch(z.string());

const isDate = (text: string): boolean => z.iso.date().safeParse(text).success;

/** A day, such as 2026-01-26. */
export const DateText = z
  .string()
  .refine(isDate, { error: 'must be a date that exists, such as 2026-01-26' });

const Weekday = z.enum(WEEKDAYS);

const Bounds = z
  .strictObject({ gt: z.number(), gte: z.number(), lt: z.number(), lte: z.number() })
  .partial()
  .refine(
    ({ gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity }) =>
      gt < lt && gt < lte && gte < lt && gte <= lte,
    { error: 'can never match: no number is within these bounds' },
  );

const numberMatch = (number: z.ZodNumber) =>
  z
    .union([number, z.array(number).min(1), Bounds])
    .describe('A number, a list of numbers, or bounds: gt, gte, lt, lte');

const PlaceMatch = numberMatch(
  z.number().refine((nth) => Number.isInteger(nth) && nth >= 1, {
    error: 'must be a whole number, counted from 1',
  }),
);

export const RouteName = z.enum(['initiate', 'status', 'balance']);
export type RouteName = z.infer<typeof RouteName>;

/** The conditions that also apply to a request that has ended: the journal records everything that they need. */
export const RequestConditions = z.strictObject({
  route: z.union([RouteName, z.array(RouteName).min(1)]).optional(),
  client_ref_id: TextMatch.optional(),
  txn_id: TextMatch.optional(),
  beneficiary_name: TextMatch.optional(),
  beneficiary_account: TextMatch.optional(),
  beneficiary_ifsc: TextMatch.optional(),
  transfer_mode: z.union([TransferMode, z.array(TransferMode).min(1)]).optional(),
  remarks: TextMatch.optional(),
  amount: numberMatch(z.number()).optional(),
  header: z
    .record(
      z.string().refine((name) => !SECRET_HEADERS.has(name.toLowerCase()), {
        error: 'must not be a header that holds a key, since nobody sees its value',
      }),
      TextMatch,
    )
    .refine(atMostSoMany, TOO_MANY_HEADERS)
    .optional()
    .describe('Request headers, by name'),
  attempt: PlaceMatch.optional().describe(
    'Which attempt of this reference on this route this is, counted from 1',
  ),
  date: textMatch(DateText).optional().describe("The world's date in IST, such as 2026-01-26"),
  weekday: z
    .union([Weekday, z.array(Weekday).min(1)])
    .optional()
    .describe("The world's day of the week in IST: mon, tue …"),
  hours: z
    .strictObject({ from: TimeOfDay, to: TimeOfDay })
    .refine(({ from, to }) => from !== to, { error: 'can never match: from and to are the same' })
    .optional()
    .describe(
      "The world's time of day (IST) is in this range, which may include midnight; `to` is exclusive",
    ),
});

export const Match = RequestConditions.extend({
  working_day: z
    .boolean()
    .optional()
    .describe('Whether banks work on the day of the world in IST, by the calendar of the scenario'),
  payout: PlaceMatch.optional().describe(
    'Which reference of this world the request names, counted from 1 in the order in which initiates first sent them',
  ),
}).meta({ id: 'Match', description: 'Which requests to match: every condition must hold' });
export type Match = z.infer<typeof Match>;

/** An outcome depends on what is paid, so no condition may depend on the attempt. */
export const OutcomeMatch = Match.omit({ route: true, txn_id: true, attempt: true }).meta({
  id: 'OutcomeMatch',
  description: 'Which payouts to match: every condition must hold for the initiate that makes them',
});

/** The error for a value that is not a mapping. @param like an example of the mapping */
export const mappingLike = (like: string): { readonly error: z.core.$ZodErrorMap } => ({
  error: ({ code }) => (code === 'invalid_type' ? `must be a mapping such as ${like}` : undefined),
});

const Window = z.strictObject(
  {
    from: Duration.optional().describe(
      'The window begins this long after the world began; by default as soon as it begins',
    ),
    for: Duration.optional().describe('How long the window is; by default it does not end'),
    until: Duration.optional().describe('The window ends this long after the world began'),
  },
  mappingLike('{ from: 10m, for: 10s }'),
);

export const During = Window.refine(hasFields, { error: 'must have from, for or until' })
  .refine(({ for: length, until }) => length === undefined || until === undefined, {
    error: 'must not have both for and until',
  })
  .refine(({ from = 0, for: length, until = Infinity }) => length !== 0 && from < until, {
    error: 'must be a window that ends after it begins',
  })
  .meta({
    id: 'During',
    description:
      'A window of world time, counted from when the world began: was created, reset, or given a scenario before its first use',
  });
export type During = z.infer<typeof During>;
