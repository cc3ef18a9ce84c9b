import type { Dialect } from '../contract/dialect.ts';
import { Refusal, type RefusalData } from '../contract/errors.ts';
import type { InitiateRequest, StatusQuery } from '../contract/service.ts';
import { fingerprintOf, payoutDraw, payoutIds } from '../payout/identity.ts';
import { toPaise } from '../payout/money.ts';
import { invariant } from '../payout/invariant.ts';
import { asOf, countsReads, isHidden, timelineFault, type Hidden, type Payout } from '../payout/payout.ts';
import { plannedSteps, settlementName, timelineOf } from '../payout/settlement.ts';
import { covers } from '../payout/wallet.ts';
import { planRequest, type Plan } from '../scenario/plan.ts';
import { replacesBody, showsBody, type Effect, type Rule } from '../scenario/rule.ts';
import { withOverrides, type ScenarioCompiler } from '../scenario/scenario.ts';
import { countAttempt } from './attempts.ts';
import type { CommandOf, RequestCommand, Stamp } from './commands.ts';
import type { StateEvent } from './events.ts';
import { addPayout, countRead, findPayout, positionOf, settleDue } from './ledger.ts';
import {
  bothParameters,
  full,
  insufficient,
  neitherParameter,
  repeated,
  unknownPayout,
} from './payout-refusals.ts';
import { nowMs, type WorldState } from './state.ts';

/** What a request of the service got: plain data, from which HTTP makes its answer. */
export interface RequestResult {
  /** The words of the answer. */
  readonly dialect: Dialect;
  /** Which attempt of its reference it is, from 1; 0 where attempts are not counted. */
  readonly attempt: number;
  /** What the client is made to see; null for the normal answer. */
  readonly effect: SeenEffect | null;
  readonly answer: Answer;
  /** Whether this request made a payout. */
  readonly committed: boolean;
  /** The balance around it; null where the ledger was not asked. */
  readonly balances: { readonly beforePaise: number; readonly afterPaise: number } | null;
}

/** What a rule does to the answer. */
export interface SeenEffect extends Pick<Effect, 'respond' | 'fault'> {
  /** The rule: `scenario/rule`. */
  readonly rule: string;
  /** Wall time, ms. */
  readonly delayMs: number;
  /** The bytes of the fault `garbage`, from 0 to 255; empty for all others. */
  readonly garbage: readonly number[];
}

/** The normal answer: what the ledger says, or what it would have said where nothing was done. */
export type Answer =
  | { readonly kind: 'payout'; readonly payout: Payout; readonly replayed: boolean }
  | { readonly kind: 'balance'; readonly balancePaise: number; readonly lastUpdatedMs: number }
  | { readonly kind: 'refused'; readonly refusal: RefusalData }
  /** Nothing was done, and a rule's own answer takes the place of the normal one. */
  | { readonly kind: 'none' };

const GARBAGE_BYTES = 51; // 64 with the bytes around them that look like HTTP

/**
 * One request of the service: the first rule that matches is taken and counted, and the ledger is asked, unless the rule
 * says that nothing happens.
 *
 * @param events what happens is added to it
 */
export function handleRequest(
  state: WorldState,
  command: RequestCommand,
  stamp: Stamp,
  compiler: ScenarioCompiler,
  events: StateEvent[],
): RequestResult {
  const plan = planOf(state, command, stamp, compiler);
  const { rule, scenario } = plan;
  if (rule !== null) events.push({ type: 'rule', rule: rule.id, ...state.uses.get(rule.id)! });
  const beforePaise = state.wallet.balancePaise;
  const payoutsBefore = state.payouts.length;
  const [answer, isAsked] = answerOf(state, command, plan, stamp, events);
  return {
    dialect: scenario.dialect,
    attempt: plan.attempt,
    effect: rule === null || !isApplied(rule, answer) ? null : seenEffect(rule, plan),
    answer,
    committed: state.payouts.length > payoutsBefore,
    balances: isAsked ? { beforePaise, afterPaise: state.wallet.balancePaise } : null,
  };
}

const fieldsOf = (command: RequestCommand) =>
  command.kind === 'initiate' ? command.body : command.kind === 'status' ? command.query : {};

function planOf(state: WorldState, command: RequestCommand, stamp: Stamp, compiler: ScenarioCompiler): Plan {
  const { index, attempts, uses } = state;
  const { kind, headers, scenario: chosen } = command;
  const scenario = chosen === null ? index.active : withOverrides(compiler.scenario(chosen), index.overrides);
  return planRequest(
    { scenario, route: kind, fields: fieldsOf(command), headers },
    nowMs(state),
    (route, id) => countAttempt(attempts, route, id, stamp.attemptsFree <= 0),
    uses,
  );
}

/** Whether a rule changes what the client sees: not where it leaves a refusal as it is. */
const isApplied = ({ effect: { respond, fault, delay } }: Rule, answer: Answer): boolean =>
  answer.kind !== 'refused' || replacesBody(respond) || fault !== null || delay !== null;

const seenEffect = ({ id, effect: { respond, fault } }: Rule, { delayMs, draw }: Plan): SeenEffect => ({
  rule: id,
  respond,
  fault,
  delayMs,
  garbage:
    fault?.kind === 'garbage'
      ? Array.from({ length: GARBAGE_BYTES }, (_, nth) => 128 + Math.floor(draw(`garbage ${nth}`) * 128))
      : [],
});

/** @returns the answer, and whether the ledger was asked for it */
function answerOf(
  state: WorldState,
  command: RequestCommand,
  plan: Plan,
  stamp: Stamp,
  events: StateEvent[],
): readonly [answer: Answer, isAsked: boolean] {
  const effect = plan.rule?.effect ?? null;
  const isReplaced = effect !== null && replacesBody(effect.respond);
  try {
    if (command.kind === 'initiate') {
      if (effect === null || effect.commit) return [initiate(state, command, plan, stamp), true];
      return [isReplaced ? { kind: 'none' } : preview(state, command.body, plan), false];
    }
    if (effect !== null && (isReplaced || !showsBody(effect.fault))) return [{ kind: 'none' }, false];
    if (command.kind === 'balance') return [balance(state), true];
    checkQuery(command.query, plan);
    return [status(state, command.query, plan, events), true];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [{ kind: 'refused', refusal: error.data }, command.kind !== 'status' || isOfLedger(error)];
  }
}

/** Whether a refusal says what the ledger found, and not what is wrong with the request. */
const isOfLedger = ({ code }: Refusal): boolean => code !== 'INVALID_REQUEST';

/**
 * Makes a payout: PENDING, its money debited, its timeline decided.
 *
 * @throws Refusal DUPLICATE_REFERENCE, REFERENCE_CONFLICT, INSUFFICIENT_BALANCE or SANDBOX_FULL; nothing is changed then
 */
function initiate(
  state: WorldState,
  { body }: CommandOf<'initiate'>,
  plan: Plan,
  { recordsFree, maxRecords }: Stamp,
): Answer {
  const rows = plan.scenario.dialect.client_ref_id;
  const { client_ref_id: clientRefId } = body;
  const earlier = findPayout(state, { clientRefId });
  if (earlier !== undefined) {
    const isSame = earlier.fingerprint === fingerprint(body);
    const choice = isSame ? rows.same_body : rows.changed_body;
    if (choice === 400 || choice === 409) throw repeated(choice, earlier, isSame);
    if (choice === 'replay') return { kind: 'payout', payout: earlier, replayed: true };
    if (choice === 'first_answer')
      return { kind: 'payout', payout: asOf(earlier, -Infinity), replayed: true };
  }
  const { wallet, refused } = state;
  const isRemembered = rows.after_402 === 'remember' && refused.has(clientRefId);
  if (isRemembered || !covers(wallet, toPaise(body.amount))) {
    if (rows.after_402 === 'remember' && recordsFree > 0) refused.add(clientRefId);
    throw insufficient(wallet.balancePaise, body.amount, isRemembered);
  }
  if (recordsFree <= 0) throw full(maxRecords);
  const payout = payoutOf(state, body, plan, (earlier?.nth ?? 0) + 1);
  addPayout(state, payout);
  return { kind: 'payout', payout, replayed: false };
}

/** The payout that a request would make. Nothing is stored. */
const preview = (state: WorldState, body: InitiateRequest, plan: Plan): Answer => ({
  kind: 'payout',
  payout: payoutOf(state, body, plan, 1),
  replayed: false,
});

/**
 * The payout as initiate stores it: PENDING, even if its timeline settles it in the same instant.
 *
 * @param nth which payout of its reference it is, from 1
 */
function payoutOf(state: WorldState, body: InitiateRequest, { scenario, rule }: Plan, nth: number): Payout {
  const { client_ref_id: clientRefId, transfer_mode: transferMode } = body;
  const { seed, settlement, dialect } = scenario;
  const createdAtMs = nowMs(state);
  const steps =
    rule?.effect.timeline ??
    plannedSteps(settlement, transferMode, createdAtMs, payoutDraw(seed, clientRefId, nth));
  const timeline = timelineOf(steps, createdAtMs, dialect.status.utr_of_failed === 'set');
  const fault = timelineFault(timeline);
  invariant(fault === null, fault ?? '');
  const { txnId, utrSerial } = payoutIds(seed, state.identity, clientRefId, nth);
  return {
    txnId,
    clientRefId,
    nth,
    fingerprint: fingerprint(body),
    amountPaise: toPaise(body.amount),
    transferMode,
    beneficiaryName: body.beneficiary_name,
    beneficiaryAccount: body.beneficiary_account,
    beneficiaryIfsc: body.beneficiary_ifsc,
    createdAtMs,
    plannedBy: rule?.effect.timeline ? rule.id : settlementName(settlement, transferMode, scenario.name),
    timeline,
    stepsDone: 0,
    hidden: rule === null ? null : hiddenBy(rule, createdAtMs),
    reads: 0,
    state: 'PENDING',
    utrSerial,
    utr: null,
    completedAtMs: null,
  };
}

const fingerprint = (body: InitiateRequest): string =>
  fingerprintOf([
    body.beneficiary_name,
    body.beneficiary_account,
    body.beneficiary_ifsc,
    toPaise(body.amount),
    body.transfer_mode,
    body.remarks ?? null,
  ]);

function hiddenBy({ id: by, effect: { notFound } }: Rule, createdAtMs: number): Hidden | null {
  if (notFound === null) return null;
  const { reads, for: forMs } = notFound;
  return reads === undefined ? { untilMs: createdAtMs + forMs!, by } : { reads, by };
}

function balance({ wallet, entries }: WorldState): Answer {
  return { kind: 'balance', balancePaise: wallet.balancePaise, lastUpdatedMs: entries.at(-1)!.atMs };
}

/** @throws Refusal INVALID_REQUEST for a query that names nothing, or too much for this dialect */
function checkQuery({ client_ref_id, txn_id }: StatusQuery, { scenario }: Plan): void {
  const given = [client_ref_id, txn_id].filter((value) => value !== undefined).length;
  if (given === 0) throw neitherParameter();
  if (given === 2 && scenario.dialect.status.both === 400) throw bothParameters();
}

/**
 * Finds a payout by either name, or by both, as the dialect says. The read is counted, which may be what a step or a hidden
 * payout waits for.
 *
 * @throws Refusal TRANSACTION_NOT_FOUND or TRANSACTION_UNKNOWN
 */
function status(
  state: WorldState,
  { client_ref_id: clientRefId, txn_id: txnId }: StatusQuery,
  { scenario, rule }: Plan,
  events: StateEvent[],
): Answer {
  const { both, unknown } = scenario.dialect.status;
  const isBoth = clientRefId !== undefined && txnId !== undefined;
  const position = positionOf(state, {
    txnId: isBoth && both === 'client_ref_id' ? undefined : txnId,
    clientRefId: isBoth && both === 'txn_id' ? undefined : clientRefId,
  });
  if (position === undefined) throw unknownPayout(unknown, null);
  if (countsReads(state.payouts[position]!)) {
    // all else that was due has happened: what is due now are further steps of this payout, and few
    const changes = [...countRead(state, position), ...settleDue(state, Infinity)];
    events.push(...changes.map((change) => ({ type: 'settlement', change }) as const));
  }
  const payout = state.payouts[position]!;
  if (isHidden(payout, nowMs(state))) throw unknownPayout(unknown, payout.hidden!.by);
  const staleMs = rule?.effect.staleMs ?? null;
  const shown = staleMs === null ? payout : asOf(payout, nowMs(state) - staleMs);
  return { kind: 'payout', payout: shown, replayed: false };
}
