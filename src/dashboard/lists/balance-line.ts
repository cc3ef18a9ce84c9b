import type { EntryAnswer } from '../../contract/control-answers.ts';

/** A change of the balance. */
export interface BalancePoint extends Pick<EntryAnswer, 'kind' | 'amount' | 'balance'> {
  readonly atMs: number;
  readonly txnId: string | null;
}

const pointOf = ({ at, kind, amount, balance, txn_id: txnId }: EntryAnswer): BalancePoint => ({
  atMs: Date.parse(at),
  kind,
  amount,
  balance,
  txnId,
});

/** The changes of the balance, as far back as the page has loaded them. */
export class BalanceLine {
  /** Oldest first. */
  points: readonly BalancePoint[] = [];
  /** The position of the entry that follows the newest point. */
  next = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many older changes are not loaded. */
  get before(): number {
    return this.next - this.points.length;
  }

  get isFull(): boolean {
    return this.points.length >= this.#most;
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
    this.points = [...this.points, ...entries.map(pointOf)].slice(-this.#most);
    this.next += entries.length;
  }

  /** Adds the entries before the oldest point, newest first. */
  takeOlder(entries: readonly EntryAnswer[]): void {
    this.points = [...entries.toReversed().map(pointOf), ...this.points].slice(-this.#most);
  }
}
