import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { validate } from '../../src/cli/scenario-files/validate.ts';
import type { RequestFacts } from '../../src/scenario/rule.ts';
import { documentScenario, SHIPPED } from '../../src/scenario/scenario-file.ts';
import { scenarioSettings } from '../../src/scenario/scenario-library.ts';
import { readSettings } from '../../src/settings.ts';
import { sized } from '../support/size.ts';
import { testRows } from '../support/test-rows.ts';
import { validated } from './validated.ts';

/** The warnings of `validate`, without the name of the file. A scenario with a warning is valid. */
function warningsOf(text: string): string[] {
  const lines = [...validated(text)];
  expect(lines.pop()).toMatch(/^ok/);
  return lines;
}

const rule = (name: string, match: string, more = ''): string =>
  `  - { name: ${name}, match: { ${match} }, effect: { fault: hang }${more} }\n`;
const rules = (...lines: readonly string[]): string => `rules:\n${lines.join('')}`;

testRows([
  ['', 'route: status'],
  ['beneficiary_ifsc: HDFC0000001', 'beneficiary_ifsc: HDFC0000001, amount: 5'],
  ['transfer_mode: [NEFT, RTGS]', 'transfer_mode: NEFT'],
  ['remarks: [a, b, c]', 'remarks: [c, a]'],
  ['beneficiary_ifsc: { prefix: HD }', 'beneficiary_ifsc: { prefix: HDFC }'],
  ['beneficiary_account: { suffix: "9" }', 'beneficiary_account: "09"'],
  ['remarks: { matches: "^a+$" }', 'remarks: aaa'],
  ['remarks: { matches: "^a" }', 'remarks: { matches: "^a", suffix: z }'],
  ['amount: { gte: 100 }', 'amount: { gt: 100, lt: 500 }'],
  ['attempt: { lte: 2 }', 'attempt: [1, 2]'],
  ['hours: { from: "19:00", to: "07:00" }', 'hours: { from: "23:00", to: "01:00" }'],
  ['header: { X-Team: blue }', 'header: { x-team: blue }, route: initiate'],
  ['header: { x-team: blue }', 'header: { X-Team: blue }'],
  ['route: initiate', 'amount: 5'],
])('a rule is never reached behind one that matches all that it does', (earlier, later) => {
  expect(warningsOf(rules(rule('first', earlier), rule('second', later)))).toEqual([
    '3: warning: rules[1] never applies: first comes first and takes all of its requests',
  ]);
});

testRows([
  ['transfer_mode: NEFT', 'transfer_mode: IMPS'],
  ['remarks: a', 'remarks: [a, b]'],
  ['remarks: { prefix: abc }', 'remarks: { prefix: ab }'],
  ['amount: { gt: 100 }', 'amount: { gte: 100 }'],
  ['remarks: { matches: "^a" }', 'remarks: { prefix: a }'],
  ['hours: { from: "23:00", to: "01:00" }', 'hours: { from: "22:00", to: "00:00" }'],
  ['header: { x-team: blue }', 'route: initiate'],
  ['route: initiate', 'route: [initiate, status]'],
  ['route: initiate, amount: 5', 'route: initiate'],
])('a rule can be reached behind one that matches less', (earlier, later) => {
  expect(warningsOf(rules(rule('first', earlier), rule('second', later)))).toEqual([]);
});

testRows(['skip: 1', 'times: 3', 'probability: 0.5', 'during: { from: 10m }', 'during: { until: 10m }'])(
  'a rule can be reached behind one that takes only a part',
  (part) => {
    const text = rules(rule('first', 'route: initiate', `, ${part}`), rule('second', 'amount: 5'));
    expect(warningsOf(text)).toEqual([]);
  },
);

test('a limit lets requests pass to the rules below it, and is never counted below a rule that takes everything', () => {
  const limit = '  - { name: limit, match: { route: initiate }, effect: { limit: { max: 3, per: 10s } } }\n';
  expect(warningsOf(rules(limit, rule('other', 'route: initiate')))).toEqual([]);
  expect(warningsOf(rules(rule('other', 'route: initiate'), limit))).toEqual([
    '3: warning: rules[1] never applies: other comes first and takes all of its requests',
  ]);
});

test('a window within that of an earlier rule is never reached', () => {
  const [long, short] = ['{ from: 10m, until: 1h }', '{ from: 20m, for: 5m }'];
  const both = (one: string, other: string) =>
    warningsOf(
      rules(
        rule('one', 'route: status', `, during: ${one}`),
        rule('two', 'route: status', `, during: ${other}`),
      ),
    );
  expect(both(long, short)).toEqual([expect.stringContaining('rules[1] never applies: one comes first')]);
  expect(both(short, long)).toEqual([]);
});

test('an outcome is never reached behind one for more payouts', () => {
  const outcomes = (one: string, other: string) =>
    warningsOf(
      `outcomes:\n  - { match: { ${one} }, timeline: [] }\n  - { match: { ${other} }, timeline: [] }\n`,
    );
  expect(outcomes('transfer_mode: [NEFT, RTGS]', 'transfer_mode: RTGS')).toEqual([
    '3: warning: outcomes[1] never applies: outcome-1 comes first and takes all of its payouts',
  ]);
  expect(outcomes('transfer_mode: RTGS', 'transfer_mode: [NEFT, RTGS]')).toEqual([]);
  expect(outcomes('transfer_mode: RTGS', 'amount: 0')).toEqual([
    expect.stringContaining('3: warning: outcomes[1].match.amount can never match'),
  ]);
});

/** A scenario of one rule, whose effect is a fault when the text gives none. */
const single = (text: string): string =>
  `rules: [{ ${text}${text.includes('effect:') ? '' : ', effect: { fault: hang }'} }]`;

testRows([
  ['match: { attempt: 0 }', 'match.attempt can never match: it is a whole number, counted from 1'],
  [
    'match: { payout: { gt: 1, lt: 2 } }',
    'match.payout can never match: it is a whole number, counted from 1',
  ],
  ['match: { amount: 10.005 }', 'match.amount can never match: an amount is more than 0 INR'],
  [
    'match: { amount: { gt: 1.001, lt: 1.009 } }',
    'match.amount can never match: an amount is more than 0 INR',
  ],
  ['match: { amount: { lt: 0 } }', 'match.amount can never match: an amount is more than 0 INR'],
  [
    'match: { header: { Authorization: { prefix: Bearer } } }',
    'match.header.Authorization can never match: it holds a key, and rules see *** instead',
  ],
  [
    "match: { date: '26-01-2026' }, effect: { fault: hang }",
    'match.date can never match "26-01-2026": there is no such date. A date is written as 2026-01-26',
  ],
  [
    'match: { date: [2026-01-26, 2026-02-30] }',
    'match.date can never match "2026-02-30": there is no such date. A date is written as 2026-01-26',
  ],
  [
    "match: { date: { prefix: '2026-13' } }",
    'match.date can never match: no date such as 2026-01-26 begins with "2026-13"',
  ],
  [
    "match: { date: { suffix: '-02-30' } }",
    'match.date can never match: no date such as 2026-01-26 ends with "-02-30"',
  ],
  ['match: { amount: [1,500, 2,000] }', 'match.amount can never match 0: an amount is more than 0 INR'],
  ['match: { attempt: [0, 1] }', 'match.attempt can never match 0: it is a whole number, counted from 1'],
  ['probability: 0', 'probability is 0, so the rule never applies'],
  [
    'effect: { respond: 500, timeline: [] }',
    'effect.timeline is never used: respond makes no payout without commit: true',
  ],
  [
    'effect: { fault: { kind: hang, for: 1s }, timeline: [] }',
    'effect.timeline is never used: the fault hang makes no payout without commit: true',
  ],
  [
    'effect: { limit: { max: 1, per: 1s }, timeline: [] }',
    'effect.timeline is never used: limit makes no payout without commit: true',
  ],
  [
    'effect: { commit: false, not_found: { reads: 1 } }',
    'effect.not_found is never used: commit: false makes no payout',
  ],
  [
    'effect: { fault: connection-reset, respond: 402 }',
    'effect.respond is never seen by a client: the fault connection-reset shows no response',
  ],
  [
    'match: { route: status }, effect: { stale: 30s, respond: 500 }',
    'effect.stale is never seen by a client: the rule sends another response',
  ],
  [
    'match: { route: status }, effect: { stale: 30s, fault: hang }',
    'effect.stale is never seen by a client: the fault hang shows no response',
  ],
])('there is a warning about everything that has no effect', (rule, warning) => {
  expect(warningsOf(single(rule))).toEqual([expect.stringContaining(`1: warning: rules[0].${warning}`)]);
});

testRows([
  'match: { route: initiate, attempt: 1 }, times: 3, effect: { commit: true, respond: 500, timeline: [] }',
  'match: { route: status }, effect: { stale: 30s, fault: truncated-body }',
  'match: { route: status }, effect: { stale: 30s, respond: { status: 200, headers: { a: b } } }',
  'match: { amount: { lte: 0.01 } }, effect: { commit: true }',
  "match: { date: { prefix: '2026-1', suffix: '-02-29' } }",
  "match: { date: { prefix: '20', suffix: '8' } }",
])('there is no warning about a rule that can apply', (text) => {
  expect(warningsOf(single(text))).toEqual([]);
});

testRows<[outcome: string, warnings: readonly string[]]>([
  ['timeline: [{ to: FAILED, after: 5s }], utr: 10s', ['utr is never set: the payout has FAILED by then']],
  ['timeline: [{ to: FAILED, after: 5s }], utr: 3s', []],
  ['timeline: [{ to: FAILED, polls: 2 }], utr: 10s', []],
  [
    'weighted: [{ weight: 1, timeline: [{ to: FAILED, after: 5s }] }, { weight: 1, timeline: [] }], utr: 10s',
    [],
  ],
  [
    "timeline: [{ to: SUCCESS, at: '09:00' }, { to: REVERSED, after: 1h }]",
    ['timeline[1].after may come later than 1h after initiate, since the step before it can take up to 1d'],
  ],
  [
    "timeline: [{ to: SUCCESS, after: 2h, utr: none }, { utr: now, at: '09:00' }, { to: REVERSED, after: 1d }]",
    ['timeline[2].after may come later than 1d after initiate, since the step before it can take up to 26h'],
  ],
  ["timeline: [{ to: SUCCESS, at: '09:00' }, { to: REVERSED, after: 24h }]", []],
])('an outcome with steps that cannot come as written has a warning', (outcome, warnings) => {
  const expected = warnings.map((warning) => expect.stringContaining(`1: warning: outcomes[0].${warning}`));
  expect(warningsOf(`outcomes: [{ ${outcome} }]`)).toEqual(expected);
});

test('no shipped scenario has a warning', () => {
  const folder = join(SHIPPED, 'scenarios');
  const files = [...readdirSync(folder).map((name) => join(folder, name)), join(SHIPPED, 'magic.yaml')];
  const lines: string[] = [];
  validate(files, (line) => lines.push(line));
  expect(lines.filter((line) => !/: ok, /.test(line))).toEqual([]);
});

/** Matches that often overlap, and requests that they often match. */
const modes = fc.constantFrom('NEFT', 'RTGS', 'IMPS');
const amounts = fc.integer({ min: 1, max: 6 });
const someMatch = fc.record(
  {
    transfer_mode: fc.oneof(modes, fc.uniqueArray(modes, { minLength: 1 })),
    amount: fc.oneof(
      amounts,
      fc.record({ gte: amounts }),
      fc.record({ gt: amounts }),
      fc.record({ lt: fc.constant(4), gte: fc.constant(2) }),
    ),
    beneficiary_name: fc.oneof(
      fc.constantFrom('Asha', 'Asha Rao', 'Ravi'),
      fc.record({ prefix: fc.constantFrom('A', 'Asha', 'R') }),
      fc.record({ matches: fc.constantFrom('^A', 'a$') }),
    ),
  },
  { requiredKeys: [] },
);

const everyRequest: readonly RequestFacts[] = ['NEFT', 'RTGS', 'IMPS'].flatMap((transfer_mode) =>
  ['Asha', 'Asha Rao', 'Ravi'].flatMap((beneficiary_name) =>
    [1, 2, 3, 4, 5, 6].map((amount) => ({
      route: 'initiate' as const,
      fields: { transfer_mode, beneficiary_name, amount },
      headers: {},
      attempt: 1,
      payout: 1,
      nowMs: 0,
      ageMs: 0,
    })),
  ),
);

test('a rule that is reported as never applied is never applied', () => {
  const settings = scenarioSettings(readSettings({ magic: 'off' }, {}));
  let warned = 0;
  fc.assert(
    fc.property(fc.array(someMatch, { minLength: 2, maxLength: 4 }), (matches) => {
      const named = matches.map((match, nth) => ({ name: `r${nth}`, match, effect: { respond: 500 } }));
      const never = warningsOf(JSON.stringify({ rules: named })).map(
        (line) => `inline/r${/rules\[(\d)\] never applies/.exec(line)?.[1]}`,
      );
      warned += never.length;
      const { rules: compiled } = documentScenario({ rules: named }, 'inline', settings);
      const taken = new Set(everyRequest.map((facts) => compiled.find((one) => one.matches(facts))?.id));
      expect(never.filter((id) => taken.has(id))).toEqual([]);
    }),
    { numRuns: sized(100, 5000) },
  );
  expect(warned).toBeGreaterThan(0);
});
