import type {
  JournalEntry,
  RequestsResponse,
  TransactionsResponse,
  TransactionResponse,
} from '../../contract/control-responses.ts';
import { ControlClient } from '../../client/control-client.ts';

export const PAGE = 1000;
/** The page size when looking for new payouts: usually more than there are. */
const NEWS_PAGE = 50;
const LONGEST_ANSWER_MS = 15_000;

/** Reads the lists of a world page by page. */
export class WorldPages {
  readonly #control: ControlClient;

  constructor(url: string, apiKey: string) {
    this.#control = new ControlClient(url, apiKey);
  }

  requests(limit: number): Promise<RequestsResponse> {
    return this.#control.get('/requests', { limit });
  }

  /** One request; undefined if the journal does not have it. */
  async request(id: number): Promise<JournalEntry | undefined> {
    const query = { since: id - 1, order: 'oldest', limit: 1 };
    const { requests } = await this.#control.get<RequestsResponse>('/requests', query);
    return requests.find((one) => one.id === id);
  }

  /** @param before how many payouts are older than those loaded; a cursor is a position */
  payouts(before?: number, limit = PAGE): Promise<TransactionsResponse> {
    return this.#control.get('/transactions', {
      limit,
      cursor: before === undefined ? undefined : before - 1,
    });
  }

  /** The new payouts, and some that are already loaded. @returns null if more than a page are new */
  async newPayouts(isKnown: (payout: TransactionResponse) => boolean): Promise<TransactionsResponse | null> {
    for (const limit of [NEWS_PAGE, PAGE]) {
      const page = await this.payouts(undefined, limit);
      if (page.next === null || page.transactions.some(isKnown)) return page;
    }
    return null;
  }

  /** The newest payouts at risk. @param count how many there are: no older payouts are searched for more */
  async atRisk(count: number): Promise<readonly TransactionResponse[]> {
    const found: TransactionResponse[] = [];
    for (let cursor: number | null | undefined; cursor !== null && found.length < count;) {
      const query = { at_risk: true, limit: PAGE, cursor };
      const page: TransactionsResponse = await this.#control.get('/transactions', query);
      found.push(...page.transactions);
      cursor = page.next;
    }
    return found;
  }
}

/** @throws Error when no response arrives in time, as from a machine that sleeps */
export async function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('the sandbox does not respond')), LONGEST_ANSWER_MS);
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
