import { SOME_PAYOUT } from '../../client/test-world.ts';
import type { InitiateRequest, TransferMode } from '../../contract/service.ts';
import { curlOf } from '../detail/curl.ts';

/** The same as in the contract, repeated here because importing it would bundle zod into the page. */
export const MODES = ['IMPS', 'NEFT', 'RTGS', 'UPI'] as const satisfies readonly TransferMode[];

/** A payout that every scenario without rules accepts. */
export const SAMPLE_PAYOUT: InitiateRequest = { client_ref_id: 'order-1', ...SOME_PAYOUT, amount: 1500.5 };

/** A payout as a curl command. */
export const curlOfPayout = (url: string, apiKey: string, payout: object): string =>
  curlOf({
    method: 'POST',
    url: `${url}/payout/initiate`,
    apiKey,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(payout),
  });
