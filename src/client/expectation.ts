import type { VerifyRequest } from '../contract/control.ts';
import type { VerifyResponse } from '../contract/control-responses.ts';
import { callerFrames } from './control-client.ts';

/** Which requests of a client to look for: everything a rule's `match` accepts, plus the result of the request. */
export type ExpectedRequest = NonNullable<VerifyRequest['match']>;

/** A world whose requests can be verified. */
interface Verified {
  verify(expected: VerifyRequest): Promise<VerifyResponse>;
}

/** Something that a test expected of a world and did not find. The message shows what was there instead. */
export class ExpectationError extends Error {
  static {
    // on the prototype: runners print the properties of an error itself
    Object.defineProperty(ExpectationError.prototype, 'name', { value: 'ExpectationError' });
  }

  /** @param frames where the test made the call: `callerFrames()` */
  constructor(message: string, frames: string) {
    super(message);
    this.stack = `${this.name}: ${message}\n${frames}`;
  }
}

/** An expectation of which nobody knows whether it holds: requests were dropped for want of room, or never kept. */
export class UnknownResultError extends ExpectationError {
  static {
    Object.defineProperty(UnknownResultError.prototype, 'name', { value: 'UnknownResultError' });
  }
}

/** A reference that a client should have had, and that is undefined, names no payout. @throws TypeError */
export function checkReference(reference: unknown): void {
  if (typeof reference !== 'string') throw new TypeError(`a reference is a text, not ${String(reference)}`);
}

/** An expectation of the requests to a world. Each method resolves if it holds, and otherwise throws an ExpectationError. */
export class Expectation {
  readonly #world: Verified;
  readonly #match: ExpectedRequest;

  constructor(world: Verified, match: ExpectedRequest) {
    for (const [field, value] of Object.entries(match))
      if (value === undefined) throw new TypeError(`${field} is undefined, which would match every request`);
    this.#world = world;
    this.#match = match;
  }

  /** Exactly this many requests match. */
  exactly(count: number): Promise<void> {
    return this.#check({ match: this.#match, count: { exactly: count } }, callerFrames());
  }

  /** At least this many requests match. */
  atLeast(count: number): Promise<void> {
    return this.#check({ match: this.#match, count: { at_least: count } }, callerFrames());
  }

  /** At most this many requests match. */
  atMost(count: number): Promise<void> {
    return this.#check({ match: this.#match, count: { at_most: count } }, callerFrames());
  }

  /** No request matches. */
  never(): Promise<void> {
    return this.#check({ match: this.#match, count: { exactly: 0 } }, callerFrames());
  }

  /** Requests arrived in this order; others may come between them. Each must meet its own match and that of `expect`. */
  async sequence(steps: readonly ExpectedRequest[]): Promise<void> {
    const frames = callerFrames();
    if (!Array.isArray(steps)) {
      throw new TypeError("sequence takes a list: [{ route: 'initiate' }, { route: 'status' }]");
    }
    const sequence = steps.map((step) => ({ ...this.#match, ...step }));
    await this.#check({ sequence }, frames);
  }

  async #check(expected: VerifyRequest, frames: string): Promise<void> {
    const { result, message } = await this.#world.verify(expected);
    if (result === 'unknown') throw new UnknownResultError(message, frames);
    if (result === 'failed') throw new ExpectationError(message, frames);
  }
}
