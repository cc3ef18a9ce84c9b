import {
  DAY,
  HOUR,
  MINUTE,
  order,
  SECOND,
  under,
  use,
  type FaultyClient,
  type PayoutApi,
} from './payout-api.ts';

/** Clients with one bad habit in how they repeat and ask, and what brings it out. Most were written from the documentation alone. */

/** Sends one payout so many times, with these pauses between them. */
const sends =
  (times: number, pauseMs: (sent: number) => number) =>
  async (api: PayoutApi): Promise<void> => {
    for (let sent = 1; sent <= times; sent += 1) {
      await api.initiate(order(1));
      if (sent < times) await api.pause(pauseMs(sent));
    }
  };

const REALISTIC = { settlement: 'realistic' } as const;
const busy = (status: number, retryAfter: string) =>
  under({ respond: { status, headers: { 'retry-after': retryAfter } } }, { times: 1 });

export const FAULTY_FOLLOWERS: readonly FaultyClient[] = [
  {
    habit: 'a 503 written down as failed, and the next payout sent',
    check: 'never-asked',
    severity: 'warning',
    setUp: under({ commit: true, respond: 503 }, { times: 1 }),
    async run(api) {
      for (const number of [1, 2]) {
        await api.initiate(order(number));
        await api.pause(MINUTE);
      }
      await api.status({ client_ref_id: 'order-2' });
    },
  },
  {
    habit: 'three reads that find nothing, and then the payout is given up',
    check: 'not-found-believed',
    severity: 'warning',
    setUp: use('not-found-then-found'),
    async run(api) {
      await api.initiate(order(1));
      for (let read = 1; read <= 3; read += 1) await api.status({ client_ref_id: 'order-1' });
      await api.pause(HOUR);
      await api.initiate(order(2));
    },
  },
  {
    habit: 'one read right after the payout, and never again',
    check: 'pending-left',
    severity: 'notice',
    setUp: use(REALISTIC),
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
      for (let day = 1; day <= 4; day += 1) {
        await api.pause(DAY);
        await api.initiate(order(day + 1));
      }
    },
  },
  {
    habit: 'a Retry-After that is a date, read as a number',
    check: 'retry-after-ignored',
    severity: 'warning',
    setUp: busy(503, 'Fri, 31 Dec 2100 23:59:59 GMT'),
    run: sends(2, () => SECOND),
  },
  {
    habit: 'pauses that double up to a second and then stay, eleven times',
    check: 'endless-retry',
    severity: 'warning',
    setUp: use('server-error'),
    run: sends(11, (sent) => Math.min(50 * 2 ** sent, SECOND)),
  },
  {
    habit: 'a forbidden beneficiary tried again every hour',
    check: 'refusal-repeated',
    severity: 'warning',
    setUp: under({ respond: 403 }),
    run: sends(3, () => HOUR),
  },
  {
    habit: 'a status read each second, by reference and by txn_id in turn',
    check: 'poll-storm',
    severity: 'warning',
    setUp: use('pending-for-days'),
    async run(api) {
      const { txnId } = await api.initiate(order(1));
      for (let read = 1; read <= 31; read += 1) {
        await api.pause(SECOND);
        await api.status(read % 2 === 0 ? { txn_id: txnId! } : { client_ref_id: 'order-1' });
      }
    },
  },
  {
    habit: 'no timeout for a payout',
    check: 'no-timeout',
    severity: 'warning',
    setUp: under({ fault: { kind: 'hang', for: '120ms' } }, { times: 1 }),
    settings: { limits: { patience: '100ms' } },
    async run(api) {
      await api.initiate(order(1), true);
      await api.status({ client_ref_id: 'order-1' });
    },
  },
];
