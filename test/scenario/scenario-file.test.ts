import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { validate } from '../../src/cli/scenario-files.ts';
import { ScenarioDocument } from '../../src/contract/scenario-document.ts';
import { runInProcess } from '../support/program.ts';
import { testRows } from '../support/test-rows.ts';
import { fileWith, folderWith } from '../support/temporary-folder.ts';
import { validated } from './validated.ts';

const EVERYTHING = `
description: all of it
wallet: { opening_balance: 250000.00 }
seed: 7
settlement:
  IMPS: [{ to: SUCCESS, after: 2s }]
  NEFT: [{ to: FAILED, after: PT40M }]
  RTGS: [{ to: SUCCESS, after: 10s, utr: none }, { utr: now, after: 90s }, { to: REVERSED, after: 3d }]
  UPI: [{ to: SUCCESS, polls: 3 }, { to: REVERSED, at: "06:30" }]
rate_limit: { max: 20, per: 1s }
dialect: { extends: default, client_ref_id: { changed_body: replay } }
outcomes:
  - name: reversed
    description: one in ten is reversed
    match: { transfer_mode: NEFT, amount: { gt: 100 }, payout: { lte: 100 }, hours: { from: "22:00", to: "06:00" }, header: { x-team: blue } }
    during: { from: 10m, for: 10s }
    weighted: [{ weight: 9, timeline: [] }, { weight: 1, timeline: [{ to: REVERSED, after: 3d }] }]
    not_found: { for: 5s }
  - { during: { until: 1h }, timeline: [{ to: FAILED, after: 1s }] }
rules:
  - name: everything
    description: matches on everything
    match:
      route: [initiate, status]
      client_ref_id: order-1
      beneficiary_name: [Asha, Ravi]
      beneficiary_account: { prefix: "00", suffix: "9" }
      beneficiary_ifsc: { matches: "^SBIN0" }
      amount: { gte: 1, lt: 100 }
      transfer_mode: [IMPS, UPI]
      header: { x-team: blue }
      attempt: { gt: 1 }
      payout: [1, 2]
      hours: { from: "22:00", to: "06:00" }
    during: { from: 1m }
    skip: 1
    times: 2
    probability: 0.5
    effect:
      delay: { min: 100ms, max: 1s }
      respond: { status: 500, code: OOPS, message: 'no {{amount}}', headers: { x-a: '{{txn_id}}' }, body: { a: [1, null, '{{now}}'] } }
      fault: { kind: slow-body, bytes_per_second: 10 }
      commit: true
      timeline: [{ to: FAILED, after: 1d }]
      not_found: { reads: 2 }
      limit: { max: 3, per: 10s }
      stale: 10s
`;

test('a scenario may use every documented key', () => {
  expect(validated(EVERYTHING)).toEqual(['ok, 1 rule, 2 outcomes']);
});

testRows([
  'match: { amount: { gte: 5, lte: 5 } }, effect: { respond: { status: 300, code: X, message: y } }',
  'match: { amount: { gt: 4, lt: 6 } }, effect: { respond: { status: 200, code: X, body: z } }',
])('a rule at the edge of what is allowed is accepted', (rule) => {
  expect(validated(`rules: [{ ${rule} }]`)).toEqual(['ok, 1 rule']);
});

test('a scenario may be JSON, or empty', () => {
  expect(validated('{"rules": [{"name": "a", "effect": {"fault": "hang"}}]}')).toEqual(['ok, 1 rule']);
  expect(validated('')).toEqual(['ok, 0 rules']);
});

testRows([
  ['rules: [', '1:9 Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ['seed: 1\nseed: 2', '2:1 Map keys must be unique'],
  [
    'wallet: { opening_balance: 1,00,000 }',
    '1:33 Map keys must be unique. A number is written without commas',
  ],
  [
    'wallet: { opening_balance: 10,000 }',
    '1:31 wallet.0 is not known here (known: opening_balance). A number is written without commas',
  ],
  [
    "wallet: { opening_balance: '1,00,000.00' }",
    '1:28 wallet.opening_balance must be a number: write 100000.00',
  ],
  ['wallett: {}', '1:1 wallett is not known here (did you mean wallet?)'],
  [
    'dialect: { answers: { sandbox_headers: sent } }',
    '1:23 dialect.answers.sandbox_headers was removed: the headers of the sandbox are always sent',
  ],
  ['[]', '1:1 must be a mapping: keys, each with its value'],
  [
    'settlement: { NEFT: realistic }',
    '1:21 settlement.NEFT must be a list of steps: a preset is only for the settlement of all modes',
  ],
  ['dialect: strickt', '1:10 dialect must be one of default'],
  ['rate_limit: { max: 3, per: 0s }', 'rate_limit.per must be from 1ms to 1d'],
  [
    'rate_limit: 60/minute',
    'rate_limit.per must be a duration such as 300ms, 90s, 40m, 2h, 3d or PT90S: write 1minute',
  ],
  ['rate_limit: 100', 'rate_limit must be off, a count per time such as 100/1s, or { max: 100, per: 1s }'],
  [
    'seed: 1\ndescription: *all',
    '2:14 *all refers to nothing: no &all comes before it. A text that begins with * must be in quotes',
  ],
  [
    'rules: [{ effect: { respond: { status: 500, body: {{amount}} } } }]',
    '1:52 a key must be a text. A text that begins with { or [ must be in quotes',
  ],
  [
    `settlement: [${'{ to: SUCCESS, after: 1s }, '.repeat(21)}]`,
    '1:13 settlement must have at most 20 items',
  ],
  ['rules: &all [*all]', '1:14 *all refers to a value that it is part of'],
  ['{"seed": 1', '1:11 is not valid JSON: a } is missing here'],
  ['{"seed": 1\n "rules": []}', '1:10 is not valid JSON: a comma is missing after this'],
  ['{"seed": 1}}', '1:12 is not valid JSON: } is not expected here'],
  ['seed:', '1:6 seed must be a text or a number; leave it out for the seed of the settings'],
  [
    'outcomes: [{ name: a, timeline: [] }]\nrules: [{ name: a, effect: { delay: 1s } }]',
    '2:17 rules[0].name must differ from the names of the outcomes: a is taken',
  ],
  [
    'rules: [{ name: rule-2, effect: { delay: 1s } }, { effect: { delay: 1s } }]',
    'rules[1].name must differ from the names of the other rules: rule-2 is taken',
  ],
  ['seed: 1\n---\nseed: 2', 'must be one document: here a second one begins'],
  [
    'rules: [{ name: a, effect: { respond: { status: 200, headers: { "a b": c } } } }]',
    'must be a header name',
  ],
])('every mistake is refused, with its place and what is expected', (text, problem) => {
  expect(validated(text)).toEqual([expect.stringContaining(problem)]);
});

testRows<[steps: string, column: number, problem: string]>([
  ['{ to: SUCCESS }', 1, '[0] must have exactly one of after, at and polls'],
  ['{ after: 1s }', 1, '[0] must have a state in to, or utr: now'],
  [
    '{ to: FAILED, after: 1s }, { to: SUCCESS, after: 2s }',
    34,
    '[1].to cannot go to SUCCESS: the payout is FAILED at that point',
  ],
  [
    '{ to: SUCCESS, at: "25:00" }',
    20,
    '[0].at must be a time of day (IST) such as "06:30", from "00:00" to "23:59"',
  ],
])(
  'every mistake in a timeline is refused, with its place and what is expected',
  (steps, column, problem) => {
    const before = 'settlement: { IMPS: [';
    const place = `1:${before.length + column} settlement.IMPS`;
    expect(validated(`${before}${steps}] }`)).toEqual([expect.stringContaining(`${place}${problem}`)]);
  },
);

testRows([
  ['name: a', '1:12 outcomes[0] must have a timeline, weighted timelines or not_found'],
  [
    'timeline: [], weighted: [{ weight: 1, timeline: [] }]',
    'outcomes[0] must not have both a timeline and weighted timelines',
  ],
  [
    'match: { attempt: 1 }, timeline: []',
    '1:23 outcomes[0].match.attempt is not known here (known: client_ref_id,',
  ],
])('every mistake in an outcome is refused, with its place and what is expected', (outcome, problem) => {
  expect(validated(`outcomes: [{ ${outcome} }]`)).toEqual([expect.stringContaining(problem)]);
});

testRows<[rule: string, problem: string, column?: number]>([
  ['effect: {}', 'effect must have at least one effect', 9],
  [
    'effect: { fault: hangs }',
    'effect.fault must be one of connection-reset, empty-response, truncated-body, malformed-json, garbage, hang, slow-body (did you mean hang?)',
    18,
  ],
  [
    'match: { remarks: { matches: "(?=a)" } }',
    'match.remarks.matches is not a regular expression: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    30,
  ],
  ['probability: 30%', 'probability must be a number: write 0.3', 14],
  [
    'match: { amount: much }',
    'match.amount must be a number, a list or a mapping with gt, gte, lt or lte',
    18,
  ],
  [
    "during: { from: '19:00' }",
    'during.from must be a duration such as 300ms, 90s, 40m, 2h, 3d or PT90S: 19:00 is a time of day',
  ],
  [
    'effect: { respond: { status: 200, headers: { a: "b\\nc" } } }',
    'effect.respond.headers.a must be a header value of printable ASCII on one line',
    49,
  ],
  [
    'match: { hours: { from: "01:00", to: "01:00" } }',
    'match.hours can never match: from and to are the same',
  ],
  ['effect: { delay: 3d }', 'effect.delay must be at most 1h, since it is wall time'],
  [
    'match: { beneficiary_account: 000123456789 }',
    'match.beneficiary_account must be a text: write it in quotes, otherwise it is a number',
  ],
  ['effect: { commit: yes }', 'effect.commit must be true, false or a mapping with after or after_requests'],
  ['effect: { not_found: { reads: 2, for: 3s } }', 'effect.not_found must have either reads or for'],
  [
    'effect: { delay: 2 }',
    'effect.delay must be a duration such as 300ms, 90s, 40m, 2h, 3d or PT90S: 2 has no unit, write 2s for seconds or 2ms for milliseconds',
    18,
  ],
  [
    'effect: { respond: 50 }',
    'effect.respond must be a status from 200 to 599 such as 500, or a mapping such as { status: 500 }',
    20,
  ],
  ['match: { attempt: 0 }', 'match.attempt must be a whole number, counted from 1', 19],
  ['match: { date: "26-01-2026" }', 'match.date must be a date that exists, such as 2026-01-26'],
  ['match: { header: { Cookie: a } }', 'match.header.Cookie must not be a header that holds a key'],
  ['match: { amount: { gte: 5, lt: 5 } }', 'match.amount can never match: no number is within these bounds'],
  [
    'match: { attempt: { gt: 1, lte: 1 } }',
    'match.attempt can never match: no number is within these bounds',
  ],
  ['effect: { respond: { status: 200, code: X } }', 'effect.respond must have a body instead of a code', 20],
  [
    'effect: { respond: { status: 204, body: x } }',
    'effect.respond must not have a body, a code or a message: a response with this status has no content',
  ],
  [
    'effect: { respond: 304, fault: truncated-body }',
    'effect must not have a fault of the body: a response with this status has no content',
  ],
  ['during: { for: 1s, until: 2s }', 'during must not have both for and until'],
  ['during: { from: 2m, until: 2m }', 'during must be a window that ends after it begins'],
  ['during: 10m', 'during must be a mapping such as { from: 10m, for: 10s }'],
  [
    'effect: { respond: { status: 500, body: { about: "{{ref}}" } } }',
    'effect.respond.body.about names {{ref}}, which is not known here (known: client_ref_id,',
  ],
  [
    'effect: { times: 2, commit: true }',
    'effect.times is not known here: write it beside effect, not inside it',
  ],
  ['delay: 2s', 'delay is not known here: write it inside effect'],
  ['match: { path: /payout }', 'match.path is not known here (known: route,', 10], // and not "did you mean date?"
])('every mistake in a rule is refused, with its place and what is expected', (rule, problem, column) => {
  const before = 'rules: [{ name: a, ';
  const effect = rule.includes('effect:') ? '' : ', effect: { fault: hang }';
  const problems = validated(`${before}${rule}${effect} }]`);
  expect(problems).toEqual([expect.stringContaining(`rules[0].${problem}`)]);
  if (column !== undefined) expect(problems[0]).toMatch(new RegExp(`^1:${before.length + column} `));
});

test('a slow body with a misspelt speed is explained as a slow body, not as a hang', () => {
  expect(
    validated('rules: [{ name: a, effect: { fault: { kind: slow-body, bytes_per_secnd: 9 } } }]'),
  ).toEqual([
    '1:37 rules[0].effect.fault.bytes_per_second is required',
    '1:56 rules[0].effect.fault.bytes_per_secnd is not known here (did you mean bytes_per_second?)',
  ]);
});

test('validate reports every error of every file, in the order of the lines', () => {
  const folder = folderWith({
    'a.yaml':
      'outcomes: [{ nam: a, timeline: [] }, { timeline: [{ to: FAILED, after: 1s }, { to: REVERSED, after: 2s }] }]\n' +
      'seed: []\nrules:\n  - { name: A, match: { amout: 1 }, effect: { fault: hang } }\n  - { match: { remarks: { matches: "(" } }, effect: { fault: hang } }\n  - { name: b, effect: { falut: hang } }\n',
    'b.yaml': 'rules: 3\n',
    'c.yaml': 'seed: 1\n',
  });
  const lines: string[] = [];
  expect(
    validate(
      ['a.yaml', 'b.yaml', 'c.yaml', 'd.yaml'].map((name) => join(folder, name)),
      (line) => lines.push(line.slice(folder.length + 1)),
    ),
  ).toBe(2);
  expect(lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'a.yaml:1:14 outcomes[0].nam',
    'a.yaml:1:84 outcomes[1].timeline[1].to',
    'a.yaml:2:7 seed',
    'a.yaml:4:13 rules[0].name',
    'a.yaml:4:25 rules[0].match.amout',
    'a.yaml:5:36 rules[1].match.remarks.matches',
    'a.yaml:6:26 rules[2].effect.falut',
    'b.yaml:1:8 rules',
    'c.yaml: ok,',
    'd.yaml cannot',
  ]);
});

test('aliases that would expand exponentially are refused', () => {
  const laughs = [
    'a: &a0 [x, x]',
    ...Array.from({ length: 30 }, (_, nth) => `b${nth}: &a${nth + 1} [*a${nth}, *a${nth}]`),
  ];
  expect(validated(laughs.join('\n'))[0]).toMatch(/Excessive alias count/);
});

test('validate prints the errors and exits with 1, or prints ok and exits with 0', async () => {
  const folder = folderWith({ 'good.yaml': EVERYTHING, 'bad.yaml': 'sed: 1' });
  const [good, bad] = [join(folder, 'good.yaml'), join(folder, 'bad.yaml')];
  expect(await runInProcess(['validate', good])).toMatchObject({ code: 0, stderr: '' });
  expect(await runInProcess(['validate', good, bad])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /good\.yaml: ok, 1 rule, 2 outcomes\n.*bad\.yaml:1:1 sed is not known here \(did you mean seed\?\)\n$/s,
    ),
    stderr: '',
  });
  expect(await runInProcess(['validate'])).toMatchObject({ code: 2, stdout: '' });
});

test('the shipped JSON Schema is that of a scenario file', async () => {
  const schema = z.toJSONSchema(ScenarioDocument, { io: 'input' });
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
    '../../fixtures/scenario.schema.json',
  );
});

test('an invalid scenario stops the program with exit code 2 and a line for each error', async () => {
  const file = fileWith('bad.yaml', 'sed: 1\nseed: []');
  expect(await runInProcess(['--scenario', file])).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr: `payout-sandbox: ${file}:1:1 sed is not known here (did you mean seed?)\npayout-sandbox: ${file}:2:7 seed must be a text or a number\n`,
  });
  expect(await runInProcess(['--scenario', 'happy-fat'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^payout-sandbox: there is no scenario happy-fat \(did you mean happy-fast\?\)\. Use one of the \d+ that .* lists or the path of a file\n$/,
    ),
  });
  expect(await runInProcess(['--scenarios', join(file, 'nowhere')])).toMatchObject({ code: 2 });
});

test.each([
  ['UTF-16', Buffer.from('seed: 1', 'utf16le')],
  ['bytes that are not UTF-8', Buffer.from([...Buffer.from('seed: "'), 0xff, 0x22])],
])('a file in %s is refused, since its text cannot be known', (_what, bytes) => {
  const file = fileWith('my.yaml', bytes);
  const lines: string[] = [];
  expect(validate([file], (line) => lines.push(line))).toBe(2);
  expect(lines).toEqual([`${file} is not a text file: it must be YAML or JSON in UTF-8`]);
});

test('validate refuses a folder, and a scenarios folder may not have two files of the same name', async () => {
  const folder = folderWith({ 'a.yaml': 'seed: 1', 'a.JSON': '{}', '.b.yaml': 'sed: 1' });
  const lines: string[] = [];
  validate([folder], (line) => lines.push(line));
  expect(lines).toEqual([expect.stringMatching(/is a folder, not a file$/)]);
  expect(await runInProcess(['--scenarios', folder])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/a\.yaml has the same name as .*a\.JSON: scenarios are chosen by name\n$/),
  });
});

test('a match that several rules and outcomes share is written once: YAML merges it with what each adds', () => {
  const match = '{ route: initiate, beneficiary_ifsc: { prefix: HDFC } }';
  const effect = '{ delay: 1ms }';
  const text = [
    'rules:',
    `  - { name: a, match: &hdfc ${match}, effect: ${effect} }`,
    `  - { name: b, match: { <<: *hdfc, attempt: 1 }, effect: ${effect} }`,
    `  - { name: c, match: { <<: *hdfc, atempt: 1 }, effect: ${effect} }`,
  ].join('\n');
  expect(validated(text)).toEqual([
    expect.stringContaining('rules[2].match.atempt is not known here (did you mean attempt?)'),
  ]);
});
