import { expect, test } from 'vitest';
import type { RefereeSettings } from '../../../src/contract/conduct.ts';
import { UsageError } from '../../../src/contract/usage-error.ts';
import type { Ending } from '../../../src/trials/run.ts';
import type { ScenarioInput, World } from '../../../src/index.ts';
import { newResponses, responsesIn } from '../../../src/trials/exercised.ts';
import { sandboxRows } from '../../../src/cli/matrix-command.ts';
import { baselineOf, cellOf, type CommandRun, type MatrixRow } from '../../../src/trials/matrix/matrix.ts';
import {
  baselineLines,
  cellLines,
  countLine,
  MATRIX_WRITERS,
} from '../../../src/trials/matrix/matrix-reports.ts';
import { judge } from '../../../src/referee/judge.ts';
import { plain, reportsOf } from '../../../src/referee/reports/summary.ts';
import { readSettings } from '../../../src/settings.ts';
import { CORRECT } from '../../referee/clients/correct.ts';
import { order, PayoutApi, type JudgedClient } from '../../referee/clients/payout-api.ts';
import { isLong } from '../../support/size.ts';
import { sandboxFor } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';
import { START } from '../../support/world/ways-in.ts';
import { misreportedIn } from '../../../src/trials/run-money.ts';
import type { Evidence } from '../../../src/referee/case.ts';
import { evidenceOf, lost, payoutOf } from '../../referee/journal-of.ts';

interface WorldRow extends MatrixRow {
  /** Prepares the world of the row. */
  readonly use: (world: World) => Promise<unknown>;
}

const scenario = (name: string, scenario: ScenarioInput | string = name): WorldRow => ({
  kind: 'scenario',
  name,
  use: (world) => world.use(scenario),
});

type Client = (api: PayoutApi) => Promise<Ending | void>;
interface Options {
  readonly conduct?: RefereeSettings;
  readonly expect?: Parameters<typeof baselineOf>[1];
  readonly isSuite?: boolean;
  /** What `world.reported` finds in each row. */
  readonly misreported?: readonly string[];
  /** How many requests of each row were dropped. */
  readonly evicted?: number;
}

/** Runs a client of this process, each time in a world of its own. It succeeds unless it says otherwise. */
async function matrixOf(
  rows: readonly WorldRow[],
  client: Client,
  { conduct = {}, expect: table = null, isSuite = false, misreported = [], evicted = 0 }: Options = {},
) {
  const sandbox = await sandboxFor({ clock: START, settlement: 'instant' });
  const run = async (row?: WorldRow): Promise<CommandRun> => {
    const { world } = sandbox.client();
    await row?.use(world);
    let ending: Ending = { kind: 'success' };
    await PayoutApi.run(world, async (api) => void (ending = (await client(api)) ?? ending));
    const lists = [world.requests(), world.transactions(), world.entries()] as const;
    const [requests, payouts, entries] = await Promise.all(lists);
    const evidence = {
      requests,
      evicted: row === undefined ? 0 : evicted,
      ledger: { payouts, entries },
      wall_now: null,
      clientEnded: true,
    };
    return {
      ending,
      durationMs: 10,
      conduct: reportsOf([judge('world', evidence, conduct)]),
      worlds: [evidence],
      isSuite,
      misreported: row === undefined ? [] : misreported,
    };
  };
  const baseline = await baselineOf(() => run(), table, conduct.intent);
  const cells = await Promise.all(
    rows.map(async (row) => cellOf(row, await run(row), baseline, 'error', `again ${row.name}`)),
  );
  return { cells, baseline };
}

const succeeding =
  (run: JudgedClient['run']): Client =>
  async (api) =>
    void (await run(api));

const ORDERS: RefereeSettings = { intent: { client_ref_id: '^(order-\\d+)' } };
/** As scenarios, in which the money and the referee decide, since the clients of the referee's tests have no exit code. */
const DIALECTS = sandboxRows('all', 'none', readSettings({}, {}))
  .filter((_, index) => isLong || index % 3 === 1)
  .map((row) => scenario(row.name, row.scenario));

/** A client that pays nothing is refused. */
const PAYING = CORRECT.filter(({ name }) => name !== 'only asks');

test.each(isLong ? PAYING : PAYING.slice(0, 2))(
  'a client that $name survives every dialect',
  async ({ run }) => {
    const { cells } = await matrixOf(DIALECTS, succeeding(run), { conduct: ORDERS });
    expect(cells.filter(({ failed }) => failed)).toEqual([]);
  },
);

test('a row of which requests were dropped fails, since nobody knows how its client behaved', async () => {
  const { cells } = await matrixOf(RESET, async (api) => void (await api.initiate(order(1))), { evicted: 1 });
  expect(cells).toMatchObject([
    { verdict: 'conduct', failed: true, why: [expect.stringContaining('dropped')] },
  ]);
});

const SUCCESS: Ending = { kind: 'success' };
const FAILED: Ending = { kind: 'failure', why: 'exit code 1', output: 'no payout' };
const dialect: WorldRow = { ...scenario('terse', { dialect: 'terse' }), kind: 'dialect' };
const isTerse = async (api: PayoutApi): Promise<boolean> =>
  ((await api.world.scenario()).document as ScenarioInput).dialect === 'terse';

const RESET = [scenario('reset-after-commit')];
const LOST = scenario('lost', {
  rules: [{ name: 'lost', effect: { fault: 'connection-reset', commit: false } }],
});
const REFUSED = scenario('refused', { wallet: { opening_balance: 1 } });
const PENDING = scenario('pending-for-days');
const FAILS = scenario('failed', { settlement: { IMPS: [{ to: 'FAILED', after: '0s' }] } });
const FIRST_FAILS = scenario('first-fails', {
  outcomes: [{ match: { payout: 1 }, timeline: [{ to: 'FAILED', after: '0s' }] }],
});
const TWICE: WorldRow = {
  ...scenario('twice', { dialect: { client_ref_id: { same_body: 'second_payout' } } }),
  kind: 'dialect',
};
const ONLY_DIALECT: WorldRow = {
  ...scenario('terse-errors', { dialect: 'terse' }),
  isDialectOnly: true,
};
const ONCE = { account: order(1).beneficiary_account, amount: 101, times: 1 };

const send: Client = async (api) => void (await api.initiate(order(1)));
const sendOrEnd =
  (ending: Ending): Client =>
  async (api) =>
    (await api.initiate(order(1))).http === 200 ? SUCCESS : ending;
const endInTerse =
  (ending: Ending): Client =>
  async (api) => {
    await send(api);
    return (await isTerse(api)) ? ending : SUCCESS;
  };
/** Fails in each row, and not in the two runs without failures. */
const sendAndFail = (): Client => {
  let runs = 0;
  return async (api) => {
    await send(api);
    return (runs += 1) > 2 ? FAILED : SUCCESS;
  };
};
const payTwice: Client = async (api) => {
  for (const name of ['a', 'b']) await api.initiate(order(1, { client_ref_id: `order-1-${name}` }));
};
const sendTwice: Client = async (api) => {
  for (let sent = 1; sent <= 2; sent += 1) await send(api);
};
/** Sends something else once the response to its order is lost. */
const sendAgain =
  (again: ReturnType<typeof order>): Client =>
  async (api) => {
    const { http } = await api.initiate(order(1));
    if (http !== 0) return SUCCESS;
    await api.initiate(again);
    return FAILED;
  };
const sendAndAsk = async (api: PayoutApi): Promise<string | null> => {
  await send(api);
  return (await api.status({ client_ref_id: 'order-1' })).state;
};
const askAndEnd =
  (ending: Ending): Client =>
  async (api) =>
    (await sendAndAsk(api)) === 'SUCCESS' ? SUCCESS : ending;
const payOthers: Client = async (api) => {
  await api.initiate(order(1));
  const { http } = await api.initiate(order(1, { client_ref_id: 'second-half' }));
  if (http === 0)
    for (const reference of ['a', 'b']) await api.initiate(order(2, { client_ref_id: reference }));
};
const payUnlessTerse: Client = async (api) => {
  if (!(await isTerse(api))) await send(api);
  await api.balance();
};
const IN_DOUBT: Ending = { kind: 'failure', why: 'exit code 75', isInDoubt: true };
const SAID_FAILED: Ending = { kind: 'failure', why: 'exit code 1', isSaid: true };
const SAID_PAID: Ending = { kind: 'success', isSaid: true };
const payInAnotherWay: Client = async (api) => {
  const other = order(2, { client_ref_id: 'order-1-upi', transfer_mode: 'UPI' });
  if ((await sendAndAsk(api)) !== 'SUCCESS') await api.initiate(other);
  return SAID_PAID;
};
const TWICE_PAID = 'failed money: 000123451001: paid ₹101.00 twice, expected once';
const NOT_PAID =
  'failed money: the command ends with success, but 000123451001: not paid ₹101.00, expected once';
const RIGHT_MONEY = 'survives: exit code 1, but the money is right';
const UNASKED =
  'never-asked: the outcome of order-1 was unknown, and the client did not read its status afterwards';
const NEVER_FOUND_OUT = 'never-asked: order-1 was paid (₹101.00), and the client never found out';
const MISREPORTED = 'failed misreported: order-1 was paid (₹101.00), but the client reports a failure';

test.each<[what: string, WorldRow[], Client, cells: string[], Options?]>([
  ['exit code of a dialect', [dialect], endInTerse(FAILED), ['failed tests fail: exit code 1, no payout']],
  [
    'exit code under a scenario',
    [scenario('terse', { dialect: 'terse' })],
    endInTerse(FAILED),
    [RIGHT_MONEY],
  ],
  [
    'run that takes too long',
    [dialect],
    endInTerse({ kind: 'stuck', afterMs: 1500 }),
    ['failed hangs: it was still running and was ended after 1.5 s'],
  ],
  [
    'dialect that pays an account twice, with exit code 0',
    [TWICE, dialect],
    sendTwice,
    [TWICE_PAID, 'survives'],
  ],
  ['lost or refused payout of a command that succeeds', [LOST, REFUSED], send, [NOT_PAID, 'survives']],
  ['account that is paid again', RESET, sendAgain(order(1, { client_ref_id: 'again' })), [TWICE_PAID]],
  [
    'account that is paid again in another amount',
    RESET,
    sendAgain(order(1, { client_ref_id: 'without-fee', amount: 100 })),
    ['failed money: 000123451001: paid twice, expected once: ₹101.00, ₹100.00'],
  ],
  [
    'payout that the table does not have',
    [...RESET, scenario('happy-fast')],
    payOthers,
    ['failed money: 000123451002: paid ₹102.00 twice, not expected', 'not exercised'],
    { expect: { name: 'pay.yaml', payouts: [ONCE, ONCE] } },
  ],
  [
    'client that reports a failure, and was paid or not',
    [...RESET, scenario('server-error')],
    sendOrEnd(FAILED),
    [MISREPORTED, `warned: exit code 1, but the money is right, ${UNASKED}`],
  ],
  ['client that gives up after a lost response', RESET, send, [`warned: ${NEVER_FOUND_OUT}`]],
  [
    'suite whose tests fail, in a dialect and after a failure',
    [dialect, ONLY_DIALECT, REFUSED, ...RESET],
    sendAndFail(),
    [
      'failed tests fail: exit code 1, no payout',
      'failed tests fail: exit code 1, no payout',
      'tests fail: exit code 1',
      `tests fail: exit code 1, ${NEVER_FOUND_OUT}`,
    ],
    { isSuite: true },
  ],
  [
    'suite with world.reported',
    RESET,
    sendAndFail(),
    ['failed misreported: order-1 was paid'],
    { isSuite: true, misreported: ['order-1 was paid'] },
  ],
  [
    'client that says that it is in doubt',
    RESET,
    sendOrEnd(IN_DOUBT),
    [`warned: exit code 75, but the money is right, ${NEVER_FOUND_OUT}`],
  ],
  ['tests that fail', [PENDING, FAILS], askAndEnd(FAILED), [RIGHT_MONEY, RIGHT_MONEY]],
  [
    'exit code that means a failure, after PENDING or FAILED',
    [PENDING, FAILS],
    askAndEnd(SAID_FAILED),
    [
      'failed misreported: order-1 was last seen PENDING (₹101.00), but the client reports a failure',
      RIGHT_MONEY,
    ],
  ],
  [
    'exit code that means success, after the same',
    [PENDING, FAILS],
    askAndEnd(SAID_PAID),
    [
      'failed misreported: order-1 is PENDING (₹101.00), but the client reports that it was paid, which it cannot know',
      NOT_PAID,
    ],
  ],
  [
    'account that is paid in addition, or in the place of another',
    [PENDING, FAILS],
    payInAnotherWay,
    ['failed money: 000123451002: paid ₹102.00, not expected', 'survives'],
  ],
  ['command that pays less in a dialect', [dialect], payUnlessTerse, [NOT_PAID]],
  [
    'reference that the intent does not read, where those that it reads are refused',
    [REFUSED],
    async (api) => (await api.initiate(order(2, { client_ref_id: 'refund', amount: 1 })), send(api)),
    ['survives'],
    { conduct: ORDERS },
  ],
  [
    'payout that is paid under two references also without any failure',
    [scenario('happy-fast'), FIRST_FAILS],
    payTwice,
    [
      `${TWICE_PAID}, paid-twice: order-1-b is a second payment of order-1-a: ₹101.00 too much`,
      'warned: paid-twice: order-1-b is a second payment of order-1-a: ₹101.00 (order-1-a is FAILED, which the client did not know then)',
    ],
    { conduct: ORDERS },
  ],
])('a matrix shows what happens to: %s', async (_what, rows, client, expected, options) => {
  const { cells } = await matrixOf(rows, client, options);
  const linesOf = (why: readonly string[]) => why.filter((line) => !/^(?:paid-more-often| )/.test(line));
  expect(
    cells.map(({ verdict, failed, why }) => {
      const said = [verdict, linesOf(why).join(', ')].filter(Boolean).join(': ');
      return failed ? `failed ${said}` : said;
    }),
  ).toEqual(expected);
});

testRows<[string, readonly number[], string]>([
  [
    'has another amount',
    [1010],
    '000123451001: paid ₹101.00, not expected; 000123451001: not paid ₹1,010.00, expected once.',
  ],
  ['is empty', [], '000123451001: paid ₹101.00, not expected.'],
  ['has a payout twice', [101, 101], '000123451001: paid ₹101.00 once, expected twice.'],
  ['has much else', [101, 1, 2, 3, 4, 5, 6, 7], 'not paid ₹5.00, expected once; and 2 more.'],
])(
  'a table of expected payouts that the client does not pay is refused before any row is run',
  async (_what, amounts, difference) => {
    const payouts = amounts.map((amount) => ({ ...ONCE, amount }));
    const error: unknown = await matrixOf([scenario('happy-fast')], send, {
      expect: { name: '--expect pay.yaml', payouts },
    }).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toMatch(
      /^without any failure, what is paid differs from --expect pay.yaml: /,
    );
    expect((error as Error).message).toContain(difference);
  },
);

/** What a suite pays to one account besides ₹101.00, in its first, second, … run. */
testRows<[string, (run: number) => readonly number[]]>([
  ['several amounts', () => [50, 75, 50]],
  ['amounts that it invents', (run) => [200 + run, 300 + run]],
  ['a number of amounts that differs', (run) => Array.from({ length: run }, (_, at) => 200 + 10 * run + at)],
])(
  'a command that pays one account several or other amounts is not said to pay too much',
  async (_what, amountsOf) => {
    let runs = 0;
    const client: Client = async (api) => {
      await api.initiate(order(1));
      for (const [at, amount] of amountsOf((runs += 1)).entries()) {
        await api.initiate(order(1, { client_ref_id: `other-${at}`, amount }));
      }
    };
    const rows = [scenario('happy-fast'), scenario('server-error-after-commit')];
    expect((await matrixOf(rows, client)).cells).toMatchObject([
      { verdict: 'not exercised' },
      { verdict: 'warned', failed: false },
    ]);
  },
);

test('only what both runs without failures paid is expected, and the baseline says whether they differ', async () => {
  let runs = 0;
  const client: Client = async (api) => {
    runs += 1;
    await api.initiate(order(1));
    if (runs === 2) await api.initiate(order(1, { client_ref_id: 'once-more' }));
    await api.initiate(order(100 + runs));
  };
  const { cells, baseline } = await matrixOf([scenario('happy-fast')], client);
  expect(baseline).toMatchObject({
    requests: 2,
    isFlaky: true,
    expected: [{ account: '000123451001', times: 1 }],
  });
  expect(baselineLines(baseline)).toEqual([
    'baseline: 2 requests, 1 payout of ₹101.00 expected, 10 ms',
    'two baseline runs did not pay the same: only what both paid is compared',
  ]);
  expect(cells).toMatchObject([{ verdict: 'not exercised' }]);
});

const INVOICES: Options = { conduct: { intent: { client_ref_id: '^(invoice-\\d+)' } } };

testRows<[string, Client, string, Options?]>([
  ['fails', async (api) => (await api.initiate(order(1)), FAILED), 'exit code 1, and it wrote: no payout'],
  ['sends nothing', () => Promise.resolve(), 'no request with a valid key reached the sandbox: give the'],
  [
    'fails unheard',
    () => Promise.resolve(FAILED),
    'no payout; no request with a valid key reached the sandbox:',
  ],
  ['does not end', () => Promise.resolve({ kind: 'stuck', afterMs: 500 }), 'it had not ended after 500 ms'],
  ['pays nothing', async (api) => void (await api.balance()), 'the command makes no payout'],
  ['sends no reference that the intent reads', send, 'the intent reads none of 1 reference', INVOICES],
])('a command that cannot be compared with itself is refused', async (_what, client, message, options) => {
  const error = await matrixOf([scenario('happy-fast')], client, options).catch(
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(UsageError);
  expect((error as Error).message).toContain(message);
});

test('a row of which the client saw nothing is not exercised, and says how many responses showed the others', async () => {
  const rows = [
    scenario('a response to another account', {
      rules: [
        { match: { route: 'initiate', beneficiary_account: '1' }, effect: { respond: { status: 500 } } },
      ],
    }),
    {
      ...scenario('status.unknown=400', { dialect: { status: { unknown: 400 } } }),
      kind: 'dialect' as const,
    },
    scenario('late', { rules: [{ effect: { delay: '1ms' } }] }),
  ];
  const { cells } = await matrixOf(rows, send);
  expect(cells.map(({ verdict, seen }) => [verdict, seen])).toEqual([
    ['not exercised', 0],
    ['not exercised', 0],
    ['survives', 1],
  ]);
  expect(countLine(cells)).toBe(
    '3 runs: 1 survive, 2 not exercised; a client that retries sees more of a dialect under --scenario reset-after-commit',
  );
  expect(countLine(cells.slice(2))).toBe('1 run: 1 survive');
  expect(countLine([])).toBe('0 runs'); // stopped before the first
  expect(MATRIX_WRITERS['junit']!(cells)).toContain('skipped="2"');
  expect(cells.flatMap((cell) => cellLines(cell, cells, plain))).toEqual([
    expect.stringMatching(/^scenario late .* survives .* seen in 1 response$/),
  ]);
  const [failed] = cellLines({ ...cells[0]!, verdict: 'misreported', failed: true }, cells, plain);
  expect(failed).toMatch(/ ms {2}no response showed what it changes$/);
});

test('a reversal is seen by who reads it, and another wallet by who reads its balance', async () => {
  const [reversed, poor] = [scenario('success-then-reversed'), scenario('insufficient-balance')];
  const pays: Client = async (api) => {
    await api.initiate(order(1, { amount: 1 }));
    for (let reads = 0; reads < 3; reads += 1) await api.status({ client_ref_id: 'order-1' });
  };
  const looks: Client = async (api) => {
    await api.balance();
    await api.initiate(order(1, { amount: 1 }));
  };
  const seen = async (row: WorldRow, client: Client) => (await matrixOf([row], client)).cells[0]!.seen;
  expect([await seen(reversed, pays), await seen(poor, pays), await seen(poor, looks)]).toEqual([0, 0, 1]);
});

test('a delay is seen once, however long it is each time', () => {
  const delayed = (delay_ms: number | null) => [evidenceOf([{ change: { delay_ms } }])];
  const known = responsesIn(delayed(5));
  expect([6, null].map((ms) => newResponses(delayed(ms), known))).toEqual([0, 1]);
});

/** What a client misreports that reports a failure, in words or not. */
const misreportOf = (evidence: Evidence, isSaid: boolean): string | null =>
  misreportedIn({ ending: { kind: 'failure', why: '', isSaid }, worlds: [evidence] }, [], isSaid);

test('of several payouts that a client misreports, the first is named and the others are counted', () => {
  const references = ['order-1', 'order-2', 'order-3'];
  const lines = references.map((reference) => ({ reference, ...lost }));
  const payouts = references.map((reference) => payoutOf(reference, []));
  expect(misreportOf(evidenceOf(lines, { payouts }), false)).toBe(
    'order-1 was made (₹100.00), and 2 more, but the client reports a failure',
  );
});

test('a client that saw that everything was paid misreports it only if it says in words that it failed', () => {
  const payouts = [payoutOf('order-1', [['SUCCESS', 500]])];
  const seen = evidenceOf([{ state: 'SUCCESS' }], { payouts });
  const said = 'order-1 was paid (₹100.00), but the client reports a failure';
  expect([false, true].map((isSaid) => misreportOf(seen, isSaid))).toEqual([null, said]);
});
