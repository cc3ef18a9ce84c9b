import { full, noRoomForRules, Refusal } from '../contract/errors.ts';
import type { Command, Context, Handler } from './commands.ts';
import type { KeptRequest } from './journal/kept-request.ts';
import { noneHeld, type Action, type UndoPoint, type WorldState } from './state-shape.ts';
import { recordLate } from './request/late-commit.ts';
import { latestPoint, nowMs, rulesHeld, scheduleStep, tally, transactionsHeld } from './state.ts';

/** How many control actions can be undone. */
const ACTIONS_KEPT = 10;

export type Handling<Result> = (state: WorldState, command: Command, context: Context) => Result;

/** Performs a control action so that it can be undone. One that is refused leaves no trace. */
export function undoable<Result>(
  name: string,
  act: Handling<Result>,
  ...given: Parameters<Handling<Result>>
): Result {
  const [state, , { stamp }] = given;
  const { index, attempts, undoPoints } = state;
  const point: UndoPoint = {
    number: stamp.position,
    name,
    atMs: nowMs(state),
    fields: { ...state },
    lengths: { payouts: state.payouts.length, entries: state.entries.length, stored: state.stored.length },
    formerPayouts: new Map(),
    formerAttempts: new Map(),
    references: attempts.references,
    uses: new Map([...state.uses].map(([id, use]) => [id, { ...use }])),
    windows: new Map(state.windows),
    scenario: { base: index.base, overrides: index.overrides, active: index.active },
    requests: 0,
    hasOtherJournal: false,
    settings: null,
  };
  undoPoints.push(point);
  keepFormerAttempts(state);
  try {
    const result = act(...given);
    point.requests = state.requests.count; // a restore may have raised it
    point.hasOtherJournal = state.requests !== point.fields.requests;
    point.settings = state.referee.settings;
    if (undoPoints.length > ACTIONS_KEPT) undoPoints.shift();
    return result;
  } catch (error) {
    undoPoints.pop();
    keepFormerAttempts(state);
    throw error;
  }
}

function keepFormerAttempts(state: WorldState): void {
  const point = latestPoint(state, ({ attempts }) => attempts === state.attempts);
  state.attempts.former = point?.formerAttempts ?? null;
}

/** Takes back the latest control action. @throws Refusal UNDO_REFUSED if there is none or another one, or for what the client has done since */
export const undo: Handler<'undo', Action> = (state, { action, isForced }, { stamp: { room }, events }) => {
  const point = state.undoPoints.at(-1);
  if (point === undefined) throw new Refusal('UNDO_REFUSED');
  if ((action ?? point.number) !== point.number) {
    throw new Refusal('UNDO_REFUSED', {
      message: `The latest action that can be undone is ${point.name} (number ${point.number}), not number ${action}`,
    });
  }
  if (!isForced) refuseUndo(state, point);
  const { fields, name } = point;
  if (fields.payouts !== state.payouts && transactionsHeld(fields) > room.transactions)
    throw full(room.maxTransactions);
  const rules = rulesHeld(fields.scenario, point.scenario) - rulesHeld(state.scenario, state.index);
  if (rules > Math.max(0, room.rulesFree)) throw noRoomForRules();
  const { requests, held, undoPoints, generation, referee } = state;
  undoPoints.pop();
  for (const earlier of undoPoints) earlier.requests += requests.count - point.requests; // those are taken back
  putJournalBack(state, point);
  putLedgerBack(point);
  putAttemptsBack(point);
  Object.assign(state, fields, {
    name: state.name,
    // settings that were given since the action stay, and so does what they say of earlier reports
    referee: point.hasOtherJournal && point.settings === referee.settings ? fields.referee : referee,
    wallMs: state.wallMs,
    eventCount: state.eventCount,
    requests: state.requests,
    uses: point.uses,
    windows: point.windows,
    generation: generation + 1,
    held: isForced ? noneHeld(held.made) : { ...fields.held, made: held.made },
  });
  Object.assign(state.index, point.scenario);
  recordLate(state);
  keepFormerAttempts(state);
  events.push({ type: 'restore', nowMs: nowMs(state), undone: name });
  return point;
};

/** The journal without the requests since a point, or the one that its action has replaced. Numbers of requests are never reused. */
function putJournalBack(state: WorldState, { fields, requests, hasOtherJournal }: UndoPoint): void {
  const { count, list, pending } = state.requests;
  if (hasOtherJournal) {
    state.requests = fields.requests;
    state.requests.count = count;
    return;
  }
  while ((pending.at(-1)?.nth ?? 0) > requests) pending.pop();
  while ((list.at(-1)?.nth ?? 0) > requests) list.pop();
}

/** The ledger of a point, which has not changed since if its action has replaced it. */
function putLedgerBack({ fields, lengths, formerPayouts, requests }: UndoPoint): void {
  const { payouts, entries, stored, index } = fields;
  while (payouts.length > lengths.payouts) removeLatest(fields);
  for (const [position, former] of formerPayouts) {
    const { told, utr } = payouts[position]!;
    const isTaken = told !== null && told.request > requests; // the request that told it is taken back, too
    const payout = { ...former, told: isTaken ? former.told : told };
    if (utr !== null && utr !== former.utr) index.utrs.delete(utr);
    tally(index, payouts[position]!, position, -1);
    tally(index, payout, position, 1);
    payouts[position] = payout;
    scheduleStep(index, payout, position);
  }
  index.nextSerials.clear(); // they pass over UTRs that may be free again
  entries.length = lengths.entries;
  for (const { clientRefId } of stored.splice(lengths.stored)) putBack(index.stored, clientRefId, stored);
}

/** Gives a reference the position of the latest item that is left of it. */
function putBack(
  positions: Map<string, number>,
  clientRefId: string,
  list: readonly { readonly clientRefId: string }[],
): void {
  const latest = list.findLastIndex((one) => one.clientRefId === clientRefId);
  if (latest === -1) positions.delete(clientRefId);
  else positions.set(clientRefId, latest);
}

function removeLatest({ payouts, index }: Readonly<WorldState>): void {
  const payout = payouts.pop()!;
  const { txnId, clientRefId, nth, utr } = payout;
  index.byTxnId.delete(txnId);
  if (utr !== null) index.utrs.delete(utr);
  tally(index, payout, payouts.length, -1);
  index.beingTold.delete(payouts.length);
  if (nth === 1) index.byReference.delete(clientRefId);
  else putBack(index.byReference, clientRefId, payouts);
}

function putAttemptsBack({ fields: { attempts }, formerAttempts, references }: UndoPoint): void {
  attempts.references = references;
  for (const [key, former] of formerAttempts) {
    if (former === undefined) attempts.counts.delete(key);
    else attempts.counts.set(key, former);
  }
}

/** Forgets all actions: none can be undone any more. */
export const forgetUndo: Handler<'forgetUndo'> = (state) => {
  state.undoPoints.length = 0;
  keepFormerAttempts(state);
};

/** @throws Refusal UNDO_REFUSED for what the client has done since an action, and for held requests that have ended since */
function refuseUndo({ requests: { count, list }, held }: WorldState, { name, requests, fields }: UndoPoint) {
  const isWaiting = new Set(held.waiting.map(({ id }) => id));
  const ended = fields.held.waiting.filter(({ id }) => !isWaiting.has(id)).map(({ request }) => request);
  if (ended.length > 0) {
    const what = ended.length === 1 ? 'A held request has' : `${ended.length} held requests have`;
    throw notUndone(`${what} ended since the last action (${name})`, ended, ended.length);
  }
  const since = count - requests;
  if (since === 0) return;
  const sent = since === 1 ? 'a request' : `${since} requests`;
  const later = list.filter(({ nth }) => nth > requests);
  throw notUndone(`The client has sent ${sent} since the last action (${name})`, later, since);
}

/** @param requests those that are known of `count` */
function notUndone(why: string, requests: readonly KeptRequest[], count: number): Refusal {
  const shown = requests
    .slice(0, SHOWN_REQUESTS)
    .map(({ nth, route, clientRefId = '' }) => `#${nth} ${route} ${clientRefId}`.trim());
  const more = count > shown.length ? ` and ${count - shown.length} more` : '';
  const which = shown.length === 0 ? 'no longer listed' : `${shown.join(', ')}${more}`;
  return new Refusal('UNDO_REFUSED', {
    message: `${why}: ${which}. With force, undo takes ${count === 1 ? 'it' : 'them'} back too`,
  });
}

const SHOWN_REQUESTS = 10;
