import { z } from 'zod';
import { RouteName } from '../match.ts';
import { InitiateRequest, StatusQuery } from '../service.ts';

/** The request of POST /_sandbox/rules/explain. */

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
