import { Refusal, type RefusalCode } from '../contract/errors.ts';
import { toInr } from '../payout/money.ts';
import type { Payout } from '../payout/payout.ts';

/** The refusals of a world, in full sentences. */

const REPEATED: Readonly<Record<400 | 409, RefusalCode>> = {
  400: 'DUPLICATE_REFERENCE',
  409: 'REFERENCE_CONFLICT',
};

export const repeated = (status: 400 | 409, earlier: Payout, sameBody: boolean): Refusal =>
  new Refusal(REPEATED[status], {
    message: sameBody
      ? `This client_ref_id was used before (${earlier.txnId})`
      : `This client_ref_id was used before, for another payout (${earlier.txnId})`,
    errors: [
      {
        field: 'client_ref_id',
        message: `client_ref_id was used before, with ${sameBody ? 'the same' : 'other'} values`,
      },
    ],
  });

export const insufficient = (balancePaise: number, amountInr: number, remembered: boolean): Refusal =>
  new Refusal('INSUFFICIENT_BALANCE', {
    message: remembered
      ? 'The wallet balance could not cover the payout when this client_ref_id was first used, and it stays refused'
      : `The wallet balance of INR ${toInr(balancePaise)} cannot cover a payout of INR ${amountInr}`,
  });

export const full = (maxRecords: number): Refusal =>
  new Refusal('SANDBOX_FULL', {
    message: `The sandbox holds ${maxRecords} transactions, as many as SANDBOX_MAX_TRANSACTIONS allows`,
    limit: 'SANDBOX_MAX_TRANSACTIONS',
  });

/** Why a world was dropped: it was idle, a new world needed its place, the admin API dropped it, or the sandbox stops. */
export type DropReason = 'idle' | 'cap' | 'admin' | 'stop';

const DROPPED: Readonly<Record<DropReason, { readonly why: string; readonly limit?: string }>> = {
  idle: { why: 'it was idle for too long (SANDBOX_WORLD_IDLE)', limit: 'SANDBOX_WORLD_IDLE' },
  cap: { why: 'to make room for newer ones (SANDBOX_MAX_WORLDS)', limit: 'SANDBOX_MAX_WORLDS' },
  admin: { why: 'with DELETE /_sandbox/worlds', limit: 'DELETE /_sandbox/worlds' },
  stop: { why: 'the sandbox stops', limit: 'stop' },
};

export function dropped(reason: DropReason): Refusal {
  const { why, ...limit } = DROPPED[reason];
  return new Refusal('SANDBOX_FULL', {
    message: `This world was dropped while the request waited: ${why}`,
    headers: { connection: 'close' }, // as for every answer that the end of a world releases
    ...limit,
  });
}

export const replacedMeanwhile = (): Refusal =>
  new Refusal('WORLD_REPLACED', {
    message: 'The world was reset or restored while its clock moved; the clock is that of the new one',
  });

export const neitherParameter = (): Refusal =>
  new Refusal('INVALID_REQUEST', {
    errors: ['client_ref_id', 'txn_id'].map((field) => ({
      field,
      message: 'client_ref_id or txn_id is required',
    })),
  });

export const bothParameters = (): Refusal =>
  new Refusal('INVALID_REQUEST', {
    errors: ['client_ref_id', 'txn_id'].map((field) => ({ field, message: `${field} must be given alone` })),
  });

const UNKNOWN: Readonly<Record<400 | 404, RefusalCode>> = {
  400: 'TRANSACTION_UNKNOWN',
  404: 'TRANSACTION_NOT_FOUND',
};

/** @param hiddenBy the rule that hides a payout that there is; null when there is none */
export const unknownPayout = (status: 400 | 404, hiddenBy: string | null): Refusal =>
  new Refusal(UNKNOWN[status], hiddenBy === null ? {} : { rule: hiddenBy });

export const unknownTxnId = (txnId: string): Refusal =>
  new Refusal('TRANSACTION_NOT_FOUND', { message: `This world has no transaction ${txnId}` });
