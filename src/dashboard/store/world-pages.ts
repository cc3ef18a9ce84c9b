import type {
  JournalEntry,
  RequestsResponse,
  TransactionsResponse,
  TransactionResponse,
} from '../../contract/control-responses.ts';
import { ControlClient } from '../../client/control-client.ts';
import { sendWithFetch } from './fetch-client.ts';
import type { Mark } from './payout-list.ts';

const PAGE = 1000;
const LONGEST_ANSWER_MS = 15_000;

/** Reads the lists of a world page by page. */
export class WorldPages {
  readonly #control: ControlClient;

  constructor(url: string, apiKey: string) {
    this.#control = new ControlClient(sendWithFetch, url, apiKey);
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
  payouts(before?: number): Promise<TransactionsResponse> {
    return this.#control.get('/transactions', {
      limit: PAGE,
      cursor: before === undefined ? undefined : before - 1,
    });
  }

  /** All payouts with a mark, the newest first. */
  async marked(mark: Mark): Promise<readonly TransactionResponse[]> {
    const found: TransactionResponse[] = [];
    for (let cursor: number | null | undefined; cursor !== null;) {
      const query = { [mark]: true, limit: PAGE, cursor };
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
