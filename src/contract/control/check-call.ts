import { z } from 'zod';
import { oneOf } from '../shape-issues.ts';

/** The request and the response of POST /_sandbox/scenario/check. */

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

const ScenarioProblem = z
  .object({
    line: z.int().describe('The line of the text, counted from 1'),
    column: z.int().describe('The column of the line, counted from 1'),
    path: z.string().describe('rules[0].match.amount; empty for the scenario as a whole'),
    message: z.string(),
  })
  .meta({ id: 'ScenarioProblem', description: 'Something in the text of a scenario' });

export const CheckScenarioResponse = z
  .object({
    text: z.string().describe('The scenario as text: as it was sent, or written as YAML'),
    document: z
      .unknown()
      .describe('The scenario as JSON, to send with PUT /_sandbox/scenario; null if it has problems'),
    problems: z.array(ScenarioProblem).describe('Why the scenario cannot be used, at most 50'),
    more: z.int().describe('How many more problems there are'),
    warnings: z.array(ScenarioProblem).describe('What can never have an effect'),
  })
  .meta({ id: 'CheckedScenario' });
export type CheckScenarioResponse = z.output<typeof CheckScenarioResponse>;
