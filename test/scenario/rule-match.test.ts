import { expect, test } from 'vitest';
import type { Match } from '../../src/contract/match.ts';
import { Fault, type EffectDocument, type NamedRuleDocument } from '../../src/contract/scenario-document.ts';
import { BANK_CALENDAR } from '../../src/payout/calendar.ts';
import { reportIn } from '../../src/scenario/planned-timeline.ts';
import { compileRule } from '../../src/scenario/rule-compiler.ts';
import { delayMs, firstApplicableRule, type RequestFacts } from '../../src/scenario/rule.ts';
import { testRows } from '../support/test-rows.ts';

const istTime = (hhmm: string): number => Date.parse(`2026-01-15T${hhmm}:00+05:30`);

const FACTS: RequestFacts = {
  route: 'initiate',
  fields: { client_ref_id: 'order-1', beneficiary_name: 'Asha Rao', amount: 1500, transfer_mode: 'IMPS' },
  headers: {
    'x-trace': ['one', 'two'],
    'x-long': ['a'.repeat(100), 'a'.repeat(100)],
    accept: 'application/json',
  },
  attempt: 2,
  payout: () => 3,
  nowMs: istTime('10:30'),
  ageMs: 1000,
  calendar: BANK_CALENDAR,
};

/** A compile rule, and its problems as `path: message`. */
function compile(document: Partial<NamedRuleDocument>) {
  const problems: string[] = [];
  const whole = { name: 'mine', effect: {}, ...document };
  const report = (path: readonly PropertyKey[], message: string) =>
    void problems.push(`${path.join('.')}: ${message}`);
  return { rule: compileRule(whole, 'as written', 'theirs', reportIn(report, 'rules', 0)), problems };
}

/** A rule with this timeline. */
const planning = (...timeline: NonNullable<EffectDocument['timeline']>[number][]) => ({
  effect: { timeline },
});

const hours = (from: string, to: string) => {
  const [low, high] = [from, to].map((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));
  return { from: low!, to: high! };
};

testRows<[holds: boolean, match: Match, change?: Partial<RequestFacts>]>([
  [true, {}],
  [true, {}, { route: 'balance' }],
  [true, { route: ['status', 'initiate'] }],
  [false, { route: ['status', 'balance'] }],
  [true, { client_ref_id: 'order-1' }],
  [false, { client_ref_id: 'order-' }],
  [true, { client_ref_id: { prefix: 'order' } }],
  [false, { client_ref_id: { prefix: '-1' } }],
  [true, { client_ref_id: { suffix: '-1' } }],
  [false, { client_ref_id: { suffix: 'order' } }],
  [true, { client_ref_id: { matches: 'r-\\d' } }],
  [false, { client_ref_id: { matches: 'r-$' } }],
  [true, { client_ref_id: { prefix: 'o', suffix: '1', matches: '-' } }],
  [false, { client_ref_id: { prefix: 'o', suffix: 'x', matches: '-' } }],
  [false, { remarks: 'undefined' }],
  [true, { beneficiary_name: { prefix: 'Asha' }, transfer_mode: 'IMPS' }],
  [false, { beneficiary_name: { prefix: 'Asha' }, transfer_mode: 'NEFT' }],
  [true, { amount: [1, 1500] }],
  [false, { amount: [1, 2] }],
  [false, { amount: { gt: 1500 } }],
  [true, { amount: { gt: 1499 } }],
  [true, { amount: { gte: 1500 } }],
  [false, { amount: { gte: 1501 } }],
  [false, { amount: { lt: 1500 } }],
  [true, { amount: { lt: 1501 } }],
  [true, { amount: { lte: 1500 } }],
  [false, { amount: { lte: 1499 } }],
  [false, { amount: { gte: 0 } }, { fields: { amount: '1500' } }],
  // which every object has
  ...['constructor', '__proto__'].map((name): [boolean, Match] => [
    false,
    { header: Object.fromEntries([[name, { prefix: '' }]]) },
  ]),
  [true, { attempt: 2 }],
  [false, { attempt: { lt: 2 } }],
  [true, { attempt: { gte: 2, lte: 2 } }],
  [true, { header: { accept: { prefix: 'application/' }, 'x-trace': 'one' } }],
  [false, { header: { accept: { prefix: 'application/' }, 'x-trace': 'three' } }],
  [true, { header: { 'x-trace': { matches: '^two$' } } }],
  [false, { header: { 'x-long': { matches: 'a' } } }],
  [true, { weekday: 'thu', working_day: true }],
  [true, { weekday: ['mon', 'thu'] }],
  [false, { weekday: ['mon', 'tue'] }],
  [false, { working_day: false }],
  [true, { working_day: false }, { calendar: { saturdays: [], holidays: ['2026-01-15'] } }],
  [true, { hours: hours('10:30', '10:31') }],
  [false, { hours: hours('10:00', '10:30') }],
  [true, { hours: hours('22:00', '06:00') }, { nowMs: istTime('22:00') }],
  [true, { hours: hours('22:00', '06:00') }, { nowMs: istTime('06:00') - 1 }],
  [false, { hours: hours('22:00', '06:00') }, { nowMs: istTime('06:00') }],
  [false, { hours: hours('22:00', '06:00') }, { nowMs: istTime('22:00') - 1 }],
])('a rule matches the requests that its match describes, and no others', (holds, match, change = {}) => {
  const { rule, problems } = compile({ match });
  expect(problems).toEqual([]);
  expect(rule.matches({ ...FACTS, ...change })).toBe(holds);
});

const READS: Match = { route: ['balance', 'status'] };
const INITIATE_ONLY = 'has an effect on the route initiate only, which this rule does not match';
const NEVER = 'can never match';

testRows<[document: Partial<NamedRuleDocument>, problem: string]>([
  [
    { match: { route: 'balance', client_ref_id: 'a', txn_id: 'b' } },
    `match.client_ref_id: ${NEVER}: only initiate and status requests have it`,
  ],
  [{ match: { route: 'initiate', txn_id: 'a' } }, `match.txn_id: ${NEVER}: only status requests have it`],
  [{ match: { ...READS, amount: 1 } }, `match.amount: ${NEVER}: only initiate requests have it`],
  [{ match: READS, effect: { timeline: [] } }, `effect.timeline: ${INITIATE_ONLY}`],
  [{ match: READS, effect: { not_found: { reads: 1 } } }, `effect.not_found: ${INITIATE_ONLY}`],
])('a rule with a mistake is refused with the place and the problem', (document, problem) => {
  expect(compile(document).problems).toEqual([`rules.0.${problem}`]);
});

testRows<Partial<NamedRuleDocument>>([
  { match: { client_ref_id: 'a', txn_id: 'b' } },
  { match: { route: ['status', 'balance'], txn_id: 'a' } },
  { match: { route: ['status', 'balance'] }, effect: { stale: 5 } },
  { match: { route: 'initiate' }, effect: { commit: true, timeline: [], not_found: { reads: 1 } } },
  planning({ to: 'SUCCESS', after: 5 }, { to: 'REVERSED', after: 5 }),
  planning({ to: 'SUCCESS', polls: 1 }, { to: 'REVERSED', polls: 2 }),
  planning({ to: 'SUCCESS', at: 60 }, { utr: 'now', after: 0 }, { to: 'REVERSED', polls: 1 }),
])('a rule at the edge of what is allowed is accepted', (document) => {
  expect(compile(document).problems).toEqual([]);
});

test('steps of one kind must be in order even with a step of another kind between them', () => {
  const [after, polls] = [{ utr: 'now', after: 9 } as const, { utr: 'now', polls: 3 } as const];
  expect(compile(planning(after, polls, { to: 'SUCCESS', after: 8 })).problems).toEqual([
    'rules.0.effect.timeline.2.after: must not be earlier than the previous step',
  ]);
  expect(compile(planning(polls, after, { to: 'SUCCESS', polls: 3 })).problems).toEqual([
    'rules.0.effect.timeline.2.polls: must be a later read than that of the previous step',
  ]);
});

test('a slow body has 50 bytes a second unless its rule says otherwise', () => {
  const own = { kind: 'slow-body', bytes_per_second: 7 };
  expect([Fault.parse('slow-body'), Fault.parse(own)]).toEqual([{ ...own, bytes_per_second: 50 }, own]);
});

test('a rule with a probability applies when the draw is below it, and draws under its own name', () => {
  const { rule } = compile({ probability: 0.5 });
  const asked = new Set<string>();
  const taken = [0, 0.499, 0.5, 0.999].map((drawn) => {
    const draw = (purpose: string) => (asked.add(purpose), drawn);
    return firstApplicableRule([rule], FACTS, { uses: new Map(), windows: new Map() }, draw);
  });
  expect(taken).toEqual([rule, rule, null, null]);
  expect([...asked]).toEqual(['rule theirs/mine']);
});

test('a delay is fixed, or drawn from its range', () => {
  expect(delayMs(7, () => 0.5)).toBe(7);
  expect([0, 0.5, 0.999].map((drawn) => delayMs({ min: 100, max: 300 }, () => drawn))).toEqual([
    100, 200, 300,
  ]);
});
