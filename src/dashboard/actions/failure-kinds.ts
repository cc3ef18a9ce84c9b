import type { RuleRequest } from '../../contract/control.ts';
import type { RuleResponse, ScenarioResponse } from '../../contract/control-responses.ts';
import type { RouteName } from '../../contract/match.ts';

type Effect = NonNullable<RuleRequest['effect']>;

/** What a request can meet. Its text ends a sentence; of an initiate, it says whether the payout is made. */
type Row = readonly [name: string, text: string, effect: Effect];

const INITIATE: readonly Row[] = [
  ['get-429', 'gets a 429, and no payout', { respond: { status: 429 } }],
  ['get-500', 'gets a 500, and no payout', { respond: { status: 500 } }],
  ['500-after-payout', 'gets a 500 after the payout', { commit: true, respond: { status: 500 } }],
  ['timeout-after-payout', 'times out after the payout', { commit: true, fault: 'hang' }],
  ['reset-after-payout', 'is reset after the payout', { commit: true, fault: 'connection-reset' }],
  [
    'empty-after-payout',
    'gets an empty response after the payout',
    { commit: true, fault: 'empty-response' },
  ],
  ['half-after-payout', 'gets half a response after the payout', { commit: true, fault: 'truncated-body' }],
  ['garbled-after-payout', 'gets invalid JSON after the payout', { commit: true, fault: 'malformed-json' }],
  ['late-after-payout', 'gets its response 5 s after the payout', { delay: '5s' }],
  ['get-402', 'gets a 402, and no payout', { respond: { status: 402 } }],
  ['timeout', 'times out, and no payout', { fault: 'hang' }],
  ['reset', 'is reset, and no payout', { fault: 'connection-reset' }],
  ['hold-before', 'is held before the payout', { hold: 'arrived' }],
  ['hold-after', 'is held after the payout', { hold: 'committed' }],
];
const BALANCE: readonly Row[] = [
  ['get-500', 'gets a 500', { respond: { status: 500 } }],
  ['get-429', 'gets a 429', { respond: { status: 429 } }],
  ['timeout', 'times out', { fault: 'hang' }],
  ['reset', 'is reset', { fault: 'connection-reset' }],
  ['late', 'gets its response 5 s late', { delay: '5s' }],
  ['hold', 'is held', { hold: 'arrived' }],
];
const STATUS: readonly Row[] = [['get-404', 'gets a 404', { respond: { status: 404 } }], ...BALANCE];

const listed = (rows: readonly Row[]) => rows.map(([name, text, effect]) => ({ name, text, effect }));

/** The failures of each route. */
export const FAILURES = { initiate: listed(INITIATE), status: listed(STATUS), balance: listed(BALANCE) };
export type Failure = (typeof FAILURES)[RouteName][number];

/** What a sentence orders unless something else is chosen. */
export const FIRST_FAILURE = FAILURES.initiate.find(({ name }) => name === '500-after-payout')!;

/** The nine failures of “Break my client”, one for each new payout. */
export const BREAKS: readonly Failure[] = FAILURES.initiate.slice(0, 9);

const BREAK = 'break-';
export const breakName = ({ name }: Failure): string => BREAK + name;

/** Whether a rule is one of the nine. */
export const isBreak = ({ name, from }: RuleResponse): boolean => from === 'world' && name.startsWith(BREAK);

/** How often a failure applies, as the beginning of a sentence. */
export const TIMES = { next: 'the next', 'next 3': 'each of the next 3', every: 'every' } as const;
export type Times = keyof typeof TIMES;
const COUNTS: Readonly<Record<Times, number | undefined>> = { next: 1, 'next 3': 3, every: undefined };

const ROUTES = { initiate: 'initiate', status: 'status read', balance: 'balance read' } as const;

/** `status read`, or `status reads` of several. */
export const routeText = (route: RouteName, times: Times): string =>
  ROUTES[route] + (times === 'next 3' ? 's' : '');

export type NamedRule = RuleRequest & { readonly name: string; readonly description: string };

/** A rule that orders a failure. Its description is the sentence: `the next initiate gets a 500 after the payout`. */
export const ruleOf = ({ name, text, effect }: Failure, route: RouteName, times: Times): NamedRule => ({
  name: route === 'initiate' ? name : `${route}-${name}`,
  description: `${TIMES[times]} ${routeText(route, times)} ${text}`,
  match: { route },
  effect,
  ...(COUNTS[times] !== undefined && { times: COUNTS[times] }),
});

/** To how many requests a rule applies in all; null for every one that matches. */
export const timesOf = ({ rule }: RuleResponse): number | null => (rule as RuleRequest).times ?? null;

/** Whether a rule applies to no more requests. */
export const isUsed = (rule: RuleResponse): boolean => rule.taken >= (timesOf(rule) ?? Infinity);

const isPaid = ({ commit, respond, fault }: Effect): boolean =>
  commit === true || (respond === undefined && fault === undefined);

/** The accounts that force an outcome or a response, and what each does; of a response, whether the payout is made. */
export function magicBeneficiaries(scenario: ScenarioResponse | null) {
  const { outcomes = [], rules = [] } = scenario ?? {};
  const beneficiary = (
    { id, name, description }: Pick<RuleResponse, 'id' | 'name' | 'description'>,
    written: unknown,
  ) => {
    const { match, effect } = written as Pick<RuleRequest, 'match' | 'effect'>;
    const paid = effect === undefined ? '' : isPaid(effect) ? ', after the payout' : ', and no payout';
    const text = (description === '' ? name : description) + paid;
    return { id, account: match?.beneficiary_account as string, text };
  };
  return [
    ...outcomes.filter(({ from }) => from === 'magic').map((one) => beneficiary(one, one.outcome)),
    ...rules.filter(({ from }) => from === 'magic').map((one) => beneficiary(one, one.rule)),
  ];
}
