import type {
  ClockResponse,
  ControlAction,
  OutcomeResponse,
  RuleResponse,
  ScenarioResponse,
  WalletResponse,
  WorldResponse,
} from '../../contract/control-responses.ts';
import { toInr } from '../../payout/money.ts';
import { iso } from '../../contract/times.ts';
import type { Outcome } from '../../scenario/rule-compiler.ts';
import type { Rule } from '../../scenario/rule.ts';
import { sumsResponse } from '../../world/events.ts';
import { brokenInvariants } from '../../world/ledger.ts';
import { sumsOf } from '../../world/state.ts';
import type { Action, WorldState } from '../../world/state-shape.ts';
import { isoOrNull } from '../../world/transaction-response.ts';
import { clockResult, type ClockResult } from '../../world/clock.ts';

/** The state of a world in the words of the control API: INR and timestamps for paise and milliseconds. */

export const clockResponse = ({ nowMs, speed, nextDueMs }: ClockResult): ClockResponse => ({
  now: iso(nowMs),
  frozen: speed === 0,
  speed,
  next_due: isoOrNull(nextDueMs),
});

export const actionResponse = ({ number, name, atMs }: Action): ControlAction => ({
  action: number,
  name,
  at: iso(atMs),
});

export function worldResponse(state: WorldState): WorldResponse {
  const { balance, payouts, at_risk, out_of_date } = sumsResponse(sumsOf(state));
  const last = state.undoPoints.at(-1);
  const broken = brokenInvariants(state);
  return {
    id: state.id,
    balance,
    opening_balance: toInr(state.openingBalancePaise),
    transactions: {
      PENDING: payouts.PENDING.count,
      SUCCESS: payouts.SUCCESS.count,
      FAILED: payouts.FAILED.count,
      REVERSED: payouts.REVERSED.count,
    },
    clock: clockResponse(clockResult(state)),
    scenario: state.index.base.name,
    name: state.name,
    at_risk,
    out_of_date,
    last_action: last === undefined ? null : actionResponse(last),
    invariants: broken.length === 0 ? 'hold' : [...broken],
  };
}

export function walletResponse({ wallet, openingBalancePaise, index }: WorldState): WalletResponse {
  const { PENDING, SUCCESS, FAILED, REVERSED } = index.tallies;
  return {
    balance: toInr(wallet.balancePaise),
    opening_balance: toInr(openingBalancePaise),
    in_flight: toInr(PENDING.paise),
    paid_out: toInr(SUCCESS.paise),
    came_back: toInr(FAILED.paise + REVERSED.paise),
  };
}

const originOf = (id: string): 'scenario' | 'magic' => (id.startsWith('magic/') ? 'magic' : 'scenario');

/** What a rule and an outcome have in common. */
const named = ({ id, document }: { readonly id: string; readonly document: unknown }) => ({
  id,
  name: id.slice(id.indexOf('/') + 1),
  description: (document as { readonly description?: string }).description ?? '',
});

export function ruleResponse(rule: Rule, uses: WorldState['uses']): RuleResponse {
  const { id, document } = rule;
  const { matched, taken } = uses.get(id) ?? { matched: 0, taken: 0 };
  const from = id.startsWith('world/') ? 'world' : originOf(id);
  return { ...named(rule), from, matched, taken, rule: document };
}

const outcomeResponse = (outcome: Outcome): OutcomeResponse => ({
  ...named(outcome),
  from: originOf(outcome.id),
  outcome: outcome.document,
});

/** All rules of a world, in the order in which they are tried. */
export const rulesResponse = ({ index, uses }: WorldState): RuleResponse[] =>
  index.active.rules.map((rule) => ruleResponse(rule, uses));

export function scenarioResponse(state: WorldState): ScenarioResponse {
  const { name, description, source } = state.index.base;
  return {
    name,
    description,
    chosen: state.scenario.isChosen,
    document: source.document,
    rules: rulesResponse(state),
    outcomes: state.index.active.outcomes.map(outcomeResponse),
  };
}

/** A JSON object with a long list. @param object with that list empty @param items JSON texts, each of some items */
export function* listText(object: object, items: Iterable<string>): Generator<string> {
  const [before, after] = JSON.stringify(object).split('[]');
  yield `${before}[`;
  let separator = '';
  for (const item of items) {
    yield separator + item;
    separator = ',';
  }
  yield `]${after}`;
}
