import { z } from 'zod';
import { RouteName } from '../match.ts';
import { InitiateRequest, State, StatusQuery } from '../service.ts';

/** The request and the response of POST /_sandbox/rules/explain. */

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

const RuleVerdict = z
  .object({
    id: z.string().describe('scenario/rule or scenario/outcome'),
    taken: z.boolean(),
    reason: z
      .string()
      .describe('Why it applies or not: the first condition that fails, with the value that was seen'),
  })
  .meta({ id: 'RuleVerdict' });
export type RuleVerdict = z.output<typeof RuleVerdict>;

export const ExplainResponse = z
  .object({
    scenario: z.string(),
    now: z.iso.datetime().describe('World time'),
    attempt: z
      .int()
      .nullable()
      .describe('Which attempt of its reference it would be; null where no rule asks for it'),
    rule: z
      .string()
      .nullable()
      .describe(
        'The first rule that matches and applies; null for none. It leaves a refusal that `note` foresees as it is, unless it has a response of its own, a fault or a delay',
      ),
    payout: z
      .object({
        planned_by: z.string().describe('The outcome, rule or settlement that decides the payout'),
        timeline: z.array(z.object({ to: State.nullable(), utr: z.boolean(), when: z.string() })),
      })
      .nullable()
      .describe('The payout that the request would make; null where it makes none'),
    note: z
      .string()
      .nullable()
      .describe(
        'What keeps rules or outcomes from deciding, or a payout from being made or found; null when nothing does',
      ),
    rules: z
      .array(RuleVerdict)
      .describe('Every rule, in the order in which they are tried; none past the rate limit of the scenario'),
    outcomes: z
      .array(RuleVerdict)
      .describe('Every outcome, in the order in which they are tried; for an initiate'),
  })
  .meta({ id: 'Explanation' });
export type ExplainResponse = z.output<typeof ExplainResponse>;
