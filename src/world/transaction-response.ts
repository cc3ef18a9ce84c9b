import { LATEST_MS } from '../contract/service.ts';
import type { Payout } from '../contract/snapshot.ts';
import type { TransactionResponse } from '../contract/control-responses.ts';
import { iso } from '../contract/times.ts';
import { toInr } from '../payout/money.ts';
import { isAtRisk, isOutOfDate } from '../payout/payout.ts';
import { isHidden, legalNext, nextStep } from '../payout/timeline.ts';

/** Null also for a time that no clock reaches: the control API has no form for it. */
export const isoOrNull = (atMs: number | null): string | null =>
  atMs === null || atMs > LATEST_MS ? null : iso(atMs);

/** Why a payout is in its state, in a sentence. */
function reasonOf(payout: Payout): string {
  const { state, timeline, stepsDone, plannedBy, createdAtMs, reads } = payout;
  const last = timeline.slice(0, stepsDone).findLast(({ to }) => to !== null);
  const next = nextStep(payout);
  if (last !== undefined) {
    if (last.forced) return `${state} by a forced transition`;
    const waited = last.polls === null ? '' : `, at status read ${last.polls}`;
    return `${state} as planned by ${plannedBy}${waited}`;
  }
  if (next === undefined) return `PENDING for ever: ${plannedBy} plans nothing more`;
  const what = next.to === null ? 'its UTR' : next.to;
  if (next.afterMs !== null) {
    const at = isoOrNull(createdAtMs + next.afterMs);
    return at === null
      ? `PENDING for ever: ${plannedBy} plans ${what} after the year 9999, where every clock ends`
      : `PENDING: ${plannedBy} plans ${what} for ${at}`;
  }
  return `PENDING: ${plannedBy} plans ${what} at status read ${next.polls}, and there were ${reads}`;
}

/** @param nowMs world time */
export const transactionResponse = (payout: Payout, nowMs: number): TransactionResponse => ({
  txn_id: payout.txnId,
  client_ref_id: payout.clientRefId,
  status: payout.state,
  amount: toInr(payout.amountPaise),
  transfer_mode: payout.transferMode,
  beneficiary_name: payout.beneficiaryName,
  beneficiary_account: payout.beneficiaryAccount,
  beneficiary_ifsc: payout.beneficiaryIfsc,
  utr: payout.utr,
  created_at: iso(payout.createdAtMs),
  completed_at: isoOrNull(payout.completedAtMs),
  nth: payout.nth,
  planned_by: payout.plannedBy,
  reason: reasonOf(payout),
  hidden_by: isHidden({ ...payout, reads: payout.reads + 1 }, nowMs) ? payout.hidden!.by : null,
  at_risk: isAtRisk(payout),
  out_of_date: isOutOfDate(payout),
  told: payout.told && { request: payout.told.request, at: iso(payout.told.atMs), as: payout.told.as },
  legal: [...legalNext(payout.state)],
  timeline: payout.timeline.map(({ to, afterMs, polls, utr, forced, requests }, index) => ({
    to,
    at: isoOrNull(afterMs === null ? null : payout.createdAtMs + afterMs),
    polls,
    utr,
    done: index < payout.stepsDone,
    forced,
    after_request: requests ?? null,
  })),
});
