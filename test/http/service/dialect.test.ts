import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { DEFAULT_DIALECT, Dialect, type DialectChange } from '../../../src/contract/dialect.ts';
import type { ScenarioDocument } from '../../../src/contract/scenario-document.ts';
import { connectSandbox, type SettingsInput } from '../../../src/index.ts';
import { shippedDialects } from '../../../src/scenario/scenario-file.ts';
import { clientFor, clientOf, PAYOUT, fetched, type Client, type Seen } from '../../support/sandbox.ts';
import { heldBy } from '../../support/control.ts';
import { testRows } from '../../support/test-rows.ts';

const OPENING_INR = 1_000_000;
const JSON_HEADERS = { 'content-type': 'application/json' };
const FROZEN = { clock: '2026-01-15T10:30:00Z' } as const;

type ScenarioInput = z.input<typeof ScenarioDocument>;

type Change = Record<string, unknown>;

interface Conditions {
  readonly settings?: SettingsInput;
  readonly scenario?: Omit<ScenarioInput, 'dialect'>;
  /** Other rows that a story needs. */
  readonly dialect?: DialectChange;
}

/** Starts a sandbox in the dialect of the story, and returns a client of a new world. */
type Open = (conditions?: Conditions) => Promise<Client>;

/** What a client sees of each choice of one row. */
type Story<Choice> = readonly [what: string, tell: (open: Open, choice: Choice) => Promise<void>];

const openingWith =
  (switchName: string, choice: unknown): Open =>
  async ({ settings, scenario, dialect } = {}) => {
    const [group, row] = switchName.split('.') as [keyof Dialect, string];
    const change = { ...dialect, [group]: { ...dialect?.[group], [row]: choice } };
    return clientFor({ ...settings, scenario: { ...scenario, dialect: change } });
  };

/** What the wallet has paid out so far, in INR. */
async function paid({ world }: Client, openingInr = OPENING_INR): Promise<number> {
  return Math.round((openingInr - (await world.balance())) * 100) / 100;
}

const sendBare = (world: Client, path: string, authorization?: string): Promise<Seen> =>
  fetched(world.url + path, authorization === undefined ? {} : { headers: { authorization } });

const statusOf = async (world: Client, client_ref_id = 'order-1') =>
  (await world.status({ client_ref_id })).body.data;

const isReplayed = ({ headers }: Seen): boolean => headers.get('idempotent-replayed') === 'true';

const WRONG_AMOUNT = { field: 'amount', message: 'amount must be greater than 0' };
const BUSY = { message: 'later', code: 'SLOW_DOWN' };

const PROBLEM = { type: 'about:blank', title: 'Service Unavailable', status: 503, detail: BUSY.message };

/** The type and the body of an error that a rule sends. Those of the sandbox itself are in refusals.test.ts. */
const ERRORS: Record<Dialect['errors']['body'], readonly [type: string | null, body: unknown]> = {
  envelope: ['application/json; charset=utf-8', { status: 'error', ...BUSY }],
  message: ['application/json; charset=utf-8', { message: BUSY.message }],
  problem: ['application/problem+json; charset=utf-8', { ...PROBLEM, code: BUSY.code }],
  empty: [null, undefined],
};

/** Sends order-1 twice, the second time with this change, when its payout has settled. */
async function repeat(
  open: Open,
  choice: Dialect['client_ref_id']['same_body' | 'changed_body'],
  change: { amount?: number; transfer_mode?: string },
): Promise<void> {
  const { amount = PAYOUT.amount } = change;
  const world = await open({ settings: FROZEN });
  const first = await world.pay();
  const { txn_id } = first.body.data;
  await world.clock.advance('2s');
  const again = await world.pay(change);
  expect(isReplayed(again)).toBe(choice === 'replay' || choice === 'first_answer' || choice === 'stored');
  expect(await paid(world)).toBe(choice === 'second_payout' ? 1500.5 + amount : 1500.5);
  if (choice === 'second_payout') {
    const { data } = again.body;
    expect(data).toMatchObject({ status: 'PENDING', client_ref_id: 'order-1', amount });
    expect(data.txn_id).not.toBe(txn_id);
    expect(await statusOf(world)).toMatchObject({ txn_id: data.txn_id });
    return;
  }
  const settled = { txn_id, client_ref_id: 'order-1', status: 'SUCCESS', amount: 1500.5 };
  expect(await statusOf(world)).toMatchObject(settled);
  if (choice === 'replay') expect(again.body.data).toMatchObject(settled);
  else if (choice === 'first_answer' || choice === 'stored') expect(again.text).toBe(first.text);
  else {
    const code = { 400: 'DUPLICATE_REFERENCE', 409: 'REFERENCE_CONFLICT', 422: 'REFERENCE_REUSED' }[choice];
    expect(again).toMatchObject({ status: choice, body: { code, errors: [{ field: 'client_ref_id' }] } });
    expect(again.body.message).toContain(txn_id);
  }
}

const BY_ORDER = '/payout/status?client_ref_id=order-1';

const GIVEN_ALONE = ['client_ref_id', 'txn_id'].map((field) => ({
  field,
  message: `${field} must be given alone`,
}));

/** What status finds with the ids of two payouts, with both of order-1, and with the reference of order-1 and an unknown txn_id. */
const BY_BOTH: Record<Dialect['status']['both'], readonly unknown[]> = {
  same: [404, 'order-1', 404],
  client_ref_id: ['order-2', 'order-1', 'order-1'],
  txn_id: ['order-1', 'order-1', 404],
  400: [GIVEN_ALONE, GIVEN_ALONE, GIVEN_ALONE],
};

const MALFORMED = { beneficiary_ifsc: 'sbin1', beneficiary_account: '12345678' };
const IFSC_WARNING = 'beneficiary_ifsc is not an IFSC (4 capital letters, 0, 6 capital letters or digits)';
const ACCOUNT_WARNING = 'beneficiary_account is not 9 to 18 digits';
const LARGE = { amount: 500_000.01 };
const LIMIT_WARNING = 'amount is above INR 5,00,000, the usual limit of IMPS';
const UPI = { transfer_mode: 'UPI', beneficiary_account: 'asha.rao@okbank' };

/** A payout of values that the real service might refuse. */
async function paySuspect(
  open: Open,
  choice: 'warn' | 'refuse' | 'ignore',
  change: { amount?: number; beneficiary_ifsc?: string },
  warnings: readonly string[],
): Promise<void> {
  const world = await open();
  const { status, body, headers } = await world.pay(change);
  const message = warnings.join('; ');
  expect(headers.get('x-sandbox-warning')).toBe(choice === 'warn' ? message : null);
  const isRefused = choice === 'refuse';
  expect(status).toBe(isRefused ? 400 : 200);
  if (isRefused) {
    const errors = warnings.map((warning) => ({ field: warning.split(' ')[0], message: warning }));
    expect(body).toEqual({ status: 'error', message, code: 'INVALID_REQUEST', errors });
  }
  expect((await world.status({ client_ref_id: 'order-1' })).status).toBe(isRefused ? 404 : 200);
  expect(await paid(world)).toBe(isRefused ? 0 : (change.amount ?? PAYOUT.amount));
}

async function refuseUnknownFields(world: Client): Promise<void> {
  const unknown = { field: 'purpose', message: 'purpose is not a known field' };
  expect(await world.pay({ purpose: 'x' })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_REQUEST', message: unknown.message, errors: [unknown] },
  });
  const both = await world.pay({ purpose: 'x', amount: 0 });
  expect(both.body.errors).toEqual([WRONG_AMOUNT, unknown]);
  const errorsOf = async (body: string) =>
    (await world.send('POST', '/payout/initiate', { headers: JSON_HEADERS, body })).body.errors;
  for (const field of ['__proto__', 'constructor']) {
    const body = JSON.stringify(PAYOUT).replace('{', `{"${field}":{"prototype":{"x":1}},`);
    expect(await errorsOf(body)).toEqual([{ field, message: `${field} is not a known field` }]);
  }
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, nth) => [`${nth}${'x'.repeat(300)}`, 1]));
  const { body } = await world.pay(many);
  expect([body.errors.length, body.message.length < 8000]).toEqual([50, true]);
  expect(body.message).toMatch(/; and 50 more$/);
  expect(await paid(world)).toBe(0);
  expect((await world.pay({ remarks: 'known' })).status).toBe(200);
  expect(await errorsOf('["purpose"]')).toEqual([{ field: 'body', message: 'body must be a JSON object' }]);
}

const ONCE_AN_HOUR = { rate_limit: { max: 1, per: '1h' } };
const TWICE_AN_HOUR = { rate_limit: { max: 2, per: '1h' } };

const TIMESTAMPS = {
  milliseconds: { created: '2026-01-15T10:30:00.250Z', completed: '2026-01-15T10:30:02.250Z' },
  seconds: { created: '2026-01-15T10:30:00Z', completed: '2026-01-15T10:30:02Z' },
};

const twice = async (world: Client, change: Change = {}): Promise<Seen> => {
  await world.pay();
  return world.pay(change);
};
const ruled = (rule: NonNullable<ScenarioInput['rules']>[number]): Conditions => ({
  scenario: { rules: [rule] },
});
/** Responses of every kind, and the headers of each that only the sandbox sends, besides the id of the request. */
const BY_KIND: readonly [
  what: string,
  ask: (world: Client) => Promise<Seen>,
  headers?: readonly string[],
  conditions?: Conditions,
][] = [
  ['an accepted payout', (world) => world.pay()],
  ['a warning', (world) => world.pay(MALFORMED), ['x-sandbox-warning']],
  ['a replay', (world) => twice(world), ['idempotent-replayed']],
  ['a wrong field', (world) => world.pay({ amount: 0 })],
  ['no key', (world) => sendBare(world, '/client/fetchbalance')],
  ['no such route', (world) => world.send('GET', '/')],
  ['a malformed path', (world) => world.send('GET', '/%zz')],
  ['a rate limit', (world) => twice(world), ['x-sandbox-limit'], { scenario: ONCE_AN_HOUR }],
  [
    'a rule that answers',
    (world) => world.pay(),
    ['x-sandbox-rule'],
    ruled({ name: 'no', effect: { respond: { status: 503 } } }),
  ],
  [
    'a rule that breaks the response',
    (world) => world.pay(MALFORMED),
    ['x-sandbox-rule', 'x-sandbox-warning'],
    ruled({ name: 'bad', effect: { fault: 'malformed-json' } }),
  ],
];

const sandboxHeaders = ({ headers }: Seen): string[] =>
  [...headers.keys()].filter((name) => /^(x-|idempotent)/.test(name));

const STORIES: {
  readonly [Group in keyof Dialect]: {
    // those that can be null have no choices
    readonly [Row in keyof Dialect[Group] as null extends Dialect[Group][Row] ? never : Row]: Story<
      Dialect[Group][Row]
    >;
  };
} = {
  errors: {
    body: [
      'an error of a rule has such a body',
      async (open, choice) => {
        const world = await open(ruled({ name: 'busy', effect: { respond: { status: 503, ...BUSY } } }));
        const { status, headers, body } = await world.pay();
        expect([status, headers.get('content-type'), body]).toEqual([503, ...ERRORS[choice]]);
      },
    ],
    status_word: [
      'the status word of an error is this one, and that of a success is still success',
      async (open, word) => {
        const world = await open();
        const bare = await sendBare(world, '/client/fetchbalance');
        for (const refused of [await world.pay({ amount: 0 }), await world.send('GET', '/'), bare])
          expect(refused.body.status).toBe(word);
        expect((await world.pay()).body.status).toBe('success');
      },
    ],
  },
  client_ref_id: {
    same_body: ['what a repeated reference gets', (open, choice) => repeat(open, choice, {})],
    changed_body: [
      'what a repeated reference with another body gets',
      (open, choice) => repeat(open, choice, { amount: 1, transfer_mode: 'NEFT' }),
    ],
    in_flight: [
      'what a reference gets whose first request is still under way, and that it pays once',
      async (open, choice) => {
        const world = await open();
        await world.world.rule({ match: { attempt: 1 }, effect: { hold: 'committed' } });
        const paying = world.pay();
        const [held] = await heldBy(world.world, 1);
        const again = await world.pay();
        if (choice === 'replay') expect([again.status, isReplayed(again)]).toEqual([200, true]);
        else expect(again).toMatchObject({ status: 409, body: { code: 'REQUEST_IN_PROGRESS' } });
        await held!.release();
        expect([(await paying).status, await paid(world)]).toEqual([200, 1500.5]);
        expect(isReplayed(await world.pay())).toBe(true);
      },
    ],
  },
  status: {
    without_key: [
      'whether status without a key reads the world of sk_test_demo; a wrong key and the other routes are refused',
      async (open, choice) => {
        const world = await open();
        await world.pay({ amount: 2 });
        await world.pay({}, { authorization: 'Bearer sk_test_demo' });
        const bare = await sendBare(world, BY_ORDER);
        if (choice === 401) expect(bare).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
        else expect(bare.body.data.amount).toBe(PAYOUT.amount);
        const page = await fetch(world.url + BY_ORDER, { headers: { 'sec-fetch-site': 'cross-site' } });
        expect(page.status).toBe(401); // a page elsewhere must not learn for the client what became of its payout
        await fetch(world.url + BY_ORDER, { headers: { 'x-sandbox-world-name': 'of anybody' } });
        expect((await connectSandbox({ url: world.url }).world('sk_test_demo').summary()).name).toBeNull();
        expect((await statusOf(world)).amount).toBe(2);
        for (const key of ['Bearer nobody', ''])
          expect((await sendBare(world, BY_ORDER, key)).status).toBe(401);
        expect((await sendBare(world, '/client/fetchbalance')).status).toBe(401);
        expect((await fetch(`${world.url}/payout/initiate`, { method: 'POST' })).status).toBe(401);
      },
    ],
    unknown: [
      'an unknown transaction gets this status, and an unknown route still 404',
      async (open, choice) => {
        const world = await open();
        const code = choice === 404 ? 'TRANSACTION_NOT_FOUND' : 'TRANSACTION_UNKNOWN';
        for (const query of [{ txn_id: 'TXN0' }, { client_ref_id: 'order-1' }])
          expect(await world.status(query)).toMatchObject({ status: choice, body: { code } });
        expect((await world.send('GET', '/nowhere')).status).toBe(404);
      },
    ],
    both: [
      'what status finds when both parameters are given',
      async (open, choice) => {
        const world = await open();
        const { txn_id } = (await world.pay()).body.data;
        await world.pay({ client_ref_id: 'order-2' });
        expect((await world.status({ txn_id })).body.data.client_ref_id).toBe('order-1');
        expect((await statusOf(world, 'order-2')).client_ref_id).toBe('order-2');
        const found = async (query: Record<string, string>) => {
          const { status, body } = await world.status(query);
          return body.data?.client_ref_id ?? body.errors ?? status;
        };
        expect([
          await found({ txn_id, client_ref_id: 'order-2' }),
          await found({ txn_id, client_ref_id: 'order-1' }),
          await found({ txn_id: 'TXN0', client_ref_id: 'order-1' }),
        ]).toEqual(BY_BOTH[choice]);
      },
    ],
    completed_at_while_pending: [
      'completed_at of a payout that is PENDING, which is a timestamp afterwards',
      async (open, choice) => {
        const world = await open({ settings: FROZEN });
        await world.pay();
        const pending = await statusOf(world);
        expect(pending.status).toBe('PENDING');
        expect('completed_at' in pending).toBe(choice === 'null');
        expect(pending.completed_at ?? null).toBeNull();
        await world.clock.advance('2s');
        expect((await statusOf(world)).completed_at).toBe('2026-01-15T10:30:02.000Z');
      },
    ],
    utr_of_failed: [
      'the UTR of a FAILED payout, which is refunded',
      async (open, choice) => {
        const settlement = { IMPS: [{ to: 'FAILED' as const, after: '5s' }] };
        const world = await open({ settings: FROZEN, scenario: { settlement } });
        expect((await world.pay()).body.data.utr).toBeNull();
        expect(await paid(world)).toBe(1500.5);
        await world.clock.advance('5s');
        expect(await statusOf(world)).toMatchObject({
          status: 'FAILED',
          utr: choice === 'null' ? null : expect.stringMatching(/^6015\d{8}$/),
        });
        expect(await paid(world)).toBe(0);
      },
    ],
  },
  requests: {
    formats: [
      'an account or IFSC that the real service might refuse',
      (open, choice) => paySuspect(open, choice, MALFORMED, [IFSC_WARNING, ACCOUNT_WARNING]),
    ],
    mode_limits: [
      'an amount that the real service might refuse',
      (open, choice) => paySuspect(open, choice, LARGE, [LIMIT_WARNING]),
    ],
    unknown_fields: [
      'an unknown field is ignored, or refused together with every other error',
      async (open, choice) => {
        const world = await open();
        if (choice === 'refuse') return refuseUnknownFields(world);
        expect((await world.pay({ purpose: 'x' })).status).toBe(200);
        expect(isReplayed(await world.pay({ purpose: 'y' }))).toBe(true);
      },
    ],
    upi_beneficiary: [
      'a UPI payout names an account, or a UPI ID, which no other payout may',
      async (open, choice) => {
        const isAccount = choice === 'account';
        const world = await open({ dialect: { requests: { formats: 'refuse' } } });
        const answers = [
          await world.pay(UPI),
          await world.pay({ client_ref_id: 'order-2', transfer_mode: 'UPI' }),
          await world.pay({ ...UPI, client_ref_id: 'order-3', transfer_mode: 'IMPS' }),
        ];
        expect(answers.map(({ status }) => status)).toEqual([isAccount ? 400 : 200, 200, 400]);
        if (isAccount) expect(answers[0]!.body.errors).toMatchObject([{ message: ACCOUNT_WARNING }]);
        const { headers } = await (await open()).pay(UPI);
        expect(headers.get('x-sandbox-warning')).toBe(isAccount ? ACCOUNT_WARNING : null);
      },
    ],
  },
  rate_limit: {
    routes: [
      'the rate limit counts initiates only, or all three routes together',
      async (open, choice) => {
        const world = await open({ scenario: TWICE_AN_HOUR });
        const answers = [await world.balance(), await world.status({ txn_id: 'TXN0' })];
        for (const client_ref_id of ['order-1', 'order-2', 'order-3'])
          answers.push(await world.pay({ client_ref_id }), await world.balance());
        const statuses = answers.map(({ status }) => status);
        const [of, paidInr, ...expected] =
          choice === 'all'
            ? ['requests', 0, 200, 404, 429, 429, 429, 429, 429, 429]
            : ['initiates', 3001, 200, 404, 200, 200, 200, 200, 429, 200];
        expect(statuses).toEqual(expected);
        const { body } = answers.find(({ status }) => status === 429)!;
        expect(body.code).toBe('RATE_LIMITED');
        expect(body.message).toContain(`the limit is 2 ${of} per 1h for each key`);
        expect(await paid(world)).toBe(paidInr);
        expect((await world.status({ txn_id: 'TXN0' })).status).toBe(choice === 'all' ? 429 : 404);
      },
    ],
    retry_after: [
      'whether a 429 has Retry-After, in whole seconds, also one of a rule',
      async (open, choice) => {
        const world = await open({ scenario: ONCE_AN_HOUR });
        expect((await world.pay()).headers.has('retry-after')).toBe(false);
        const byRule = { client_ref_id: 'order-2', beneficiary_account: '9999000429' };
        const unlimited = await open({ scenario: { rate_limit: 'off' } });
        const refused = [await world.pay(), await unlimited.pay(byRule)];
        expect(refused.map(({ status }) => status)).toEqual([429, 429]);
        const waits = refused.map(({ headers }) => headers.get('retry-after'));
        expect(waits).toEqual(
          choice === 'seconds' ? [expect.stringMatching(/^3[56]\d\d$/), '1'] : [null, null],
        );
      },
    ],
  },
  answers: {
    timestamps: [
      'every timestamp has milliseconds, or whole seconds',
      async (open, choice) => {
        const { created, completed } = TIMESTAMPS[choice];
        const world = await open({ settings: { clock: '2026-01-15T10:30:00.250Z' } });
        expect((await world.balance()).body.data.last_updated).toBe(created);
        expect((await world.pay()).body.data.created_at).toBe(created);
        await world.clock.advance('2s');
        expect(await statusOf(world)).toMatchObject({ created_at: created, completed_at: completed });
      },
    ],
  },
};

/** Every switch by its name, such as `status.unknown`, with its choices. */
const SWITCHES: readonly (readonly [string, readonly (string | number | null)[]])[] = Object.entries(
  Dialect.shape,
).flatMap(([part, { shape }]) =>
  Object.entries(shape).flatMap(([row, schema]) =>
    'values' in schema ? [[`${part}.${row}`, [...schema.values]] as const] : [],
  ),
);

const CASES = SWITCHES.flatMap(([name, choices]) => {
  const [group, row] = name.split('.') as [keyof Dialect, string];
  const [what, tell] = (STORIES[group] as Record<string, Story<never>>)[row]!;
  return choices.map((choice) => [`${name} ${choice}: ${what}`, name, choice, tell] as const);
});

// not `$title`, which vitest cuts off after 40 characters
test.each(CASES)('%s', async (_title, name, choice, tell) => {
  expect.hasAssertions();
  await tell(openingWith(name, choice), choice as never);
});

test("the sandbox's own headers are sent with every kind of response", async () => {
  const sandbox = connectSandbox({ url: (await clientFor()).url });
  for (const [what, ask, headers = [], conditions] of BY_KIND) {
    const world = clientOf(sandbox.world());
    if (conditions?.scenario !== undefined) await world.world.use(conditions.scenario);
    const sent = sandboxHeaders(await ask(world)).toSorted();
    expect([what, ...sent]).toEqual([what, ...[...headers, 'x-sandbox-request-id'].toSorted()]);
  }
});

test('with fixed keys, status without a key reads the world of the first key', async () => {
  const dialect: DialectChange = { status: { without_key: 'answered' } };
  const world = await clientFor({ apiKeys: 'one,two', scenario: { dialect } });
  await world.pay({ amount: 1 }, { authorization: 'Bearer two' });
  expect((await sendBare(world, BY_ORDER)).status).toBe(404);
  await world.pay({ amount: 2 }, { authorization: 'Bearer one' });
  expect((await sendBare(world, BY_ORDER)).body.data.amount).toBe(2);
});

testRows<[when: 'warn' | 'refuse' | 'ignore', status: number, warned: boolean]>([
  ['warn', 200, true],
  ['refuse', 400, false],
  ['ignore', 200, false],
])(
  'a reference or remarks that a dialect does not want get a warning, a refusal or nothing',
  async (when, status, warned) => {
    const pattern = '^[A-Za-z0-9_-]+$';
    const requests = { client_ref_id: { max: 7, pattern, when }, remarks: { pattern, when } };
    const world = await clientFor({ scenario: { dialect: { requests } } });
    const wanted = await world.pay({ client_ref_id: 'order-1', remarks: 'rent' });
    expect([wanted.status, wanted.headers.has('x-sandbox-warning')]).toEqual([200, false]);
    for (const change of [
      { client_ref_id: 'order-10' },
      { client_ref_id: 'order/2' },
      { remarks: 'für Asha' },
    ]) {
      const { headers, body, ...seen } = await world.pay({ client_ref_id: 'order-3', ...change });
      expect([seen.status, headers.has('x-sandbox-warning')]).toEqual([status, warned]);
      const [field] = Object.keys(change);
      if (when === 'refuse') expect(body.errors).toMatchObject([{ field }]);
      if (warned)
        expect(headers.get('x-sandbox-warning')).toMatch(new RegExp(`^${field} (is longer|does not match)`));
    }
  },
);

const PAGE = readFileSync(new URL('../../../docs/fidelity.md', import.meta.url), 'utf8');
const FIDELITY = PAGE.replaceAll(/\s+/g, ' ');

test('docs/fidelity.md lists every switch of the dialect with its choices, the default first, and how to find out, and no other switch', () => {
  const written = [...FIDELITY.matchAll(/Switch `dialect\.(\w+\.\w+)`: (.+?)\. [^]*?_Find out_: /g)];
  expect(written.map(([, name, choices]) => `${name}: ${choices}`).toSorted()).toEqual(
    SWITCHES.map(([name, choices]) => `${name}: ${choices.join(', ')}`).toSorted(),
  );
  for (const [name, choices] of SWITCHES) {
    const [group, row] = name.split('.') as [keyof Dialect, string];
    expect(choices[0]).toBe((DEFAULT_DIALECT[group] as Record<string, unknown>)[row]);
  }
});

testRows([...shippedDialects()])(
  'a scenario may start from a shipped dialect and change single rows',
  async (name, preset) => {
    const dialect: DialectChange = {
      extends: name,
      errors: { body: 'problem' },
      status: { unknown: 400, completed_at_while_pending: 'absent' },
    };
    const world = await clientFor({ scenario: { dialect }, clock: '2026-01-15T10:30:00.250Z' });
    const unknown = await world.status({ txn_id: 'TXN0' });
    expect(unknown).toMatchObject({ status: 400, body: { title: 'Bad Request' } });
    const answer = await world.pay();
    expect(answer.body.data.created_at).toBe(TIMESTAMPS[preset.answers.timestamps].created);
    expect(await statusOf(world)).not.toHaveProperty('completed_at');
  },
);
