import { z } from 'zod';

/** The request and the response of POST /_sandbox/undo. */

export const UndoRequest = z
  .strictObject({
    force: z
      .boolean()
      .describe('Whether to undo requests that the client has sent since then, too')
      .optional(),
  })
  .optional()
  .meta({ id: 'UndoRequest', description: 'What may be undone with the last control action' });
export type UndoRequest = z.input<typeof UndoRequest>;

export const UndoResponse = z
  .object({
    undone: z.object({
      action: z.string().describe('What was taken back, such as advance or reset'),
      at: z.iso.datetime().describe('World time at which it had happened'),
    }),
  })
  .meta({ id: 'Undone' });
export type UndoResponse = z.infer<typeof UndoResponse>;
