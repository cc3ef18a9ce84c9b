import type { JournalEntry } from '../../contract/control-responses.ts';
import type { PayoutList } from './payout-list.ts';
import { PAGE, type WorldPages } from './world-pages.ts';

/** Up to this many payouts are requested one by one; more in pages, but not too often. */
const FEW = 20;
const PAGES_EVERY_MS = 1000;
const MOST = 20_000;

/** The payouts that have changed since they were read: they have to be requested again. */
export class StalePayouts {
  readonly #ids = new Set<string>();
  readonly #list: PayoutList;
  readonly #pages: WorldPages;
  #pagesMs = -Infinity;

  constructor(list: PayoutList, pages: WorldPages) {
    this.#list = list;
    this.#pages = pages;
  }

  /** How many of them the list has. The others may be in a response that is under way. */
  get size(): number {
    return [...this.#ids].filter((id) => this.#list.get(id) !== undefined).length;
  }

  add(txnId: string): void {
    if (this.#ids.size === MOST) this.clear(); // they are too old for the list
    this.#ids.add(txnId);
  }

  clear(): void {
    this.#ids.clear();
  }

  /** A response may have told the client of a payout: what it knows is asked again. */
  takeRequest({ id, txn_id: txnId, outcome, route }: JournalEntry): void {
    const payout = txnId === null || route === 'balance' ? undefined : this.#list.get(txnId);
    if (payout === undefined || outcome === 'pending' || payout.told?.request === id) return;
    if (payout.told?.as !== payout.status) this.add(payout.txn_id);
  }

  /** Requests them again, the newest first. What fails is requested the next time. */
  async renew(): Promise<void> {
    const isMany = this.size > FEW;
    if (isMany && performance.now() - this.#pagesMs < PAGES_EVERY_MS) return;
    if (isMany) this.#pagesMs = performance.now();
    const { rows, before } = this.#list;
    const isStale = ({ txn_id: id }: { readonly txn_id: string }): boolean => this.#ids.has(id);
    for (let newest: number; (newest = rows.value.findIndex(isStale)) !== -1;) {
      const page = rows.value.slice(newest, newest + (isMany ? PAGE : 1));
      const older = before.value + rows.value.length - newest;
      const limit = page.findLastIndex(isStale) + 1;
      const ids = page.filter(isStale).map(({ txn_id: id }) => id);
      for (const id of ids) this.#ids.delete(id); // before they are asked for: they may change once more meanwhile
      try {
        this.#list.renew((await this.#pages.payouts(older, limit)).transactions);
      } catch (error) {
        for (const id of ids) this.#ids.add(id);
        throw error;
      }
    }
  }
}
