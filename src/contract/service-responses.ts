import { z } from 'zod';
import { State } from './service.ts';

/** Responses of the payout service, as the payout API shows them. */

const Timestamp = z.string().meta({ description: 'ISO 8601, UTC', examples: ['2026-01-15T10:30:00.000Z'] });
const Utr = z.string().nullable().describe('Bank reference of the transfer; null until there is one');

/** The fields of a payout that initiate and status share. */
const PAYOUT = { txn_id: z.string(), client_ref_id: z.string(), status: State, amount: z.number(), utr: Utr };

export const InitiateResponse = z
  .object({
    status: z.literal('success'),
    message: z.string(),
    data: z.object({ ...PAYOUT, created_at: Timestamp }),
  })
  .meta({ id: 'InitiateResponse', description: 'The payout was accepted' });
export type InitiateResponse = z.infer<typeof InitiateResponse>;

export const BalanceResponse = z
  .object({
    status: z.literal('success'),
    data: z.object({ balance: z.number(), currency: z.literal('INR'), last_updated: Timestamp }),
  })
  .meta({ id: 'BalanceResponse', description: 'The current wallet balance' });
export type BalanceResponse = z.infer<typeof BalanceResponse>;

export const StatusResponse = z
  .object({
    status: z.literal('success'),
    data: z.object({
      ...PAYOUT,
      beneficiary_name: z.string(),
      beneficiary_account: z.string(),
      created_at: Timestamp,
      completed_at: Timestamp.nullable().optional(),
    }),
  })
  .meta({ id: 'StatusResponse', description: 'The current state of a payout' });
export type StatusResponse = z.infer<typeof StatusResponse>;
