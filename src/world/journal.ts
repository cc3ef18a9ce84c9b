import type { Exchange } from './exchange.ts';
import { History, type HistoryBudget, type Kept } from './bounded-log.ts';

/** Roughly what an exchange takes beside its texts. */
const BYTES_EACH = 1000;

/** What a world was asked and what it answered and why, bounded. */
export class Journal {
  readonly #history: History<Exchange>;
  #asked = 0;

  constructor(limits: { readonly items: number; readonly bytes: number }, budget: HistoryBudget) {
    this.#history = new History(limits, budget);
  }

  /** How many of its exchanges had to make room for newer ones. */
  get evicted(): number {
    return this.#history.evicted;
  }

  /** What is known, the oldest first. An exchange that is not over is among them. */
  get exchanges(): readonly Exchange[] {
    return this.#history.items();
  }

  /**
   * Takes a request in that has just come, and gives it its number.
   *
   * @param headersLength how many characters its headers have
   */
  begin(exchange: Exchange, headersLength: number): Kept<Exchange> {
    this.#asked += 1;
    exchange.nth = this.#asked;
    return this.#history.add(exchange, BYTES_EACH + exchange.url.length + headersLength);
  }

  /** Says that the texts of an exchange have grown by so many characters. */
  grow(kept: Kept<Exchange>, characters: number): void {
    this.#history.grow(kept, characters);
  }

  /** Forgets all of it. @returns how many exchanges that were */
  clear(): number {
    const { size } = this.#history;
    this.#history.clear();
    return size;
  }
}
