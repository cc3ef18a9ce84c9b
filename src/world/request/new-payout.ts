import type { NotFound } from '../../contract/scenario-document.ts';
import type { InitiateRequest } from '../../contract/service.ts';
import type { Hidden, Payout } from '../../payout/payout.ts';
import { payoutDraw, payoutIds, shortDigest } from '../../payout/identity.ts';
import { toPaise } from '../../payout/money.ts';
import { plannedSteps, settlementName, timelineOf } from '../../payout/settlement.ts';
import { candidates } from '../../scenario/rule.ts';
import { findPayout } from '../ledger.ts';
import type { Plan } from './request-plan.ts';
import { nowMs } from '../state.ts';
import type { WorldState } from '../state-shape.ts';

/**
 * The future of a payout that is made now: that of the first outcome that matches, unless its rule says otherwise. Draws depend
 * on the seed and the reference alone.
 */
export function futureOf(state: WorldState, body: InitiateRequest, { scenario, rule, facts }: Plan) {
  const { client_ref_id: clientRefId, transfer_mode: transferMode } = body;
  const { name, seed, settlement, outcomes } = scenario;
  const draw = payoutDraw(seed, clientRefId, nextNth(state, body));
  const outcome = candidates(outcomes, body.beneficiary_account).find(({ matches }) => matches(facts));
  const settled = () => plannedSteps(settlement, transferMode, nowMs(state), draw);
  const planner = rule?.effect.timeline ? rule : outcome?.steps ? outcome : undefined;
  return {
    steps: rule?.effect.timeline ?? outcome?.steps?.(draw) ?? settled(),
    plannedBy: planner?.id ?? settlementName(settlement, transferMode, name),
    hider: rule?.effect.notFound ? { id: rule.id, notFound: rule.effect.notFound } : outcome,
  };
}

/** The payout as initiate stores it: PENDING, even if its timeline settles it in the same instant. */
export function newPayout(state: WorldState, body: InitiateRequest, plan: Plan): Payout {
  const { client_ref_id: clientRefId, transfer_mode: transferMode } = body;
  const { seed, dialect, calendar } = plan.scenario;
  const createdAtMs = nowMs(state);
  const nth = nextNth(state, body);
  const { steps, plannedBy, hider } = futureOf(state, body, plan);
  const timeline = timelineOf(steps, createdAtMs, dialect.status.utr_of_failed === 'set', calendar);
  const { txnId, utrSerial } = freeIds(state, seed, clientRefId, nth);
  return {
    txnId,
    clientRefId,
    nth,
    amountPaise: toPaise(body.amount),
    transferMode,
    beneficiaryName: body.beneficiary_name,
    beneficiaryAccount: body.beneficiary_account,
    beneficiaryIfsc: body.beneficiary_ifsc,
    remarks: remarksOf(body),
    createdAtMs,
    plannedBy,
    timeline,
    stepsDone: 0,
    hidden: hider?.notFound ? hiddenBy(hider.id, hider.notFound, createdAtMs) : null,
    reads: 0,
    state: 'PENDING',
    utrSerial,
    utr: null,
    completedAtMs: null,
    told: null,
  };
}

/** Which payout of its reference the next one is, from 1. */
export const nextNth = (state: WorldState, { client_ref_id: clientRefId }: InitiateRequest): number =>
  (findPayout(state, { clientRefId })?.nth ?? 0) + 1;

/** The ids of a payout. A snapshot that was changed by hand may have given its txn_id to another reference. */
function freeIds({ identity, payouts, index }: WorldState, seed: string, clientRefId: string, nth: number) {
  const isOfAnother = (txnId: string): boolean => {
    const position = index.byTxnId.get(txnId);
    return position !== undefined && payouts[position]!.clientRefId !== clientRefId;
  };
  let ids = payoutIds(seed, identity, clientRefId, nth);
  for (let tries = 1; isOfAnother(ids.txnId); tries += 1)
    ids = payoutIds(seed, `${identity} ${tries}`, clientRefId, nth);
  return ids;
}

export const remarksOf = ({ remarks }: InitiateRequest): string | null =>
  remarks === undefined ? null : shortDigest(remarks);

const hiddenBy = (by: string, { reads, for: forMs }: NotFound, createdAtMs: number): Hidden =>
  reads === undefined ? { untilMs: createdAtMs + forMs!, by } : { reads, by };
