import { signal } from '@preact/signals';
import type {
  ChangeResponse,
  TransactionsResponse,
  TransactionResponse,
} from '../../contract/control-responses.ts';
import type { State } from '../../contract/service.ts';

/** The states that a transition can force, by current state. */
export type Edges = Readonly<Partial<Record<State, readonly State[]>>>;

const stepsDone = ({ timeline }: TransactionResponse): number => timeline.filter(({ done }) => done).length;

const has = ({ timeline }: TransactionResponse, { from, to, at }: ChangeResponse): boolean =>
  timeline.some((step) => step.done && step.at === at && step.to === (to === from ? null : to));

/** The one with more applied steps, since a response can be older than an event. What the client was told is only in answers. */
const newer = (known: TransactionResponse | undefined, read: TransactionResponse): TransactionResponse =>
  known !== undefined && stepsDone(known) > stepsDone(read)
    ? { ...known, told: read.told, at_risk: read.at_risk }
    : read;

/**
 * The payout after a step.
 *
 * @returns undefined if the step was not scheduled, so that the payout has to be requested again
 */
function afterChange(
  payout: TransactionResponse,
  { from, to, at, utr }: ChangeResponse,
  edges: Edges,
): TransactionResponse | undefined {
  const next = payout.timeline.findIndex(({ done }) => !done);
  const step = payout.timeline[next];
  if (step === undefined || payout.status !== from) return undefined;
  if (step.to !== (to === from ? null : to)) return undefined;
  if (step.at !== null && step.at !== at) return undefined; // it was forced
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

/** The newest payouts of a world that the page has loaded, newest first. */
export class PayoutList {
  readonly rows = signal<readonly TransactionResponse[]>([]);
  /** How many older payouts are not loaded. */
  readonly before = signal(0);
  #byId = new Map<string, TransactionResponse>();
  /** Changes of payouts that are not loaded yet: an event can arrive before the response that contains its payout. */
  #early = new Map<string, readonly ChangeResponse[]>();
  #most: number;

  /** @param most how many are kept; older ones are dropped */
  constructor(most: number) {
    this.#most = most;
  }

  get(txnId: string): TransactionResponse | undefined {
    return this.#byId.get(txnId);
  }

  clear(): void {
    this.rows.value = [];
    this.before.value = 0;
    this.#byId.clear();
    this.#early.clear();
  }

  /** Adds new payouts, down to one that is already loaded, so that none is missing in between. */
  takeNewest({ transactions, next }: TransactionsResponse, edges: Edges): void {
    if (this.rows.value.length === 0) this.before.value = next === null ? 0 : next + 1; // a cursor is a position
    this.#merge(transactions, edges, (fresh) => [...fresh, ...this.rows.value]);
  }

  /** Adds payouts that are older than the rows. */
  takeOlder({ transactions, next }: TransactionsResponse, edges: Edges): void {
    this.#most = Math.max(this.#most, this.rows.value.length + transactions.length);
    this.before.value = next === null ? 0 : next + 1;
    this.#merge(transactions, edges, (fresh) => [...this.rows.value, ...fresh]);
  }

  /** Replaces payouts by what was read of them, unless that is older than the events. */
  renew(read: readonly TransactionResponse[]): void {
    const known = read.filter(({ txn_id: id }) => this.#byId.has(id));
    this.#replace(new Map(known.map((one) => [one.txn_id, newer(this.#byId.get(one.txn_id), one)])));
  }

  /** Applies changes. @returns the ids of payouts that have to be requested again */
  takeChanges(changes: readonly ChangeResponse[], edges: Edges): readonly string[] {
    const changed = new Map<string, TransactionResponse>();
    const stale = new Set<string>();
    for (const change of changes) {
      const { txn_id: id } = change;
      const known = changed.get(id) ?? this.#byId.get(id);
      if (known === undefined) {
        this.#early.set(id, [...(this.#early.get(id) ?? []), change]);
        continue;
      }
      const after = afterChange(known, change, edges);
      if (after !== undefined) changed.set(id, after);
      else if (!has(known, change)) stale.add(id);
    }
    this.#replace(changed);
    return [...stale];
  }

  #merge(
    read: readonly TransactionResponse[],
    edges: Edges,
    joined: (fresh: readonly TransactionResponse[]) => readonly TransactionResponse[],
  ): void {
    const fresh: TransactionResponse[] = [];
    const changed = new Map<string, TransactionResponse>();
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
    this.rows.value = joined(fresh);
    this.#makeRoom();
  }

  #replace(changed: ReadonlyMap<string, TransactionResponse>): void {
    if (changed.size === 0) return;
    for (const [id, payout] of changed) this.#byId.set(id, payout);
    this.rows.value = this.rows.value.map((row) => changed.get(row.txn_id) ?? row);
  }

  #makeRoom(): void {
    const dropped = this.rows.value.slice(this.#most);
    if (dropped.length > 0) {
      for (const { txn_id: id } of dropped) this.#byId.delete(id);
      this.rows.value = this.rows.value.slice(0, this.#most);
      this.before.value += dropped.length;
    }
    if (this.#early.size > this.#most) this.#early.clear(); // they belong to payouts that are too old for the list
  }
}
