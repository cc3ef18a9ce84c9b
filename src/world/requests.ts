import { textField } from '../contract/service.ts';
import { oneMore, type Payout, type Told } from '../contract/snapshot-lines.ts';
import { replacesBody, showsResponse } from '../scenario/rule.ts';
import type { Context, Handler } from './commands.ts';
import type { StateEvent } from './events.ts';
import {
  charactersOf,
  endsOf,
  requestCharacters,
  noRequests,
  plannedResponse,
  readBody,
  seenIn,
  sentResponse,
  type Decided,
  type Exchange,
} from './journal/exchange.ts';
import { positionOf } from './ledger.ts';
import { decided, payoutSeen, planned } from './request/recorded.ts';
import type { Ended, RequestCommand } from './request/request-commands.ts';
import { fieldsOf } from './request/request-plan.ts';
import type { HeldRequest } from './request/hold-state.ts';
import type { RequestResult } from './request/response.ts';
import { nowMs, replacePayout, worldTimeMs, type WorldState } from './state.ts';

/** The number of the next request. */
export function countRequest(state: WorldState): number {
  const { requests } = state;
  requests.count = oneMore(requests.count);
  return requests.count;
}

/** Adds a request that was decided to the list. */
export function recordRequest(
  state: WorldState,
  command: RequestCommand,
  result: RequestResult,
  context: Context,
): Decided {
  const { request } = command;
  if (request.worldName !== undefined) state.name = request.worldName;
  const { stamp } = context;
  const facts = decided(result);
  const payout = payoutSeen(result, textField(fieldsOf(command)['client_ref_id']));
  const { outcome, response, durationMs, endPosition } = planned(result, request, stamp.position);
  // field by field, since this is made for every request: joining the parts would take longer than all the rest
  const exchange: Decided = {
    nth: result.request,
    requestId: request.requestId,
    route: command.kind,
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: request.body,
    atMs: nowMs(state),
    wallMs: Math.max(0, stamp.wallMs - request.waitedMs),
    outcome,
    response,
    durationMs,
    attempt: facts.attempt,
    balanceBeforePaise: facts.balanceBeforePaise,
    balancePaise: facts.balancePaise,
    code: facts.code,
    clientRefId: payout.clientRefId,
    txnId: payout.txnId,
    replayed: payout.replayed,
    warnings: request.warnings,
    limit: facts.limit,
    rule: facts.rule,
    committed: payout.committed,
    plannedBy: payout.plannedBy,
    delayMs: facts.delayMs,
    fault: facts.fault,
    toldBefore: undefined,
    requestCharacters: requestCharacters(request),
    result,
    position: stamp.position,
    endPosition,
    span: { server: stamp.server, arrived: request.arrivedTick, ended: request.submittedTick },
  };
  return add(state, context, exchange);
}

/** Adds a request that was refused before it reached the ledger. */
export const refuseRequest: Handler<'refused', number> = (
  state,
  { request, refused, route, outcome, clientRefId },
  context,
) => {
  const nth = countRequest(state);
  const { stamp } = context;
  if (request.worldName !== undefined) state.name = request.worldName;
  const isPending = outcome === 'pending';
  add(state, context, {
    requestId: request.requestId,
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: request.body,
    warnings: request.warnings,
    requestCharacters: requestCharacters(request),
    atMs: nowMs(state),
    wallMs: Math.max(0, stamp.wallMs - request.waitedMs),
    position: stamp.position,
    span: { server: stamp.server, arrived: request.arrivedTick, ended: request.submittedTick },
    nth,
    route,
    clientRefId,
    outcome,
    response: refused.response,
    code: refused.code,
    limit: refused.limit,
    rule: refused.rule,
    durationMs: isPending ? undefined : request.tookMs,
    endPosition: isPending ? undefined : stamp.position,
  });
  return nth;
};

/** An exchange that nobody has seen yet. */
type New<E extends Exchange> = E & { toldBefore?: Exchange['toldBefore'] };

function add<E extends Exchange>(state: WorldState, { stamp, events }: Context, exchange: New<E>): E {
  const { requests } = state;
  const { list } = requests;
  if (exchange.outcome === 'answered') exchange.toldBefore = tell(state, exchange, nowMs(state));
  list.push(exchange);
  requests.characters += charactersOf(exchange);
  const { keep } = stamp;
  while (list.length > 0 && (list.length > keep.requests || requests.characters > keep.characters)) {
    const next = nextToDrop(list);
    const dropped = next === 0 ? list.shift()! : list.splice(next, 1)[0]!; // shift is much quicker
    requests.characters -= charactersOf(dropped);
    requests.evicted += 1;
  }
  // one that only waits for its turn to be sent, or is broken at once, is announced when it has ended
  const { outcome, response, fault, nth } = exchange;
  const waits = outcome === 'pending' && (response === undefined || fault === 'slow-body');
  if (waits) events.push({ type: 'request', request: exchange, endedAfter: null });
  else if (outcome !== 'pending') events.push({ type: 'request', request: exchange, endedAfter: nth });
  return exchange;
}

/** The place of the request to drop: the oldest one, but those under way stay as long as they are few, so that their ends are recorded. */
function nextToDrop(list: readonly Exchange[]): number {
  const ended = list.findIndex(({ outcome }) => outcome !== 'pending');
  return ended < list.length / 2 ? Math.max(0, ended) : 0;
}

/** The place in the list of a request; -1 once it was dropped. */
const indexOf = ({ requests: { list, count } }: WorldState, nth: number): number => {
  const likely = list.length - 1 - (count - nth); // unless a bug of the sandbox left out a number
  return list[likely]?.nth === nth ? likely : list.findIndex((exchange) => exchange.nth === nth);
};

function replace(state: WorldState, index: number, exchange: Exchange): void {
  const { requests } = state;
  requests.characters += charactersOf(exchange) - charactersOf(requests.list[index]!);
  requests.list[index] = exchange;
}

/** Records what a held request is answered, once it is released. */
export function recordRelease(state: WorldState, { exchange }: HeldRequest, result: RequestResult): Decided {
  const index = indexOf(state, exchange.nth);
  const known = state.requests.list[index] ?? exchange;
  const released: Decided = { ...known, ...decided(result), ...payoutSeen(result, known.clientRefId) };
  if (index !== -1) replace(state, index, released);
  return released;
}

/** Records how a request ended, also in a journal that an undo may put back. */
export function endRequest(state: WorldState, ended: Ended, context: Context): void {
  endIn(state, ended, context);
  for (const { fields, hasOtherJournal } of state.undoPoints) {
    if (hasOtherJournal) endIn({ ...fields, undoPoints: [] }, ended, { ...context, events: [] });
  }
}

/** What is known of a request that ended as planned is only made more exact. */
function endIn(state: WorldState, ended: Ended, { stamp, events }: Context): void {
  const index = indexOf(state, ended.request);
  const before = state.requests.list[index];
  if (before === undefined || before.position === 0) return; // one of a restored state only has its number
  const { outcome, refused } = ended;
  const isAsPlanned = before.outcome === outcome && refused === undefined;
  const after: Exchange = {
    ...before,
    code: (refused ?? before).code,
    limit: (refused ?? before).limit,
    rule: refused?.rule ?? before.rule,
    outcome,
    durationMs: ended.durationMs,
    span: before.span && { ...before.span, ended: ended.tick },
    endPosition: before.outcome === 'pending' ? stamp.position : before.endPosition,
    response: ended.isSent ? (refused?.response ?? before.response ?? plannedResponse(before)) : undefined,
  };
  const endedAtMs = worldTimeMs(state.clock, Math.max(state.wallMs, stamp.wallMs)); // the state is still at the command before
  replace(state, index, isAsPlanned ? after : retell(state, index, after, endedAtMs));
  if (isAsPlanned) return;
  const { list } = state.requests;
  const endedAfter = endsOf(list.slice(index), 1).get(before.nth) ?? null;
  events.push({ type: 'request', request: list[index]!, endedAfter });
}

/** Empties the list; one that is cleared keeps the requests under way, whose ends say what their clients know. @returns how many are gone */
export const forgetRequests: Handler<'forget', number> = (state, { as }, { events }) => {
  const { list, count, evicted } = state.requests;
  const kept = as === 'evicted' ? [] : list.filter(({ outcome }) => outcome === 'pending');
  const gone = list.length - kept.length;
  state.requests = {
    ...noRequests(count),
    list: kept,
    characters: kept.reduce((sum, one) => sum + charactersOf(one), 0),
    evicted: as === 'evicted' ? evicted + gone : 0,
  };
  if (gone > 0) events.push({ type: 'journal', removed: gone, as });
  return gone;
};

/** The state of a payout that a response shows its client; undefined for none. */
function shownState(exchange: Exchange): Payout['state'] | undefined {
  const { response, result, route, code = null, fault, headers: asked, method } = exchange;
  if (route === 'balance' || method === 'HEAD' || !showsResponse(fault)) return undefined;
  const respond = result?.effect?.respond ?? null;
  let status: number | null;
  let body: unknown;
  if (response === 'planned' && !replacesBody(respond)) {
    if (result?.answer.kind !== 'payout') return undefined; // a refusal
    status = respond?.status ?? 200;
    body = { data: { status: result.answer.payout.state } };
  } else {
    const sent = sentResponse(exchange);
    status = sent?.status ?? null;
    body = readBody(sent?.body);
  }
  const seen = seenIn({ route, status, code, asked, body });
  return seen.kind === 'state' ? seen.state : undefined;
}

/** The position of the payout that a request is about. */
const payoutOf = (state: WorldState, { txnId, clientRefId }: Exchange): number | undefined =>
  positionOf(state, txnId === undefined ? { clientRefId } : { txnId });

/** Records what a response has told its client. @returns what the client knew before; undefined when it has learned nothing */
function tell(state: WorldState, exchange: Exchange, atMs: number): Exchange['toldBefore'] {
  const as = shownState(exchange);
  const position = as === undefined ? undefined : payoutOf(state, exchange);
  if (as === undefined || position === undefined) return undefined;
  const { told } = state.payouts[position]!;
  if (told?.as === as) return undefined;
  setTold(state, position, { request: exchange.nth, atMs, as });
  return told;
}

/** Records what the response to a request of the list has told in the end, which may be less than was planned. */
function retell(state: WorldState, index: number, exchange: Exchange, atMs: number): Exchange {
  const { toldBefore, ...untold } = exchange;
  const position = toldBefore === undefined ? undefined : payoutOf(state, exchange);
  if (position !== undefined && state.payouts[position]!.told?.request === exchange.nth) {
    setTold(state, position, toldBefore ?? null);
    tellAgain(state, index, position, atMs);
  }
  return untold.outcome === 'answered' ? { ...untold, toldBefore: tell(state, untold, atMs) } : untold;
}

/** A response that showed what its client knew already was not recorded. It is, once that is taken back. */
function tellAgain(state: WorldState, index: number, position: number, atMs: number): void {
  const { list } = state.requests;
  for (let later = index + 1; later < list.length; later += 1) {
    const exchange = list[later]!;
    const isAbout = exchange.outcome === 'answered' && payoutOf(state, exchange) === position;
    if (!isAbout) continue;
    const toldBefore = tell(state, exchange, atMs);
    if (toldBefore !== undefined) replace(state, later, { ...exchange, toldBefore });
  }
}

function setTold(state: WorldState, position: number, told: Told | null): void {
  replacePayout(state, position, { ...state.payouts[position]!, told });
}

/** Adds an event when the payouts at risk are others than before. */
export function announceRisk(
  state: WorldState,
  before: WorldState['index']['atRisk'],
  events: StateEvent[],
): void {
  const { count, paise } = state.index.atRisk;
  if (count !== before.count || paise !== before.paise) events.push({ type: 'at_risk', count, paise });
}
