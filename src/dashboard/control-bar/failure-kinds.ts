import type { RuleRequest } from '../../contract/control.ts';
import type { RuleResponse, ScenarioResponse } from '../../contract/control-responses.ts';
import type { RouteName } from '../../contract/match.ts';

type Effect = NonNullable<RuleRequest['effect']>;

const ALL: readonly RouteName[] = ['initiate', 'status', 'balance'];
const PAYS: readonly RouteName[] = ['initiate'];
const READS: readonly RouteName[] = ['status', 'balance'];

/** What can be ordered for requests to some routes. Its text ends a sentence. */
type Row = readonly [name: string, text: string, routes: readonly RouteName[], effect: Effect];
const ROWS: readonly Row[] = [
  ['500-after-payout', 'gets a 500 after the payout', PAYS, { commit: true, respond: { status: 500 } }],
  ['hang-after-payout', 'hangs after the payout', PAYS, { commit: true, fault: 'hang' }],
  ['reset-after-payout', 'is reset after the payout', PAYS, { commit: true, fault: 'connection-reset' }],
  ['get-500', 'gets a 500', ALL, { respond: { status: 500 } }],
  ['get-429', 'gets a 429', ALL, { respond: { status: 429 } }],
  ['get-402', 'gets a 402', PAYS, { respond: { status: 402 } }],
  ['get-404', 'gets a 404', ['status'], { respond: { status: 404 } }],
  ['hang', 'hangs', READS, { fault: 'hang' }],
  ['reset', 'is reset', READS, { fault: 'connection-reset' }],
  ['delay', 'waits for 5 s', ALL, { delay: '5s' }],
  ['hold-before', 'is held before the payout', PAYS, { hold: 'arrived' }],
  ['hold-after', 'is held after the payout', PAYS, { hold: 'committed' }],
  ['hold', 'is held', READS, { hold: 'arrived' }],
];

/** The first is what a sentence orders unless something else is chosen. */
export const FAILURES = ROWS.map(([name, text, routes, effect]) => ({ name, text, routes, effect }));
export type Failure = (typeof FAILURES)[number];

/** How often an order applies, as the beginning of a sentence. */
export const TIMES = { next: 1, 'next 3': 3, every: null } as const;
export type Times = keyof typeof TIMES;

export type NamedRule = RuleRequest & { readonly name: string };

/** A rule that orders a failure. */
export function ruleOf({ name, effect }: Failure, route: RouteName, times: Times): NamedRule {
  const count = TIMES[times];
  return {
    name: route === 'initiate' ? name : `${route}-${name}`,
    match: { route },
    effect,
    ...(count !== null && { times: count }),
  };
}

/** An ordered rule in words: `the next initiate gets a 500 after the payout`; its description or name for any other rule. */
export function orderText({ name, description, rule, taken }: RuleResponse): string {
  const { match, times, effect } = rule as RuleRequest;
  const route = match?.route;
  const known = FAILURES.find((one) => JSON.stringify(one.effect) === JSON.stringify(effect));
  if (known === undefined || typeof route !== 'string' || Object.keys(match!).length > 1) {
    return description === '' ? name : description;
  }
  const left = times === undefined ? null : times - taken;
  const which = left === null ? 'every' : left <= 1 ? 'the next' : `each of the next ${left}`;
  return `${which} ${route} ${known.text}`;
}

/** How many more requests a rule applies to; null for all. */
export function leftOf({ rule, taken }: RuleResponse): number | null {
  const { times } = rule as RuleRequest;
  return times === undefined ? null : Math.max(0, times - taken);
}

/** The parts of a rule and of an outcome that the page reads. */
interface Written {
  readonly match?: Readonly<Record<string, unknown>>;
  readonly effect?: Effect;
  readonly timeline?: Effect['timeline'];
  readonly not_found?: Effect['not_found'];
}

/** The effects of magic beneficiaries, as headings of the menu. */
export const MAGIC_KINDS = [
  'Normal response, then',
  'Paid, but the client sees',
  'Not paid, the client sees',
] as const;

/** An account that forces a response or an outcome. */
export interface MagicBeneficiary {
  readonly id: string;
  readonly name: string;
  readonly account: string;
  readonly kind: (typeof MAGIC_KINDS)[number];
  readonly description: string;
  /** Does the same for every payout, whatever its account. */
  readonly forEveryPayout: NamedRule;
}

const isPaid = ({ commit, respond, fault }: Effect): boolean =>
  commit === true || (respond === undefined && fault === undefined);

/** The magic beneficiaries of a world: its magic outcomes, and its magic rules. */
export function magicBeneficiaries(scenario: ScenarioResponse | null): readonly MagicBeneficiary[] {
  const { outcomes = [], rules = [] } = scenario ?? {};
  const beneficiary = (
    { id, name, description }: Pick<RuleResponse, 'id' | 'name' | 'description'>,
    { match: { beneficiary_account: account, ...match } = {}, effect, timeline, not_found }: Written,
  ): MagicBeneficiary => ({
    id,
    name,
    account: String(account),
    kind: MAGIC_KINDS[effect === undefined ? 0 : isPaid(effect) ? 1 : 2],
    description: description === '' ? name : description,
    forEveryPayout: {
      name,
      match: { ...match, route: 'initiate' },
      effect: effect ?? { ...(timeline && { timeline }), ...(not_found && { not_found }) },
    },
  });
  return [
    ...outcomes.filter(({ from }) => from === 'magic').map((one) => beneficiary(one, one.outcome as Written)),
    ...rules.filter(({ from }) => from === 'magic').map((one) => beneficiary(one, one.rule as Written)),
  ];
}
