import type { RateLimit } from '../../contract/snapshot.ts';
import type { Dialect } from '../../contract/dialect.ts';
import type { Refusal } from '../../contract/errors.ts';
import type { RouteName } from '../../contract/match.ts';
import { isTooLong } from '../../contract/service.ts';
import { oneMore } from '../../payout/payout.ts';
import { requestDraw } from '../../payout/identity.ts';
import type { Draw } from '../../payout/settlement.ts';
import { delayMs, firstApplicableRule, type RequestFacts, type Rule } from '../../scenario/rule.ts';
import { countInWindow, rateLimited, windowLeftMs } from '../../scenario/rate-limit.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { Context } from '../commands.ts';
import { findPayout } from '../ledger.ts';
import type { RequestCommand } from './request-commands.ts';
import { nowMs } from '../state.ts';
import type { Attempt, Attempts, WorldState } from '../state-shape.ts';

/** How many references of each world are counted. Of more than that, those that came first are forgotten together. */
const MAX_ATTEMPTS = 10_000;
const FORGOTTEN_AT_ONCE = 1000;

const keyOf = (route: RouteName, id: string): string => `${route} ${id}`;

/** Counts an attempt, from 1. @param isFull whether the sandbox is full: a new reference is refused then, and not counted */
export function countAttempt(attempts: Attempts, route: RouteName, id: string, isFull: boolean): number {
  if (isTooLong(id)) return 1; // no payout can have it
  const key = keyOf(route, id);
  const { counts } = attempts;
  const earlier = counts.get(key);
  if (earlier === undefined && isFull) return 1;
  if (earlier === undefined && route === 'initiate') attempts.references = oneMore(attempts.references);
  const attempt = {
    count: oneMore(earlier?.count ?? 0),
    payout: earlier?.payout ?? (route === 'initiate' ? attempts.references : 0),
  };
  keepFormer(attempts, key, earlier);
  counts.set(key, attempt);
  if (counts.size > MAX_ATTEMPTS) forgetOldest(attempts);
  return attempt.count;
}

function forgetOldest(attempts: Attempts): void {
  let left = FORGOTTEN_AT_ONCE;
  for (const [key, attempt] of attempts.counts) {
    keepFormer(attempts, key, attempt);
    attempts.counts.delete(key);
    left -= 1;
    if (left === 0) return;
  }
}

function keepFormer({ former }: Attempts, key: string, attempt: Attempt | undefined): void {
  if (former?.has(key) === false) former.set(key, attempt);
}

/** Which new reference of its world this is, counted from 1; 0 for one that no initiate has sent, or that is forgotten. */
const referenceNumber = (attempts: Attempts, reference = ''): number =>
  attempts.counts.get(keyOf('initiate', reference))?.payout ?? 0;

/** The part of a rule that is needed once it was taken. */
export type TakenRule = Pick<Rule, 'id' | 'effect'>;

/** The decisions about one request, made before anything changes. */
export interface Plan {
  readonly scenario: Scenario;
  /** The rule to apply; null when the request is served normally. */
  readonly rule: TakenRule | null;
  /** How long the response is delayed, in ms of wall time. */
  readonly delayMs: number;
  /** The random draws of this request. */
  readonly draw: Draw;
  /** The facts by which its rule and its outcome are chosen. */
  readonly facts: RequestFacts;
  /** How long the limit of its rule still refuses requests, in ms of world time; null without one. */
  readonly limitLeftMs: number | null;
  /** Which attempt of its reference this is, counted from 1; 0 when attempts are not counted. */
  readonly attempt: number;
}

/** The rate limit of a scenario that applies to a route; null for none. */
export const rateLimitOn = (
  { rateLimit, dialect }: { readonly rateLimit: RateLimit | 'off'; readonly dialect: Dialect },
  route: RouteName | undefined,
): RateLimit | null =>
  rateLimit === 'off' || (dialect.rate_limit.routes === 'initiate' && route !== 'initiate')
    ? null
    : rateLimit;

/** Counts a request against the rate limit of its scenario. @returns the refusal of a request past it */
export function pastRateLimit(state: WorldState, route: RouteName, scenario: Scenario): Refusal | null {
  const { name, hasOwnRateLimit, dialect } = scenario;
  const limit = hasOwnRateLimit ? rateLimitOn(scenario, route) : null;
  if (limit === null) return null;
  const leftMs = countInWindow(state.windows, name, limit, nowMs(state));
  if (leftMs === null) return null;
  const change = `rate_limit in the scenario ${name} changes that`;
  return rateLimited(limit, dialect, leftMs, `rate_limit of ${name}`, change);
}

/** The reference that a request names, directly or by the txn_id of a payout. */
function referenceOf(state: WorldState, { client_ref_id: reference, txn_id: txnId }: RequestFacts['fields']) {
  if (reference !== undefined) return String(reference);
  return txnId === undefined ? undefined : findPayout(state, { txnId: String(txnId) })?.clientRefId;
}

/** Finds the rule to apply to a request, and counts the request. @param asAttempt which attempt it is, if not the next one */
export function planRequest(
  state: WorldState,
  command: RequestCommand,
  scenario: Scenario,
  { transactionsFree }: Pick<Context, 'transactionsFree'>,
  asAttempt?: number,
): Plan & { readonly rule: Rule | null } {
  const { attempts, windows } = state;
  const { kind: route } = command;
  // initiates are always counted, since a scenario that is chosen later may depend on the attempt
  const isCounted = route === 'initiate' || scenario.countsAttempts;
  const counted = isCounted ? countAttempt(attempts, route, idOf(command), transactionsFree <= 0) : 0;
  const attempt = isCounted ? (asAttempt ?? counted) : 0;
  const facts = factsOf(state, command, attempt, scenario);
  const draw = drawOf(command, scenario, attempt);
  const rule = firstApplicableRule(scenario.rules, facts, state, draw);
  return {
    scenario,
    rule,
    facts,
    draw,
    attempt,
    delayMs: delayMs(rule?.effect.delay ?? 0, draw),
    limitLeftMs: rule?.limit ? windowLeftMs(windows.get(rule.id)!, rule.limit, facts.nowMs) : null,
  };
}

export const fieldsOf = (command: RequestCommand): RequestFacts['fields'] =>
  command.kind === 'initiate' ? command.body : command.kind === 'status' ? command.query : {};

export function idOf(command: RequestCommand): string {
  const { client_ref_id: reference, txn_id: txnId } = fieldsOf(command);
  return String(reference ?? txnId ?? '');
}

export const drawOf = (command: RequestCommand, { seed, countsAttempts }: Scenario, attempt: number): Draw =>
  requestDraw(seed, command.kind, idOf(command), countsAttempts ? attempt : 0);

/** What rules can test in a request. @param attempt 0 when attempts are not counted */
export function factsOf(
  state: WorldState,
  command: RequestCommand,
  attempt: number,
  { calendar }: Scenario,
): RequestFacts {
  const fields = fieldsOf(command);
  const atMs = nowMs(state);
  return {
    route: command.kind,
    fields,
    headers: command.request.headers,
    attempt,
    payout: () => referenceNumber(state.attempts, referenceOf(state, fields)),
    nowMs: atMs,
    ageMs: atMs - state.entries[0]!.atMs,
    calendar,
  };
}
