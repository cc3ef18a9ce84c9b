import type { State, TransferMode } from '../../src/contract/payout.ts';

/** One payout, as the model sees it. Money is paise, time is ms. */
interface Payout {
  readonly amount: number;
  readonly account: string;
  readonly mode: TransferMode;
  state: State;
  /** What is still to come: [when, state]. */
  plan: [dueMs: number, to: State][];
}

const DAY = 86_400_000;
const DEMO: Record<TransferMode, number> = { IMPS: 2000, UPI: 2000, RTGS: 10_000, NEFT: 20_000 };
const MAGIC: Record<string, [afterMs: number, to: State][]> = {
  '9999200001': [[2000, 'FAILED']],
  '9999200003': [[2000, 'REVERSED']],
  '9999200004': [
    [2000, 'SUCCESS'],
    [3 * DAY, 'REVERSED'],
  ],
  '9999200005': [],
};

/** What a world is meant to do, told a second time: in a few lines, and with nothing of the sandbox's own. */
export class Model {
  now: number;
  balance: number;
  payouts = new Map<string, Payout>();

  constructor(now: number, balance: number) {
    this.now = now;
    this.balance = balance;
  }

  pay(reference: string, amount: number, mode: TransferMode, account: string): number {
    const known = this.payouts.get(reference);
    if (account === '9999000402') return 402;
    const answer = account === '9999100500' ? 500 : 200;
    if (known) {
      const isSame = known.amount === amount && known.mode === mode && known.account === account;
      return isSame || answer === 500 ? answer : 400;
    }
    if (amount > this.balance) return answer === 500 ? 500 : 402;
    this.balance -= amount;
    const plan = (MAGIC[account] ?? [[DEMO[mode], 'SUCCESS']]).map(([ms, to]): [number, State] => [
      this.now + ms,
      to,
    ]);
    this.payouts.set(reference, { amount, account, mode, state: 'PENDING', plan });
    return answer;
  }

  advance(ms: number): number {
    this.now += ms;
    let changes = 0;
    for (const payout of this.payouts.values()) {
      for (; payout.plan.length > 0 && payout.plan[0]![0] <= this.now; changes += 1)
        this.move(payout, payout.plan.shift()![1]);
    }
    return changes;
  }

  /** @returns whether the edge is a legal one */
  force(reference: string, to: State): boolean {
    const payout = this.payouts.get(reference)!;
    const isLegal = payout.state === 'PENDING' || (payout.state === 'SUCCESS' && to === 'REVERSED');
    if (isLegal) this.move(payout, to);
    if (isLegal) payout.plan = [];
    return isLegal;
  }

  count(state: State): number {
    return [...this.payouts.values()].filter((payout) => payout.state === state).length;
  }

  copy(): Model {
    return Object.assign(new Model(this.now, this.balance), { payouts: structuredClone(this.payouts) });
  }

  private move(payout: Payout, to: State): void {
    payout.state = to;
    if (to !== 'SUCCESS') this.balance += payout.amount;
  }
}
