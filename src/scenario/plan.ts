import { LONGEST_WAIT_MS, type RouteName } from '../contract/scenario-document.ts';
import { requestDraw } from '../payout/identity.ts';
import { delayMs, takeRule, type RequestFacts, type Rule, type RuleUse } from './rule.ts';
import type { Scenario } from './scenario.ts';
import type { Draw } from '../payout/settlement.ts';

/** The decisions about one request, made before anything is done. */
export interface Plan {
  readonly scenario: Scenario;
  /** The rule to apply; null when the request is served normally. */
  readonly rule: Rule | null;
  /** How long the answer is delayed, in ms of wall time. */
  readonly delayMs: number;
  /** The random draws of this request. */
  readonly draw: Draw;
  /** Which attempt of its reference this is, counted from 1; 0 when attempts are not counted. */
  readonly attempt: number;
}

/**
 * Finds the rule to apply to a request, and counts the request.
 *
 * @param attemptOf counts an attempt of a reference in this world and returns its number; called for initiates, and for other
 *   routes when the scenario depends on attempts
 * @param uses counters of this world; changed
 */
export function planRequest(
  { scenario, ...request }: Omit<RequestFacts, 'attempt' | 'nowMs'> & { readonly scenario: Scenario },
  nowMs: number,
  attemptOf: (route: RouteName, id: string) => number,
  uses: Map<string, RuleUse>,
): Plan {
  const { route, fields } = request;
  const id = String(fields['client_ref_id'] ?? fields['txn_id'] ?? '');
  // initiates are always counted, since a scenario that a header chooses later may depend on the attempt
  const attempt = route === 'initiate' || scenario.countsAttempts ? attemptOf(route, id) : 0;
  const draw = requestDraw(scenario.seed, route, id, scenario.countsAttempts ? attempt : 0);
  const rule = takeRule(scenario.rules, { ...request, attempt, nowMs }, uses, draw);
  const delay = rule?.effect.delay ?? null;
  return {
    scenario,
    rule,
    draw,
    attempt,
    delayMs: delay === null ? 0 : Math.min(delayMs(delay, draw), LONGEST_WAIT_MS),
  };
}
