import type { JournalEntry, TransactionResponse } from '../../contract/control-responses.ts';
import type { World } from '../../client/controlled-world.ts';
import { isUnreachable } from './event-feed.ts';
import type { PayoutList } from './payout-list.ts';
import type { WorldPages } from './world-pages.ts';

/** Up to this many payouts are requested one by one; otherwise a page from the newest of them on is, but not too often. */
const FEW = 20;
const PAGE_EVERY_MS = 2000;

/** The payouts of which events do not say everything: they have to be requested again. */
export class StalePayouts {
  readonly #ids = new Set<string>();
  readonly #list: PayoutList;
  #pageMs = -Infinity;

  constructor(list: PayoutList) {
    this.#list = list;
  }

  get size(): number {
    return this.#ids.size;
  }

  add(...ids: readonly string[]): void {
    for (const id of ids) this.#ids.add(id);
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

  /** Requests them again. What fails is requested the next time. */
  async renew(world: World, pages: WorldPages): Promise<void> {
    const isMany = this.#ids.size > FEW;
    if (isMany && performance.now() - this.#pageMs < PAGE_EVERY_MS) return;
    const ids = [...this.#ids].slice(0, FEW);
    const read = isMany ? await this.#page(pages) : await payoutsOf(world, ids);
    if (isMany) this.#pageMs = performance.now();
    this.#list.renew(read);
    for (const id of isMany ? read.map((payout) => payout.txn_id) : ids) this.#ids.delete(id);
  }

  /** The page that begins with the newest of them. */
  async #page(pages: WorldPages): Promise<readonly TransactionResponse[]> {
    const { rows, before } = this.#list;
    const newest = rows.value.findIndex(({ txn_id: id }) => this.#ids.has(id));
    if (newest === -1) {
      this.clear(); // the list has dropped all of them
      return [];
    }
    return (await pages.payouts(before.value + rows.value.length - newest)).transactions;
  }
}

async function payoutsOf(world: World, ids: readonly string[]): Promise<readonly TransactionResponse[]> {
  const found = ids.map((id) =>
    world.transaction(id).catch((error: unknown) => {
      if (isUnreachable(error)) throw error;
      return []; // it is gone: the world was reset in the meantime
    }),
  );
  return (await Promise.all(found)).flat();
}
