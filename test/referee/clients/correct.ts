import {
  BY_REMARKS,
  DAY,
  MINUTE,
  order,
  salary,
  SECOND,
  use,
  type Answer,
  type CorrectClient,
  type Payout,
  type PayoutApi,
} from './payout-api.ts';

/** Clients that do nothing wrong. */

const isUnknown = ({ http, state }: Answer): boolean =>
  http === 0 || http >= 500 || (http < 300 && state === null);
const isFinal = ({ state }: Answer): boolean => state === 'FAILED' || state === 'REVERSED';

/** Sends a payout with one reference until its outcome is known, at most 5 times. */
async function send(api: PayoutApi, payout: Payout): Promise<Answer> {
  let answer = await api.initiate(payout);
  for (let sent = 1; sent < 5 && (isUnknown(answer) || answer.http === 429); sent += 1) {
    await api.pause(Math.max((answer.retryAfter ?? 0) * SECOND, SECOND * 2 ** sent));
    answer = await api.initiate(payout);
  }
  return answer;
}

/** Asks for a payout until it is paid or its money is back, with ever longer pauses. */
async function follow(api: PayoutApi, reference: string): Promise<Answer> {
  let answer = await api.status({ client_ref_id: reference });
  for (let asked = 1; asked < 12 && answer.state !== 'SUCCESS' && !isFinal(answer); asked += 1) {
    await api.pause(SECOND * 3 ** asked);
    answer = await api.status({ client_ref_id: reference });
  }
  return answer;
}

/** Reads all payouts some days later: a SUCCESS can be reversed. A read without an outcome is repeated. @returns whether each was found */
async function reconcile(api: PayoutApi, references: readonly string[]): Promise<boolean> {
  await api.pause(5 * DAY);
  const found = new Set<string>();
  for (const client_ref_id of references) {
    for (let asked = 1; asked <= 3; asked += 1) {
      const answer = await api.status({ client_ref_id });
      if (answer.http === 200) found.add(client_ref_id);
      if (answer.state === 'SUCCESS' || isFinal(answer)) break;
      await api.pause(SECOND * 2 ** asked);
    }
  }
  return found.size === references.length;
}

async function pay(api: PayoutApi, payout: Payout): Promise<Answer> {
  const sent = await send(api, payout);
  const isRefused = sent.http >= 400 && sent.http < 500 && sent.http !== 409 && sent.http !== 429;
  return isRefused ? sent : follow(api, payout.client_ref_id);
}

/** Whatever the service does. */
export const CORRECT: readonly CorrectClient[] = [
  {
    name: 'pays three orders, one after the other',
    async run(api) {
      for (const number of [1, 2, 3]) await pay(api, order(number));
      return reconcile(api, ['order-1', 'order-2', 'order-3']);
    },
  },
  {
    name: 'pays one person the same amount twice on purpose',
    async run(api) {
      const same = { beneficiary_account: '000123456789', amount: 500 };
      await pay(api, order(1, same));
      await pay(api, order(2, same));
      return reconcile(api, ['order-1', 'order-2']);
    },
  },
  {
    name: 'pays with four workers',
    async run(api) {
      const waiting = [1, 2, 3, 4, 5, 6, 7, 8];
      const references = waiting.map((number) => `order-${number}`);
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
          await pay(api, order(next));
      };
      await Promise.all([work(), work(), work(), work()]);
      return reconcile(api, references);
    },
  },
  {
    name: 'corrects a payout that was refused, and sends it again with its reference',
    async run(api) {
      await api.initiate({ ...order(1), transfer_mode: 'SWIFT' });
      await pay(api, order(1));
      return reconcile(api, ['order-1']);
    },
  },
  {
    name: 'tops the wallet up after a 402',
    async run(api) {
      const large = order(1, { amount: 1_200_000 });
      const { http } = await send(api, large);
      if (http === 402) await api.world.fund(1_000_000);
      if (http === 402) await send(api, large);
      await follow(api, 'order-1');
      return reconcile(api, ['order-1']);
    },
  },
  {
    name: 'makes a new payout once the first has FAILED',
    async run(api) {
      const first = await pay(api, order(1, { client_ref_id: 'order-1-try-1' }));
      if (!isFinal(first)) return reconcile(api, ['order-1-try-1']);
      await pay(api, order(1, { client_ref_id: 'order-1-try-2' }));
      return reconcile(api, ['order-1-try-1', 'order-1-try-2']);
    },
  },
  {
    name: 'only asks',
    async run(api) {
      await api.balance();
      await follow(api, 'order-of-somebody-else');
      await api.balance();
    },
  },
  {
    name: 'is restarted after each send, and asks before it sends again',
    async run(api) {
      let stored: string | null = null;
      for (let start = 1; start <= 4; start += 1) {
        stored ??= (await api.status({ client_ref_id: 'order-1' })).state;
        stored ??= (await api.initiate(order(1))).state;
        await api.pause(2 ** start * SECOND);
      }
      await follow(api, 'order-1');
      return reconcile(api, ['order-1']);
    },
  },
];

/** Clients that do nothing wrong, each in the world that it needs. */
export const CORRECT_IN_ONE_WORLD: readonly CorrectClient[] = [
  {
    name: 'only ever asks by txn_id',
    settings: BY_REMARKS,
    setUp: use('success-then-reversed'),
    async run(api) {
      const { txnId } = await api.initiate(salary(1, 'emp-1'));
      await api.pause(MINUTE);
      await api.status({ txn_id: txnId! });
      await api.pause(5 * DAY);
      await api.status({ txn_id: txnId! });
      await api.initiate(salary(1, 'emp-1-again'));
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
];
