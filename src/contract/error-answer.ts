import { z } from 'zod';

/** The body of every error, in the default dialect; that of a scenario may have other words for it. */
export const ErrorAnswer = z
  .object({
    status: z.literal('error'),
    message: z.string().meta({ description: 'What happened, what was seen, and what would have been right' }),
    code: z.string().meta({
      description: 'One of the catalogue, or what a rule ordered',
      examples: ['INVALID_REQUEST'],
    }),
    errors: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'All fields at fault at once' }),
  })
  .meta({ id: 'Error', description: 'What was refused, and why' });
