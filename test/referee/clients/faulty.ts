import type { CheckId, RefereeSettingsInput } from '../../../src/contract/conduct.ts';
import type { RuleRequest } from '../../../src/index.ts';
import { order, type PayoutApi } from './payout-api.ts';

/** Clients with one bad habit each, and what brings it out. */

export interface FaultyClient {
  readonly habit: string;
  readonly check: CheckId;
  readonly severity: 'error' | 'warning' | 'notice';
  readonly scenario?: string;
  readonly rule?: RuleRequest;
  readonly settings?: RefereeSettingsInput;
  readonly run: (api: PayoutApi) => Promise<void>;
}

const INTENT = { intent: { client_ref_id: '^(order-\\d+)' } } as const;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Sends the first try, and then another under a new reference. */
const twoTries =
  (pauseMs = 0) =>
  async (api: PayoutApi): Promise<void> => {
    await api.initiate(order(1, { client_ref_id: 'order-1-try-1' }));
    await api.pause(pauseMs);
    await api.initiate(order(1, { client_ref_id: 'order-1-try-2' }));
  };

/** Sends one payout so many times. @param pauseMs before each but the first */
async function sendTimes(api: PayoutApi, times: number, pauseMs: (sent: number) => number): Promise<void> {
  for (let sent = 1; sent <= times; sent += 1) {
    await api.initiate(order(1));
    if (sent < times) await api.pause(pauseMs(sent));
  }
}

export const FAULTY: readonly FaultyClient[] = [
  {
    habit: 'a new reference after a timeout',
    check: 'paid-twice',
    severity: 'error',
    scenario: 'timeout-after-commit',
    settings: INTENT,
    run: twoTries(),
  },
  {
    habit: 'a new reference after a 500',
    check: 'paid-twice',
    severity: 'error',
    scenario: 'server-error-after-commit',
    settings: { intent: 'beneficiary_account' },
    run: twoTries(),
  },
  {
    habit: 'a new reference after a 500 that came before the payout',
    check: 'paid-twice',
    severity: 'warning',
    rule: { match: { route: 'initiate' }, times: 1, effect: { respond: { status: 500 } } },
    settings: INTENT,
    run: twoTries(),
  },
  {
    habit: 'a new reference after a 500, by a client that declares nothing',
    check: 'paid-twice',
    severity: 'warning',
    scenario: 'server-error-after-commit',
    run: twoTries(),
  },
  {
    habit: 'a new reference after "not found"',
    check: 'paid-twice',
    severity: 'error',
    scenario: 'not-found-then-found',
    settings: INTENT,
    async run(api) {
      await api.initiate(order(1, { client_ref_id: 'order-1-try-1' }));
      await api.status({ client_ref_id: 'order-1-try-1' });
      await api.initiate(order(1, { client_ref_id: 'order-1-try-2' }));
    },
  },
  {
    habit: 'a new reference when the first is PENDING for too long',
    check: 'paid-twice',
    severity: 'error',
    scenario: 'pending-for-days',
    settings: INTENT,
    run: twoTries(DAY),
  },
  {
    habit: 'a new reference in each run',
    check: 'paid-twice',
    severity: 'error',
    settings: { expect: [{ account: order(1).beneficiary_account, amount: order(1).amount }] },
    run: twoTries(DAY),
  },
  {
    habit: 'two workers that pay the same order',
    check: 'same-payout-at-once',
    severity: 'error',
    settings: INTENT,
    run: (api) =>
      api.initiateAtOnce(['order-1-a', 'order-1-b'].map((client_ref_id) => order(1, { client_ref_id }))),
  },
  {
    habit: 'a repeated reference at a service that pays again for it',
    check: 'paid-more-often',
    severity: 'error',
    async run(api) {
      await api.world.use({
        dialect: { client_ref_id: { same_body: 'second_payout' } },
        rules: [
          { match: { route: 'initiate', attempt: 1 }, effect: { commit: true, respond: { status: 500 } } },
        ],
      });
      await sendTimes(api, 2, () => 1000);
    },
  },
  {
    habit: 'an HTTP library that sends a POST again by itself when its connection is reset',
    check: 'resent-by-transport',
    severity: 'notice',
    rule: { match: { route: 'initiate', attempt: 1 }, effect: { commit: true, fault: 'connection-reset' } },
    run: (api) => sendTimes(api, 2, () => 0),
  },
  {
    habit: 'one reference sent twice at once',
    check: 'same-reference-at-once',
    severity: 'warning',
    run: (api) => api.initiateAtOnce([order(1), order(1)]),
  },
  {
    habit: 'one reference sent twice at once to a service that pays for each',
    check: 'same-reference-at-once',
    severity: 'error',
    async run(api) {
      await api.world.use({ dialect: { client_ref_id: { same_body: 'second_payout' } } });
      await api.initiateAtOnce([order(1), order(1)]);
    },
  },
  {
    habit: 'a reference used for another payout',
    check: 'reference-reused',
    severity: 'error',
    async run(api) {
      await api.initiate(order(1));
      await api.initiate(order(1, { amount: 250 }));
    },
  },
  {
    habit: 'a payout sent again after its SUCCESS',
    check: 'resent-after-success',
    severity: 'warning',
    async run(api) {
      await api.initiate(order(1));
      await api.pause(DAY);
      await api.status({ client_ref_id: 'order-1' });
      await api.initiate(order(1));
    },
  },
  {
    habit: 'no status read after a 500',
    check: 'never-asked',
    severity: 'warning',
    scenario: 'server-error-after-commit',
    async run(api) {
      await api.initiate(order(1));
      await api.pause(DAY);
    },
  },
  {
    habit: 'a "not found" taken for "not paid"',
    check: 'not-found-believed',
    severity: 'warning',
    scenario: 'not-found-then-found',
    async run(api) {
      await api.initiate(order(1));
      await api.status({ client_ref_id: 'order-1' });
    },
  },
  {
    habit: 'a PENDING payout that is forgotten',
    check: 'pending-left',
    severity: 'notice',
    async run(api) {
      await api.initiate(order(1));
      await api.pause(DAY);
      await api.initiate(order(2));
    },
  },
  {
    habit: 'a SUCCESS that is never read again',
    check: 'reversal-unseen',
    severity: 'warning',
    scenario: 'success-then-reversed',
    async run(api) {
      await api.initiate(order(1));
      await api.pause(DAY);
      await api.status({ client_ref_id: 'order-1' });
      await api.pause(5 * DAY);
      await api.initiate(order(2));
    },
  },
  {
    habit: 'a Retry-After that is ignored',
    check: 'retry-after-ignored',
    severity: 'warning',
    rule: {
      match: { route: 'initiate' },
      times: 1,
      effect: { respond: { status: 429, headers: { 'retry-after': '30' } } },
    },
    run: (api) => sendTimes(api, 2, () => 1000),
  },
  {
    habit: 'a Retry-After of a 503 that is ignored',
    check: 'retry-after-ignored',
    severity: 'warning',
    rule: {
      match: { route: 'initiate' },
      times: 1,
      effect: { respond: { status: 503, headers: { 'retry-after': '30' } } },
    },
    run: (api) => sendTimes(api, 2, () => 1000),
  },
  {
    habit: 'a Retry-After of the rate limit that is ignored',
    check: 'retry-after-ignored',
    severity: 'warning',
    async run(api) {
      await api.world.use({ rate_limit: { max: 1, per: '30s' } });
      await api.initiate(order(1));
      await api.initiate(order(2));
      await api.initiate(order(2));
    },
  },
  {
    habit: 'retries after pauses of the same length',
    check: 'no-backoff',
    severity: 'notice',
    scenario: 'server-error',
    run: (api) => sendTimes(api, 5, () => HOUR), // so long that no pause of a busy machine makes one look longer
  },
  {
    habit: 'retries without an end',
    check: 'endless-retry',
    severity: 'warning',
    scenario: 'server-error',
    run: (api) => sendTimes(api, 11, (sent) => 1000 * 2 ** sent),
  },
  {
    habit: 'a request repeated after a 400',
    check: 'refusal-repeated',
    severity: 'warning',
    async run(api) {
      for (let sent = 1; sent <= 2; sent += 1) {
        await api.initiate(order(1, { transfer_mode: 'SWIFT' }));
        await api.pause(1000);
      }
    },
  },
  {
    habit: 'a request repeated after a 402',
    check: 'unfunded-retry',
    severity: 'warning',
    async run(api) {
      for (let sent = 1; sent <= 2; sent += 1) {
        await api.initiate(order(1, { amount: 2_000_000 }));
        await api.pause(1000);
      }
    },
  },
  {
    habit: 'a status read in a loop',
    check: 'poll-storm',
    severity: 'warning',
    scenario: 'pending-for-days',
    async run(api) {
      await api.initiate(order(1));
      for (let asked = 1; asked <= 31; asked += 1) await api.status({ client_ref_id: 'order-1' });
    },
  },
  {
    habit: 'a first status read after 89 s, against the advice of the NPCI',
    check: 'poll-storm',
    severity: 'warning',
    settings: { limits: { polling: 'npci' } },
    async run(api) {
      await api.initiate(order(1));
      await api.pause(89_000);
      await api.status({ client_ref_id: 'order-1' });
    },
  },
  {
    habit: 'four status reads in two hours, against the advice of the NPCI',
    check: 'poll-storm',
    severity: 'warning',
    scenario: 'pending-for-days',
    settings: { limits: { polling: 'npci' } },
    async run(api) {
      await api.initiate(order(1));
      for (let asked = 1; asked <= 4; asked += 1) {
        await api.pause(100_000);
        await api.status({ client_ref_id: 'order-1' });
      }
    },
  },
  {
    habit: 'no timeout for a payout',
    check: 'no-timeout',
    severity: 'warning',
    rule: { match: { route: 'initiate' }, times: 1, effect: { fault: { kind: 'hang', for: '120ms' } } },
    settings: { limits: { patience: '100ms' } },
    async run(api) {
      await api.initiate(order(1), true);
      await api.status({ client_ref_id: 'order-1' });
    },
  },
  {
    habit: 'amounts that are sums of floats',
    check: 'amount-not-paise',
    severity: 'error',
    async run(api) {
      await api.initiate(order(1, { amount: 0.1 + 0.2 }));
    },
  },
  {
    habit: 'amounts as text',
    check: 'amount-not-paise',
    severity: 'error',
    async run(api) {
      await api.initiate({ ...order(1), amount: '101.00' });
    },
  },
  {
    habit: 'a balance taken for a promise',
    check: 'balance-race',
    severity: 'notice',
    async run(api) {
      await api.balance();
      await api.initiate(order(1, { amount: 700_000 }));
      await api.initiate(order(2, { amount: 700_000 }));
    },
  },
  {
    habit: 'an order that is never paid',
    check: 'expectation-missed',
    severity: 'error',
    settings: { expect: [{ account: order(1).beneficiary_account, amount: order(1).amount }] },
    async run(api) {
      await api.balance();
    },
  },
  {
    habit: 'a payout that nobody wanted',
    check: 'expectation-missed',
    severity: 'error',
    settings: { expect: [] },
    async run(api) {
      await api.initiate(order(1));
    },
  },
];
