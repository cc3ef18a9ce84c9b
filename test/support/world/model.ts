import type { State, TransferMode } from '../../../src/contract/service.ts';

/** A scheduled step: when, or at which status read, and to which state. */
interface Step {
  readonly dueMs: number | null;
  readonly polls: number | null;
  readonly to: State;
}

/** One payout, as the model sees it. Money is paise, time is ms. */
interface Payout {
  readonly amount: number;
  readonly account: string;
  readonly mode: TransferMode;
  state: State;
  plan: Step[];
  reads: number;
  /** How many status reads answer that it is unknown. */
  hiddenReads: number;
}

type Wait = { readonly afterMs: number } | { readonly polls: number };
type Timeline = readonly [wait: Wait, to: State][];

/** What a client sees of an initiate, 0 for no response, and whether the payout is made. */
interface Fault {
  readonly seen: number | 'normal';
  readonly pays: boolean;
}

/** An override that applies to the next initiates. */
export interface Override extends Fault {
  readonly name: string;
  times: number;
}

/** How a scenario settles, and whether it pays a reference again. */
export interface Behaviour {
  readonly settlement: Readonly<Record<TransferMode, Timeline>>;
  readonly paysAgain: boolean;
}

const DAY = 86_400_000;
const after = (ms: number, to: State): Timeline[number] => [{ afterMs: ms }, to];

export const DEMO: Behaviour = {
  settlement: {
    IMPS: [after(2000, 'SUCCESS')],
    UPI: [after(2000, 'SUCCESS')],
    RTGS: [after(10_000, 'SUCCESS')],
    NEFT: [after(20_000, 'SUCCESS')],
  },
  paysAgain: false,
};

const NORMAL: Fault = { seen: 'normal', pays: true };

const MAGIC_FAULTS: Readonly<Record<string, Fault>> = {
  '9999000402': { seen: 402, pays: false },
  '9999000429': { seen: 429, pays: false },
  '9999000500': { seen: 500, pays: false },
  '9999000002': { seen: 0, pays: false },
  '9999000003': { seen: 0, pays: false },
  '9999100500': { seen: 500, pays: true },
  '9999100502': { seen: 502, pays: true },
  '9999100002': { seen: 0, pays: true },
  '9999100003': { seen: 0, pays: true },
  '9999100004': { seen: 0, pays: true },
  '9999100005': { seen: 'normal', pays: true },
  '9999100006': { seen: 0, pays: true },
};

const MAGIC_TIMELINES: Readonly<Record<string, Timeline>> = {
  '9999200001': [after(2000, 'FAILED')],
  '9999200002': [after(2 * DAY, 'FAILED')],
  '9999200003': [after(2000, 'REVERSED')],
  '9999200004': [after(2000, 'SUCCESS'), after(3 * DAY, 'REVERSED')],
  '9999200005': [],
  '9999200006': [after(3 * DAY, 'SUCCESS')],
};

/** How many status reads answer that a payout to this account is unknown. */
const MAGIC_HIDDEN: Readonly<Record<string, number>> = { '9999200010': 3 };

/** Every magic account of the model. */
export const MAGIC_ACCOUNTS: readonly string[] = [MAGIC_FAULTS, MAGIC_TIMELINES, MAGIC_HIDDEN].flatMap(
  (accounts) => Object.keys(accounts),
);

/** What a world must do, implemented a second time: in a few lines, without any code of the sandbox. */
export class Model {
  now: number;
  balance: number;
  /** By reference; for one that was paid again, its latest payout. */
  payouts = new Map<string, Payout>();
  /** Payouts that were followed by another one of the same reference. */
  earlier: [reference: string, payout: Payout][] = [];
  behaviour = DEMO;
  /** The first one with uses left applies to the next initiate. */
  overrides: Override[] = [];

  constructor(now: number, balance: number) {
    this.now = now;
    this.balance = balance;
  }

  /** @returns the HTTP status that a client sees, 0 for none */
  pay(reference: string, amount: number, mode: TransferMode, account: string): number {
    const rule = this.overrides.find(({ times }) => times > 0);
    if (rule !== undefined) rule.times -= 1;
    const { seen, pays } = rule ?? MAGIC_FAULTS[account] ?? NORMAL;
    const status = pays ? this.make(reference, amount, mode, account) : 200;
    return seen === 'normal' ? status : seen;
  }

  /** @returns how many steps have happened */
  advance(ms: number): number {
    this.now += ms;
    let changes = 0;
    for (const [, payout] of this.all()) {
      for (; isDue(payout, this.now); changes += 1) this.move(payout, payout.plan.shift()!.to);
    }
    return changes;
  }

  /** A status read, which a payout may wait for. @returns its state; null for an unknown one */
  read(reference: string): State | null {
    const payout = this.payouts.get(reference);
    if (payout === undefined) return null;
    if (payout.hiddenReads > 0 || payout.plan.some(({ polls }) => polls !== null)) payout.reads += 1;
    while (payout.plan[0]?.polls != null && payout.plan[0].polls <= payout.reads)
      this.move(payout, payout.plan.shift()!.to);
    return payout.hiddenReads > 0 && payout.reads <= payout.hiddenReads ? null : payout.state;
  }

  /** @returns whether the transition is legal */
  force(reference: string, to: State): boolean {
    const payout = this.payouts.get(reference)!;
    const isLegal = payout.state === 'PENDING' || (payout.state === 'SUCCESS' && to === 'REVERSED');
    if (isLegal) this.move(payout, to);
    if (isLegal) payout.plan = [];
    return isLegal;
  }

  /** Every payout with its reference. */
  all(): [reference: string, payout: Payout][] {
    return [...this.earlier, ...this.payouts];
  }

  count(state: State): number {
    return this.all().filter(([, payout]) => payout.state === state).length;
  }

  copy(): Model {
    const { payouts, earlier, behaviour, overrides } = this;
    return Object.assign(new Model(this.now, this.balance), {
      ...structuredClone({ payouts, earlier, overrides }),
      behaviour,
    });
  }

  private make(reference: string, amount: number, mode: TransferMode, account: string): number {
    const known = this.payouts.get(reference);
    if (known && !this.behaviour.paysAgain) {
      return known.amount === amount && known.mode === mode && known.account === account ? 200 : 400;
    }
    if (amount > this.balance) return 402;
    this.balance -= amount;
    if (known) this.earlier.push([reference, known]);
    const timeline = MAGIC_TIMELINES[account] ?? this.behaviour.settlement[mode];
    const plan = timeline.map(([wait, to]) => ({
      dueMs: 'afterMs' in wait ? this.now + wait.afterMs : null,
      polls: 'polls' in wait ? wait.polls : null,
      to,
    }));
    const hiddenReads = MAGIC_HIDDEN[account] ?? 0;
    this.payouts.set(reference, { amount, account, mode, state: 'PENDING', plan, reads: 0, hiddenReads });
    return 200;
  }

  private move(payout: Payout, to: State): void {
    payout.state = to;
    if (to !== 'SUCCESS') this.balance += payout.amount;
  }
}

const isDue = ({ plan: [next] }: Payout, now: number): boolean =>
  next !== undefined && next.dueMs !== null && next.dueMs <= now;
