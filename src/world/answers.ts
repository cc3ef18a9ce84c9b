import type { ChangeAnswer, EntryAnswer } from '../contract/control-answers.ts';
import { toInr } from '../payout/money.ts';
import type { Change } from '../payout/payout.ts';
import type { Entry } from '../payout/wallet.ts';

/** Parts of answers that events have too: INR and timestamps for paise and milliseconds. */

export const iso = (atMs: number): string => new Date(atMs).toISOString();

export const changeAnswer = ({ txnId, clientRefId, from, to, atMs, utr }: Change): ChangeAnswer => ({
  txn_id: txnId,
  client_ref_id: clientRefId,
  from,
  to,
  at: iso(atMs),
  utr,
});

export const entryAnswer = ({ kind, amountPaise, balancePaise, txnId, atMs }: Entry): EntryAnswer => ({
  kind,
  amount: toInr(amountPaise),
  balance: toInr(balancePaise),
  txn_id: txnId,
  at: iso(atMs),
});
