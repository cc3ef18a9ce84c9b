import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Dialect } from '../../../src/contract/dialect.ts';
import { startSandbox } from '../../../src/index.ts';
import { overHttp } from '../../../src/cli/probe-command.ts';
import { LearnedDialect } from '../../../src/trials/probe/learned-dialect.ts';
import { probe, type Level, type ProbeResult } from '../../../src/trials/probe/probe.ts';
import type { ScenarioInput } from '../../../src/contract/control.ts';
import { otherService, WAYS, type Ways } from '../../support/http/other-service.ts';
import { sized } from '../../support/size.ts';

const BENEFICIARY = { name: 'Asha Rao', account: '000123456789', ifsc: 'SBIN0000001', upi: 'asha@upi' };

const probed = (url: string, key: string, level: Level): Promise<ProbeResult> =>
  probe({
    level,
    send: overHttp(url, key),
    runId: 'test',
    beneficiary: BENEFICIARY,
    pause: () => Promise.resolve(),
    asked: () => undefined,
  });

/** What it has learned: `{ 'errors.body': 'envelope' }`. */
const learned = ({ learned: known }: ProbeResult): Record<string, unknown> =>
  Object.fromEntries(
    known.all.filter(([, { value }]) => value !== null).map(([row, { value }]) => [row, value]),
  );

const rowsOf = (dialect: Dialect): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(dialect).flatMap(([part, rows]) =>
      Object.entries(rows).map(([row, value]) => [`${part}.${row}`, value]),
    ),
  );

const anyDialect = fc.record(
  Object.fromEntries(
    Object.entries(Dialect.shape).map(([part, rows]) => [
      part,
      fc.record(
        Object.fromEntries(
          Object.entries(rows.shape).map(([row, { values }]) => [row, fc.constantFrom(...values)]),
        ),
      ),
    ]),
  ),
) as unknown as fc.Arbitrary<Dialect>;

/** Rows that no response of this level can show, in this dialect. */
function hidden(level: Level, truth: Record<string, unknown>, isSettled: boolean): readonly string[] {
  const never = ['status.utr_of_failed', 'rate_limit.routes', 'rate_limit.retry_after'];
  const words = truth['errors.body'] === 'envelope' ? [] : ['errors.status_word'];
  const isSilent = truth['answers.sandbox_headers'] === 'not_sent';
  const ofRequests = Object.keys(truth).filter((row) => row.startsWith('requests.'));
  const ofPayouts = [
    'client_ref_id.same_body',
    'client_ref_id.changed_body',
    'client_ref_id.after_402',
    'status.both',
    'status.completed_at_while_pending',
  ];
  if (level === 'read') return [...never, ...words, ...ofRequests, ...ofPayouts];
  const silent = ofRequests.filter((row) => isSilent && truth[row] !== 'refuse');
  const upi = ['requests.upi_beneficiary']; // depends on what else is refused, and is checked where it is learned
  if (level === 'refused') return [...never, ...words, ...silent, ...upi, ...ofPayouts];
  const pending = isSettled ? ['status.completed_at_while_pending'] : ['client_ref_id.same_body'];
  return [...never, ...words, ...silent, ...upi, ...pending];
}

test('a probe of a sandbox in any dialect learns no row wrongly, and every row that responses can show', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyDialect,
      fc.constantFrom<Level>('read', 'refused', 'pay'),
      fc.boolean(),
      async (dialect, level, isSettled) => {
        const scenario = {
          dialect,
          settlement: isSettled ? 'instant' : 'manual',
        } as unknown as ScenarioInput;
        const sandbox = await startSandbox({ scenario, rateLimit: 'off' });
        try {
          const world = sandbox.world();
          const result = await probed(world.url, world.apiKey, level);
          const truth = rowsOf(dialect);
          const seen = learned(result);
          expect(result.stopped).toBeNull();
          expect(truth).toMatchObject(seen);
          const missing = Object.keys(truth).filter((row) => !(row in seen));
          expect(missing.filter((row) => !hidden(level, truth, isSettled).includes(row))).toEqual([]);
          // the money: none below level pay, and what the probe says otherwise
          const paid = (await world.transactions()).reduce((sum, { amount }) => sum + amount, 0);
          expect(paid).toBe(result.payouts.reduce((sum, { amount }) => sum + amount, 0));
          expect(paid).toBeLessThanOrEqual(level === 'pay' ? 6 : 0);
          expect(await world.entries()).toHaveLength(1 + result.payouts.length);
        } finally {
          await sandbox.close();
        }
      },
    ),
    { numRuns: sized(12, 500) },
  );
});

test.each<[what: string, change: Partial<Ways>, level: Level, expected: Record<string, unknown>]>([
  [
    'reads what a service says of a key, of errors and of times',
    { isStatusOpen: true, unknownStatus: 400, time: (at) => at.toISOString().replace(/\.\d+/, '') },
    'read',
    {
      'errors.body': 'envelope',
      'errors.status_word': 'failed',
      'status.without_key': 'answered',
      'status.unknown': 400,
      'answers.timestamps': 'seconds',
      'answers.sandbox_headers': 'not_sent',
    },
  ],
  [
    'sees what is refused before the balance',
    {},
    'refused',
    { 'requests.formats': 'refuse', 'requests.unknown_fields': 'refuse' },
  ],
  [
    'sees what is refused after the balance only where it pays',
    { looksAtBalanceFirst: true, takesUpiIds: false },
    'pay',
    {
      'requests.formats': 'refuse',
      'requests.unknown_fields': 'refuse',
      'requests.upi_beneficiary': 'account',
    },
  ],
  [
    'sees a response that is given again as it was first',
    {
      same: 'first_answer',
      changed: 'replay',
      both: 'txn_id',
      hasEmptyCompletedAt: false,
      remembers402: true,
    },
    'pay',
    {
      'client_ref_id.same_body': 'first_answer',
      'client_ref_id.changed_body': 'replay',
      'client_ref_id.after_402': 'remember',
      'status.both': 'txn_id',
      'status.completed_at_while_pending': 'absent',
    },
  ],
  [
    'pays twice where a service does, and no more than six rupees',
    { same: 'second_payout', changed: 'second_payout', both: 400, refusesUnknownFields: false },
    'pay',
    {
      'client_ref_id.same_body': 'second_payout',
      'client_ref_id.changed_body': 'second_payout',
      'client_ref_id.after_402': 'forget',
      'status.both': 400,
      'requests.unknown_fields': 'ignore',
    },
  ],
])('a probe of another service %s', async (_what, change, level, expected) => {
  const service = await otherService({ ...WAYS, ...change });
  const result = await probed(service.url, service.key, level);
  expect(result.stopped).toBeNull();
  expect(learned(result)).toMatchObject(expected);
  const moved = service.payouts.reduce((sum, { body }) => sum + Number(body['amount']), 0);
  expect(moved).toBeLessThanOrEqual(level === 'pay' ? 6 : 0);
  expect(service.heard.filter(({ withKey }) => !withKey)).toHaveLength(1);
});

test('a 201 or a 202 to a payout teaches what a 200 does, and nothing without a payout in its body', async () => {
  const rowsWith = async (status: number, isQueued: (post: number) => boolean = () => false) => {
    const sent: Ways['sent'] = (post, [code, json]) =>
      code === 200 ? [status, isQueued(post) ? 'queued' : json] : [code, json];
    const service = await otherService({ ...WAYS, refusesUnknownFields: false, changed: 'replay', sent });
    const result = await probed(service.url, service.key, 'pay');
    return [result.stopped, learned(result)] as const;
  };
  const [stopped, rows] = await rowsWith(200);
  expect(stopped).toBeNull();
  expect(rows).toMatchObject({ 'client_ref_id.after_402': 'forget', 'client_ref_id.changed_body': 'replay' });
  expect(await rowsWith(201)).toEqual([null, rows]);
  expect(await rowsWith(202)).toEqual([null, rows]);
  const ofPayouts = /^client_ref_id|^requests.(unknown_fields|upi)/;
  const [, afterFirst] = await rowsWith(202, (post) => post > 7);
  expect(Object.keys(afterFirst).filter((row) => ofPayouts.test(row))).toEqual([]);
  const [, atUpiId] = await rowsWith(202, (post) => post === 13);
  expect(Object.keys(rows).filter((row) => !(row in atUpiId))).toEqual(['requests.upi_beneficiary']);
});

test('a row that no response shows is unknown, with what it needs or what was seen instead', async () => {
  const errorBody = () => JSON.stringify({ error: 'no' });
  const service = await otherService({ ...WAYS, errorBody, same: 422, looksAtBalanceFirst: true });
  const refused = await probed(service.url, service.key, 'refused');
  expect(Object.fromEntries(refused.learned.all)).toMatchObject({
    'errors.body': { value: null, why: expect.stringContaining('{"error":"no"}') },
    'requests.formats': { value: null, why: expect.stringContaining('needs --level pay') },
    'client_ref_id.same_body': { value: null, why: 'needs --level pay' },
    'rate_limit.routes': { value: null, why: 'the probe does not provoke a rate limit' },
  });
  const paid = await probed(service.url, service.key, 'pay');
  expect(Object.fromEntries(paid.learned.all)['client_ref_id.same_body']).toMatchObject({
    value: null,
    why: expect.stringContaining('422'),
  });
});

test.each([
  [200, '200'],
  [202, '202'],
  [500, '500 {"status":"failed","message":"unknown","http":500}'],
])('a %i for an unknown reference teaches nothing, and is shown', async (unknownStatus, shown) => {
  const service = await otherService({ ...WAYS, unknownStatus });
  const { learned: rows } = await probed(service.url, service.key, 'read');
  const row = Object.fromEntries(rows.all)['status.unknown']!;
  expect(row.value ?? row.why).toBe(`GET /payout/status?client_ref_id=probe-test-unused: ${shown}`);
});

test('a page in place of the balance ends a probe with the reason', async () => {
  const page = { match: { route: 'balance' }, effect: { respond: { status: 200, body: 'Log in' } } } as const;
  await using sandbox = await startSandbox({ scenario: { rules: [page] } });
  const { stopped } = await probed(sandbox.url, sandbox.world().apiKey, 'read');
  expect(stopped).toBe('the balance cannot be read: 200, and no number in data.balance');
});

test('a key that is not accepted ends a probe after one request', async () => {
  const service = await otherService(WAYS);
  const { stopped } = await probed(service.url, 'wrong', 'pay');
  expect(stopped).toContain('the key is not accepted (401)');
  expect(service.heard).toHaveLength(1);
});

test.each([200, 500] as const)(
  'a service that answers %i above the balance gets no second payout',
  async (aboveBalance) => {
    const service = await otherService({ ...WAYS, aboveBalance });
    const { stopped } = await probed(service.url, service.key, 'pay');
    expect(stopped).toContain(aboveBalance === 200 ? 'not safe to probe' : 'unknown whether it paid');
    expect(service.heard.filter(({ method }) => method === 'POST')).toHaveLength(1);
  },
);

test('a row whose responses contradict each other stays unknown, whatever comes later', () => {
  const dialect = new LearnedDialect();
  for (const value of ['envelope', 'message', 'envelope'])
    dialect.learn('errors.body', value, `it was ${value}`);
  expect(dialect.valueOf('errors.body')).toBeNull();
});
