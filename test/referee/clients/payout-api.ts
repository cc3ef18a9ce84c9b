import { vi } from 'vitest';
import type { RefereeSettingsInput } from '../../../src/contract/conduct.ts';
import type { JournalEntry, World } from '../../../src/index.ts';
import { PAYOUT } from '../../support/sandbox.ts';

/** A client, and the world that it runs in. */
export interface JudgedClient {
  readonly settings?: RefereeSettingsInput;
  readonly setUp?: (world: World) => Promise<unknown>;
  readonly run: (api: PayoutApi) => Promise<unknown>;
}

export interface CorrectClient extends JudgedClient {
  /** Continues the sentence "a client that …". */
  readonly name: string;
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const DAY = 24 * 60 * MINUTE;

/** The two ways in which these clients say what they intend to pay. */
export const BY_ORDER = { intent: { client_ref_id: '^(order-\\d+)' } } as const;
export const BY_REMARKS = { intent: { remarks: '^(\\S+)' } } as const;

export const use = (scenario: Parameters<World['use']>[0]) => (world: World) => world.use(scenario);

/** What a client makes of one response. `state` is null without whole JSON of a payout. */
export interface Answer {
  /** 0 when no whole response came. */
  readonly http: number;
  readonly state: string | null;
  readonly txnId: string | null;
  readonly balance: number | null;
  /** Seconds that Retry-After names; null when it names none. */
  readonly retryAfter: number | null;
}

const NO_ANSWER: Answer = { http: 0, state: null, txnId: null, balance: null, retryAfter: null };

export type Payout = typeof PAYOUT & { readonly remarks?: string };

/** An order of the client: its reference, its account and its amount differ from those of all others. */
export const order = (number: number, change: Partial<Payout> = {}): Payout => ({
  ...PAYOUT,
  client_ref_id: `order-${number}`,
  beneficiary_account: `00012345${1000 + number}`,
  amount: 100 + number,
  ...change,
});

/** A salary, which its remarks name. */
export const salary = (employee: number, reference: string, change: Partial<Payout> = {}): Payout =>
  order(employee, { client_ref_id: reference, remarks: `jan-${employee} salary`, ...change });

/** How long the referee lets these clients wait: longer than a busy machine can keep one waiting. */
export const PATIENT = { patience: '5m' } as const;

/** Tells one request from another in the journal. */
const REQUEST_HEADER = 'x-client-request';

/** Runs work in a world, and calls back for each request that hangs: no test waits for the timeout of a client. */
export async function watchingHangs(
  world: World,
  hangs: (request: JournalEntry) => void,
  work: () => Promise<unknown>,
): Promise<void> {
  const events = await world.events();
  const watching = (async () => {
    for await (const { type, data } of events)
      if (type === 'request' && data.outcome === 'pending' && data.fault === 'hang') hangs(data);
  })();
  await work();
  await events.return();
  await watching;
}

/** The three calls of the service, as a client sees them, and the pauses between them. */
export class PayoutApi {
  readonly world: World;
  /** The requests under way. A client leaves a request once the journal shows that it hangs. */
  readonly #underWay = new Map<string, AbortController>();
  #sent = 0;

  private constructor(world: World) {
    this.world = world;
  }

  /** Runs a client in a world. */
  static run(world: World, client: JudgedClient['run']): Promise<void> {
    const api = new PayoutApi(world);
    const leave = (request: JournalEntry): void => api.#underWay.get(idOf(request))?.abort();
    return watchingHangs(world, leave, () => client(api));
  }

  initiate(payout: object, isPatient = false): Promise<Answer> {
    return this.#send('/payout/initiate', { method: 'POST', body: JSON.stringify(payout) }, isPatient);
  }

  status(query: { readonly client_ref_id?: string; readonly txn_id?: string }): Promise<Answer> {
    return this.#send(`/payout/status?${new URLSearchParams(query).toString()}`, {});
  }

  balance(): Promise<Answer> {
    return this.#send('/client/fetchbalance', {});
  }

  /** Time passes between two requests: in the world, so that no test waits. */
  async pause(ms: number): Promise<void> {
    await this.world.clock.advance(`${ms}ms`);
  }

  async #send(path: string, init: RequestInit, isPatient = false): Promise<Answer> {
    const { url, apiKey } = this.world;
    const leave = new AbortController();
    const id = String((this.#sent += 1));
    if (!isPatient) this.#underWay.set(id, leave);
    try {
      const response = await fetch(url + path, {
        ...init,
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          [REQUEST_HEADER]: id,
        },
        signal: leave.signal,
      });
      const text = await response.text();
      const wait = response.headers.get('retry-after');
      const answer = { ...NO_ANSWER, http: response.status, retryAfter: wait === null ? null : Number(wait) };
      if (!response.ok) return answer;
      const { data = {} } = JSON.parse(text) as {
        data?: { status?: string; txn_id?: string; balance?: number };
      };
      const { status: state = null, txn_id: txnId = null, balance = null } = data;
      return { ...answer, state, txnId, balance };
    } catch {
      if (leave.signal.aborted) await this.#untilNoticed(id);
      return NO_ANSWER;
    } finally {
      this.#underWay.delete(id);
    }
  }

  /** A busy server notices late that a client has left. The next request would seem to overlap with this one. */
  async #untilNoticed(id: string): Promise<void> {
    const hasEnded = async () =>
      (await this.world.requests()).some((one) => idOf(one) === id && one.outcome !== 'pending');
    await vi.waitUntil(hasEnded, { timeout: 60_000 });
  }
}

const idOf = ({ request }: JournalEntry): string => String(request.headers[REQUEST_HEADER]);
