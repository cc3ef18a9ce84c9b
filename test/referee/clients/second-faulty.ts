import type { CheckId, Severity } from '../../../src/contract/conduct.ts';
import type { World } from '../../../src/index.ts';
import { order, type Payout } from './payout-api.ts';
import type { SecondClient } from './second-correct.ts';

/** Faulty clients whose author knew only the documentation of the checks, not their code. */

interface FaultyClient extends SecondClient {
  readonly habit: string;
  readonly check: CheckId;
  readonly severity: Severity;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What is paid is named in the remarks, as payroll runs and invoices are. */
const BY_REMARKS = { intent: { remarks: '^(\\S+)' } } as const;
const salary = (employee: number, reference: string, change: Partial<Payout> = {}): Payout =>
  order(employee, { client_ref_id: reference, remarks: `jan-${employee} salary`, ...change });

const use = (scenario: string) => (world: World) => world.use(scenario);
const answerOnce =
  (status: number, headers: Record<string, string> = {}, times = 1) =>
  (world: World) =>
    world.rule({ match: { route: 'initiate' }, times, effect: { respond: { status, headers } } });
const realistic = (world: World) => world.use({ settlement: 'realistic' });

async function repeat(times: number, action: (nth: number) => Promise<unknown>): Promise<void> {
  for (let nth = 1; nth <= times; nth += 1) await action(nth);
}

export const SECOND_FAULTY: readonly FaultyClient[] = [
  {
    habit: 'a payroll run that starts again the next morning and pays what is still PENDING',
    check: 'paid-twice',
    severity: 'error',
    settings: BY_REMARKS,
    setUp: use('pending-for-days'),
    async run(api) {
      for (const employee of [1, 2]) await api.initiate(salary(employee, `run-1-${employee}`));
      await api.pause(DAY);
      for (const employee of [1, 2]) await api.initiate(salary(employee, `run-2-${employee}`));
    },
  },
  {
    habit: 'a retry with a little less money, because the fee was forgotten',
    check: 'paid-twice',
    severity: 'error',
    settings: { intent: 'beneficiary_account' },
    setUp: use('truncated-answer'),
    async run(api) {
      await api.initiate(order(1, { client_ref_id: 'a', amount: 500 }));
      await api.initiate(order(1, { client_ref_id: 'b', amount: 494.1 }));
    },
  },
  {
    habit: 'a response that is not JSON taken for a failure, and a second payout through another mode',
    check: 'paid-twice',
    severity: 'error',
    settings: BY_REMARKS,
    setUp: use('malformed-json'),
    async run(api) {
      await api.initiate(salary(1, 'imps-1'));
      await api.initiate(salary(1, 'neft-1', { transfer_mode: 'NEFT' }));
    },
  },
  {
    habit: 'a payout made by hand a week later, although the status said SUCCESS',
    check: 'paid-twice',
    severity: 'error',
    settings: BY_REMARKS,
    setUp: use('happy-fast'),
    async run(api) {
      await api.initiate(salary(1, 'auto-1'));
      await api.pause(MINUTE);
      await api.status({ client_ref_id: 'auto-1' });
      await api.pause(7 * DAY);
      await api.initiate(salary(1, 'manual-1'));
    },
  },
  {
    habit: 'a third reference that pays although the second is PENDING and only the first FAILED',
    check: 'paid-twice',
    severity: 'error',
    settings: BY_REMARKS,
    setUp: (world) =>
      world.rule({
        match: { route: 'initiate', client_ref_id: 'try-1' },
        effect: { timeline: [{ to: 'FAILED', after: '2s' }] },
      }),
    async run(api) {
      await api.initiate(salary(1, 'try-1'));
      await api.pause(5 * SECOND);
      await api.status({ client_ref_id: 'try-1' });
      await api.initiate(salary(1, 'try-2'));
      await api.initiate(salary(1, 'try-3'));
    },
  },
  {
    habit: 'a double click',
    check: 'same-payout-at-once',
    severity: 'error',
    settings: BY_REMARKS,
    run: (api) => api.initiateAtOnce([salary(1, 'click-1'), salary(1, 'click-2')]),
  },
  {
    habit: 'a hedged request: the same payout is sent three times, and the first response is taken',
    check: 'same-reference-at-once',
    severity: 'warning',
    run: (api) => api.initiateAtOnce([order(1), order(1), order(1)]),
  },
  {
    habit: 'a counter that begins at 1 again after a restart',
    check: 'reference-reused',
    severity: 'error',
    async run(api) {
      await repeat(2, (nth) => api.initiate(order(nth)));
      await api.initiate(order(7, { client_ref_id: 'order-1' }));
    },
  },
  {
    habit: 'the number of the attempt in the remarks',
    check: 'reference-reused',
    severity: 'error',
    setUp: use('server-error-after-commit'),
    run: (api) => repeat(2, (nth) => api.initiate(order(1, { remarks: `try ${nth}` }))),
  },
  {
    habit: 'an outbox that is sent again as a whole after a restart, paid payouts included',
    check: 'resent-after-success',
    severity: 'warning',
    setUp: use('happy-fast'),
    async run(api) {
      const { txnId } = await api.initiate(order(1));
      await api.pause(MINUTE);
      await api.status({ txn_id: txnId! });
      await repeat(2, (nth) => api.initiate(order(nth)));
    },
  },
  {
    habit: 'a 503 written down as failed, and the next payout sent',
    check: 'never-asked',
    severity: 'warning',
    setUp: (world) =>
      world.rule({
        match: { route: 'initiate' },
        times: 1,
        effect: { commit: true, respond: { status: 503 } },
      }),
    async run(api) {
      await api.initiate(order(1));
      await api.pause(MINUTE);
      await api.initiate(order(2));
      await api.pause(MINUTE);
      await api.status({ client_ref_id: 'order-2' });
    },
  },
  {
    habit: 'a broken connection that only the balance is asked about',
    check: 'never-asked',
    severity: 'warning',
    setUp: use('reset-after-commit'),
    async run(api) {
      await api.balance();
      await api.initiate(order(1));
      await api.pause(MINUTE);
      await api.balance();
    },
  },
  {
    habit: 'three reads that find nothing, and then the payout is given up',
    check: 'not-found-believed',
    severity: 'warning',
    setUp: use('not-found-then-found'),
    async run(api) {
      await api.initiate(order(1));
      await repeat(3, () => api.status({ client_ref_id: 'order-1' }));
      await api.pause(HOUR);
      await api.initiate(order(2));
    },
  },
  {
    habit: 'one read right after the payout, and never again',
    check: 'pending-left',
    severity: 'notice',
    setUp: realistic,
    async run(api) {
      const { txnId } = await api.initiate(order(1));
      await api.status({ txn_id: txnId! });
      await api.pause(HOUR);
      await api.initiate(order(2));
    },
  },
  {
    habit: 'a payout closed at SUCCESS while others are paid for days',
    check: 'reversal-unseen',
    severity: 'warning',
    setUp: use('success-then-reversed'),
    async run(api) {
      const { txnId } = await api.initiate(order(1));
      await api.pause(MINUTE);
      await api.status({ txn_id: txnId! });
      await repeat(4, async (day) => {
        await api.pause(DAY);
        await api.initiate(order(day + 1));
      });
    },
  },
  {
    habit: 'a Retry-After that is a date, read as a number',
    check: 'retry-after-ignored',
    severity: 'warning',
    setUp: answerOnce(503, { 'retry-after': 'Fri, 31 Dec 2100 23:59:59 GMT' }),
    async run(api) {
      await api.initiate(order(1));
      await api.pause(SECOND);
      await api.initiate(order(1));
    },
  },
  {
    habit: 'seconds of Retry-After taken for milliseconds',
    check: 'retry-after-ignored',
    severity: 'warning',
    setUp: answerOnce(429, { 'retry-after': '30' }),
    async run(api) {
      const { retryAfter } = await api.initiate(order(1));
      await api.pause(retryAfter!);
      await api.initiate(order(1));
    },
  },
  {
    habit: 'six tries, one each hour', // a pause so long that no busy machine makes one look longer
    check: 'no-backoff',
    severity: 'notice',
    setUp: answerOnce(500, {}, 5),
    run: (api) =>
      repeat(6, async () => {
        await api.initiate(order(1));
        await api.pause(HOUR);
      }),
  },
  {
    habit: 'pauses that double up to a second and then stay, eleven times',
    check: 'endless-retry',
    severity: 'warning',
    setUp: answerOnce(500, {}, 11),
    run: (api) =>
      repeat(11, async (nth) => {
        await api.initiate(order(1));
        await api.pause(Math.min(50 * 2 ** nth, SECOND));
      }),
  },
  {
    habit: 'a validation error retried like any other',
    check: 'refusal-repeated',
    severity: 'warning',
    run: (api) => repeat(3, () => api.initiate({ ...order(1), beneficiary_ifsc: undefined })),
  },
  {
    habit: 'a forbidden beneficiary tried again every hour',
    check: 'refusal-repeated',
    severity: 'warning',
    setUp: answerOnce(403, {}, 3),
    run: (api) =>
      repeat(3, async () => {
        await api.initiate(order(1));
        await api.pause(HOUR);
      }),
  },
  {
    habit: 'an empty wallet asked again and again',
    check: 'unfunded-retry',
    severity: 'warning',
    setUp: use('insufficient-balance'),
    run: (api) =>
      repeat(3, async () => {
        await api.initiate(order(1, { amount: 5000 }));
        await api.pause(10 * SECOND);
      }),
  },
  {
    habit: 'a status read each second, by reference and by txn_id in turn',
    check: 'poll-storm',
    severity: 'warning',
    setUp: use('pending-for-days'),
    async run(api) {
      const { txnId } = await api.initiate(order(1));
      await repeat(31, async (nth) => {
        await api.pause(SECOND);
        await api.status(nth % 2 === 0 ? { txn_id: txnId! } : { client_ref_id: 'order-1' });
      });
    },
  },
  {
    habit: 'a first look after 10 s, although the rail wants 90 s',
    check: 'poll-storm',
    severity: 'warning',
    settings: { limits: { polling: 'npci' } },
    setUp: realistic,
    async run(api) {
      await api.initiate(order(1));
      await api.pause(10 * SECOND);
      await api.status({ client_ref_id: 'order-1' });
    },
  },
  {
    habit: 'no timeout for a status read',
    check: 'no-timeout',
    severity: 'warning',
    settings: { limits: { patience: '50ms' } },
    setUp: (world) => world.rule({ match: { route: 'status' }, times: 1, effect: { delay: '120ms' } }),
    async run(api) {
      await api.initiate(order(1));
      await api.status({ client_ref_id: 'order-1' });
    },
  },
  {
    habit: 'an amount formatted for people',
    check: 'amount-not-paise',
    severity: 'error',
    run: (api) => api.initiate({ ...order(1), amount: '1,500.00' }),
  },
  {
    habit: 'a tax of 18 % that is not rounded',
    check: 'amount-not-paise',
    severity: 'error',
    run: (api) => api.initiate(order(1, { amount: 99.99 * 1.18 })),
  },
  {
    habit: 'one look at the balance for two payouts that need all of it',
    check: 'balance-race',
    severity: 'notice',
    setUp: (world) => world.use({ wallet: { opening_balance: 1000 } }),
    async run(api) {
      await api.balance();
      await repeat(2, (nth) => api.initiate(order(nth, { amount: 700 })));
    },
  },
  {
    habit: 'a file of payouts of which one line is skipped',
    check: 'expectation-missed',
    severity: 'error',
    settings: {
      expect: [1, 2, 3].map((nth) => ({ account: order(nth).beneficiary_account, amount: 100 + nth })),
    },
    setUp: use('happy-fast'),
    async run(api) {
      for (const nth of [1, 3]) {
        await api.initiate(order(nth));
        await api.pause(MINUTE);
        await api.status({ client_ref_id: `order-${nth}` });
      }
    },
  },
  {
    habit: 'rupees and paise confused: a hundredth of what was meant is paid',
    check: 'expectation-missed',
    severity: 'error',
    settings: { expect: [{ account: order(1).beneficiary_account, amount: 150 }] },
    setUp: use('happy-fast'),
    async run(api) {
      await api.initiate(order(1, { amount: 1.5 }));
      await api.pause(MINUTE);
      await api.status({ client_ref_id: 'order-1' });
    },
  },
  {
    habit: 'a table of payouts that is imported twice',
    check: 'paid-twice',
    severity: 'error',
    settings: { expect: [{ account: order(1).beneficiary_account, amount: 101 }] },
    setUp: use('happy-fast'),
    async run(api) {
      for (const file of ['monday', 'tuesday']) {
        await api.initiate(order(1, { client_ref_id: `${file}-1` }));
        await api.pause(DAY);
      }
    },
  },
];
