import type { Dialect } from '../../contract/dialect.ts';
import type { StatusQuery } from '../../contract/service.ts';
import { countsReads } from '../../payout/payout.ts';
import { rateLimitOn } from '../../scenario/rate-window.ts';
import type { ScenarioCompiler } from '../../scenario/scenario.ts';
import type { Command } from '../commands.ts';
import { isMoreDue, positionOf } from '../ledger.ts';
import { factsOf, scenarioFor } from './request-plan.ts';
import type { WorldState } from '../state.ts';

/** The position of the payout that a status query asks for; undefined when there is none. */
export function positionAsked(
  state: WorldState,
  { client_ref_id: clientRefId, txn_id: txnId }: StatusQuery,
  { status: { both } }: Dialect,
): number | undefined {
  const isBoth = clientRefId !== undefined && txnId !== undefined;
  return positionOf(state, {
    txnId: isBoth && both === 'client_ref_id' ? undefined : txnId,
    clientRefId: isBoth && both === 'txn_id' ? undefined : clientRefId,
  });
}

/**
 * Whether a command would change nothing, so that a log need not hold it: no step is due, and it is a status or balance read
 * that no rule matches, without a counted attempt, without a rate limit of its scenario, and of a payout that does not count
 * its reads.
 */
export function isPureRead(state: WorldState, command: Command, compiler: ScenarioCompiler): boolean {
  if ((command.kind !== 'status' && command.kind !== 'balance') || isMoreDue(state)) return false;
  if (state.held.waiting.length > 0) return false; // one of them may expire
  const scenario = scenarioFor(state, command, compiler);
  const isLimited = scenario.hasOwnRateLimit && rateLimitOn(scenario, command.kind) !== null;
  if (scenario.countsAttempts || isLimited) return false;
  const facts = factsOf(state, command, 0);
  if (scenario.rules.some((rule) => rule.matches(facts))) return false;
  if (command.kind === 'balance') return true;
  const position = positionAsked(state, command.query, scenario.dialect);
  return position === undefined || !countsReads(state.payouts[position]!);
}
