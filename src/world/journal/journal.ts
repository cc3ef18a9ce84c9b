import { BoundedLog, type Item, type MemoryBudget } from './bounded-log.ts';
import type { Exchange } from './exchange.ts';

/** About what an exchange takes beside its texts. */
const BYTES_EACH = 1000;

const bytesOf = ({ url, body = '', answer }: Exchange): number =>
  BYTES_EACH + url.length + body.length + (answer?.body.length ?? 0);

/** The place of one exchange in a journal. */
export interface JournalPlace {
  /** Which request of its world it is, counted from 1. */
  readonly nth: number;
  /** Puts what is now known of the exchange in the place of what was known. */
  readonly update: (exchange: Exchange) => void;
}

/** What is known of a journal. */
export interface JournalRead {
  /** The oldest first. */
  readonly exchanges: readonly Exchange[];
  /** How many older exchanges were dropped. */
  readonly evicted: number;
}

/** The requests to a world and its answers, bounded. It includes exchanges that are still open. */
export class Journal {
  readonly #log: BoundedLog<Exchange>;
  #asked = 0;

  constructor(limits: { readonly items: number; readonly bytes: number }, budget: MemoryBudget) {
    this.#log = new BoundedLog(limits, budget);
  }

  read(): JournalRead {
    return { exchanges: this.#log.items(), evicted: this.#log.evicted };
  }

  /**
   * Takes in a request that has just come.
   *
   * @param headersLength how many characters its headers have
   */
  begin(exchange: Exchange, headersLength: number): JournalPlace {
    this.#asked += 1;
    const nth = this.#asked;
    const first = { ...exchange, nth };
    const item: Item<Exchange> = this.#log.add(first, bytesOf(first) + headersLength);
    return {
      nth,
      update: (exchange) => this.#log.replace(item, exchange, bytesOf(exchange) + headersLength),
    };
  }

  /** Drops all of it. @returns how many exchanges that were */
  clear(): number {
    const { size } = this.#log;
    this.#log.clear();
    return size;
  }
}
