import { z } from 'zod';

/** The request of POST /_sandbox/undo. */

export const UndoRequest = z
  .strictObject({
    action: z
      .int()
      .describe('The number of the action to take back; refused unless it is the latest. Absent: the latest')
      .optional(),
    force: z
      .boolean()
      .describe('Whether to undo requests that the client has sent since then, too')
      .optional(),
  })
  .optional()
  .meta({ id: 'UndoRequest', description: 'What may be undone with the last control action' });
export type UndoRequest = z.input<typeof UndoRequest>;
