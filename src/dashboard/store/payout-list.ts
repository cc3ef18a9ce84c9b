import { signal } from '@preact/signals';
import type { TransactionsResponse, TransactionResponse } from '../../contract/control-responses.ts';

/** How many payouts are older than those of a page: a cursor is a position. */
const olderThan = ({ next }: TransactionsResponse): number => (next === null ? 0 : next + 1);

/** The newest payouts of a world that the page has loaded, newest first. */
export class PayoutList {
  readonly rows = signal<readonly TransactionResponse[]>([]);
  /** How many older payouts are not loaded. */
  readonly before = signal(0);
  readonly #byId = new Map<string, TransactionResponse>();
  #most: number;

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
    this.rows.value = [];
    this.#byId.clear();
    this.takeNewest(page);
    return this.before.value > 0 ? 0 : was.filter(({ txn_id: id }) => !this.#byId.has(id)).length;
  }

  /** Adds new payouts, down to one that is already loaded, so that none is missing in between. */
  takeNewest(page: TransactionsResponse): void {
    if (this.rows.value.length === 0) this.before.value = olderThan(page);
    this.renew(page.transactions);
    this.rows.value = [...this.#new(page.transactions), ...this.rows.value];
    const dropped = this.rows.value.slice(this.#most);
    for (const { txn_id: id } of dropped) this.#byId.delete(id);
    this.rows.value = this.rows.value.slice(0, this.#most);
    this.before.value += dropped.length;
  }

  /** Adds payouts that are older than the rows. */
  takeOlder(page: TransactionsResponse): void {
    this.rows.value = [...this.rows.value, ...this.#new(page.transactions)];
    this.before.value = olderThan(page);
    this.#most = Math.max(this.#most, this.rows.value.length);
  }

  /** Replaces payouts by what was read of them. */
  renew(read: readonly TransactionResponse[]): void {
    const known = read.filter(({ txn_id: id }) => this.#byId.has(id));
    if (known.length === 0) return;
    for (const payout of known) this.#byId.set(payout.txn_id, payout);
    this.rows.value = this.rows.value.map(({ txn_id: id }) => this.#byId.get(id)!);
  }

  #new(read: readonly TransactionResponse[]): readonly TransactionResponse[] {
    const fresh = read.filter(({ txn_id: id }) => !this.#byId.has(id));
    for (const payout of fresh) this.#byId.set(payout.txn_id, payout);
    return fresh;
  }
}
