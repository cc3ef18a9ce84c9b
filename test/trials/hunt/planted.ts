import type { Goal } from '../../../src/trials/hunt/goals.ts';
import { order, type Answer, type PayoutApi } from '../../referee/clients/payout-api.ts';

/** Clients that work well until so many things fail together. */

export interface PlantedBug {
  /** Continues the sentence "a client that …". */
  readonly name: string;
  /** The fewest failures that bring it out. */
  readonly failures: number;
  readonly goal: Goal;
  /** In how many runs, where it is more than `FOUND_WITHIN`. */
  readonly within?: number;
  /** What the hunt tells of it. */
  readonly story?: string;
  readonly run: (api: PayoutApi) => Promise<void>;
}

/** In how many runs a bug is found, by the failures that it needs: with the runs that repeat it. */
export const FOUND_WITHIN: Readonly<Record<number, number>> = { 1: 100, 2: 100, 3: 600 };

const isUnknown = ({ http, state }: Answer): boolean =>
  http === 0 || http >= 500 || (http < 300 && state === null);

const AGAIN = order(1, { client_ref_id: 'order-1-again' });
const READ = { client_ref_id: 'order-1' };

/** Asks until the payout is final, for as long as it takes in any run. */
async function follow(api: PayoutApi, reference: string): Promise<Answer> {
  let answer = await api.status({ client_ref_id: reference });
  for (let asked = 1; asked < 12 && (answer.state === null || answer.state === 'PENDING'); asked += 1) {
    answer = await api.status({ client_ref_id: reference });
  }
  return answer;
}

/** Sends the order until its outcome is known, at most so often. */
async function send(api: PayoutApi, times: number): Promise<Answer> {
  let answer = await api.initiate(order(1));
  for (let sent = 1; sent < times && (isUnknown(answer) || answer.http === 429); sent += 1) {
    answer = await api.initiate(order(1));
  }
  return answer;
}

export const PLANTED: readonly PlantedBug[] = [
  {
    name: 'takes a new reference when a response is missing',
    failures: 1,
    goal: 'paid-twice',
    async run(api) {
      const answer = await api.initiate(order(1));
      if (answer.http === 429) await api.initiate(order(1));
      await follow(api, isUnknown(answer) ? (await api.initiate(AGAIN), 'order-1-again') : 'order-1');
    },
  },
  {
    name: 'treats a payout as paid as soon as it is accepted',
    failures: 1,
    goal: 'lost',
    async run(api) {
      const { http } = await send(api, 5);
      if (http !== 200) throw new Error(`not accepted: ${http}`);
    },
  },
  {
    name: 'asks after a failure, and believes "not found"',
    failures: 1,
    goal: 'paid-twice',
    story: `\
paid-twice: 000123451001: paid ₹101.00 twice, expected once
What fails:
  1. initiate of payout 1, attempt 1 loses its connection, and the payout is made after the next request
What the client did:
  #1 POST initiate order-1  connection-reset, committed
  #2 GET status order-1  404
  #3 POST initiate order-1-again  200 PENDING, committed
  #4 GET status order-1  200 SUCCESS
`,
    async run(api) {
      if (isUnknown(await api.initiate(order(1)))) {
        const { http } = await api.status(READ);
        if (http === 404) await api.initiate(AGAIN);
      }
      await follow(api, 'order-1');
    },
  },
  {
    name: 'takes an error in a 200 for a refusal',
    failures: 1,
    goal: 'paid-twice',
    async run(api) {
      const { http, state } = await api.initiate(order(1));
      if (http === 200 && state === null) await api.initiate(AGAIN);
      await follow(api, 'order-1');
    },
  },
  {
    name: 'pays again what is PENDING at the tenth read',
    failures: 1,
    goal: 'paid-twice',
    async run(api) {
      let { state } = await send(api, 5);
      for (let asked = 0; asked < 10 && state === 'PENDING'; asked += 1) ({ state } = await api.status(READ));
      if (state === 'PENDING') await api.initiate(AGAIN);
    },
  },
  {
    name: 'pays again when the balance has not changed',
    failures: 1,
    goal: 'paid-twice',
    async run(api) {
      const before = (await api.balance()).balance;
      await send(api, 5);
      if ((await api.balance()).balance === before) await api.initiate(AGAIN);
      await follow(api, 'order-1');
    },
  },
  {
    name: 'takes a new reference when its repetition is refused',
    failures: 2,
    within: 200,
    goal: 'paid-twice',
    async run(api) {
      const answer = await api.initiate(order(1));
      const { http } = isUnknown(answer) ? await api.initiate(order(1)) : answer;
      if (http === 409) await api.initiate(AGAIN);
      await follow(api, 'order-1');
    },
  },
  {
    name: 'takes a new reference when its third send fails too',
    failures: 3,
    goal: 'paid-twice',
    async run(api) {
      if (isUnknown(await send(api, 3))) await api.initiate(AGAIN);
      await follow(api, 'order-1');
    },
  },
];
