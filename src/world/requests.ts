import type { Payout } from '../contract/snapshot.ts';
import { textField } from '../contract/service.ts';
import { oneMore } from '../payout/payout.ts';
import { replacesBody, showsResponse } from '../scenario/rule.ts';
import type { Context, Handler } from './commands.ts';
import type { StateEvent } from './events.ts';
import {
  keptBody,
  keptHeaders,
  readBody,
  seenIn,
  type Decided,
  type KeptRequest,
} from './journal/kept-request.ts';
import { positionOf } from './ledger.ts';
import type { End, Ended, Received, RequestCommand } from './request/request-commands.ts';
import { fieldsOf } from './request/request-plan.ts';
import { codeOf } from './request/other-responses.ts';
import { isReplayed, sentResponse } from './request/response.ts';
import { nowMs, replacePayout, setTelling, worldTimeMs } from './state.ts';
import type { WorldState } from './state-shape.ts';

/** More than clients can have under way at a server. Those beyond are of servers that have died. */
const MOST_UNDER_WAY = 20_000;

/** Adds a request that was decided to the list. */
export function recordRequest(
  state: WorldState,
  command: RequestCommand,
  request: Filling,
  context: Context,
): Decided {
  request.clientRefId = textField(fieldsOf(command)['client_ref_id']);
  const decided = conclude(request);
  add(state, request, command.request.after, context);
  underWay(state, request);
  if (context.stamp.server === ONLY && isTelling(request)) setTelling(state, state.payouts.length - 1, true);
  const { waits, fault } = request;
  if (waits === true || fault === 'slow-body') context.events.push(requestEvent(state, request));
  return decided;
}

/** Adds a request that has ended before it reached the ledger. */
export const refuseRequest: Handler<'refused'> = (state, { request, end, route, clientRefId }, context) => {
  const filling = requestIn(state, route, request, context);
  filling.clientRefId = clientRefId;
  const ended = afterEnd(state, filling, end);
  add(state, ended, request.after, context);
  context.events.push(requestEvent(state, ended));
};

/** What of a request may be too long to be kept whole. */
const LONG_PARTS = ['body', 'headers'] as const;

/** A request that is still being filled in. */
export type Filling = { -readonly [Name in keyof KeptRequest]: KeptRequest[Name] };

/** All requests have the same fields in one order, which makes them quick. */
const FIELDS =
  'nth requestId route method url headers body atMs wallMs outcome response waits durationMs endedAfter attempt ' +
  'balanceBeforePaise balancePaise code clientRefId txnId replayed warnings cut limit rule committed plannedBy ' +
  'delayMs commit fault position server dialect answer effect hold';
const UNKNOWN = Object.fromEntries(FIELDS.split(' ').map((name) => [name, undefined]));

const hasAllOf = (one: KeptRequest['headers'], other: KeptRequest['headers']): boolean => {
  for (const name in other) if (one[name] !== other[name]) return false;
  return true;
};

/** A request that has come, of which nothing is decided. What it has in common with the one before is kept once. */
export function requestIn(
  state: WorldState,
  route: KeptRequest['route'],
  request: Received,
  { stamp }: Context,
): Filling {
  const { requests } = state;
  requests.count = oneMore(requests.count);
  if (request.worldName !== undefined) state.name = request.worldName;
  const kept = { body: keptBody(request.body), headers: keptHeaders(request.headers) };
  const cut = LONG_PARTS.filter((part) => kept[part] !== request[part]);
  const former = requests.list.at(-1) ?? request;
  const hasSame = hasAllOf(kept.headers, former.headers) && hasAllOf(former.headers, kept.headers);
  return {
    ...UNKNOWN,
    nth: requests.count,
    requestId: request.requestId,
    route,
    method: request.method,
    url: request.url === former.url ? former.url : request.url,
    headers: hasSame ? former.headers : kept.headers,
    body: kept.body,
    atMs: nowMs(state),
    wallMs: Math.max(0, stamp.wallMs - request.waitedMs),
    outcome: 'pending',
    warnings: request.warnings,
    cut: cut.length === 0 ? undefined : cut,
    position: stamp.position,
    server: stamp.server,
  };
}

/** Fills in what follows from the decision about a request. */
export function conclude(filling: Filling): Decided {
  const request = filling as Filling & Decided;
  const { answer } = request;
  filling.response = request.hold === undefined ? 'planned' : undefined; // the release of a held request decides
  fillReason(filling, request);
  filling.replayed = isReplayed(answer) || undefined;
  // it is not stored, or only named in texts of a rule
  if (answer.kind !== 'payout' || request.balancePaise === undefined) return request;
  filling.clientRefId = answer.payout.clientRefId;
  filling.txnId = answer.payout.txnId;
  filling.plannedBy = request.committed ? answer.payout.plannedBy : undefined;
  return request;
}

/** What refused it, and the rule that was applied to it. */
function fillReason(filling: Filling, { answer, effect, hold }: Decided): void {
  const refusal = answer.kind === 'refused' ? answer.refusal : undefined;
  filling.limit = refusal?.details.limit;
  filling.code = answer.kind === 'stored' ? answer.stored.code : refusal?.code;
  filling.rule = refusal?.details.rule;
  filling.waits = hold === undefined ? undefined : true;
  if (effect === null) return;
  const { respond, delayMs, fault } = effect;
  if (replacesBody(respond)) {
    filling.code = codeOf(respond);
    filling.rule = undefined;
  }
  filling.rule ??= effect.rule; // as the header has it
  filling.delayMs = delayMs || undefined; // without a delay it is 0
  filling.fault = fault?.kind;
  if (delayMs > 0 || fault?.kind === 'hang') filling.waits = true;
}

/** @param after what its server had applied when it arrived: everything that it answered later had not ended by then */
function add({ requests }: WorldState, request: KeptRequest, after: number, { stamp }: Context): void {
  const { list } = requests;
  for (let index = list.length - 1; index >= 0 && list[index]!.position > after; index -= 1) {
    const earlier = list[index]!;
    const isOver = earlier.outcome !== 'pending' && earlier.server === stamp.server;
    if (isOver) list[index] = { ...earlier, endedAfter: request.nth };
  }
  list.push(request);
  makeRoom(requests, stamp.room.keep);
}

function underWay({ requests: { pending } }: WorldState, request: KeptRequest): void {
  pending.push(request);
  if (pending.length > MOST_UNDER_WAY) pending.shift();
}

/** Some more than it may keep make room together, since each time moves all others. */
function makeRoom(requests: WorldState['requests'], keep: number): void {
  const { list } = requests;
  if (list.length <= keep + (keep >> 4)) return;
  requests.evicted += list.splice(0, list.length - keep).length;
}

/** Puts a later version of a request in its place, wherever it is still kept. */
export function replace(state: WorldState, request: KeptRequest): void {
  const { pending } = state.requests;
  const waiting = pending.findIndex(({ nth }) => nth === request.nth);
  if (waiting !== -1) pending[waiting] = request;
  replaceInList(state, request);
}

function replaceInList({ requests: { list, count } }: WorldState, request: KeptRequest): void {
  const likely = list.length - 1 - (count - request.nth); // unless a bug of the sandbox left out a number
  const index = list[likely]?.nth === request.nth ? likely : list.findIndex(({ nth }) => nth === request.nth);
  if (index !== -1) list[index] = request;
}

/** Records how requests ended, and what their responses have told the client, also in a journal that an undo may put back. */
export const endRequests: Handler<'end'> = (state, { ends }, { events }) => {
  for (const ended of ends) {
    endIn(state, ended, state.wallMs, events);
    for (const { fields, hasOtherJournal } of state.undoPoints) {
      if (hasOtherJournal) endIn({ ...fields, undoPoints: [] }, ended, state.wallMs, []);
    }
  }
};

/** A request with what its end says. */
function afterEnd({ requests: { list } }: WorldState, before: KeptRequest, end: End): KeptRequest {
  const { refused } = end;
  const newest = list.findLast(({ position }) => position <= end.after);
  return {
    ...before,
    code: (refused ?? before).code,
    limit: (refused ?? before).limit,
    rule: refused?.rule ?? before.rule,
    outcome: end.outcome,
    durationMs: end.durationMs,
    endedAfter: Math.max(before.nth, newest?.nth ?? 0),
    response: end.isSent ? (refused?.response ?? before.response) : undefined,
    waits: undefined,
  };
}

/** No-op for a request of a world that was replaced, or one that was taken back. */
function endIn(state: WorldState, ended: Ended, wallMs: number, events: StateEvent[]): void {
  const { pending } = state.requests;
  const index = pending.findIndex(({ nth }) => nth === ended.request);
  if (index === -1) return;
  const [before] = pending.splice(index, 1) as [KeptRequest];
  const after: Filling = afterEnd(state, before, ended);
  const position = payoutOf(state, after);
  const { answer } = after;
  const isLatest = answer?.kind === 'payout' && answer.payout === state.payouts[position ?? -1];
  tell(state, after, worldTimeMs(state.clock, wallMs), position);
  // the same but for what was told, so that no earlier one is kept
  if (isLatest) after.answer = { ...answer, payout: state.payouts[position!]! };
  replaceInList(state, after);
  events.push(requestEvent(state, after, position));
}

/** The state of a payout that a response shows its client; undefined for none. */
function shownState(request: KeptRequest): Payout['state'] | undefined {
  const { response, answer, effect, route, code = null, fault, headers: asked, method } = request;
  if (route === 'balance' || method === 'HEAD' || !showsResponse(fault)) return undefined;
  const respond = effect?.respond ?? null;
  let status: number | null;
  let body: unknown;
  if (response === 'planned' && answer?.kind !== 'stored' && !replacesBody(respond)) {
    if (answer?.kind !== 'payout') return undefined; // a refusal
    status = respond?.status ?? 200;
    body = { data: { status: answer.payout.state } };
  } else {
    const sent = sentResponse(request);
    status = sent?.status ?? null;
    body = readBody(sent?.body);
  }
  const seen = seenIn({ route, status, code, asked, body });
  return seen.kind === 'state' ? seen.state : undefined;
}

/** The position of the payout that a request is about. */
const payoutOf = (state: WorldState, { txnId, clientRefId }: KeptRequest): number | undefined =>
  positionOf(state, txnId === undefined ? { clientRefId } : { txnId });

/** Says that a request has ended, has begun to wait, or has made its payout late. */
export const requestEvent = (
  state: WorldState,
  request: KeptRequest,
  position = payoutOf(state, request),
): StateEvent => ({ type: 'request', request, payout: state.payouts[position ?? -1] });

/** Whether a request has made a payout, and its response is being sent whole and at once. */
const isTelling = ({ committed, waits, fault }: KeptRequest): boolean =>
  committed === true && waits === undefined && fault === undefined;

const ONLY = ''; // the name of a server that shares its worlds with no other

/** Records what a response that has ended has told its client: what a whole one shows, unless a later request is known to have shown more. */
export function tell(
  state: WorldState,
  request: KeptRequest,
  atMs: number,
  position = payoutOf(state, request),
): void {
  const { nth, endedAfter, committed } = request;
  const as = request.outcome === 'answered' ? shownState(request) : undefined;
  if (position === undefined) return;
  if (committed === true && state.index.beingTold.has(position)) setTelling(state, position, false);
  if (as === undefined) return;
  const before = state.payouts[position]!;
  const isNews = before.told?.as !== as && (before.told?.request ?? 0) <= endedAfter!;
  if (isNews) replacePayout(state, position, { ...before, told: { request: nth, atMs, as } });
}

/** Adds an event when the payouts at risk are others than before. */
export function announceRisk(state: WorldState, before: WorldState['index']['atRisk'], events: StateEvent[]) {
  const { count, paise } = state.index.atRisk;
  if (count !== before.count || paise !== before.paise) events.push({ type: 'at_risk', count, paise });
}
