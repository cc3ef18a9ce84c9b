import { isApplied, seenEffect } from './seen-effect.ts';
import { Refusal } from '../../contract/errors.ts';
import { oneMore } from '../../payout/payout.ts';
import { replacesBody, showsResponse } from '../../scenario/rule.ts';
import type { CommandOf, Context, Handler } from '../commands.ts';
import type { StateEvent } from '../events.ts';
import { recordRequest, requestIn, type Filling } from '../requests.ts';
import { commitLater, countForLate } from './late-commit.ts';
import { futureOf, initiate, newPayout } from './new-payout.ts';
import { repetitionOf, replay, storeAnswer } from './repetition.ts';
import { holdRequest, noRoomToHold } from './held-requests.ts';
import { pastRateLimit, planRequest, type Plan } from './request-plan.ts';
import type { Answer, Decided } from '../journal/kept-request.ts';
import type { RequestCommand } from './request-commands.ts';
import { entryAsOf, found, serveStatus } from './serve-status.ts';
import type { WorldState } from '../state-shape.ts';

/** Handles a request of the service: applies its rule, asks the ledger unless the rule forbids it, and remembers the request. */
export const handleRequest: Handler<RequestCommand['kind'], Decided> = (state, command, context) => {
  const filling = requestIn(state, command.kind, command.request, context);
  const effect = decide(state, command, filling, context);
  if (filling.effect) countTaken(state, filling.effect.rule, context.events);
  const request = recordRequest(state, command, filling, context);
  if (effect !== null) holdRequest(state, command, request, effect, context.events);
  if (state.late.length > 0) countForLate(state, request.nth, context);
  return request;
};

/** Counts a use of a rule: a request whose response names it. */
function countTaken({ uses }: WorldState, rule: string, events: StateEvent[]): void {
  const use = uses.get(rule)!;
  use.taken = oneMore(use.taken);
  events.push({ type: 'rule', rule, ...use });
}

/** Decides about a request. @returns the effect of the rule that holds it; null if none does */
function decide(state: WorldState, command: RequestCommand, request: Filling, context: Context) {
  const scenario = state.index.active;
  const unserved = (attempt: number, answer: Answer): null => {
    const committed = command.kind === 'initiate' ? false : undefined;
    Object.assign(request, { dialect: scenario.dialect, attempt, effect: null, answer, committed });
    return null;
  };
  const limited = pastRateLimit(state, command.kind, scenario);
  if (limited !== null) return unserved(0, { kind: 'refused', refusal: limited.data });
  const plan = planRequest(state, command, scenario, context);
  const { rule, attempt } = plan;
  const hold = rule?.effect.hold ?? null;
  if (rule === null || hold === null) {
    serve(state, command, request, plan, context);
    return null;
  }
  const noRoom = noRoomToHold(state);
  if (noRoom !== null) return unserved(attempt, { kind: 'refused', refusal: noRoom.data });
  if (hold.at === 'committed') serve(state, command, request, plan, context);
  else unserved(attempt, { kind: 'none' });
  request.effect = seenEffect(rule, plan);
  request.hold = { ...hold, id: oneMore(state.held.made) };
  return rule.effect;
}

/** Asks the ledger, unless the rule forbids it. */
export function serve(
  state: WorldState,
  command: RequestCommand,
  request: Filling,
  plan: Plan,
  context: Context,
): void {
  const { rule } = plan;
  const { dialect } = plan.scenario;
  const beforePaise = state.wallet.balancePaise;
  const payoutsBefore = state.payouts.length;
  const [answer, isAsked] = answerOf(state, command, request.nth, plan, context);
  request.dialect = dialect;
  request.attempt = plan.attempt;
  request.answer = answer;
  request.effect = rule !== null && isApplied(rule, answer) ? seenEffect(rule, plan) : null;
  request.committed = command.kind === 'initiate' ? state.payouts.length > payoutsBefore : undefined;
  request.balanceBeforePaise = isAsked ? beforePaise : undefined;
  request.balancePaise = isAsked ? state.wallet.balancePaise : undefined;
  const isStored = dialect.client_ref_id.same_body === 'stored' && !rule?.effect.late;
  if (command.kind === 'initiate' && isStored) storeAnswer(state, command, request as Decided, context);
}

/** @returns the response, and whether the ledger was asked for it */
function answerOf(
  state: WorldState,
  command: RequestCommand,
  request: number,
  plan: Plan,
  context: Context,
): readonly [answer: Answer, isAsked: boolean] {
  const effect = plan.rule?.effect ?? null;
  const isReplaced = effect !== null && replacesBody(effect.respond);
  try {
    if (command.kind === 'initiate') {
      const { body } = command;
      if (effect === null || effect.commit) {
        const future = () => futureOf(state, body, plan);
        return [initiate(state, body, request, { scenario: plan.scenario, future }, context), true];
      }
      if (effect.late !== null) commitLater(state, command, request, plan, effect.late);
      if (isReplaced) return [found(state, body), false];
      return [notStored(state, command, plan), false];
    }
    if (effect !== null && (isReplaced || !showsResponse(effect.fault?.kind)))
      return [found(state, command.kind === 'status' ? command.query : {}), false];
    if (command.kind === 'status') return [serveStatus(state, command.query, plan, context), true];
    const { balancePaise, atMs } = entryAsOf(state, effect?.staleMs ?? 0);
    return [{ kind: 'balance', balancePaise, lastUpdatedMs: atMs }, true];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // an invalid status query is refused before the ledger is asked
    const isAsked = command.kind !== 'status' || error.code !== 'INVALID_REQUEST';
    return [{ kind: 'refused', refusal: error.data }, isAsked];
  }
}

/** What the response would have been: the payout that the reference has, or one that is not stored. */
function notStored(state: WorldState, { body }: CommandOf<'initiate'>, plan: Plan): Answer {
  const repetition = repetitionOf(state, body, plan.scenario.dialect);
  if (repetition !== null) return replay(repetition);
  const payout = newPayout(state, body, plan.scenario, futureOf(state, body, plan));
  return { kind: 'payout', payout, replayed: false };
}
