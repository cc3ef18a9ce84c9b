import { Refusal } from '../../contract/errors.ts';
import type { CommandOf, Context } from '../commands.ts';
import { demandRoomToHold, endWait, findHeld, holdRequest } from './held-requests.ts';
import type { RequestCommand } from './request-commands.ts';
import type { HeldRequest, RequestResult } from './request-result.ts';
import { pastRateLimit, planRequest, resumedPlan, scenarioFor } from './request-plan.ts';
import { seenEffect, serve } from './serve-request.ts';
import type { WorldState } from '../state.ts';

/** Handles a request of the service: applies the first rule that matches, and asks the ledger unless the rule forbids it. */
export function handleRequest(state: WorldState, command: RequestCommand, context: Context): RequestResult {
  const scenario = scenarioFor(state, command, context.compiler);
  const limited = pastRateLimit(state, command.kind, scenario);
  if (limited !== null) {
    const answer = { kind: 'refused', refusal: limited.data } as const;
    return { dialect: scenario.dialect, attempt: 0, effect: null, answer, committed: false, balances: null };
  }
  const plan = planRequest(state, command, scenario, context.stamp);
  const { rule } = plan;
  if (rule !== null) context.events.push({ type: 'rule', rule: rule.id, ...state.uses.get(rule.id)! });
  const hold = rule?.effect.hold ?? null;
  if (rule === null || hold === null) return serve(state, command, plan, context);
  const effect = seenEffect(rule, plan);
  const nothingDone = { dialect: scenario.dialect, attempt: plan.attempt, effect, committed: false };
  try {
    demandRoomToHold(state);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ...nothingDone, effect: null, answer: { kind: 'refused', refusal: error.data }, balances: null };
  }
  const result: RequestResult =
    hold.at === 'committed'
      ? { ...serve(state, command, plan, context), effect }
      : { ...nothingDone, answer: { kind: 'none' }, balances: null };
  const { answer } = result;
  const asked = command.kind === 'status' ? command.query.txn_id : undefined;
  const txnId = (answer.kind === 'payout' ? answer.payout.txnId : asked) ?? null;
  const facts = { rule: rule.id, attempt: plan.attempt, txnId };
  return { ...result, hold: holdRequest(state, command, hold, facts, context.events) };
}

/** Lets a held request go on: one that has only arrived is served now, with the rule that it met when it arrived. */
export function releaseRequest(
  state: WorldState,
  { id, order }: CommandOf<'release'>,
  context: Context,
): HeldRequest {
  const held = findHeld(state, id);
  const { command } = held;
  const result =
    command === null
      ? null
      : serve(state, command, resumedPlan(state, command, held, context.compiler), context);
  endWait(state, held, { how: 'released', order, result }, context.events);
  return held;
}
