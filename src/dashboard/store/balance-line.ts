import { signal } from '@preact/signals';
import type { EntryResponse } from '../../contract/control-responses.ts';

/** The latest balances of a world. */
export class BalanceLine {
  /** Oldest first. */
  readonly balances = signal<readonly number[]>([]);
  /** The position of the entry that follows the newest one. */
  next = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Starts again with the newest entries, newest first. @param before how many older entries there are */
  begin(entries: readonly EntryResponse[], before: number): void {
    this.balances.value = [];
    this.next = before;
    this.take(entries.toReversed());
  }

  /** Adds the entries that follow, oldest first. */
  take(entries: readonly EntryResponse[]): void {
    if (entries.length === 0) return;
    const added = entries.map(({ balance }) => balance);
    this.balances.value = [...this.balances.value, ...added].slice(-this.#most);
    this.next += entries.length;
  }
}
