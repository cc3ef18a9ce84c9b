import { full } from '../contract/errors.ts';
import type { Payout, PlannedStep } from '../contract/snapshot.ts';
import { durationText, timeOfDay, iso, istDate } from '../contract/times.ts';
import { counted } from '../contract/words.ts';
import type { ExplainRequest } from '../contract/control.ts';
import type { ExplainResponse } from '../contract/control-responses.ts';
import { isTooLong, withoutKeys, type InitiateRequest, type StatusQuery } from '../contract/service.ts';
import { isHidden } from '../payout/timeline.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { covers, toInr, toPaise } from '../payout/money.ts';
import { explainChoice } from '../scenario/explanation.ts';
import type { Outcome } from '../scenario/rule-compiler.ts';
import { replacesBody, showsResponse, skipReason, type LateWhen } from '../scenario/rule.ts';
import type { RequestCommand } from './request/request-commands.ts';
import type { Room } from './commands.ts';
import { findPayout } from './ledger.ts';
import { noRoomToHold } from './request/held-requests.ts';
import { futureOf, newPayout } from './request/new-payout.ts';
import { repetitionOf } from './request/repetition.ts';
import { idOf, pastRateLimit, planRequest, type Plan } from './request/request-plan.ts';
import { askedPayout } from './request/serve-status.ts';
import type { WorldState } from './state-shape.ts';

/** What a request that is not sent has in place of what came over the wire. */
const NOT_SENT = { requestId: '', method: '', url: '', waitedMs: 0, after: 0 };

/** The command that the request would submit. */
function commandOf({ route, body, query, headers }: ExplainRequest): RequestCommand {
  const lowerCase = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const shown = withoutKeys(Object.fromEntries(lowerCase)) as RequestCommand['request']['headers'];
  const asked = { request: { ...NOT_SENT, headers: shown } };
  if (route === 'initiate') return { kind: route, body: body!, ...asked };
  return route === 'status' ? { kind: route, query: query!, ...asked } : { kind: route, ...asked };
}

/** When a step comes, as a scenario writes it: `after 40m`, `at 08:30 IST on 2026-01-27`. */
function whenText({ when }: PlannedStep, { afterMs, polls }: Payout['timeline'][number], atMs: number) {
  if (afterMs === null) return `at status read ${polls}`;
  if (!('atMinute' in when)) return `after ${durationText(afterMs)}`;
  return `at ${timeOfDay(when.atMinute)} IST on ${istDate(atMs + afterMs)}`;
}

/** Why an initiate makes no new payout although its rule lets it; null when it makes one. */
function whyNoPayout(
  state: WorldState,
  body: InitiateRequest,
  { dialect }: Scenario,
  { maxTransactions, transactions }: Room,
): string | null {
  const repetition = repetitionOf(state, body, dialect);
  if (repetition !== null) {
    const { earlier, stored } = repetition;
    if (stored !== undefined || earlier === undefined)
      return `${body.client_ref_id} was answered with ${stored!.response.status} before, and gets that again (client_ref_id.same_body: stored)`;
    const { txnId, plannedBy } = earlier;
    return `${body.client_ref_id} was made before (${txnId}, planned by ${plannedBy}): nothing is decided again`;
  }
  const { wallet } = state;
  if (covers(wallet, toPaise(body.amount))) return transactions > 0 ? null : full(maxTransactions).message;
  return `the balance of INR ${toInr(wallet.balancePaise)} does not cover INR ${body.amount}`;
}

/** Why a status read shows no payout although its rule lets it; null when it shows one. */
function whyNotFound(state: WorldState, query: StatusQuery, { rule, scenario: { dialect }, facts }: Plan) {
  const { respond = null, fault = null } = rule?.effect ?? {};
  if (replacesBody(respond) || !showsResponse(fault?.kind)) return null;
  const payout = findPayout(state, askedPayout(query, dialect));
  if (payout === undefined) return 'this world has no such payout';
  const isFound = !isHidden({ ...payout, reads: payout.reads + 1 }, facts.nowMs);
  return isFound ? null : `${payout.txnId} is not found yet: ${payout.hidden!.by} hides it from status reads`;
}

const lateText = ({ after, after_requests: requests }: LateWhen): string =>
  `after ${after === undefined ? counted(requests!, 'more request') : durationText(after)}`;

/** The payout that a request would make, or what prevents it. */
function made(state: WorldState, command: RequestCommand, plan: Plan, room: Room) {
  const noRoom = plan.rule?.effect.hold ? noRoomToHold(state) : null;
  if (noRoom !== null) return { payout: null, note: noRoom.message };
  if (command.kind === 'status') return { payout: null, note: whyNotFound(state, command.query, plan) };
  if (command.kind !== 'initiate') return { payout: null, note: null };
  const { rule, scenario } = plan;
  const late = rule?.effect.late ?? null;
  if (rule?.effect.commit === false && late === null)
    return { payout: null, note: `${rule.id} makes no payout` };
  const note = whyNoPayout(state, command.body, scenario, room);
  if (note !== null) return { payout: null, note };
  const future = futureOf(state, command.body, plan);
  const { plannedBy, timeline, createdAtMs } = newPayout(state, command.body, scenario, future);
  const planned = timeline.map((step, nth) => ({
    to: step.to,
    utr: step.utr,
    when: whenText(future.steps[nth]!, step, createdAtMs),
  }));
  const lateNote = late && `${rule!.id} has the ledger see it later: ${lateText(late)}`;
  return { payout: { planned_by: plannedBy, timeline: planned }, note: lateNote };
}

/** A copy of what a world counts, in which a request can be counted without changing the world. */
const copyOfCounts = ({ uses, windows, attempts }: WorldState) => ({
  uses: new Map([...uses].map(([id, use]) => [id, { ...use }])),
  windows: new Map(windows),
  attempts: { ...attempts, counts: new Map(attempts.counts), former: null },
});

/** Explains which rule and which outcome a request would match now, and why not the others. It is counted in copies only. @param room of a new world */
export function explainRequest(
  state: Readonly<WorldState>,
  request: ExplainRequest,
  room: Room,
): ExplainResponse {
  const command = commandOf(request);
  const scenario = state.index.active;
  const copy: WorldState = { ...state, ...copyOfCounts(state) };
  const limited = pastRateLimit(copy, command.kind, scenario);
  // a reference that no payout can have is never counted: each attempt is the first
  const asAttempt = isTooLong(idOf(command)) ? 1 : request.attempt;
  const plan = planRequest(copy, command, scenario, { transactionsFree: room.transactions }, asAttempt);
  const { facts, draw, attempt, rule } = plan;
  const asked = { scenario: scenario.name, now: iso(facts.nowMs), attempt: attempt === 0 ? null : attempt };
  if (limited !== null)
    return { ...asked, rule: null, payout: null, note: limited.message, rules: [], outcomes: [] };
  const outcomes = command.kind === 'initiate' ? scenario.outcomes : [];
  const { payout, note } = made(copy, command, plan, room);
  const counts = copyOfCounts(state);
  const noteOf = ({ steps }: Outcome): string =>
    rule?.effect.timeline && steps !== null ? `, but ${rule.id} has a timeline of its own` : '';
  return {
    ...asked,
    rule: rule?.id ?? null,
    payout,
    note,
    rules: explainChoice(
      scenario.rules,
      facts,
      (one) => skipReason(one, facts, counts, draw),
      () => '',
    ),
    outcomes: explainChoice(outcomes, facts, () => null, noteOf),
  };
}
