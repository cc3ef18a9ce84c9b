import type { ChangeAnswer, TransactionsAnswer, TransactionAnswer } from '../contract/control-answers.ts';
import type { State } from '../contract/payout.ts';

/** The states that a payout can be forced into from each. */
export type Edges = Readonly<Partial<Record<State, readonly State[]>>>;

const stepsDone = ({ timeline }: TransactionAnswer): number => timeline.filter(({ done }) => done).length;

const has = ({ timeline }: TransactionAnswer, { from, to, at }: ChangeAnswer): boolean =>
  timeline.some((step) => step.done && step.at === at && step.to === (to === from ? null : to));

/** What is known of one payout: whichever of the two has come further, since answers and events overtake each other. */
const newer = (known: TransactionAnswer | undefined, read: TransactionAnswer): TransactionAnswer =>
  known !== undefined && stepsDone(known) > stepsDone(read) ? known : read;

/**
 * A payout after a step that has happened.
 *
 * @returns undefined when the step is none of those that were planned, so that the payout is to be asked for again
 */
function afterChange(
  payout: TransactionAnswer,
  { from, to, at, utr }: ChangeAnswer,
  edges: Edges,
): TransactionAnswer | undefined {
  const next = payout.timeline.findIndex(({ done }) => !done);
  const step = payout.timeline[next];
  if (step === undefined || payout.status !== from) return undefined;
  if (step.to !== (to === from ? null : to)) return undefined;
  return {
    ...payout,
    status: to,
    utr,
    completed_at: payout.completed_at ?? (to === from ? null : at),
    legal: [...(edges[to] ?? [])],
    reason: to === from ? payout.reason : `${to} as planned by ${payout.planned_by}`,
    timeline: payout.timeline.with(next, { ...step, at, done: true }),
  };
}

/** The newest payouts of a world, newest first, as far as they are known here. */
export class PayoutList {
  /** Newest first. Another array after each change. */
  rows: readonly TransactionAnswer[] = [];
  /** How many there are before the oldest of the rows. */
  before = 0;
  #byId = new Map<string, TransactionAnswer>();
  /** Changes of payouts that are not known so far: what was asked for may answer later than what happened since. */
  #early = new Map<string, readonly ChangeAnswer[]>();
  #most: number;

  /** @param most how many are kept; older ones make room */
  constructor(most: number) {
    this.#most = most;
  }

  get(txnId: string): TransactionAnswer | undefined {
    return this.#byId.get(txnId);
  }

  clear(): void {
    this.rows = [];
    this.before = 0;
    this.#byId.clear();
    this.#early.clear();
  }

  /** Takes what has just been made: all that there is down to a payout that was known, so that nothing lies between. */
  takeNewest({ transactions, next }: TransactionsAnswer, edges: Edges): void {
    if (this.rows.length === 0) this.before = next === null ? 0 : next + 1; // a cursor is a position
    this.#merge(transactions, edges, (fresh) => [...fresh, ...this.rows]);
  }

  /** Takes those that follow the oldest of the rows. */
  takeOlder({ transactions, next }: TransactionsAnswer, edges: Edges): void {
    this.#most = Math.max(this.#most, this.rows.length + transactions.length);
    this.before = next === null ? 0 : next + 1;
    this.#merge(transactions, edges, (fresh) => [...this.rows, ...fresh]);
  }

  /** Takes one payout as it stands now. */
  takeOne(payout: TransactionAnswer): void {
    if (this.#byId.has(payout.txn_id)) this.#replace(new Map([[payout.txn_id, payout]]));
  }

  /** Takes what has happened. @returns the ids of those that are to be asked for again */
  takeChanges(changes: readonly ChangeAnswer[], edges: Edges): readonly string[] {
    const changed = new Map<string, TransactionAnswer>();
    const stale: string[] = [];
    for (const change of changes) {
      const { txn_id: id } = change;
      const known = changed.get(id) ?? this.#byId.get(id);
      if (known === undefined) {
        this.#early.set(id, [...(this.#early.get(id) ?? []), change]);
        continue;
      }
      const after = afterChange(known, change, edges);
      if (after !== undefined) changed.set(id, after);
      else if (!has(known, change)) stale.push(id);
    }
    this.#replace(changed);
    return stale;
  }

  #merge(
    read: readonly TransactionAnswer[],
    edges: Edges,
    joined: (fresh: readonly TransactionAnswer[]) => readonly TransactionAnswer[],
  ): void {
    const fresh: TransactionAnswer[] = [];
    const changed = new Map<string, TransactionAnswer>();
    for (const payout of read) {
      const { txn_id: id } = payout;
      const known = this.#byId.get(id);
      const early = this.#early.get(id) ?? [];
      this.#early.delete(id);
      if (known !== undefined) changed.set(id, newer(known, payout));
      else fresh.push(early.reduce((row, change) => afterChange(row, change, edges) ?? row, payout));
    }
    this.#replace(changed);
    for (const payout of fresh) this.#byId.set(payout.txn_id, payout);
    this.rows = joined(fresh);
    this.#makeRoom();
  }

  #replace(changed: ReadonlyMap<string, TransactionAnswer>): void {
    if (changed.size === 0) return;
    for (const [id, payout] of changed) this.#byId.set(id, payout);
    this.rows = this.rows.map((row) => changed.get(row.txn_id) ?? row);
  }

  #makeRoom(): void {
    const dropped = this.rows.slice(this.#most);
    if (dropped.length > 0) {
      for (const { txn_id: id } of dropped) this.#byId.delete(id);
      this.rows = this.rows.slice(0, this.#most);
      this.before += dropped.length;
    }
    if (this.#early.size > this.#most) this.#early.clear(); // of payouts that are too old to be known here
  }
}
