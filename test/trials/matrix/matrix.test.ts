import { expect, test } from 'vitest';
import type { RefereeSettings } from '../../../src/contract/conduct.ts';
import { UsageError } from '../../../src/contract/usage-error.ts';
import { DEFAULT_DIALECT } from '../../../src/contract/dialect.ts';
import type { Ending } from '../../../src/trials/run.ts';
import { startSandbox, type ScenarioInput, type World } from '../../../src/index.ts';
import { newResponses, responsesIn } from '../../../src/trials/exercised.ts';
import { hasFailed, type Cell, type CommandRun, type Row } from '../../../src/trials/matrix/cells.ts';
import { dialectRows } from '../../../src/trials/matrix/dialect-rows.ts';
import { countLine, matrixJunit, suspectLines } from '../../../src/trials/matrix/matrix-reports.ts';
import { runMatrix, type Baseline, type MatrixParts } from '../../../src/trials/matrix/matrix.ts';
import { judge } from '../../../src/referee/judge.ts';
import { reportsOf } from '../../../src/referee/reports/summary.ts';
import { shippedDialects } from '../../../src/scenario/scenario-file.ts';
import { CORRECT } from '../../referee/clients/correct.ts';
import { FAULTY_PAYERS } from '../../referee/clients/faulty-payers.ts';
import { order, PayoutApi, type JudgedClient } from '../../referee/clients/payout-api.ts';
import { isLong } from '../../support/size.ts';
import { testRows } from '../../support/test-rows.ts';
import { START } from '../../support/world/ways-in.ts';
import { misreportedIn } from '../../../src/trials/run-money.ts';
import { evidenceOf, payoutOf } from '../../referee/journal-of.ts';

interface WorldRow extends Row {
  /** Prepares the world of the row. */
  readonly use: (world: World) => Promise<unknown>;
}

const scenario = (name: string, scenario: ScenarioInput | string = name): WorldRow => ({
  kind: 'scenario',
  name,
  choices: name,
  use: (world) => world.use(scenario),
});

type Client = (api: PayoutApi) => Promise<Ending | void>;
type Options = Partial<Omit<MatrixParts<WorldRow>, 'rows' | 'run'>> & { readonly conduct?: RefereeSettings };

/** Runs a client of this process, each time in a world of its own. It succeeds unless it says otherwise. */
async function matrixOf(
  rows: readonly WorldRow[],
  client: Client,
  { conduct = {}, ...options }: Options = {},
) {
  await using sandbox = await startSandbox({ clock: START, rateLimit: 'off', settlement: 'instant' });
  const shown: Cell[] = [];
  let baseline: Baseline | undefined;
  const run = async (row: WorldRow | null): Promise<CommandRun> => {
    const world = sandbox.world();
    await row?.use(world);
    let ending: Ending = { kind: 'success' };
    await PayoutApi.run(world, async (api) => void (ending = (await client(api)) ?? ending));
    const [requests, payouts, entries] = await Promise.all([
      world.requests(),
      world.transactions(),
      world.entries(),
    ]);
    const evidence = {
      requests,
      evicted: 0,
      ledger: { payouts, entries },
      wall_now: null,
      clientEnded: true,
    };
    return {
      ending,
      durationMs: 10,
      conduct: reportsOf([judge('world', evidence, conduct)]),
      worlds: [evidence],
    };
  };
  const cells = await runMatrix<WorldRow>({
    rows,
    run,
    workers: 4,
    again: ({ choices }) => `again ${choices}`,
    failOn: 'error',
    expect: null,
    limitMs: null,
    stop: new AbortController().signal,
    onBaseline: (known) => (baseline = known),
    onCell: (cell) => shown.push(cell),
    ...options,
  });
  expect(shown).toEqual(cells);
  return { cells, baseline: baseline! };
}

const succeeding =
  (run: JudgedClient['run']): Client =>
  async (api) =>
    void (await run(api));

const ORDERS: RefereeSettings = { intent: { client_ref_id: '^(order-\\d+)' } };
/** Rows in which the money and the referee decide, since the clients of the referee's tests have no exit code. */
const DIALECTS = dialectRows(isLong ? ['one-row', 'pairwise'] : ['one-row'], {
  base: DEFAULT_DIALECT,
  presets: shippedDialects(),
  seed: '1',
})
  .filter((_, index) => isLong || index % 10 === 4)
  .map(({ name, dialect }) => scenario(name, { dialect }));

/** A client that pays nothing is refused. */
const PAYING = CORRECT.filter(({ name }) => name !== 'only asks');

test.each(isLong ? PAYING : PAYING.slice(0, 2))(
  'a client that $name survives every dialect',
  async ({ run }) => {
    const { cells } = await matrixOf(DIALECTS, succeeding(run), { conduct: ORDERS });
    expect(cells.filter(hasFailed)).toEqual([]);
    expect(cells.map(({ name }) => name)).toEqual(DIALECTS.map(({ name }) => name));
  },
);

const ERRORS = FAULTY_PAYERS.filter(
  ({ severity, setUp, settings }) => severity === 'error' && setUp && settings?.expect === undefined,
);

test.each(isLong ? ERRORS : ERRORS.slice(0, 3))(
  'a client that loses money does not survive the scenario that shows it: $habit',
  async ({ run, settings, setUp }) => {
    const row = { ...scenario('shows it'), use: setUp! };
    const { cells } = await matrixOf([row], succeeding(run), { conduct: settings as RefereeSettings });
    expect(cells).toMatchObject([{ verdict: expect.stringMatching(/^(?:conduct|money)$/) }]);
  },
);

const SUCCESS: Ending = { kind: 'success' };
const FAILED: Ending = { kind: 'failure', why: 'exit code 1', output: 'no payout' };
const dialect: WorldRow = { ...scenario('terse', { dialect: 'terse' }), kind: 'dialect' };
const isTerse = async (api: PayoutApi): Promise<boolean> =>
  ((await api.world.scenario()).document as ScenarioInput).dialect === 'terse';

test('the exit code decides for a dialect, and not for a scenario; a run that takes too long hangs', async () => {
  const ends =
    (ending: Ending): Client =>
    async (api) => {
      await api.initiate(order(1));
      return (await isTerse(api)) ? ending : SUCCESS;
    };
  const rows = [dialect, scenario('terse', { dialect: 'terse' })];
  expect((await matrixOf(rows, ends(FAILED))).cells).toMatchObject([
    { kind: 'dialect', verdict: 'tests fail', why: ['exit code 1', 'no payout'], again: 'again terse' },
    { kind: 'scenario', verdict: 'survives' },
  ]);
  expect((await matrixOf(rows.slice(0, 1), ends({ kind: 'stuck', afterMs: 1500 }))).cells).toMatchObject([
    { verdict: 'hangs', why: ['it was still running and was ended after 1.5 s'] },
  ]);
});

test('a dialect in which an account is paid twice is wrong money, although the exit code is 0', async () => {
  const payment = { account: order(1).beneficiary_account, amount: 101, times: 1 };
  const twice: WorldRow = {
    ...scenario('twice', { dialect: { client_ref_id: { same_body: 'second_payout' } } }),
    kind: 'dialect',
  };
  const client: Client = async (api) => {
    for (let sent = 1; sent <= 2; sent += 1) await api.initiate(order(1));
  };
  for (const table of [null, { name: 'pay.csv', payouts: [payment] }]) {
    expect((await matrixOf([twice, dialect], client, { expect: table })).cells).toMatchObject([
      { verdict: 'money', why: ['000123451001: paid ₹101.00 twice, expected once'] },
      { verdict: 'survives' },
    ]);
  }
  const failing: Client = async (api) => {
    await client(api);
    const [, second] = await api.world.transactions();
    return second === undefined ? SUCCESS : FAILED;
  };
  expect((await matrixOf([twice], failing)).cells).toMatchObject([{ verdict: 'tests fail' }]);
});

test('a command that succeeds although its payout was lost has wrong money; one that fails, or was refused, does not', async () => {
  const lost: ScenarioInput = {
    rules: [{ name: 'lost', effect: { fault: 'connection-reset', commit: false } }],
  };
  const refused: ScenarioInput = { wallet: { opening_balance: 1 } };
  const rows = [scenario('lost', lost), scenario('refused', refused)];
  const send: Client = async (api) => void (await api.initiate(order(1)));
  expect((await matrixOf(rows, send)).cells).toMatchObject([
    {
      verdict: 'money',
      why: ['the command ends with success, but 000123451001: not paid ₹101.00, expected once'],
    },
    { verdict: 'survives' },
  ]);
  const sendOrFail: Client = async (api) => ((await api.initiate(order(1))).http === 200 ? SUCCESS : FAILED);
  expect((await matrixOf(rows, sendOrFail)).cells.map(({ verdict }) => verdict)).toEqual([
    'survives',
    'survives',
  ]);
});

testRows([
  [order(1, { client_ref_id: 'again' }), '000123451001: paid ₹101.00 twice, expected once'],
  [
    order(1, { client_ref_id: 'without-fee', amount: 100 }),
    '000123451001: paid twice, expected once: ₹101.00, ₹100.00',
  ],
])(
  'an account that is paid again, in the same or another amount, is reported once, whatever the exit code',
  async (again, why) => {
    const client: Client = async (api) => {
      const { http } = await api.initiate(order(1));
      if (http !== 0) return SUCCESS;
      await api.initiate(again);
      return FAILED;
    };
    const { cells } = await matrixOf([scenario('reset-after-commit')], client);
    expect(cells).toMatchObject([{ verdict: 'money', why: [why] }]);
  },
);

test('with a table, every payout that it does not have is wrong money', async () => {
  const payouts = [1, 1].map((number) => ({
    account: order(number).beneficiary_account,
    amount: 101,
    times: 1,
  }));
  const client: Client = async (api) => {
    await api.initiate(order(1));
    const { http } = await api.initiate(order(1, { client_ref_id: 'second-half' }));
    if (http === 0)
      for (const reference of ['a', 'b']) await api.initiate(order(2, { client_ref_id: reference }));
  };
  const rows = [scenario('reset-after-commit'), scenario('happy-fast')];
  const { cells } = await matrixOf(rows, client, { expect: { name: 'pay.csv', payouts } });
  expect(cells).toMatchObject([
    { verdict: 'money', why: ['000123451002: paid ₹102.00 twice, not expected'] },
    { verdict: 'not exercised' }, // the baseline is like that
  ]);
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
    const payouts = amounts.map((amount) => ({ account: order(1).beneficiary_account, amount, times: 1 }));
    const client: Client = async (api) => void (await api.initiate(order(1)));
    const error: unknown = await matrixOf([scenario('happy-fast')], client, {
      expect: { name: '--expect pay.csv', payouts },
    }).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toMatch(
      /^without any failure, what is paid differs from --expect pay.csv: /,
    );
    expect((error as Error).message).toContain(difference);
  },
);

/** What a suite pays to one account besides ₹101.00, in its first, second, … run. */
testRows<[string, (run: number) => readonly number[]]>([
  ['several amounts', () => [50, 75, 50]],
  ['amounts that it invents', (run) => [200 + run, 300 + run]],
  ['a number of amounts that differs', (run) => Array.from({ length: run }, (_, at) => 200 + 10 * run + at)],
])('a command that pays one account several or other amounts survives', async (_what, amountsOf) => {
  let runs = 0;
  const client: Client = async (api) => {
    await api.initiate(order(1));
    for (const [at, amount] of amountsOf((runs += 1)).entries()) {
      await api.initiate(order(1, { client_ref_id: `other-${at}`, amount }));
    }
  };
  const rows = [scenario('happy-fast'), scenario('server-error-after-commit')];
  expect((await matrixOf(rows, client, { workers: 1 })).cells).toMatchObject([
    { verdict: 'not exercised' },
    { verdict: 'survives' },
  ]);
});

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
  expect(cells).toMatchObject([{ verdict: 'not exercised' }]);
});

testRows<[string, Client, string]>([
  ['fails', async (api) => (await api.initiate(order(1)), FAILED), 'exit code 1, and it wrote: no payout'],
  ['sends nothing', () => Promise.resolve(), 'no request with a valid key reached the sandbox: give the'],
  [
    'fails unheard',
    () => Promise.resolve(FAILED),
    'no payout; no request with a valid key reached the sandbox:',
  ],
  ['does not end', () => Promise.resolve({ kind: 'stuck', afterMs: 500 }), 'it had not ended after 500 ms'],
  ['pays nothing', async (api) => void (await api.balance()), 'the command makes no payout'],
])('a command that cannot be compared with itself is refused', async (_what, client, message) => {
  const error = await matrixOf([scenario('happy-fast')], client).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as Error).message).toContain(message);
});

test('the summary names the choice that only failing dialects have', () => {
  const cell = (choices: string, verdict: Cell['verdict']): Cell => ({
    kind: 'dialect',
    name: choices,
    choices,
    verdict,
    why: [],
    durationMs: 1,
    met: 1,
    again: '',
  });
  const cells = [
    cell('status.unknown=400+errors.body=message', 'tests fail'),
    cell('errors.body=message', 'survives'),
    cell('status.unknown=400+errors.body=problem', 'hangs'),
    cell('status.unknown=400+status.both=400+errors.body=message', 'tests fail'),
    cell('status.unknown=400+status.both=400+errors.body=problem', 'tests fail'),
    cell('status.both=400', 'not exercised'), // the client never meets it
    cell('errors.body=empty', 'tests fail'), // one row alone proves nothing
  ];
  expect(suspectLines(cells)).toEqual([
    'only failing dialects have: status.unknown=400 (4 rows), errors.body=problem (2 rows)',
    'failing without any of these: errors.body=empty',
  ]);
  expect(suspectLines(cells.slice(0, 2))).toEqual([]);
  expect(countLine([])).toBe('0 cells'); // stopped before the first
});

test('a row of which the client saw nothing is not exercised, and says how often others were met', async () => {
  const send: Client = async (api) => void (await api.initiate(order(1)));
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
  expect(cells.map(({ verdict, met }) => [verdict, met])).toEqual([
    ['not exercised', 0],
    ['not exercised', 0],
    ['survives', 1],
  ]);
  expect(countLine(cells)).toBe('3 cells: 1 survive, 2 not exercised');
  expect(matrixJunit(cells)).toContain('skipped="2"');
});

test('a payout that is reversed in the end is met by who sees that, and another wallet by who reads its balance', async () => {
  const [reversed, poor] = [scenario('success-then-reversed'), scenario('insufficient-balance')];
  const pays: Client = async (api) => {
    await api.initiate(order(1, { amount: 1 }));
    for (let reads = 0; reads < 3; reads += 1) await api.status({ client_ref_id: 'order-1' });
  };
  const looks: Client = async (api) => {
    await api.balance();
    await api.initiate(order(1, { amount: 1 }));
  };
  const met = async (row: WorldRow, client: Client) => (await matrixOf([row], client)).cells[0]!.met;
  expect([await met(reversed, pays), await met(poor, pays), await met(poor, looks)]).toEqual([0, 0, 1]);
});

test('a delay is met once, however long it is each time', () => {
  const delayed = (delay_ms: number | null) => [evidenceOf([{ change: { delay_ms } }])];
  const known = responsesIn(delayed(5));
  expect([6, null].map((ms) => newResponses(delayed(ms), known))).toEqual([0, 1]);
});

test('a client that was paid and reports a failure has a result of its own, unless it says that it is in doubt', async () => {
  const ends = (ending: Ending): Client => {
    return async (api) => ((await api.initiate(order(1))).http === 200 ? SUCCESS : ending);
  };
  const rows = [scenario('reset-after-commit'), scenario('server-error')];
  expect((await matrixOf(rows, ends(FAILED))).cells).toMatchObject([
    { verdict: 'misreported', why: ['order-1 was paid (₹101.00), but the client reports a failure'] },
    { verdict: 'survives' }, // it was not paid
  ]);
  const doubts = await matrixOf(rows, ends({ kind: 'failure', why: 'exit code 75', isInDoubt: true }));
  expect(doubts.cells.map(({ verdict }) => verdict)).toEqual(['survives', 'survives']);
  const asks: Client = async (api) => {
    if ((await api.initiate(order(1))).http === 200) return SUCCESS;
    await api.status({ client_ref_id: 'order-1' });
    return FAILED;
  };
  expect((await matrixOf(rows.slice(0, 1), asks)).cells).toMatchObject([{ verdict: 'survives' }]);
});

test('exit codes that were given a meaning are held against the client', async () => {
  const says = (ending: Ending): Client => {
    return async (api) => {
      await api.initiate(order(1));
      const { state } = await api.status({ client_ref_id: 'order-1' });
      return state === 'SUCCESS' ? SUCCESS : ending;
    };
  };
  const rows = [
    scenario('pending-for-days'),
    scenario('failed', { settlement: { IMPS: [{ to: 'FAILED', after: '0s' }] } }),
  ];
  const verdicts = async (ending: Ending) =>
    (await matrixOf(rows, says(ending))).cells.map(({ verdict, why }) => [verdict, why[0]]);
  const failsToo = 'its tests fail, but the money is right';
  expect(await verdicts(FAILED)).toEqual([
    ['survives', failsToo],
    ['survives', failsToo],
  ]);
  expect(await verdicts({ kind: 'failure', why: 'exit code 1', isSaid: true })).toEqual([
    ['misreported', 'order-1 was last seen PENDING (₹101.00), but the client reports a failure'],
    ['survives', failsToo],
  ]);
  expect(await verdicts({ kind: 'success', isSaid: true })).toEqual([
    ['survives', undefined],
    ['money', expect.stringMatching(/^the command ends with success, but 000123451001: not paid/)],
  ]);
});

test('an account that is paid in addition is too much, and one that takes the place of another is not', async () => {
  const other = order(2, { client_ref_id: 'order-1-upi', transfer_mode: 'UPI' });
  const pays: Client = async (api) => {
    await api.initiate(order(1));
    const { state } = await api.status({ client_ref_id: 'order-1' });
    if (state !== 'SUCCESS') await api.initiate(other);
    return { kind: 'success', isSaid: true };
  };
  const rows = [
    scenario('pending-for-days'),
    scenario('failed', { settlement: { IMPS: [{ to: 'FAILED', after: '0s' }] } }),
  ];
  expect((await matrixOf(rows, pays)).cells).toMatchObject([
    { verdict: 'money', why: ['000123451002: paid ₹102.00, not expected'] },
    { verdict: 'survives' },
  ]);
});

test('a dialect in which a command that succeeds pays less is not wrong money: its tests know what to expect', async () => {
  const client: Client = async (api) => {
    if (!(await isTerse(api))) await api.initiate(order(1));
    await api.balance();
  };
  expect((await matrixOf([dialect], client)).cells).toMatchObject([
    { verdict: expect.stringMatching(/^(?:survives|not exercised)$/) },
  ]);
  expect((await matrixOf([{ ...dialect, kind: 'scenario' }], client)).cells).toMatchObject([
    { verdict: 'money' },
  ]);
});

test('of several payouts that a client misreports, the first is named and the others are counted', () => {
  const references = ['order-1', 'order-2', 'order-3'];
  const lines = references.map((reference) => ({ reference, http: 500, change: { committed: true } }));
  const payouts = references.map((reference) => payoutOf(reference, []));
  expect(
    misreportedIn(
      {
        ending: { kind: 'failure', why: '' },
        worlds: [evidenceOf(lines, { payouts })],
      } as never,
      false,
    ),
  ).toBe('order-1 was paid (₹100.00), and 2 more, but the client reports a failure');
});
