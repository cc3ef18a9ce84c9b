import { computed, signal } from '@preact/signals';
import type { TransactionsResponse, TransactionResponse } from '../../contract/control-responses.ts';

/** How many payouts are older than those of a page: a cursor is a position. */
const olderThan = ({ next }: TransactionsResponse): number => (next === null ? 0 : next + 1);

/** What can be wrong with what the client knows of a payout. */
export type Mark = 'at_risk' | 'out_of_date';

/** The newest payouts of a world that the page has loaded, newest first, and what it knows of older ones. */
export class PayoutList {
  readonly rows = signal<readonly TransactionResponse[]>([]);
  /** How many older payouts are not loaded. */
  readonly before = signal(0);
  /** Older payouts that are marked. */
  readonly #others = signal<ReadonlyMap<string, TransactionResponse>>(new Map());
  readonly #marked = (mark: Mark) =>
    computed(() => [...this.rows.value, ...this.#others.value.values()].filter((payout) => payout[mark]));
  readonly marked = { at_risk: this.#marked('at_risk'), out_of_date: this.#marked('out_of_date') };
  readonly #byId = new Map<string, TransactionResponse>();
  readonly #most: number;

  /** @param most how many are kept; older ones are dropped */
  constructor(most: number) {
    this.#most = most;
  }

  get(txnId: string): TransactionResponse | undefined {
    return this.#byId.get(txnId);
  }

  /** Replaces everything by the newest page. @returns how many rows no longer exist; 0 if there are older pages, which may have them */
  begin(page: TransactionsResponse): number {
    const was = this.rows.value;
    this.#byId.clear();
    this.#others.value = new Map();
    for (const payout of page.transactions) this.#byId.set(payout.txn_id, payout);
    this.rows.value = page.transactions;
    this.before.value = olderThan(page);
    return this.before.value > 0 ? 0 : was.filter(({ txn_id: id }) => !this.#byId.has(id)).length;
  }

  /** Takes payouts as they are now, in the order in which they changed. @param isNew whether one that is not loaded was just made */
  take(changed: readonly TransactionResponse[], isNew: (txnId: string) => boolean): void {
    const made: TransactionResponse[] = [];
    const others = new Map(this.#others.value);
    const keep = (payout: TransactionResponse): void => {
      if (payout.at_risk || payout.out_of_date) others.set(payout.txn_id, payout);
      else others.delete(payout.txn_id);
    };
    for (const payout of changed) {
      const { txn_id: id } = payout;
      const isKnown = this.#byId.has(id);
      if (!isKnown && this.before.value > 0 && !isNew(id)) {
        keep(payout);
        continue;
      }
      if (!isKnown) made.unshift(payout);
      this.#byId.set(id, payout);
    }
    const rows = [...made, ...this.rows.value].map(({ txn_id: id }) => this.#byId.get(id)!);
    for (const dropped of rows.slice(this.#most)) {
      this.#byId.delete(dropped.txn_id);
      keep(dropped);
      this.before.value += 1;
    }
    this.rows.value = rows.slice(0, this.#most);
    this.#others.value = others;
  }

  /** Adds payouts that are older than the rows. */
  takeOlder(page: TransactionsResponse): void {
    const older = page.transactions.filter(({ txn_id: id }) => !this.#byId.has(id));
    const others = new Map(this.#others.value);
    for (const payout of older) {
      this.#byId.set(payout.txn_id, payout);
      others.delete(payout.txn_id);
    }
    this.#others.value = others;
    this.rows.value = [...this.rows.value, ...older];
    this.before.value = olderThan(page);
  }
}
