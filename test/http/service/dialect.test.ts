import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { DEFAULT_DIALECT, Dialect, type DialectChange } from '../../../src/contract/dialect.ts';
import type { ScenarioDocument } from '../../../src/contract/scenario-document.ts';
import { connectSandbox, type SettingsInput } from '../../../src/index.ts';
import { shippedDialects } from '../../../src/scenario/scenario-file.ts';
import { clientFor, clientOf, PAYOUT, seen, type Client, type Seen } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';
import { folderWith } from '../../support/temporary-folder.ts';

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

/** What a client sees of each choice of the dialect, by `ROW CHOICE: what`. */
type Stories = Readonly<Record<string, (open: Open) => Promise<void>>>;

const withRow = (row: string, choice: unknown, change: DialectChange = {}): DialectChange => {
  const [group, name] = row.split('.') as [keyof Dialect, string];
  return { ...change, [group]: { ...change[group], [name]: choice } };
};

const opening =
  (row: string, choice: unknown): Open =>
  async ({ settings, scenario, dialect } = {}) => {
    const whole = { ...scenario, dialect: withRow(row, choice, dialect) };
    return clientFor({ ...settings, scenario: whole });
  };

/** What the wallet has paid out so far, in INR. */
const paid = async (world: Client, openingInr = OPENING_INR): Promise<number> =>
  Math.round((openingInr - (await world.balance()).body.data.balance) * 100) / 100;

const sendBare = async (world: Client, path: string, authorization?: string): Promise<Seen> =>
  seen(await fetch(world.url + path, authorization === undefined ? {} : { headers: { authorization } }));

const WRONG_AMOUNT = { field: 'amount', message: 'amount must be greater than 0' };

const statusWord = (word: Dialect['errors']['status_word']): Stories => ({
  [`errors.status_word ${word}: the status word of an error is ${word}, and that of a success is still success`]:
    async (open) => {
      const world = await open();
      const bare = await sendBare(world, '/client/fetchbalance');
      for (const refused of [await world.pay({ amount: 0 }), await world.send('GET', '/'), bare])
        expect(refused.body.status).toBe(word);
      expect((await world.pay()).body.status).toBe('success');
    },
});

const JSON_TYPE = 'application/json; charset=utf-8';
const INVALID = { message: WRONG_AMOUNT.message, code: 'INVALID_REQUEST', errors: [WRONG_AMOUNT] };
const BUSY = { message: 'later', code: 'SLOW_DOWN' };
const problem = (status: number, title: string, { message, ...more }: { message: string }) => ({
  type: 'about:blank',
  title,
  status,
  detail: message,
  ...more,
});

/** The body of an error of the sandbox, and that of an error that a rule sends. */
const errorBody = (
  choice: Dialect['errors']['body'],
  type: string | null,
  bodies: readonly unknown[],
): Stories => ({
  [`errors.body ${choice}: an error has such a body, also if a rule sends it`]: async (open) => {
    const respond = { status: 503, ...BUSY };
    const rule = { name: 'busy', match: { amount: 503 }, effect: { respond } };
    const world = await open({ scenario: { rules: [rule] } });
    const errors = [await world.pay({ amount: 0 }), await world.pay({ amount: 503 })];
    expect(errors.map(({ status, body }) => [status, body])).toEqual([
      [400, bodies[0]],
      [503, bodies[1]],
    ]);
    for (const { headers, text } of errors) {
      expect(headers.get('content-type')).toBe(type);
      expect(headers.get('content-length')).toBe(String(text.length));
      if (type === null) expect(text).toBe('');
    }
  },
});

const ERRORS: Stories = {
  ...errorBody('envelope', JSON_TYPE, [
    { status: 'error', ...INVALID },
    { status: 'error', ...BUSY },
  ]),
  ...errorBody('message', JSON_TYPE, [{ message: INVALID.message }, { message: BUSY.message }]),
  ...errorBody('problem', 'application/problem+json; charset=utf-8', [
    problem(400, 'Bad Request', INVALID),
    problem(503, 'Service Unavailable', BUSY),
  ]),
  ...errorBody('empty', null, [undefined, undefined]),
  ...statusWord('error'),
  ...statusWord('failed'),
  ...statusWord('failure'),
};

const repeatRefused = (row: string, choice: 400 | 409, code: string, change: Change): Stories => ({
  [`${row} ${choice}: a repeated reference is refused with ${choice}, and its payout is debited once`]:
    async (open) => {
      const world = await open();
      const { txn_id } = (await world.pay()).body.data;
      const refused = await world.pay(change);
      expect(refused).toMatchObject({ status: choice, body: { code, errors: [{ field: 'client_ref_id' }] } });
      expect(refused.body.message).toContain(txn_id);
      expect(refused.headers.has('idempotent-replayed')).toBe(false);
      expect((await world.status({ client_ref_id: 'order-1' })).body.data).toMatchObject({
        txn_id,
        amount: 1500.5,
      });
      expect(await paid(world)).toBe(1500.5);
    },
});

const secondPayout = (row: string, amount: number): Stories => ({
  [`${row} second_payout: a repeated reference${amount === PAYOUT.amount ? '' : ' with another amount'} makes a second payout, and status by reference shows the latest`]:
    async (open) => {
      const world = await open();
      const first = (await world.pay()).body.data;
      const again = await world.pay({ amount });
      expect(again).toMatchObject({ status: 200, body: { data: { status: 'PENDING', amount } } });
      expect(again.headers.has('idempotent-replayed')).toBe(false);
      const second = again.body.data;
      expect(second.txn_id).not.toBe(first.txn_id);
      expect((await world.status({ client_ref_id: 'order-1' })).body.data.txn_id).toBe(second.txn_id);
      for (const { txn_id, amount: itsAmount } of [first, second]) {
        const found = await world.status({ txn_id });
        expect(found.body.data).toMatchObject({ txn_id, client_ref_id: 'order-1', amount: itsAmount });
      }
      expect(await paid(world)).toBe(1500.5 + amount);
    },
});

const REFERENCES: Stories = {
  'client_ref_id.same_body replay: a repeated reference gets the current state of its payout, and is debited once':
    async (open) => {
      const world = await open({ settings: FROZEN });
      const { txn_id } = (await world.pay()).body.data;
      await world.clock.advance('2s');
      const again = await world.pay();
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(again.body.data).toMatchObject({ txn_id, status: 'SUCCESS', utr: expect.any(String) });
      expect(await paid(world)).toBe(1500.5);
    },
  'client_ref_id.same_body first_answer: a repeated reference gets its first response again, even after settlement, and is debited once':
    async (open) => {
      const world = await open({ settings: FROZEN });
      const first = await world.pay();
      await world.clock.advance('2s');
      const again = await world.pay();
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(again.text).toBe(first.text);
      expect((await world.status({ client_ref_id: 'order-1' })).body.data.status).toBe('SUCCESS');
      expect(await paid(world)).toBe(1500.5);
    },
  ...repeatRefused('client_ref_id.same_body', 400, 'DUPLICATE_REFERENCE', {}),
  ...repeatRefused('client_ref_id.same_body', 409, 'REFERENCE_CONFLICT', {}),
  ...secondPayout('client_ref_id.same_body', PAYOUT.amount),
  ...repeatRefused('client_ref_id.changed_body', 400, 'DUPLICATE_REFERENCE', { amount: 1 }),
  ...repeatRefused('client_ref_id.changed_body', 409, 'REFERENCE_CONFLICT', { amount: 1 }),
  'client_ref_id.changed_body replay: a repeated reference with another body gets the first payout, and is debited once':
    async (open) => {
      const world = await open({ settings: FROZEN });
      const first = await world.pay();
      const again = await world.pay({ amount: 1, transfer_mode: 'NEFT' });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(again.body.data).toEqual(first.body.data);
      expect(await paid(world)).toBe(1500.5);
    },
  ...secondPayout('client_ref_id.changed_body', 1),
  'client_ref_id.after_402 forget: a reference that was refused with 402 can be used again': async (open) => {
    const world = await open({ scenario: { wallet: { opening_balance: 100 } } });
    expect((await world.pay({ amount: 100.01 })).status).toBe(402);
    expect((await world.pay({ amount: 40 })).status).toBe(200);
    expect(await paid(world, 100)).toBe(40);
  },
  'client_ref_id.after_402 remember: a reference that was refused with 402 stays refused, even when the wallet covers it later':
    async (open) => {
      const world = await open({ scenario: { wallet: { opening_balance: 100 } } });
      expect((await world.pay({ amount: 100.01 })).status).toBe(402);
      const again = await world.pay({ amount: 40 });
      expect(again).toMatchObject({ status: 402, body: { code: 'INSUFFICIENT_BALANCE' } });
      expect(again.body.message).toContain('it stays refused');
      expect((await world.status({ client_ref_id: 'order-1' })).status).toBe(404);
      expect(await paid(world, 100)).toBe(0);
      expect((await world.pay({ client_ref_id: 'order-2', amount: 100 })).status).toBe(200);
    },
};

/** Asks with a txn_id and a client_ref_id that belong to different payouts. */
async function statusByBoth(world: Client): Promise<Seen> {
  const { txn_id } = (await world.pay()).body.data;
  await world.pay({ client_ref_id: 'order-2' });
  expect((await world.status({ txn_id })).body.data.client_ref_id).toBe('order-1');
  expect((await world.status({ client_ref_id: 'order-2' })).body.data.client_ref_id).toBe('order-2');
  return world.status({ txn_id, client_ref_id: 'order-2' });
}

const unknown = (choice: 404 | 400, code: string): Stories => ({
  [`status.unknown ${choice}: an unknown transaction gets ${choice}, and an unknown route still 404`]: async (
    open,
  ) => {
    const world = await open();
    for (const query of [{ txn_id: 'TXN0' }, { client_ref_id: 'order-1' }])
      expect(await world.status(query)).toMatchObject({ status: choice, body: { code } });
    expect((await world.send('GET', '/nowhere')).status).toBe(404);
  },
});

const BY_ORDER = '/payout/status?client_ref_id=order-1';

const completedAt = (choice: 'null' | 'absent'): Stories => ({
  [`status.completed_at_while_pending ${choice}: completed_at is ${choice} while a payout is PENDING, and a timestamp afterwards`]:
    async (open) => {
      const world = await open({ settings: FROZEN });
      await world.pay();
      const pending = (await world.status({ client_ref_id: 'order-1' })).body.data;
      expect(pending.status).toBe('PENDING');
      expect('completed_at' in pending).toBe(choice === 'null');
      expect(pending.completed_at ?? null).toBeNull();
      await world.clock.advance('2s');
      const { completed_at } = (await world.status({ client_ref_id: 'order-1' })).body.data;
      expect(completed_at).toBe('2026-01-15T10:30:02.000Z');
    },
});

const utrOfFailed = (choice: 'null' | 'set'): Stories => ({
  [`status.utr_of_failed ${choice}: a FAILED payout has ${choice === 'null' ? 'no' : 'a'} UTR, and is refunded`]:
    async (open) => {
      const settlement = { IMPS: [{ to: 'FAILED' as const, after: '5s' }] };
      const world = await open({ settings: FROZEN, scenario: { settlement } });
      expect((await world.pay()).body.data.utr).toBeNull();
      expect(await paid(world)).toBe(1500.5);
      await world.clock.advance('5s');
      expect((await world.status({ client_ref_id: 'order-1' })).body.data).toMatchObject({
        status: 'FAILED',
        utr: choice === 'null' ? null : expect.stringMatching(/^6015\d{8}$/),
      });
      expect(await paid(world)).toBe(0);
    },
});

const STATUS: Stories = {
  'status.without_key 401: status requires a key': async (open) => {
    const world = await open();
    await world.pay();
    expect(await sendBare(world, BY_ORDER)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
  },
  'status.without_key answered: status without a key reads the world of sk_test_demo; a wrong key and the other routes are still refused':
    async (open) => {
      const world = await open();
      await world.pay({ amount: 2 });
      expect((await sendBare(world, BY_ORDER)).status).toBe(404);
      await world.pay({}, { authorization: 'Bearer sk_test_demo' });
      expect((await sendBare(world, BY_ORDER)).body.data.amount).toBe(PAYOUT.amount);
      const page = await fetch(world.url + BY_ORDER, { headers: { 'sec-fetch-site': 'cross-site' } });
      expect(page.status).toBe(401); // a page elsewhere must not learn for the client what became of its payout
      await fetch(world.url + BY_ORDER, { headers: { 'x-sandbox-world-name': 'of anybody' } });
      expect((await connectSandbox({ url: world.url }).world('sk_test_demo').summary()).name).toBeNull();
      expect((await world.status({ client_ref_id: 'order-1' })).body.data.amount).toBe(2);
      expect((await sendBare(world, BY_ORDER, 'Bearer nobody')).status).toBe(401);
      expect((await sendBare(world, BY_ORDER, '')).status).toBe(401);
      expect((await sendBare(world, '/client/fetchbalance')).status).toBe(401);
      expect((await fetch(`${world.url}/payout/initiate`, { method: 'POST' })).status).toBe(401);
    },
  'status.without_key answered: with fixed keys, status without a key reads the world of the first key':
    async (open) => {
      const world = await open({ settings: { apiKeys: 'one,two' } });
      for (const [amount, key] of ['two', 'one'].entries())
        expect((await world.pay({ amount: amount + 1 }, { authorization: `Bearer ${key}` })).status).toBe(
          200,
        );
      expect((await sendBare(world, BY_ORDER)).body.data.amount).toBe(2);
    },
  ...unknown(404, 'TRANSACTION_NOT_FOUND'),
  ...unknown(400, 'TRANSACTION_UNKNOWN'),
  'status.both same: a txn_id and a client_ref_id of different payouts find none': async (open) => {
    const world = await open();
    expect((await statusByBoth(world)).status).toBe(404);
    const { txn_id } = (await world.status({ client_ref_id: 'order-1' })).body.data;
    expect((await world.status({ txn_id, client_ref_id: 'order-1' })).status).toBe(200);
  },
  'status.both client_ref_id: client_ref_id decides when both parameters are given': async (open) => {
    const world = await open();
    expect((await statusByBoth(world)).body.data.client_ref_id).toBe('order-2');
    expect((await world.status({ txn_id: 'TXN0', client_ref_id: 'order-1' })).status).toBe(200);
  },
  'status.both txn_id: txn_id decides when both parameters are given': async (open) => {
    const world = await open();
    expect((await statusByBoth(world)).body.data.client_ref_id).toBe('order-1');
    expect((await world.status({ txn_id: 'TXN0', client_ref_id: 'order-1' })).status).toBe(404);
  },
  'status.both 400: both parameters together are refused, even when they name the same payout': async (
    open,
  ) => {
    const world = await open();
    const refused = {
      status: 400,
      body: {
        code: 'INVALID_REQUEST',
        errors: [
          { field: 'client_ref_id', message: 'client_ref_id must be given alone' },
          { field: 'txn_id', message: 'txn_id must be given alone' },
        ],
      },
    };
    expect(await statusByBoth(world)).toMatchObject(refused);
    const { txn_id } = (await world.status({ client_ref_id: 'order-1' })).body.data;
    expect(await world.status({ txn_id, client_ref_id: 'order-1' })).toMatchObject(refused);
  },
  ...completedAt('null'),
  ...completedAt('absent'),
  ...utrOfFailed('null'),
  ...utrOfFailed('set'),
};

const MALFORMED = { beneficiary_ifsc: 'sbin1', beneficiary_account: '12345678' };
const IFSC_WARNING = 'beneficiary_ifsc is not an IFSC (4 capital letters, 0, 6 capital letters or digits)';
const ACCOUNT_WARNING = 'beneficiary_account is not 9 to 18 digits';
const LARGE = { amount: 500_000.01 };
const LIMIT_WARNING = 'amount is above INR 5,00,000, the usual limit of IMPS';
const UPI = { transfer_mode: 'UPI', beneficiary_account: 'asha.rao@okbank' };

/** The three ways to treat values that the real service might refuse. */
const suspectValues = (
  row: string,
  change: Change,
  warnings: readonly string[],
  paidInr: number,
): Stories => ({
  [`${row} warn: a value that the real service might refuse is accepted with a warning`]: async (open) => {
    const world = await open();
    const { status, headers } = await world.pay(change);
    expect(status).toBe(200);
    expect(headers.get('x-sandbox-warning')).toBe(warnings.join('; '));
    expect(await paid(world)).toBe(paidInr);
  },
  [`${row} refuse: a value that the real service might refuse is refused, together with all others`]: async (
    open,
  ) => {
    const world = await open();
    const { status, body, headers } = await world.pay(change);
    expect(status).toBe(400);
    const errors = warnings.map((message) => ({ field: message.split(' ')[0], message }));
    expect(body).toEqual({
      status: 'error',
      message: warnings.join('; '),
      code: 'INVALID_REQUEST',
      errors,
    });
    expect(headers.has('x-sandbox-warning')).toBe(false);
    expect((await world.status({ client_ref_id: 'order-1' })).status).toBe(404);
    expect(await paid(world)).toBe(0);
  },
  [`${row} ignore: a value that the real service might refuse is accepted without a warning`]: async (
    open,
  ) => {
    const world = await open();
    const { status, headers } = await world.pay(change);
    expect(status).toBe(200);
    expect(headers.has('x-sandbox-warning')).toBe(false);
    expect(await paid(world)).toBe(paidInr);
  },
});

const REQUESTS: Stories = {
  ...suspectValues('requests.formats', MALFORMED, [IFSC_WARNING, ACCOUNT_WARNING], 1500.5),
  ...suspectValues('requests.mode_limits', LARGE, [LIMIT_WARNING], 500_000.01),
  'requests.unknown_fields ignore: an unknown field is ignored': async (open) => {
    const world = await open();
    expect((await world.pay({ purpose: 'x' })).status).toBe(200);
    expect((await world.pay({ purpose: 'y' })).headers.get('idempotent-replayed')).toBe('true');
  },
  'requests.unknown_fields refuse: an unknown field is refused, together with every other error': async (
    open,
  ) => {
    const world = await open();
    const unknown = { field: 'purpose', message: 'purpose is not a known field' };
    expect(await world.pay({ purpose: 'x' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', message: unknown.message, errors: [unknown] },
    });
    const both = await world.pay({ purpose: 'x', amount: 0 });
    expect(both.body.errors).toEqual([WRONG_AMOUNT, unknown]);
    expect(await paid(world)).toBe(0);
    const headers = JSON_HEADERS;
    for (const field of ['__proto__', 'constructor']) {
      const body = JSON.stringify(PAYOUT).replace('{', `{"${field}":{"prototype":{"x":1}},`);
      const { errors } = (await world.send('POST', '/payout/initiate', { headers, body })).body;
      expect(errors).toEqual([{ field, message: `${field} is not a known field` }]);
    }
    expect(await paid(world)).toBe(0);
    expect((await world.pay({ remarks: 'known' })).status).toBe(200);
    const list = { headers, body: '["purpose"]' };
    const { errors } = (await world.send('POST', '/payout/initiate', list)).body;
    expect(errors).toEqual([{ field: 'body', message: 'body must be a JSON object' }]);
  },
  'requests.upi_beneficiary account_or_upi_id: a UPI payout may name a UPI ID or an account': async (
    open,
  ) => {
    const world = await open({ dialect: { requests: { formats: 'refuse' } } });
    expect((await world.pay(UPI)).status).toBe(200);
    expect((await world.pay({ client_ref_id: 'order-2', transfer_mode: 'UPI' })).status).toBe(200);
    expect((await world.pay({ ...UPI, client_ref_id: 'order-3', transfer_mode: 'IMPS' })).status).toBe(400);
  },
  'requests.upi_beneficiary account: a UPI payout must name an account': async (open) => {
    const world = await open({ dialect: { requests: { formats: 'refuse' } } });
    const refused = await world.pay(UPI);
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ message: ACCOUNT_WARNING }] } });
    expect((await world.pay({ transfer_mode: 'UPI' })).status).toBe(200);
    const lenient = await open();
    expect((await lenient.pay(UPI)).headers.get('x-sandbox-warning')).toBe(ACCOUNT_WARNING);
  },
};

const ONCE_AN_HOUR = { rate_limit: { max: 1, per: '1h' } };
const TWICE_AN_HOUR = { rate_limit: { max: 2, per: '1h' } };

const RATE_LIMITS: Stories = {
  'rate_limit.routes initiate: the rate limit applies to initiates only': async (open) => {
    const world = await open({ scenario: TWICE_AN_HOUR });
    const balances = await Promise.all([world.balance(), world.balance(), world.balance()]);
    expect(balances.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const txn_id of ['TXN0', 'TXN1', 'TXN2']) expect((await world.status({ txn_id })).status).toBe(404);
    expect((await world.pay()).status).toBe(200);
    expect((await world.pay({ client_ref_id: 'order-2' })).status).toBe(200);
    const refused = await world.pay({ client_ref_id: 'order-3' });
    expect(refused.status).toBe(429);
    expect(refused.body.message).toContain('the limit is 2 initiates per 1h for each key');
    expect(await paid(world)).toBe(3001);
  },
  'rate_limit.routes all: the rate limit applies to all three routes together': async (open) => {
    const world = await open({ scenario: TWICE_AN_HOUR });
    expect((await world.balance()).status).toBe(200);
    expect((await world.status({ txn_id: 'TXN0' })).status).toBe(404);
    for (const refused of [await world.pay(), await world.balance(), await world.status({ txn_id: 'T' })]) {
      expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
      expect(refused.body.message).toContain('the limit is 2 requests per 1h for each key');
    }
  },
  'rate_limit.retry_after seconds: a 429 has Retry-After in whole seconds': async (open) => {
    const world = await open({ scenario: ONCE_AN_HOUR });
    expect((await world.pay()).headers.has('retry-after')).toBe(false);
    const { status, headers } = await world.pay();
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toMatch(/^3[56]\d\d$/);
  },
  'rate_limit.retry_after absent: a 429 has no Retry-After': async (open) => {
    const world = await open({ scenario: ONCE_AN_HOUR });
    await world.pay();
    const byRule = { client_ref_id: 'order-2', beneficiary_account: '9999000429' };
    const byRuleWorld = await open({ scenario: { rate_limit: 'off' } });
    for (const { status, headers } of [await world.pay(), await byRuleWorld.pay(byRule)]) {
      expect(status).toBe(429);
      expect(headers.has('retry-after')).toBe(false);
    }
  },
};

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
const respond = { status: 503 };

const USUAL: Conditions = {};

/** Responses of every kind, and the headers of each that only the sandbox sends, besides the id of the request. */
const BY_KIND: readonly [
  what: string,
  headers: readonly string[],
  Conditions,
  ask: (world: Client) => Promise<Seen>,
][] = [
  ['an accepted payout', [], USUAL, (world) => world.pay()],
  ['a balance', [], USUAL, (world) => world.balance()],
  ['a warning', ['x-sandbox-warning'], USUAL, (world) => world.pay(MALFORMED)],
  ['a replay', ['idempotent-replayed'], USUAL, (world) => twice(world)],
  ['a wrong field', [], USUAL, (world) => world.pay({ amount: 0 })],
  [
    'broken JSON',
    [],
    USUAL,
    (world) => world.send('POST', '/payout/initiate', { headers: JSON_HEADERS, body: '{' }),
  ],
  ['no key', [], USUAL, (world) => sendBare(world, '/client/fetchbalance')],
  ['an empty wallet', [], { scenario: { wallet: { opening_balance: 0 } } }, (world) => world.pay()],
  ['no such payout', [], USUAL, (world) => world.status({ txn_id: 'TXN0' })],
  ['no such route', [], USUAL, (world) => world.send('GET', '/')],
  ['another method', [], USUAL, (world) => world.send('GET', '/payout/initiate')],
  ['a malformed path', [], USUAL, (world) => world.send('GET', '/%zz')],
  ['a rate limit', ['x-sandbox-limit'], { scenario: ONCE_AN_HOUR }, (world) => twice(world)],
  [
    'a full sandbox',
    ['x-sandbox-limit'],
    { settings: { maxTransactions: 1 } },
    (world) => twice(world, { client_ref_id: 'order-2' }),
  ],
  [
    'a rule that answers',
    ['x-sandbox-rule'],
    ruled({ name: 'no', effect: { respond } }),
    (world) => world.pay(),
  ],
  [
    'a rule that breaks the response',
    ['x-sandbox-rule', 'x-sandbox-warning'],
    ruled({ name: 'bad', effect: { fault: 'malformed-json' } }),
    (world) => world.pay(MALFORMED),
  ],
];

const sandboxHeaders = ({ headers }: Seen): string[] =>
  [...headers.keys()].filter((name) => /^(x-|idempotent)/.test(name));

/** The headers that only the sandbox sends, of each kind of response. Those without conditions are of worlds in one sandbox. */
async function headersByKind(open: Open) {
  const usual = connectSandbox({ url: (await open()).url });
  const found: [what: string, expected: readonly string[], sent: string[]][] = [];
  for (const [what, expected, conditions, ask] of BY_KIND) {
    const world = conditions === USUAL ? clientOf(usual.world()) : await open(conditions);
    found.push([what, expected, sandboxHeaders(await ask(world))]);
  }
  return found;
}

const timestamps = (choice: Dialect['answers']['timestamps']): Stories => ({
  [`answers.timestamps ${choice}: every timestamp has ${choice === 'seconds' ? 'whole seconds' : 'milliseconds'}`]:
    async (open) => {
      const { created, completed } = TIMESTAMPS[choice];
      const world = await open({ settings: { clock: '2026-01-15T10:30:00.250Z' } });
      expect((await world.balance()).body.data.last_updated).toBe(created);
      expect((await world.pay()).body.data.created_at).toBe(created);
      await world.clock.advance('2s');
      const { data } = (await world.status({ client_ref_id: 'order-1' })).body;
      expect(data).toMatchObject({ created_at: created, completed_at: completed });
    },
});

const ANSWERS: Stories = {
  ...timestamps('milliseconds'),
  ...timestamps('seconds'),
  "answers.sandbox_headers sent: the sandbox's own headers are sent with every kind of response": async (
    open,
  ) => {
    for (const [what, names, sent] of await headersByKind(open))
      expect([what, ...sent.toSorted()]).toEqual([what, ...[...names, 'x-sandbox-request-id'].toSorted()]);
  },
  "answers.sandbox_headers not_sent: none of the sandbox's own headers are sent with any response": async (
    open,
  ) => {
    for (const [what, , sent] of await headersByKind(open)) expect([what, ...sent]).toEqual([what]);
  },
};

const STORIES = Object.entries({
  ...ERRORS,
  ...REFERENCES,
  ...STATUS,
  ...REQUESTS,
  ...RATE_LIMITS,
  ...ANSWERS,
}).map(([title, run]) => {
  const [row, choice] = title.split(': ')[0]!.split(' ') as [string, string];
  return { title, row, choice, run };
});

/** Every row of the schema with its choices. */
const ROWS = Object.entries(Dialect.shape).flatMap(([group, rows]) =>
  Object.entries(rows.shape).map(([row, choices]) => ({
    name: `${group}.${row}`,
    choices: [...choices.values] as (string | number)[],
  })),
);

// not `$title`, which vitest cuts off after 40 characters
test.each(STORIES.map((story) => [story.title, story] as const))(
  '%s',
  async (_title, { row, choice, run }) => {
    expect.hasAssertions();
    const { choices } = ROWS.find(({ name }) => name === row)!;
    await run(
      opening(
        row,
        choices.find((one) => String(one) === choice),
      ),
    );
  },
);

testRows(ROWS)('every choice of every row has a test, and no other', ({ name, choices }) => {
  const tested = STORIES.filter(({ row }) => row === name).map(({ choice }) => choice);
  expect(new Set(tested)).toEqual(new Set(choices.map(String)));
});

const PAGE = readFileSync(new URL('../../../docs/fidelity.md', import.meta.url), 'utf8');
const FIDELITY = PAGE.replaceAll(/\s+/g, ' ');

test('docs/fidelity.md lists every switch of the dialect with its choices, the default first, and no other switch', () => {
  const written = [...FIDELITY.matchAll(/Switch `dialect\.(\w+\.\w+)`: (.+?)\. /g)];
  expect(written.map(([, name, choices]) => `${name}: ${choices}`).toSorted()).toEqual(
    ROWS.map(({ name, choices }) => `${name}: ${choices.join(', ')}`).toSorted(),
  );
  for (const { name, choices } of ROWS) {
    const [group, row] = name.split('.') as [keyof Dialect, string];
    expect(choices[0]).toBe((DEFAULT_DIALECT[group] as Record<string, unknown>)[row]);
  }
});

test('every file that docs/fidelity.md names exists', () => {
  const files = [...FIDELITY.matchAll(/`((?:[a-z]+\/)+[a-z-]+\.ts)`/g)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThan(40);
  const src = new URL('../../../src/', import.meta.url);
  expect(files.filter((file) => !existsSync(new URL(file, src)))).toEqual([]);
});

test('a repeated body is compared with that of the latest payout', async () => {
  const dialect: DialectChange = { client_ref_id: { same_body: 'replay', changed_body: 'second_payout' } };
  const world = await clientFor({ ...FROZEN, scenario: { dialect } });
  await world.pay({ amount: 1 });
  const second = await world.pay({ amount: 2 });
  expect((await world.pay({ amount: 2 })).body.data).toEqual(second.body.data);
  expect((await world.pay({ amount: 1 })).headers.has('idempotent-replayed')).toBe(false);
  expect(await paid(world)).toBe(4);
});

test.each([...shippedDialects()])(
  'a scenario may start from %s and change single rows',
  async (name, preset) => {
    const dialect: DialectChange = {
      extends: name,
      errors: { body: 'problem' },
      status: { unknown: 400, completed_at_while_pending: 'absent' },
    };
    const scenario = { seed: 1, dialect };
    const world = await clientFor({ scenario, clock: '2026-01-15T10:30:00.250Z' });
    expect(await world.status({ txn_id: 'TXN0' })).toMatchObject({
      status: 400,
      body: { title: 'Bad Request' },
    });
    const answer = await world.pay();
    expect(answer.body.data.created_at).toBe(TIMESTAMPS[preset.answers.timestamps].created);
    expect(sandboxHeaders(answer).length > 0).toBe(preset.answers.sandbox_headers === 'sent');
    const { data } = (await world.status({ client_ref_id: 'order-1' })).body;
    expect('completed_at' in data).toBe(false);
  },
);

describe('the header X-Sandbox-Scenario', () => {
  async function worldWith(scenarios: Record<string, ScenarioInput>): Promise<Client> {
    const files = Object.entries(scenarios).map(([name, scenario]) => [
      `${name}.json`,
      JSON.stringify(scenario),
    ]);
    return clientFor({ scenarios: folderWith(Object.fromEntries(files) as Record<string, string>) });
  }

  test('a request that chooses a scenario is answered in its dialect, accepted or refused', async () => {
    const world = await worldWith({
      hushed: {
        dialect: {
          errors: { body: 'message' },
          answers: { sandbox_headers: 'not_sent', timestamps: 'seconds' },
        },
      },
    });
    const chosen = { 'x-sandbox-scenario': 'hushed' };
    const pay = (change: Change = {}): Promise<Seen> => world.pay(change, chosen);
    const accepted = await pay();
    expect(accepted.body.data.created_at).toMatch(/:\d\dZ$/);
    const answers = [
      accepted,
      await pay(),
      await pay({ amount: 0 }),
      await world.send('GET', '/payout/status?txn_id=TXN0', { headers: chosen }),
      await world.send('GET', '/client/fetchbalance', {
        headers: { ...chosen, authorization: 'Bearer nobody' },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 404, 401]);
    for (const answer of answers) expect(sandboxHeaders(answer)).toEqual([]);
    for (const { body } of answers.slice(2)) expect(Object.keys(body)).toEqual(['message']);
    expect(sandboxHeaders(await world.balance())).toEqual(['x-sandbox-request-id']);
  });

  test('a request without a key cannot choose a scenario that answers status without one', async () => {
    const world = await worldWith({ open: { dialect: { status: { without_key: 'answered' } } } });
    const ask = (headers: Record<string, string>) => fetch(world.url + BY_ORDER, { headers });
    expect((await ask({ 'x-sandbox-scenario': 'open' })).status).toBe(401);
  });
});
