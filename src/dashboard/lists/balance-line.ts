import type { EntryAnswer } from '../../contract/control-answers.ts';

/** A balance at a moment of world time. */
interface BalancePoint {
  readonly atMs: number;
  readonly balance: number;
}

/** The balance over world time, as far back as the page has loaded it. */
export class BalanceLine {
  points: readonly BalancePoint[] = [];
  /** The position of the entry that follows the newest point. */
  next = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Starts again with the newest entries, newest first. @param before how many older entries there are */
  begin(entries: readonly EntryAnswer[], before: number): void {
    this.points = [];
    this.next = before;
    this.take(entries.toReversed());
  }

  /** Adds the entries that follow, oldest first. */
  take(entries: readonly EntryAnswer[]): void {
    if (entries.length === 0) return;
    const fresh = entries.map(({ at, balance }) => ({ atMs: Date.parse(at), balance }));
    this.points = [...this.points, ...fresh].slice(-this.#most);
    this.next += entries.length;
  }
}
