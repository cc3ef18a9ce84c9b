import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ScenarioDocument } from '../../src/contract/scenario-document.ts';
import { clientFor, PAYOUT, type Client, type Seen } from '../support/sandbox.ts';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const { rules, outcomes } = ScenarioDocument.parse(parse(fileOf('fixtures/magic.yaml')));
const BENEFICIARIES = [...rules!, ...outcomes!];

/** The rows of the table of magic beneficiaries. */
const ROWS = fileOf('docs/magic.md')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  .map(([, account, what]) => ({ account: account!, what: what! }));

/** A world in which a magic beneficiary is paid. */
interface Payer {
  readonly world: Client;
  readonly isMade: boolean;
  /** Sends the initiate. */
  readonly pay: (leave?: AbortSignal) => Promise<Seen>;
}

type Check = (payer: Payer) => Promise<void>;

const answers =
  (status: number, code: string, header: readonly [name: string, value: string] | null = null): Check =>
  async ({ pay }) => {
    const seen = await pay();
    expect(seen).toMatchObject({ status, body: { status: 'error', code } });
    if (header !== null) expect(seen.headers.get(header[0])).toBe(header[1]);
  };

const gatewayPage: Check = async ({ pay }) => {
  const { status, headers, text } = await pay();
  expect([status, headers.get('content-type')]).toEqual([502, 'text/html']);
  expect(text).toContain('<h1>502 Bad Gateway</h1>');
};

/** The response breaks off. What is sent of it: faults.test.ts */
const breaks =
  (error: object): Check =>
  ({ pay }) =>
    expect(pay()).rejects.toMatchObject({ cause: error });

/** Disconnects once the journal says that the request hangs. */
const hangs: Check = async ({ world, isMade, pay }) => {
  const leave = new AbortController();
  const hanging = async () =>
    (await world.world.requests({ route: 'initiate' })).filter(({ fault }) => fault === 'hang').length;
  const before = await hanging();
  const outcome = pay(leave.signal);
  await expect.poll(hanging).toBe(before + 1);
  expect((await world.status({ client_ref_id: 'order-1' })).status).toBe(isMade ? 200 : 404);
  leave.abort();
  await expect(outcome).rejects.toThrow('aborted');
};

const malformed: Check = async ({ pay }) => {
  const { status, text, body } = await pay();
  expect([status, body]).toEqual([200, undefined]);
  expect(text).toContain('"txn_id":"TXN');
};

/** Expects the normal response, and returns its text. */
async function accepted({ pay }: Payer): Promise<string> {
  const { status, text, body } = await pay();
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ client_ref_id: 'order-1', status: 'PENDING' });
  return text;
}

/** Expects the normal response, after a minimum time. */
const acceptedSlowly =
  (leastMs: (text: string) => number): Check =>
  async (payer) => {
    const startMs = performance.now();
    const text = await accepted(payer);
    expect(performance.now() - startMs).toBeGreaterThan(leastMs(text));
  };

/** What a client sees of an initiate, by rule. Outcomes leave the normal response. */
const ANSWERS: Record<string, Check> = {
  'status-400': answers(400, 'INVALID_REQUEST'),
  'status-401': answers(401, 'UNAUTHORIZED', ['www-authenticate', 'Bearer']),
  'status-402': answers(402, 'INSUFFICIENT_BALANCE'),
  'status-403': answers(403, 'FORBIDDEN'),
  'status-404': answers(404, 'ROUTE_NOT_FOUND'),
  'status-409': answers(409, 'REFERENCE_CONFLICT'),
  'status-429': answers(429, 'RATE_LIMITED', ['retry-after', '1']),
  'status-500': answers(500, 'INTERNAL_ERROR'),
  'status-502': gatewayPage,
  'status-503': answers(503, 'HTTP_503', ['retry-after', '1']),
  'status-504': answers(504, 'HTTP_504'),
  hang: hangs,
  reset: breaks({ code: 'ECONNRESET' }),
  empty: breaks({ code: 'UND_ERR_SOCKET' }),
  truncated: breaks({ code: 'UND_ERR_SOCKET' }),
  'malformed-json': malformed,
  garbage: breaks({ name: 'HTTPParserError' }),
  'slow-answer': acceptedSlowly(() => 1990),
  'slow-body': acceptedSlowly((text) => (text.length / 200) * 950), // 200 bytes a second, with a margin for timers
};

const OPENING = 1_000_000;
const PAID = OPENING - PAYOUT.amount;

/** The current payout and balance; a status code instead of the payout if there is none. */
async function currentState(world: Client) {
  const { status, body } = await world.status({ client_ref_id: 'order-1' });
  const balance: unknown = (await world.balance()).body.data.balance;
  return status === 200
    ? { state: body.data.status as string, utr: body.data.utr as string | null, balance }
    : { status, balance };
}

const UTR = expect.stringMatching(/^\d{12}$/);

/** How a payout proceeds, by outcome: waits, and the state after each. The payouts of rules settle as usual. */
const LATER: Record<string, readonly (readonly [wait: string, found: object])[]> = {
  failed: [
    ['1999ms', { state: 'PENDING', balance: PAID }],
    ['1ms', { state: 'FAILED', utr: null, balance: OPENING }],
    ['30d', { state: 'FAILED', utr: null, balance: OPENING }],
  ],
  'failed-late': [
    ['47h', { state: 'PENDING', balance: PAID }],
    ['1h', { state: 'FAILED', utr: null, balance: OPENING }],
  ],
  reversed: [
    ['1999ms', { state: 'PENDING', balance: PAID }],
    ['1ms', { state: 'REVERSED', utr: UTR, balance: OPENING }],
  ],
  'success-then-reversed': [
    ['2s', { state: 'SUCCESS', utr: UTR, balance: PAID }],
    ['71h', { state: 'SUCCESS', utr: UTR, balance: PAID }],
    ['1h', { state: 'REVERSED', utr: UTR, balance: OPENING }],
    ['30d', { state: 'REVERSED', utr: UTR, balance: OPENING }],
  ],
  'pending-for-ever': [['365d', { state: 'PENDING', utr: null, balance: PAID }]],
  'success-late': [
    ['71h', { state: 'PENDING', utr: null, balance: PAID }],
    ['1h', { state: 'SUCCESS', utr: UTR, balance: PAID }],
  ],
  'utr-late': [
    ['91s', { state: 'SUCCESS', utr: null, balance: PAID }],
    ['1s', { state: 'SUCCESS', utr: UTR, balance: PAID }],
  ],
  'utr-early': [
    ['1s', { state: 'PENDING', utr: UTR, balance: PAID }],
    ['59s', { state: 'SUCCESS', utr: UTR, balance: PAID }],
  ],
  'utr-never': [['365d', { state: 'SUCCESS', utr: null, balance: PAID }]],
  'not-found-at-first': [
    ['1d', { status: 404, balance: PAID }],
    ['1d', { status: 404, balance: PAID }],
    ['0s', { state: 'SUCCESS', balance: PAID }],
  ],
  'not-found-for-a-time': [
    ['9999ms', { status: 404, balance: PAID }],
    ['1ms', { state: 'SUCCESS', balance: PAID }],
  ],
};

/** The name of a rule without `-after-commit`. */
const kindOf = (rule: string): string => rule.replace('-after-commit', '');

const isHiddenAtFirst = (name: string): boolean => name.startsWith('not-found');

test('docs/magic.md lists exactly the magic beneficiaries', () => {
  const shipped = BENEFICIARIES.map(({ match, description }) => ({
    account: match?.beneficiary_account,
    what: description,
  }));
  expect(ROWS.map(({ account, what }) => ({ account, what }))).toEqual(shipped);
  expect(new Set(ROWS.map(({ account }) => account)).size).toBe(ROWS.length);
  const names = BENEFICIARIES.map(({ name }) => kindOf(name!));
  expect(names).toEqual(expect.arrayContaining([...Object.keys(ANSWERS), ...Object.keys(LATER)]));
});

test.each(ROWS.map(({ account, what }, nth) => [account, what, BENEFICIARIES[nth]!.name!]))(
  'a payout to %s: %s, and never twice by a retry',
  async (account, _what, rule) => {
    const isMade = !account.startsWith('9999000');
    const world = await clientFor({ clock: '2026-01-15T10:30:00Z' });
    const found = !isMade || isHiddenAtFirst(rule) ? { status: 404 } : { state: 'PENDING', utr: null };
    const check: Check = ANSWERS[kindOf(rule)] ?? (async (payer) => void (await accepted(payer)));
    const pay: Payer['pay'] = (leave) => world.pay({ beneficiary_account: account }, {}, leave);
    const payOnce = (): Promise<void> => check({ world, isMade, pay });
    if (rule.startsWith('slow')) await Promise.all([payOnce(), payOnce()]);
    else for (let nth = 1; nth <= 2; nth += 1) await payOnce();
    expect(await currentState(world)).toEqual({ ...found, balance: isMade ? PAID : OPENING });
    for (const [wait, then] of LATER[rule] ?? []) {
      await world.clock.advance(wait);
      expect(await currentState(world)).toMatchObject(then);
    }
  },
);

test('a magic beneficiary works in every transfer mode, and the response names its rule', async () => {
  const { pay } = await clientFor();
  for (const transfer_mode of ['IMPS', 'NEFT', 'RTGS', 'UPI']) {
    const { status, headers } = await pay({ transfer_mode, beneficiary_account: '9999000402' });
    expect([status, headers.get('x-sandbox-rule')]).toEqual([402, 'magic/status-402']);
  }
});

test('an account that only resembles a magic one is an ordinary account', async () => {
  const world = await clientFor();
  expect((await world.pay({ beneficiary_account: '09999000402' })).status).toBe(200);
});

test('rules of a scenario apply before magic beneficiaries', async () => {
  const rules = [{ name: 'mine', match: { beneficiary_account: '9999000402' }, effect: { stale: '1s' } }];
  const world = await clientFor({ scenario: { rules } });
  expect((await world.pay({ beneficiary_account: '9999000402' })).status).toBe(200);
  const other = await world.pay({ beneficiary_account: '9999000500', client_ref_id: 'order-2' });
  expect(other.headers.get('x-sandbox-rule')).toBe('magic/status-500');
});

test('a magic outcome combines with what a rule shows the client, and gives way to the outcomes of the scenario', async () => {
  const world = await clientFor({
    clock: '2026-01-15T10:30:00Z',
    scenario: {
      outcomes: [
        { name: 'own', match: { transfer_mode: 'NEFT' }, timeline: [{ to: 'SUCCESS', after: '1h' }] },
      ],
      rules: [
        { name: 'lost', match: { route: 'initiate', attempt: 1 }, effect: { commit: true, respond: 500 } },
      ],
    },
  });
  expect((await world.pay({ beneficiary_account: '9999200001' })).status).toBe(500);
  await world.pay({ client_ref_id: 'order-2', beneficiary_account: '9999200001', transfer_mode: 'NEFT' });
  await world.clock.advance('2s');
  expect(await currentState(world)).toMatchObject({ state: 'FAILED', balance: OPENING - PAYOUT.amount });
  const [first, second] = await world.world.requests({ route: 'initiate' });
  expect(first).toMatchObject({ rule: 'inline/lost', committed: true, planned_by: 'magic/failed' });
  expect(second).toMatchObject({ planned_by: 'inline/own' });
});

test('with magic off, a magic beneficiary is an ordinary account', async () => {
  const world = await clientFor({ magic: 'off' });
  for (const { account } of ROWS) {
    const paid = await world.pay({ beneficiary_account: account, client_ref_id: account });
    expect(paid.status).toBe(200);
    expect(paid.headers.has('x-sandbox-rule')).toBe(false);
  }
});
