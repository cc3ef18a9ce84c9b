import type { JournalEntry } from '../../contract/control-answers.ts';
import { isPaidUnseen, seenText } from './request-filter.ts';

/** A payout that was made although its client saw a failure. */
export interface Risk {
  /** The request that made it. */
  readonly requestId: number;
  /** `client saw 500` */
  readonly seen: string;
}

/** The newest requests of a world, newest first. A request that hangs is replaced when it ends. */
export class RequestList {
  rows: readonly JournalEntry[] = [];
  /** How many older requests were dropped, here or in the sandbox. */
  evicted = 0;
  /** By txn_id. They stay when their requests are dropped. */
  readonly atRisk = new Map<string, Risk>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(id: number): JournalEntry | undefined {
    return this.rows.find((row) => row.id === id);
  }

  /** Replaces everything by the journal. */
  begin(requests: readonly JournalEntry[], evicted: number): void {
    this.rows = [];
    this.evicted = evicted;
    this.atRisk.clear();
    this.take(requests);
  }

  take(requests: readonly JournalEntry[]): void {
    const byId = new Map(this.rows.map((row) => [row.id, row]));
    for (const request of requests) {
      const known = byId.get(request.id);
      if (known !== undefined && known.outcome !== 'pending') continue;
      byId.set(request.id, request);
      this.#judge(request);
    }
    const rows = [...byId.values()].toSorted((a, b) => b.id - a.id);
    this.evicted += Math.max(0, rows.length - this.#most);
    this.rows = rows.slice(0, this.#most);
  }

  #judge(request: JournalEntry): void {
    const { txn_id: txnId, id: requestId } = request;
    if (txnId === null) return;
    if (isPaidUnseen(request)) this.atRisk.set(txnId, { requestId, seen: seenText(request) });
    else if (this.atRisk.get(txnId)?.requestId === requestId) this.atRisk.delete(txnId); // it hung, and was answered in the end
  }
}
