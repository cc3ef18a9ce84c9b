import type { Entry, Payout } from '../contract/snapshot.ts';
import type {
  ChangeResponse,
  EntryResponse,
  MoneyResponse,
  WorldSums,
  HeldRequestResponse,
} from '../contract/control-responses.ts';
import { iso } from '../contract/times.ts';
import { textField } from '../contract/service.ts';
import { toInr } from '../payout/money.ts';
import type { Change } from '../payout/payout.ts';
import { fieldsOf, type KeptRequest } from './journal/kept-request.ts';
import { journalEntry } from './journal/journal-entry.ts';
import type { HeldRequest, Released } from './state-shape.ts';
import type { Sums } from './state.ts';
import { transactionResponse } from './transaction-response.ts';

/** What happened in a world when a command was applied. */
export type StateEvent =
  /** @property payout the one that the request is about, as it then was */
  | { readonly type: 'request'; readonly request: KeptRequest; readonly payout: Payout | undefined }
  | { readonly type: 'at_risk'; readonly count: number; readonly paise: number }
  | { readonly type: 'settlement'; readonly change: Change; readonly payout: Payout }
  | { readonly type: 'wallet'; readonly entry: Entry }
  | { readonly type: 'clock'; readonly nowMs: number; readonly speed: number }
  | { readonly type: 'scenario'; readonly scenario: string; readonly rule?: string }
  | { readonly type: 'rule'; readonly rule: string; readonly matched: number; readonly taken: number }
  | { readonly type: 'held'; readonly request: HeldRequest }
  | { readonly type: 'released'; readonly request: HeldRequest; readonly how: Released }
  | { readonly type: 'journal'; readonly removed: number; readonly as: 'cleared' | 'evicted' }
  | { readonly type: 'reset'; readonly nowMs: number }
  | { readonly type: 'restore'; readonly nowMs: number; readonly undone?: string };

export function sumsResponse({ balancePaise, counts, paise }: Sums): WorldSums {
  const [PENDING, SUCCESS, FAILED, REVERSED, atRisk, outOfDate] = counts.map((count, nth) => ({
    count,
    amount: toInr(paise[nth]!),
  })) as [Sum, Sum, Sum, Sum, Sum, Sum];
  const payouts = { PENDING, SUCCESS, FAILED, REVERSED };
  return { balance: toInr(balancePaise), payouts, at_risk: atRisk, out_of_date: outOfDate };
}

type Sum = WorldSums['at_risk'];

/** The `data` of an event, as readers of `GET /_sandbox/events` get it. @param sums after the command that made it happen */
export const eventData = (event: StateEvent, sums: Sums): object => ({
  ...dataOf(event, sums.nowMs),
  sums: sumsResponse(sums),
});

function dataOf(event: StateEvent, atMs: number): object {
  switch (event.type) {
    case 'request':
      return {
        ...journalEntry(event.request),
        transaction: event.payout === undefined ? null : transactionResponse(event.payout, atMs),
      };
    case 'at_risk':
      return { count: event.count, amount: toInr(event.paise) };
    case 'settlement':
      return { ...changeResponse(event.change), transaction: transactionResponse(event.payout, atMs) };
    case 'wallet':
      return moneyResponse(event.entry);
    case 'clock':
      return { now: iso(event.nowMs), frozen: event.speed === 0, speed: event.speed };
    case 'held':
      return heldRequestResponse(event.request);
    case 'released':
      return { id: event.request.id, how: event.how };
    case 'reset':
      return { now: iso(event.nowMs) };
    case 'restore':
      return { now: iso(event.nowMs), undone: event.undone };
    default: {
      const { type: _, ...data } = event;
      return data;
    }
  }
}

export const changeResponse = ({ txnId, clientRefId, from, to, atMs, utr }: Change): ChangeResponse => ({
  txn_id: txnId,
  client_ref_id: clientRefId,
  from,
  to,
  at: iso(atMs),
  utr,
});

export const heldRequestResponse = ({ id, at, request, untilMs }: HeldRequest): HeldRequestResponse => ({
  id,
  at,
  route: request.route,
  client_ref_id: request.clientRefId ?? null,
  txn_id: request.txnId ?? textField(fieldsOf(request)['txn_id']) ?? null,
  attempt: request.attempt || null,
  rule: request.rule!,
  until: iso(untilMs),
});

export const entryResponse = ({ kind, amountPaise, balancePaise, txnId, atMs }: Entry): EntryResponse => ({
  kind,
  amount: toInr(amountPaise),
  balance: toInr(balancePaise),
  txn_id: txnId,
  at: iso(atMs),
});

export const moneyResponse = (entry: Entry): MoneyResponse => ({
  balance: toInr(entry.balancePaise),
  entry: entryResponse(entry),
});
