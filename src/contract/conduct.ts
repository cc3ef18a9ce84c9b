import { z } from 'zod';
import { QueryFlag } from './control.ts';
import { durationLike } from './times.ts';
import { Amount, InitiateRequest } from './service.ts';

/** The referee: its settings, and its report on how a client behaved. */

/** In the order of reports: checks about money first. */
export const CHECK_IDS = [
  'paid-twice',
  'same-payout-at-once',
  'same-reference-at-once',
  'reference-reused',
  'paid-more-often',
  'resent-after-success',
  'never-asked',
  'not-found-believed',
  'pending-left',
  'reversal-unseen',
  'retry-after-ignored',
  'resent-by-transport',
  'endless-retry',
  'refusal-repeated',
  'poll-storm',
  'no-timeout',
  'amount-not-paise',
  'expectation-missed',
] as const;
export const CheckId = z.enum(CHECK_IDS);
export type CheckId = z.infer<typeof CheckId>;

/** The most severe first. */
export const Severity = z.enum(['error', 'warning', 'notice']);
export type Severity = z.infer<typeof Severity>;

export const bySeverity = (a: { readonly severity: Severity }, b: { readonly severity: Severity }): number =>
  Severity.options.indexOf(a.severity) - Severity.options.indexOf(b.severity);

export const Verdict = z
  .enum(['found', 'passed', 'not_exercised', 'inconclusive', 'off'])
  .describe(
    'not_exercised: the situation never arose, so nothing was tested; inconclusive: the evidence is incomplete; off: switched off by the settings',
  );
export type Verdict = z.infer<typeof Verdict>;

export const Result = z
  .enum(['passed', 'failed', 'unknown'])
  .describe('unknown: no error is found, but requests are missing, or the intent reads no reference');
export type Result = z.infer<typeof Result>;

/** The same shape for each name. */
const each = <Name extends string, Shape extends z.ZodType>(names: readonly Name[], shape: Shape) =>
  Object.fromEntries(names.map((name) => [name, shape])) as Record<Name, Shape>;

/** The fields of an initiate that can say which intended payout it belongs to. */
const IntentField = InitiateRequest.omit({ transfer_mode: true }).keyof();

const Intent = z
  .union([
    IntentField,
    z
      .strictObject(each(IntentField.options, z.string().min(1).optional()))
      .refine((pattern) => Object.keys(pattern).length === 1, { error: 'must name exactly one field' }),
  ])
  .meta({
    description:
      'Which references belong to one intended payout: a field that is unique for each of them, or {field: pattern} with one group (RE2)',
    examples: [{ client_ref_id: '^(order-\\d+)' }, 'beneficiary_account'],
  });
export type Intent = z.infer<typeof Intent>;

export const ExpectedPayout = z
  .strictObject({
    account: z.string().min(1).describe('beneficiary_account'),
    amount: Amount.describe('INR'),
    times: z.int().min(0).default(1).describe('How many times it should end up paid'),
  })
  .meta({ id: 'ExpectedPayout' });
export type ExpectedPayout = z.infer<typeof ExpectedPayout>;

const Count = z.int().min(1);

const Limits = z
  .strictObject({
    sends: Count.default(10).describe('endless-retry: the most sends of one reference'),
    reads: Count.default(30).describe('poll-storm: the most status reads in a row with the same response'),
    patience: durationLike('10s', { examples: ['10s'] })
      .default(10_000)
      .describe('no-timeout: how long a client may wait for a response'),
  })
  .describe('Thresholds of single checks');

export const RefereeSettings = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'What the report calls this world; by default the name it was given, or the first digits of its id',
      ),
    intent: Intent.optional(),
    expect: z
      .array(ExpectedPayout)
      .max(10_000)
      .optional()
      .describe('Every payout that should end up paid, and no other'),
    off: z
      .strictObject(each(CHECK_IDS, z.string().min(1, { error: 'must give a reason' }).optional()))
      .optional()
      .describe('The checks that are off, each with the reason, which the report shows'),
    limits: Limits.optional(),
  })
  .meta({ id: 'RefereeSettings', description: 'The settings of the referee' });
export type RefereeSettings = z.output<typeof RefereeSettings>;
export type RefereeSettingsInput = z.input<typeof RefereeSettings>;

/** The same as data: durations are in ms. */
export const StoredSettings = RefereeSettings.extend({
  limits: Limits.extend({ patience: z.int().min(0) }).optional(),
});

export const USUAL_LIMITS: z.output<typeof Limits> = Limits.parse({});
export type RefereeLimits = z.output<typeof Limits>;

export const Finding = z
  .object({
    severity: Severity,
    message: z.string(),
    knew: z.string().nullable().describe('What the client knew before; null where that does not matter'),
    fix: z.string().describe('What to do about it'),
    requests: z.array(z.int()).describe('The requests in the journal, by their ids'),
    lines: z.array(z.string()).describe('Each of these requests in one line'),
    references: z.array(z.string()),
    amount: z.number().nullable().describe('INR at stake; null when no money is'),
  })
  .meta({ id: 'Finding' });
export type Finding = z.infer<typeof Finding>;

export const CheckReport = z
  .object({
    id: CheckId,
    verdict: Verdict,
    severity: Severity.describe('Of the worst finding; without findings, the worst that the check can have'),
    reason: z
      .string()
      .nullable()
      .describe('Why the check is off or inconclusive, or which check shows its findings; else null'),
    findings: z.array(Finding).describe('At most 100'),
    more: z.int().describe('How many findings were left out'),
  })
  .meta({ id: 'CheckReport' });
export type CheckReport = z.infer<typeof CheckReport>;

const Counts = z
  .object(each([...Severity.options, ...Verdict.exclude(['found']).options], z.int()))
  .describe('Findings by severity, and checks by verdict');

export const WorldReport = z
  .object({
    name: z.string(),
    id: z.string().describe('The first digits of the id of the world'),
    passed: z.boolean().describe('True when the result is passed'),
    result: Result.describe('failed with a finding of severity error'),
    unknown: z
      .string()
      .nullable()
      .describe('Why requests are missing, or that the intent reads no reference; null for neither'),
    references: z
      .object({ read: z.int(), unread: z.int() })
      .describe('How many references the intent, where one is declared, reads, and how many it does not'),
    duration_ms: z.number().describe('Wall time from the first request to the end of the last one'),
    judged_by: z
      .string()
      .nullable()
      .describe('The settings in force, in words; null for none: `intent client_ref_id=^(order-\\d+)`'),
    counts: Counts,
    checks: z.array(CheckReport),
  })
  .meta({ id: 'ConductReport', description: 'How the client of one world behaved' });
export type WorldReport = z.infer<typeof WorldReport>;

const OverrideScore = z
  .object({
    id: z.string().describe('world/RULE'),
    taken: z.int().describe('How many requests the rule has changed since it was added'),
    verdict: z
      .enum(['waiting', 'open', 'survived', 'failed'])
      .describe(
        'waiting: it has changed no request yet; failed: a request that it changed led to an error or a warning of the referee; survived: the client knows of its payout, or has ended without a finding; open: neither yet',
      ),
    reason: z.string(),
    requests: z.array(z.int()).describe('The requests that show it, by their ids'),
  })
  .meta({ id: 'OverrideScore', description: 'What the client has made of an override' });
export type OverrideScore = z.infer<typeof OverrideScore>;

export const ClientReport = WorldReport.extend({
  overrides: z.array(OverrideScore).describe('In order of evaluation'),
}).meta({ id: 'ClientReport', description: 'How the client of one world has behaved so far' });
export type ClientReport = z.infer<typeof ClientReport>;

/** The report on a journal that has ended, with few findings of each check. */
export const EndedJournal = z.strictObject({
  report: WorldReport,
  /** The id of its newest request; null where it had none, or for several journals. A restore may bring it back, with its journal. */
  last: z.string().nullable(),
});
export type EndedJournal = Readonly<z.infer<typeof EndedJournal>>;
/** How many ended journals of a world are kept apart; the reports on older ones are merged. */
export const MAX_ENDED_JOURNALS = 10;

export const ConductReports = z
  .object({
    passed: z.boolean().describe('True when the result is passed'),
    result: Result.describe('The worst of the worlds: failed, then unknown; unknown without any'),
    worlds: z.array(WorldReport),
    notes: z.array(z.string()).describe('What all worlds together leave untested'),
  })
  .meta({ id: 'ConductReports', description: 'How the clients of several worlds behaved' });
export type ConductReports = z.infer<typeof ConductReports>;

const ReportFormat = z.enum(['json', 'text', 'junit', 'markdown']);
export type ReportFormat = z.infer<typeof ReportFormat>;

export const RefereeQuery = z.strictObject({
  format: ReportFormat.optional().describe('json by default'),
  ended: QueryFlag.optional().describe(
    'true: the client sends no more, so an outcome that it has not read by now is found',
  ),
});
