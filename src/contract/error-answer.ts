import { z } from 'zod';

/** The body of every error in the default dialect. */
export const ErrorAnswer = z
  .object({
    status: z.literal('error'),
    message: z
      .string()
      .meta({ description: 'What happened, what was received, and what would have been valid' }),
    code: z.string().meta({
      description: 'A code of the catalogue, or one that a rule sets',
      examples: ['INVALID_REQUEST'],
    }),
    errors: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'Every invalid field; at most 50 for a request of the control API' }),
  })
  .meta({ id: 'Error', description: 'The request was refused' });
