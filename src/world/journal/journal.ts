import { BoundedLog, type MemoryBudget } from './bounded-log.ts';
import { placed, type Exchange } from './exchange.ts';

/** About how much an exchange takes in addition to its texts. */
const BYTES_EACH = 1000;

/** About how much a header of the answer takes. It shares its texts with the rule that orders it. */
const BYTES_EACH_HEADER = 64;

const bytesOf = ({ url, body = '', answer }: Exchange): number =>
  BYTES_EACH +
  url.length +
  body.length +
  (answer === undefined ? 0 : answer.body.length + BYTES_EACH_HEADER * Object.keys(answer.headers).length);

/** The content of a journal. */
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
   * Enters a request that has just come.
   *
   * @param headersLength how many characters its headers have
   */
  begin(exchange: Exchange, headersLength: number) {
    this.#asked += 1;
    const nth = this.#asked;
    const first = { ...exchange, nth };
    const item = this.#log.add(first, bytesOf(first) + headersLength);
    return {
      nth,
      update: (exchange: Exchange): void => {
        const known = placed(exchange, item.value, this.#asked);
        this.#log.replace(item, known, bytesOf(exchange) + headersLength);
      },
    };
  }

  /** Drops all exchanges. @returns how many there were */
  clear(): number {
    const { size } = this.#log;
    this.#log.clear();
    return size;
  }
}
