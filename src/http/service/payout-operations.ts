import { InitiateRequest, StatusQuery } from '../../contract/service.ts';
import { operation } from '../routes.ts';

/** What the OpenAPI document says of the three routes, with their schemas. */

export const INITIATE = operation('Payouts', 'initiatePayout', 'Initiate a payout', {
  description:
    'Pays an amount in INR from the wallet to a bank account or a UPI ID. Sent again with the same client_ref_id and body, it returns the existing payout, and nothing is debited twice.',
  responseHeaders: ['Idempotent-Replayed', 'X-Sandbox-Warning'],
  errors: [
    'DUPLICATE_REFERENCE',
    'INSUFFICIENT_BALANCE',
    'REFERENCE_CONFLICT',
    'REQUEST_IN_PROGRESS',
    'REFERENCE_REUSED',
    'RATE_LIMITED',
    'SANDBOX_FULL',
    'NOT_RELEASED',
  ],
  body: InitiateRequest,
});

export const BALANCE = operation('Payouts', 'fetchBalance', 'Fetch the wallet balance', {
  errors: ['INVALID_REQUEST', 'RATE_LIMITED', 'SANDBOX_FULL', 'NOT_RELEASED'],
});

export const STATUS = operation('Payouts', 'getPayoutStatus', 'Fetch the status of a payout', {
  description: 'By client_ref_id or by txn_id. With both, they must name the same payout.',
  errors: ['TRANSACTION_NOT_FOUND', 'TRANSACTION_UNKNOWN', 'RATE_LIMITED', 'SANDBOX_FULL', 'NOT_RELEASED'],
  querystring: StatusQuery,
});
