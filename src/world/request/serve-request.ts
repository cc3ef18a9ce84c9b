import { isApplied, seenEffect } from './seen-effect.ts';
import { Refusal } from '../../contract/errors.ts';
import { oneMore } from '../../payout/payout.ts';
import { replacesBody, showsResponse, type Effect } from '../../scenario/rule.ts';
import type { CommandOf, Context, Handler } from '../commands.ts';
import type { StateEvent } from '../events.ts';
import { countRequest, recordRequest } from '../requests.ts';
import { commitLater, countForLate } from './late-commit.ts';
import { futureOf, initiate, newPayout } from './new-payout.ts';
import { repetitionOf, replay, storeAnswer } from './repetition.ts';
import { holdRequest, noRoomToHold } from './held-requests.ts';
import { pastRateLimit, planRequest, scenarioFor, type Plan } from './request-plan.ts';
import type { Decided } from '../journal/exchange.ts';
import type { RequestCommand } from './request-commands.ts';
import type { Answer, RequestResult } from './response.ts';
import { entryAsOf, found, serveStatus } from './serve-status.ts';
import type { WorldState } from '../state-shape.ts';

/** Handles a request of the service: applies its rule, asks the ledger unless the rule forbids it, and remembers the request. */
export const handleRequest: Handler<RequestCommand['kind'], Decided> = (state, command, context) => {
  const [result, effect] = resultOf(state, command, countRequest(state), context);
  if (result.effect !== null) countTaken(state, result.effect.rule, context.events);
  const exchange = recordRequest(state, command, result, context);
  if (result.hold !== undefined) holdRequest(state, command, exchange, effect!, context.events);
  if (state.late.length > 0) countForLate(state, result.request, context);
  return exchange;
};

/** Counts a use of a rule: a request whose response names it. */
function countTaken({ uses }: WorldState, rule: string, events: StateEvent[]): void {
  const use = uses.get(rule)!;
  use.taken = oneMore(use.taken);
  events.push({ type: 'rule', rule, ...use });
}

/** @returns the result, and the effect of the rule that holds the request, if one does */
function resultOf(
  state: WorldState,
  command: RequestCommand,
  request: number,
  context: Context,
): readonly [result: RequestResult, effect: Effect | null] {
  const scenario = scenarioFor(state, command, context.compiler);
  const unserved = (attempt: number, answer: Answer): RequestResult => ({
    route: command.kind,
    request,
    dialect: scenario.dialect,
    attempt,
    effect: null,
    answer,
    committed: false,
    balances: null,
  });
  const limited = pastRateLimit(state, command.kind, scenario);
  if (limited !== null) return [unserved(0, { kind: 'refused', refusal: limited.data }), null];
  const plan = planRequest(state, command, scenario, context);
  const { rule, attempt } = plan;
  const hold = rule?.effect.hold ?? null;
  if (rule === null || hold === null) return [serve(state, command, request, plan, context), null];
  const noRoom = noRoomToHold(state);
  if (noRoom !== null) return [unserved(attempt, { kind: 'refused', refusal: noRoom.data }), null];
  const isServed = hold.at === 'committed';
  const result = isServed
    ? serve(state, command, request, plan, context)
    : unserved(attempt, { kind: 'none' });
  const held = { ...hold, id: oneMore(state.held.made) };
  return [{ ...result, effect: seenEffect(rule, plan), hold: held }, rule.effect];
}

/** Asks the ledger, unless the rule forbids it. */
export function serve(
  state: WorldState,
  command: RequestCommand,
  request: number,
  plan: Plan,
  context: Context,
): RequestResult {
  const { rule } = plan;
  const beforePaise = state.wallet.balancePaise;
  const payoutsBefore = state.payouts.length;
  const [answer, isAsked] = answerOf(state, command, request, plan, context);
  const result = {
    route: command.kind,
    request,
    dialect: plan.scenario.dialect,
    attempt: plan.attempt,
    effect: rule !== null && isApplied(rule, answer) ? seenEffect(rule, plan) : null,
    answer,
    committed: state.payouts.length > payoutsBefore,
    balances: isAsked ? { beforePaise, afterPaise: state.wallet.balancePaise } : null,
  };
  if (
    command.kind === 'initiate' &&
    result.dialect.client_ref_id.same_body === 'stored' &&
    !rule?.effect.late
  )
    storeAnswer(state, command, result, context);
  return result;
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
