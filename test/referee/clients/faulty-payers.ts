import { BY_REMARKS, order, salary, SECOND, use, type FaultyClient } from './payout-api.ts';

/** Clients with one bad habit in how they pay, and what brings it out. Half of them were written from the documentation alone. */

const LOST = { commit: true, respond: 500 } as const;
const PAYS_AGAIN = { client_ref_id: { same_body: 'second_payout' } } as const;

export const FAULTY_PAYERS: readonly FaultyClient[] = [
  {
    habit: 'a new reference after "not found"',
    check: 'paid-twice',
    severity: 'error',
    setUp: use('not-found-then-found'),
    settings: BY_REMARKS,
    async run(api) {
      await api.initiate(salary(1, 'try-1'));
      await api.status({ client_ref_id: 'try-1' });
      await api.initiate(salary(1, 'try-2'));
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
    habit: 'a repeated reference at a service that pays again for it',
    check: 'paid-more-often',
    severity: 'error',
    setUp: use({ dialect: PAYS_AGAIN, rules: [{ match: { attempt: 1 }, effect: LOST }] }),
    async run(api) {
      await api.initiate(order(1));
      await api.pause(SECOND);
      await api.initiate(order(1));
    },
  },
  {
    habit: 'an HTTP library that sends a POST again by itself when its connection is reset',
    check: 'resent-by-transport',
    severity: 'notice',
    setUp: use('reset-after-commit'),
    async run(api) {
      // several payouts, since a busy machine makes a pause of some resends
      for (let number = 1; number <= 20; number += 1) {
        await api.initiate(order(number));
        await api.initiate(order(number));
      }
    },
  },
  {
    habit: 'one reference sent twice at once',
    check: 'same-reference-at-once',
    severity: 'warning',
    run: (api) => api.initiateAtOnce([order(1), order(1)]),
  },
];
