import { BY_REMARKS, DAY, MINUTE, order, salary, SECOND, under, use } from './payout-api.ts';
import type { Answer, CorrectClient, PayoutApi } from './payout-api.ts';

/** Correct clients whose author knew only the documentation of the checks, not their code: each with what it must cope with. */

const isSettled = ({ state }: Answer): boolean => state !== null && state !== 'PENDING';

/** Reads with ever longer pauses until the payout is settled. */
async function watch(api: PayoutApi, query: Parameters<PayoutApi['status']>[0]): Promise<Answer> {
  let response = await api.status(query);
  for (let read = 1; read < 10 && !isSettled(response); read += 1) {
    await api.pause(SECOND * 4 ** read);
    response = await api.status(query);
  }
  return response;
}

export const SECOND_CORRECT: readonly CorrectClient[] = [
  {
    name: 'reads the status after a timeout, gets "not found", and sends the same reference again',
    settings: BY_REMARKS,
    setUp: use('timeout-before-commit'),
    async run(api) {
      await api.initiate(salary(1, 'emp-1'));
      await api.pause(MINUTE);
      const { http } = await api.status({ client_ref_id: 'emp-1' });
      if (http === 404) await api.initiate(salary(1, 'emp-1'));
      await watch(api, { client_ref_id: 'emp-1' });
    },
  },
  {
    name: 'only ever asks by txn_id',
    settings: BY_REMARKS,
    setUp: use('success-then-reversed'),
    async run(api) {
      const { txnId } = await api.initiate(salary(1, 'emp-1'));
      await api.pause(MINUTE);
      await watch(api, { txn_id: txnId! });
      await api.pause(5 * DAY);
      await api.status({ txn_id: txnId! });
      await api.initiate(salary(1, 'emp-1-again'));
    },
  },
  {
    name: 'takes a new reference after each FAILED',
    settings: BY_REMARKS,
    setUp: under(
      { timeline: [{ to: 'FAILED', after: '2s' }] },
      { match: { route: 'initiate', client_ref_id: { prefix: 'bad' } } },
    ),
    async run(api) {
      for (const reference of ['bad-1', 'bad-2', 'good-3']) {
        await api.initiate(salary(1, reference));
        await api.pause(MINUTE);
        await api.status({ client_ref_id: reference });
      }
    },
  },
  {
    name: 'takes a new reference after a 429, which made no payout',
    settings: BY_REMARKS,
    setUp: under({ respond: { status: 429, headers: { 'retry-after': '2' } } }, { times: 1 }),
    async run(api) {
      await api.initiate(salary(1, 'emp-1-a'));
      await api.pause(2 * SECOND);
      await api.initiate(salary(1, 'emp-1-b'));
      await api.pause(MINUTE);
      await api.status({ client_ref_id: 'emp-1-b' });
    },
  },
  {
    name: 'hands a payout whose worker gave up to another worker',
    settings: BY_REMARKS,
    setUp: use('timeout-after-commit'),
    async run(api) {
      await api.initiate(salary(1, 'emp-1')); // ends when the worker leaves
      await Promise.all([
        api.initiate(salary(1, 'emp-1')),
        api.initiate(salary(2, 'emp-2')).then(() => api.initiate(salary(2, 'emp-2'))),
      ]);
      await api.pause(MINUTE);
      for (const client_ref_id of ['emp-1', 'emp-2']) await api.status({ client_ref_id });
    },
  },
  {
    name: 'pays twelve people at once and asks for each of them in turn',
    settings: BY_REMARKS,
    setUp: use({ settlement: 'realistic' }),
    async run(api) {
      const employees = Array.from({ length: 12 }, (_, index) => index + 1);
      await Promise.all(employees.map((employee) => api.initiate(salary(employee, `emp-${employee}`))));
      for (let minute = 1; minute <= 3; minute += 1) {
        await api.pause(MINUTE * 10 ** minute);
        await Promise.all(employees.map((employee) => api.status({ client_ref_id: `emp-${employee}` })));
      }
    },
  },
  {
    name: 'pays one person twice on purpose under two names for what is paid, and declares nothing',
    setUp: use('pending-for-days'),
    async run(api) {
      await api.initiate(order(1, { client_ref_id: 'rent', amount: 500 }));
      await api.initiate(order(1, { client_ref_id: 'deposit', amount: 500 }));
    },
  },
  {
    name: 'sends the same payout with its fields in another order and the amount as 100.0 becomes 100',
    settings: BY_REMARKS,
    setUp: use('server-error-after-commit'),
    async run(api) {
      const payout = salary(1, 'emp-1', { amount: 100 });
      await api.initiate(payout);
      await api.pause(SECOND);
      await api.initiate(Object.fromEntries(Object.entries(payout).toReversed()));
      await api.pause(MINUTE);
      await api.status({ client_ref_id: 'emp-1' });
    },
  },
  {
    name: 'waits until the date that Retry-After names',
    settings: BY_REMARKS,
    setUp: under(
      { respond: { status: 503, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:00 GMT' } } },
      { times: 1 },
    ),
    async run(api) {
      await api.initiate(salary(1, 'emp-1'));
      await api.initiate(salary(1, 'emp-1'));
      await api.pause(MINUTE);
      await api.status({ client_ref_id: 'emp-1' });
    },
  },
  {
    name: 'pays everything that its table expects, in a run that two workers share',
    settings: {
      expect: [
        { account: order(1).beneficiary_account, amount: 101, times: 2 },
        { account: order(2).beneficiary_account, amount: 102 },
      ],
    },
    setUp: use('happy-fast'),
    async run(api) {
      await Promise.all([
        api.initiate(order(1, { client_ref_id: 'rent' })),
        api.initiate(order(1, { client_ref_id: 'deposit' })),
        api.initiate(order(2)),
      ]);
      await api.pause(MINUTE);
      for (const client_ref_id of ['rent', 'deposit', 'order-2']) await api.status({ client_ref_id });
    },
  },
  {
    name: 'retries a status read that fails, and keeps asking while it is PENDING',
    settings: BY_REMARKS,
    setUp: under({ respond: 500 }, { match: { route: 'status' }, times: 3 }),
    async run(api) {
      await api.initiate(salary(1, 'emp-1'));
      await watch(api, { client_ref_id: 'emp-1' });
    },
  },
];
