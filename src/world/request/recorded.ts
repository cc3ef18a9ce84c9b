import { replacesBody } from '../../scenario/rule.ts';
import type { Exchange } from '../journal/exchange.ts';
import type { Received } from './request-commands.ts';
import { codeOf, type RequestResult } from './response.ts';

/** What the ledger and the rules made of a request. */
export function decided(result: RequestResult) {
  const { answer, effect, balances } = result;
  const refusal = answer.kind === 'refused' ? answer.refusal : undefined;
  const respond = effect?.respond ?? null;
  return {
    result,
    attempt: result.attempt,
    balanceBeforePaise: balances?.beforePaise,
    balancePaise: balances?.afterPaise,
    code: replacesBody(respond) ? codeOf(respond) : refusal?.code,
    limit: refusal?.details.limit,
    rule: (replacesBody(respond) ? undefined : refusal?.details.rule) ?? effect?.rule, // as the header has it
    delayMs: effect?.delayMs || undefined, // without a delay it is 0
    fault: effect?.fault?.kind,
  };
}

/** The payout that a request made or found. @param named the reference that it names */
export function payoutSeen({ answer, balances, route, committed }: RequestResult, named: string | undefined) {
  const payout = answer.kind === 'payout' && balances !== null ? answer.payout : undefined;
  return {
    clientRefId: payout?.clientRefId ?? named,
    txnId: payout?.txnId,
    replayed: answer.kind === 'payout' && answer.replayed ? true : undefined,
    committed: route === 'initiate' ? committed : undefined,
    plannedBy: committed ? payout?.plannedBy : undefined,
  };
}

/** What is known of the response to a request as soon as it is decided: whether it waits, is broken, or is sent whole and at once. */
export function planned(
  { effect, hold }: RequestResult,
  { isQueued, tookMs }: Received,
  position: number,
): Pick<Exchange, 'outcome' | 'response' | 'durationMs' | 'endPosition'> {
  const waits =
    hold !== undefined || (effect !== null && (effect.delayMs > 0 || effect.fault?.kind === 'hang'));
  if (waits) return { outcome: 'pending' };
  const isWhole = !isQueued && (effect?.fault ?? null) === null;
  if (!isWhole) return { outcome: 'pending', response: 'planned' };
  return { outcome: 'answered', response: 'planned', durationMs: tookMs, endPosition: position };
}
