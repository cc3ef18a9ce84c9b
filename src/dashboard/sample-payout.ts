import type { InitiateRequest, TransferMode } from '../contract/payout.ts';
import { curlOf } from './curl.ts';

/** As in the contract, whose own list would bring all of zod into the page. */
export const MODES = ['IMPS', 'NEFT', 'RTGS', 'UPI'] as const satisfies readonly TransferMode[];

/** A payout that everybody accepts. */
export const SAMPLE_PAYOUT: InitiateRequest = {
  client_ref_id: 'order-1',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1500.5,
  transfer_mode: 'IMPS',
};

export const INITIATE_PATH = '/payout/initiate';

/** A payout as a command. */
export const curlOfPayout = (url: string, apiKey: string, payout: object): string =>
  curlOf({
    method: 'POST',
    url: url + INITIATE_PATH,
    apiKey,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(payout),
  });
