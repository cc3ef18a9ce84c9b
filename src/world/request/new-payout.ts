import type { Future, Hidden, Payout } from '../../contract/snapshot.ts';
import { full, Refusal } from '../../contract/errors.ts';
import type { InitiateRequest } from '../../contract/service.ts';
import { payoutDraw, payoutIds, keptRemarks } from '../../payout/identity.ts';
import { covers, toInr, toPaise } from '../../payout/money.ts';
import { plannedSteps, settlementName, timelineOf, type Draw } from '../../payout/settlement.ts';
import { namesOthers } from '../../scenario/rule.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { Context } from '../commands.ts';
import { addPayout, findPayout } from '../ledger.ts';
import { answerRepetition } from './repetition.ts';
import type { Answer } from '../journal/kept-request.ts';
import type { Plan } from './request-plan.ts';
import { nowMs } from '../state.ts';
import type { WorldState } from '../state-shape.ts';

/**
 * The future of a payout that is made now: that of the first outcome that matches, unless its rule says otherwise. Draws depend
 * on the seed and the reference alone.
 */
export function futureOf(state: WorldState, body: InitiateRequest, { scenario, rule, facts }: Plan): Future {
  const { client_ref_id: clientRefId, transfer_mode: transferMode } = body;
  const { name, seed, settlement, outcomes } = scenario;
  const draw: Draw = (purpose) => payoutDraw(seed, clientRefId, nextNth(state, body))(purpose);
  const outcome = outcomes.find(
    ({ match, matches }) => !namesOthers(match, body.beneficiary_account) && matches(facts),
  );
  const settled = () => plannedSteps(settlement, transferMode, nowMs(state), draw);
  const planner = rule?.effect.timeline ? rule : outcome?.steps ? outcome : undefined;
  const hider = rule?.effect.notFound ? { id: rule.id, notFound: rule.effect.notFound } : outcome;
  return {
    steps: rule?.effect.timeline ?? outcome?.steps?.(draw) ?? settled(),
    plannedBy: planner?.id ?? settlementName(settlement, transferMode, name),
    hider: hider?.notFound ? { by: hider.id, ...hider.notFound } : null,
  };
}

/** The payout as initiate stores it: PENDING, even if its timeline settles it in the same instant. */
export function newPayout(
  state: WorldState,
  body: InitiateRequest,
  { seed, dialect, calendar }: Scenario,
  { steps, plannedBy, hider }: Future,
): Payout {
  const { client_ref_id: clientRefId, transfer_mode: transferMode } = body;
  const createdAtMs = nowMs(state);
  const nth = nextNth(state, body);
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
    remarks: keptRemarks(body.remarks),
    createdAtMs,
    plannedBy,
    timeline,
    stepsDone: 0,
    hidden: hider && hiddenBy(hider, createdAtMs),
    reads: 0,
    state: 'PENDING',
    utrSerial,
    utr: null,
    completedAtMs: null,
    told: null,
  };
}

/** Makes a payout. @throws Refusal INSUFFICIENT_BALANCE or SANDBOX_FULL, and as `answerRepetition` does */
export function initiate(
  state: WorldState,
  body: InitiateRequest,
  request: number,
  { scenario, future }: { readonly scenario: Scenario; readonly future: () => Future },
  { transactionsFree, stamp: { room } }: Context,
): Answer {
  const { dialect } = scenario;
  const { client_ref_id: clientRefId } = body;
  const { byReference, stored } = state.index;
  const isUsed = byReference.has(clientRefId) || stored.has(clientRefId);
  if (isUsed || dialect.client_ref_id.in_flight === 409) {
    const repeated = answerRepetition(state, body, dialect, request);
    if (repeated !== null) return repeated;
  }
  const { wallet } = state;
  if (!covers(wallet, toPaise(body.amount))) {
    const message = `The wallet balance of INR ${toInr(wallet.balancePaise)} cannot cover a payout of INR ${body.amount}`;
    throw new Refusal('INSUFFICIENT_BALANCE', { message });
  }
  if (transactionsFree <= 0) throw full(room.maxTransactions);
  const payout = newPayout(state, body, scenario, future());
  addPayout(state, payout);
  return { kind: 'payout', payout, replayed: false };
}

/** Which payout of its reference the next one is, from 1. */
export const nextNth = (state: WorldState, { client_ref_id: clientRefId }: InitiateRequest): number =>
  (findPayout(state, { clientRefId })?.nth ?? 0) + 1;

/** The ids of a payout. A snapshot that was changed by hand may have given its txn_id to another one. */
function freeIds({ identity, index }: WorldState, seed: string, clientRefId: string, nth: number) {
  let ids = payoutIds(seed, identity, clientRefId, nth);
  for (let tries = 1; index.byTxnId.has(ids.txnId); tries += 1)
    ids = payoutIds(seed, `${identity} ${tries}`, clientRefId, nth);
  return ids;
}

const hiddenBy = ({ by, reads, for: forMs }: NonNullable<Future['hider']>, createdAtMs: number): Hidden =>
  reads === undefined ? { untilMs: createdAtMs + forMs!, by } : { reads, by };
