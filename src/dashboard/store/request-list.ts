import { signal } from '@preact/signals';
import type { JournalEntry } from '../../contract/control-responses.ts';

/** The newest requests of a world, newest first. A request that hangs is replaced when it ends. */
export class RequestList {
  readonly rows = signal<readonly JournalEntry[]>([]);
  /** Whether there were older requests, which were dropped here or in the sandbox. */
  readonly isCut = signal(false);
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(id: number): JournalEntry | undefined {
    return this.rows.value.find((row) => row.id === id);
  }

  /** Replaces everything by the journal. */
  begin(requests: readonly JournalEntry[], evicted: number): void {
    this.rows.value = [];
    this.isCut.value = evicted > 0 || requests.length === this.#most;
    this.take(requests);
  }

  take(requests: readonly JournalEntry[]): void {
    const byId = new Map(this.rows.value.map((row) => [row.id, row]));
    for (const request of requests) {
      const isOld = request.outcome === 'pending' && byId.has(request.id); // it has ended, or waits as before
      if (!isOld) byId.set(request.id, request);
    }
    const rows = [...byId.values()].toSorted((a, b) => b.id - a.id);
    if (rows.length > this.#most) this.isCut.value = true;
    this.rows.value = rows.slice(0, this.#most);
  }
}
