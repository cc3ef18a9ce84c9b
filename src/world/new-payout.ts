import type { InitiateRequest } from '../contract/payout.ts';
import { fingerprintOf, payoutDraw, payoutIds, type Digest } from '../payout/identity.ts';
import { toPaise } from '../payout/money.ts';
import type { Plan } from '../scenario/plan.ts';
import type { Rule } from '../scenario/rule.ts';
import { plannedSteps, settlementName, timelineOf } from '../payout/settlement.ts';
import type { Hidden, NewTransaction } from '../payout/payout.ts';

interface Circumstances {
  readonly digest: Digest;
  readonly worldId: string;
  /** World time, ms since the epoch. */
  readonly nowMs: number;
  /** Which payout of its reference it is to be, from 1. */
  readonly nth: number;
}

/** What a request asks for, with its ids and its timeline: all that the ledger needs to make it a transaction. */
export function newPayout(
  request: InitiateRequest,
  { scenario, rule }: Plan,
  { digest, worldId, nowMs, nth }: Circumstances,
): NewTransaction {
  const { client_ref_id: clientRefId, transfer_mode: transferMode } = request;
  const amountPaise = toPaise(request.amount);
  const draw = payoutDraw(digest, scenario.seed, clientRefId, nth);
  const steps = rule?.effect.timeline ?? plannedSteps(scenario.settlement, transferMode, nowMs, draw);
  const { txnId, utrSerial } = payoutIds(digest, scenario.seed, worldId, clientRefId, nth);
  return {
    txnId,
    clientRefId,
    nth,
    fingerprint: fingerprintOf(digest, [
      request.beneficiary_name,
      request.beneficiary_account,
      request.beneficiary_ifsc,
      amountPaise,
      transferMode,
      request.remarks ?? null,
    ]),
    amountPaise,
    transferMode,
    beneficiaryName: request.beneficiary_name,
    beneficiaryAccount: request.beneficiary_account,
    beneficiaryIfsc: request.beneficiary_ifsc,
    createdAtMs: nowMs,
    plannedBy: rule?.effect.timeline
      ? rule.id
      : settlementName(scenario.settlement, transferMode, scenario.name),
    timeline: timelineOf(steps, nowMs, scenario.dialect.status.utr_of_failed === 'set'),
    utrSerial,
    hidden: rule === null ? null : hiddenBy(rule, nowMs),
  };
}

function hiddenBy({ id: by, effect: { hidden } }: Rule, nowMs: number): Hidden | null {
  if (hidden === null) return null;
  return 'reads' in hidden ? { reads: hidden.reads, by } : { untilMs: nowMs + hidden.forMs, by };
}
