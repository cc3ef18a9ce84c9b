import type { TransactionResponse } from '../contract/control-responses.ts';
import type { InitiateRequest } from '../contract/service.ts';
import { rupees } from '../contract/words.ts';
import {
  callerFrames,
  checkReference,
  Expectation,
  ExpectationError,
  type ExpectedRequest,
} from './expectation.ts';
import { unknownReference, waitForPayout, type WaitOptions } from './payout-wait.ts';
import { World } from './controlled-world.ts';
import { callService, type ServiceCallInit, type ServiceResponse } from './service-call.ts';

/** A payout to make. Fields that are not given have the values of a valid IMPS payout of ₹1,000. */
export type PayoutInput = Partial<Readonly<InitiateRequest>>;

/** The response to a payout, as a client would have got it. */
export interface PayResponse extends ServiceResponse {
  /** The reference of the payout, given or generated. */
  readonly client_ref_id: string;
}

/** The fields of a payout that are not given. */
export const SOME_PAYOUT = {
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1000,
  transfer_mode: 'IMPS',
} as const satisfies PayoutInput;

const PAYOUT_FIELDS: readonly string[] = ['client_ref_id', ...Object.keys(SOME_PAYOUT), 'remarks'];

/** What a client can say of a payout in the end. */
const OUTCOMES = ['paid', 'failed', 'in-doubt'] as const;

/** @throws TypeError for anything but fields of a payout: a default would be paid in place of a misspelt field */
function checkPayout(payout: unknown): void {
  if (typeof payout !== 'object' || payout === null || Array.isArray(payout)) {
    throw new TypeError(
      `pay takes the fields of a payout, such as { client_ref_id: 'order-1' }, not ${JSON.stringify(payout)}`,
    );
  }
  const unknown = Object.keys(payout).find((field) => !PAYOUT_FIELDS.includes(field));
  if (unknown === undefined) return;
  throw new TypeError(`a payout has no field ${unknown}: it has ${PAYOUT_FIELDS.join(', ')}`);
}

/** A world with what a test needs in addition to control: its own payouts, waits, and checks of what the client did. */
export class TestWorld extends World {
  #lastNumber: number | undefined;

  /**
   * Makes a payout, as a request of the service with the key of this world. Rules, limits and the journal treat it like any
   * other. If a fault breaks the connection, it rejects as `fetch` does.
   *
   * @param payout fields that are not given are filled in; a reference is `payout-1`, `payout-2` …
   * @throws TypeError for a field that a payout does not have
   */
  async pay(payout: PayoutInput = {}, init: ServiceCallInit = {}): Promise<PayResponse> {
    checkPayout(payout);
    const client_ref_id = payout.client_ref_id ?? (await this.#newReference());
    const body = { ...SOME_PAYOUT, ...payout, client_ref_id };
    return { ...(await callService(this, { ...init, path: '/payout/initiate', body })), client_ref_id };
  }

  /**
   * The payout with this reference; the latest, if a dialect allows several.
   *
   * @throws ExpectationError if there is none
   */
  async payout(reference: string): Promise<TransactionResponse> {
    const frames = callerFrames();
    checkReference(reference);
    const payout = (await this.transactions({ client_ref_id: reference })).at(-1);
    if (payout !== undefined) return payout;
    throw new ExpectationError(await unknownReference(this, reference), frames);
  }

  /**
   * Forces a payout into a state, by a legal transition. Its scheduled steps are cancelled.
   *
   * @param id its txn_id, or its reference
   */
  override async transition(id: string, to: 'SUCCESS' | 'FAILED' | 'REVERSED'): Promise<TransactionResponse> {
    checkReference(id);
    const [payout] = (await this.transactions({ client_ref_id: id })).slice(-1);
    return super.transition(payout?.txn_id ?? id, to);
  }

  /**
   * Compares what the client says of a payout in the end with the ledger. A client that says that it is in doubt is right.
   *
   * @throws ExpectationError if the client reports a failure of a payout that was or may still be paid, or reports as paid what is not
   *   SUCCESS
   */
  async reported(reference: string, outcome: (typeof OUTCOMES)[number]): Promise<void> {
    const frames = callerFrames();
    if (!OUTCOMES.includes(outcome))
      throw new TypeError(`reported takes one of ${OUTCOMES.join(', ')}, not ${outcome}`);
    checkReference(reference);
    const payouts = await this.transactions({ client_ref_id: reference });
    const latest =
      payouts.find(({ status }) => status === 'SUCCESS') ??
      payouts.find(({ status }) => status === 'PENDING') ??
      payouts.at(-1);
    const status = latest?.status;
    const amount = latest && rupees(latest.amount);
    if (outcome === 'failed' && (status === 'SUCCESS' || status === 'PENDING')) {
      const what =
        status === 'SUCCESS' ? `was paid (${amount})` : `is PENDING (${amount}) and may still be paid`;
      throw new ExpectationError(`${reference} ${what}, but the client reports a failure`, frames);
    }
    if (outcome === 'paid' && status !== 'SUCCESS') {
      const what =
        status === undefined
          ? await unknownReference(this, reference)
          : `${reference} is ${status} (${amount})`;
      const why = status === 'PENDING' ? ', which it cannot know' : '';
      throw new ExpectationError(`${what}, but the client reports that it was paid${why}`, frames);
    }
  }

  /**
   * Waits until a payout is in a state, and returns it. A frozen clock is moved to that moment; on a running clock the wait
   * takes real time, and may begin before the payout is made.
   *
   * @throws ExpectationError if the payout does not get there; the message shows its timeline
   */
  waitFor(
    reference: string,
    state: TransactionResponse['status'],
    options: WaitOptions = {},
  ): Promise<TransactionResponse> {
    const frames = callerFrames();
    return waitForPayout(this, reference, state, options, (reason) => new ExpectationError(reason, frames));
  }

  /** What to expect of the requests to this world: `await world.expect({ route: 'initiate' }).exactly(1)`. */
  expect(match: ExpectedRequest = {}): Expectation {
    return new Expectation(this, match);
  }

  /** The reference of the next payout that is made without one. No payout of this world has it, unless the test chose the same. */
  async nextReference(): Promise<string> {
    if (this.#lastNumber === undefined) {
      const { transactions } = await this.summary();
      const made = Object.values(transactions).reduce((sum, count) => sum + count, 0);
      this.#lastNumber ??= made; // another call may have counted meanwhile
    }
    return `payout-${this.#lastNumber + 1}`;
  }

  async #newReference(): Promise<string> {
    await this.nextReference();
    this.#lastNumber! += 1;
    return `payout-${this.#lastNumber}`;
  }
}
