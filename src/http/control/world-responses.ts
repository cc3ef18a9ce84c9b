import type {
  ClockResponse,
  ControlAction,
  OutcomeResponse,
  RuleResponse,
  ScenarioResponse,
  TransactionResponse,
  WalletResponse,
  WorldResponse,
} from '../../contract/control-responses.ts';
import { toInr } from '../../payout/money.ts';
import { isAtRisk, isHidden, isOutOfDate, legalNext, nextStep, type Payout } from '../../payout/payout.ts';
import { iso } from '../../contract/instant.ts';
import { LATEST_MS } from '../../payout/settlement.ts';
import type { Outcome } from '../../scenario/outcome.ts';
import type { Rule } from '../../scenario/rule.ts';
import { brokenInvariants } from '../../world/ledger.ts';
import type { Action, WorldState } from '../../world/state.ts';
import { clockResult, type ClockResult } from '../../world/clock.ts';

/** The state of a world in the words of the control API: INR and timestamps for paise and milliseconds. */

/** Null also for a time that no clock reaches: the control API has no form for it. */
const isoOrNull = (atMs: number | null): string | null =>
  atMs === null || atMs > LATEST_MS ? null : iso(atMs);

export const clockResponse = ({ nowMs, isFrozen, nextDueMs }: ClockResult): ClockResponse => ({
  now: iso(nowMs),
  frozen: isFrozen,
  next_due: isoOrNull(nextDueMs),
});

export const actionResponse = ({ number, name, atMs }: Action): ControlAction => ({
  action: number,
  name,
  at: iso(atMs),
});

export function worldResponse(state: WorldState): WorldResponse {
  const { tallies, base, atRisk, outOfDate } = state.index;
  const last = state.undoPoints.at(-1);
  const broken = brokenInvariants(state);
  return {
    id: state.id,
    balance: toInr(state.wallet.balancePaise),
    opening_balance: toInr(state.openingBalancePaise),
    transactions: {
      PENDING: tallies.PENDING.count,
      SUCCESS: tallies.SUCCESS.count,
      FAILED: tallies.FAILED.count,
      REVERSED: tallies.REVERSED.count,
    },
    clock: clockResponse(clockResult(state)),
    scenario: base.name,
    name: state.name,
    at_risk: { count: atRisk.count, amount: toInr(atRisk.paise) },
    out_of_date: { count: outOfDate.count, amount: toInr(outOfDate.paise) },
    last_action: last === undefined ? null : actionResponse(last),
    invariants: broken.length === 0 ? 'hold' : [...broken],
  };
}

export function walletResponse({ wallet, openingBalancePaise, entries, index }: WorldState): WalletResponse {
  const { PENDING, SUCCESS, FAILED, REVERSED } = index.tallies;
  return {
    balance: toInr(wallet.balancePaise),
    currency: 'INR',
    opening_balance: toInr(openingBalancePaise),
    in_flight: toInr(PENDING.paise),
    paid_out: toInr(SUCCESS.paise),
    came_back: toInr(FAILED.paise + REVERSED.paise),
    last_updated: iso(entries.at(-1)!.atMs),
  };
}

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

const originOf = (id: string): 'scenario' | 'magic' => (id.startsWith('magic/') ? 'magic' : 'scenario');

/** What a rule and an outcome have in common. */
const named = ({ id, document }: { readonly id: string; readonly document: unknown }) => ({
  id,
  name: id.slice(id.indexOf('/') + 1),
  description: (document as { readonly description?: string }).description ?? '',
});

export function ruleResponse(rule: Rule, uses: WorldState['uses']): RuleResponse {
  const { id, document } = rule;
  const { matched, taken } = uses.get(id) ?? { matched: 0, taken: 0 };
  const from = id.startsWith('world/') ? 'world' : originOf(id);
  return { ...named(rule), from, matched, taken, rule: document };
}

const outcomeResponse = (outcome: Outcome): OutcomeResponse => ({
  ...named(outcome),
  from: originOf(outcome.id),
  outcome: outcome.document,
});

/** All rules of a world, in the order in which they are tried. */
export const rulesResponse = ({ index, uses }: WorldState): RuleResponse[] =>
  index.active.rules.map((rule) => ruleResponse(rule, uses));

export function scenarioResponse(state: WorldState): ScenarioResponse {
  const { name, description, source } = state.index.base;
  return {
    name,
    description,
    chosen: state.scenario.isChosen,
    document: source.document,
    rules: rulesResponse(state),
    outcomes: state.index.active.outcomes.map(outcomeResponse),
  };
}
