import type { RouteName } from '../contract/scenario.ts';
import { requestDraw } from '../payout/identity.ts';
import { delayMs, takeRule, type RequestFacts, type Rule, type RuleUse } from './rule.ts';
import type { Scenario } from './scenario.ts';
import type { Draw } from '../payout/settlement.ts';

/** A rule's delay never lasts longer than this, whatever it draws. */
const LONGEST_DELAY_MS = 3_600_000;

/** What is to become of one request: decided once, before anything is done. */
export interface Plan {
  readonly scenario: Scenario;
  /** The rule that was taken; null when the request is served as usual. */
  readonly rule: Rule | null;
  /** How much later the answer comes, in ms of wall time. */
  readonly delayMs: number;
  /** Chance for this request. */
  readonly draw: Draw;
  /** The how manieth time its reference was sent, from 1; 0 when nobody counts. */
  readonly attempt: number;
}

/** A request, as far as its plan depends on it. */
export interface Planned extends Omit<RequestFacts, 'attempt' | 'nowMs'> {
  readonly scenario: Scenario;
}

/**
 * Takes the first rule that matches.
 *
 * @param attempt counts how often this world was asked for a reference; called for initiates, and where the scenario depends on it
 * @param uses counters of this world; changed
 */
export function planRequest(
  { scenario, route, fields, headers }: Planned,
  nowMs: number,
  attemptOf: (route: RouteName, id: string) => number,
  uses: Map<string, RuleUse>,
): Plan {
  const id = String(fields['client_ref_id'] ?? fields['txn_id'] ?? '');
  // initiates are always counted: a scenario that a header chooses later may ask for the attempt
  const attempt = route === 'initiate' || scenario.countsAttempts ? attemptOf(route, id) : 0;
  const draw = requestDraw(scenario.seed, route, id, scenario.countsAttempts ? attempt : 0);
  const rule = takeRule(scenario.rules, { route, fields, headers, attempt, nowMs }, uses, draw);
  const delay = rule?.effect.delay ?? null;
  return {
    scenario,
    rule,
    draw,
    attempt,
    delayMs: delay === null ? 0 : Math.min(delayMs(delay, draw), LONGEST_DELAY_MS),
  };
}
