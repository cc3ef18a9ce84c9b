import type { Entry } from '../../contract/snapshot.ts';
import type { Dialect } from '../../contract/dialect.ts';
import { Refusal } from '../../contract/errors.ts';
import type { StatusQuery } from '../../contract/service.ts';
import { oneMore } from '../../payout/payout.ts';
import { asOf, countsReads, isHidden, nextStep } from '../../payout/timeline.ts';
import type { Context } from '../commands.ts';
import type { StateEvent } from '../events.ts';
import { findPayout, positionOf, settleDue, takeStep, type PayoutKey } from '../ledger.ts';
import { nowMs, replacePayout } from '../state.ts';
import type { WorldState } from '../state-shape.ts';
import type { Plan } from './request-plan.ts';
import type { Answer } from '../journal/kept-request.ts';

/** The payout that a status read asks for: of two names, the dialect may read only one. */
export function askedPayout(
  { client_ref_id: clientRefId, txn_id: txnId }: StatusQuery,
  { status: { both } }: Dialect,
): PayoutKey {
  const isBoth = clientRefId !== undefined && txnId !== undefined;
  return {
    txnId: isBoth && both === 'client_ref_id' ? undefined : txnId,
    clientRefId: isBoth && both === 'txn_id' ? undefined : clientRefId,
  };
}

/** Finds a payout, and counts the read. @throws Refusal INVALID_REQUEST, TRANSACTION_NOT_FOUND or TRANSACTION_UNKNOWN */
export function serveStatus(
  state: WorldState,
  query: StatusQuery,
  { scenario, rule }: Plan,
  { events }: Context,
): Answer {
  const { client_ref_id: clientRefId, txn_id: txnId } = query;
  const { both, unknown } = scenario.dialect.status;
  const isBoth = clientRefId !== undefined && txnId !== undefined;
  if (isBoth && both === 400) throw badNames((field) => `${field} must be given alone`);
  if (clientRefId === undefined && txnId === undefined) {
    throw badNames(() => 'client_ref_id or txn_id is required');
  }
  const position = positionOf(state, askedPayout(query, scenario.dialect));
  const notFound = unknown === 400 ? 'TRANSACTION_UNKNOWN' : 'TRANSACTION_NOT_FOUND';
  if (position === undefined) throw new Refusal(notFound);
  if (countsReads(state.payouts[position]!)) {
    countRead(state, position, events);
    settleDue(state, Infinity, { events }); // everything else that was due has been applied: only further steps of this payout are left, and they are few
  }
  const payout = state.payouts[position]!;
  if (isHidden(payout, nowMs(state))) throw new Refusal(notFound, { rule: payout.hidden!.by });
  const staleMs = rule?.effect.staleMs ?? null;
  const shown = staleMs === null ? payout : asOf(payout, nowMs(state) - staleMs);
  return { kind: 'payout', payout: shown, replayed: false };
}

const badNames = (messageFor: (field: string) => string): Refusal =>
  new Refusal('INVALID_REQUEST', {
    errors: ['client_ref_id', 'txn_id'].map((field) => ({ field, message: messageFor(field) })),
  });

/** Counts one status read, and applies the steps that waited for it. */
function countRead(state: WorldState, position: number, events: StateEvent[]): void {
  const payout = state.payouts[position]!;
  const reads = oneMore(payout.reads);
  replacePayout(state, position, { ...payout, reads });
  while ((nextStep(state.payouts[position]!)?.polls ?? Infinity) <= reads) {
    takeStep(state, position, nowMs(state), events);
  }
}

/** The payout that a request is about, which texts of its rule can name; nothing is done. */
export function found(state: WorldState, { client_ref_id: clientRefId, txn_id: txnId }: StatusQuery): Answer {
  const payout = findPayout(state, { clientRefId, txnId });
  return payout === undefined ? { kind: 'none' } : { kind: 'payout', payout, replayed: false };
}

/** The newest entry of the wallet, or what that was so long ago. */
export function entryAsOf(state: WorldState, staleMs: number): Entry {
  const { entries } = state;
  if (staleMs === 0) return entries.at(-1)!;
  const seenMs = nowMs(state) - staleMs;
  return entries.findLast(({ atMs }) => atMs <= seenMs) ?? entries[0]!;
}
