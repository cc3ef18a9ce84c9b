import { z } from 'zod';
import { RouteName } from '../match.ts';

export const HeldRequestResponse = z
  .object({
    id: z.int().describe('Which held request of this world it is, counted from 1'),
    at: z
      .enum(['arrived', 'committed'])
      .describe('arrived: nothing has happened yet; committed: only the response waits'),
    route: RouteName,
    client_ref_id: z.string().nullable(),
    txn_id: z.string().nullable(),
    attempt: z.int().nullable().describe('Which attempt of its reference it is, counted from 1'),
    rule: z.string().describe('The rule that holds it: scenario/rule'),
    until: z.iso.datetime().describe('Wall time at which it expires'),
  })
  .meta({ id: 'HeldRequest', description: 'A request that waits to be released' });
export type HeldRequestResponse = z.infer<typeof HeldRequestResponse>;

export const HeldResponse = z.object({
  held: z.array(HeldRequestResponse).describe('In the order in which they arrived'),
  expired: z
    .array(HeldRequestResponse)
    .describe('The latest 10 that nobody released in time, since the world was reset'),
});
export type HeldResponse = z.infer<typeof HeldResponse>;
