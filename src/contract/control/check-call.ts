import { z } from 'zod';
import { oneOf } from '../shape-issues.ts';

/** The request of POST /_sandbox/scenario/check. */

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
