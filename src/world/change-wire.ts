import type { ChangeWire } from '../contract/control-answers.ts';
import type { Change } from '../payout/payout.ts';

/** A change in the words of the interface. @param at its time, if that is at hand as a text */
export const changeWire = (
  { txnId, clientRefId, from, to, atMs, utr }: Change,
  at = new Date(atMs).toISOString(),
): ChangeWire => ({
  txn_id: txnId,
  client_ref_id: clientRefId,
  from,
  to,
  at,
  utr,
});
