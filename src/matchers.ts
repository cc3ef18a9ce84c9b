import { callerFrames } from './client/control-client.ts';
import type { World } from './client/controlled-world.ts';
import { ExpectationError, UnknownResultError, type ExpectedRequest } from './client/expectation.ts';
import type { TransactionResponse, VerifyResponse } from './contract/control-responses.ts';

/** Matchers for the `expect` of vitest and jest. It imports neither runner: a test file calls `expect.extend(matchers)`. */

/** Whether a condition holds, and what that means in words. */
interface VerifyResult {
  readonly passed: boolean;
  /** Where it is `unknown`, the matcher fails with and without `not`. */
  readonly result?: VerifyResponse['result'];
  readonly message: string;
}

interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** The part of the runner's `this` that the matchers use. */
interface MatcherContext {
  /** Whether it was called as `expect(world).not`. */
  readonly isNot?: boolean;
  /** Compares deeply, and knows `expect.any(String)`. */
  readonly equals: (one: unknown, other: unknown) => boolean;
  readonly utils: { readonly stringify: (value: unknown) => string };
}

/** How many requests to expect; at least one by default. */
export interface ReceivedOptions {
  readonly times?: number;
}

type ConductSettings = Parameters<World['expectGoodConduct']>[0];

/** Fields of a payout, as `world.payout()` returns them. */
export type ExpectedPayout = Partial<Readonly<Omit<TransactionResponse, 'timeline' | 'legal'>>>;

/** Compares names: a suite may load this module and the library in different module systems, each with classes of its own. */
const isUnmet = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'ExpectationError';

/**
 * A matcher for a world. A failing one throws its own error, since vitest's has no stack after an `await` and would not show the line of
 * the test.
 *
 * @param look what it finds, and in words; an unmet expectation is its failure, and any other error says nothing about the client
 */
const matcher = <Given extends readonly unknown[]>(
  look: (context: MatcherContext, world: World, ...given: Given) => Promise<VerifyResult>,
) =>
  async function (
    this: MatcherContext,
    world: World | null | undefined,
    ...given: Given
  ): Promise<MatcherResult> {
    const frames = callerFrames();
    if (typeof world?.verify !== 'function')
      throw new TypeError('this matcher takes a world of the sandbox: expect(sandbox.world())');
    const found = await look(this, world, ...given).catch((error: unknown): VerifyResult => {
      if (isUnmet(error)) return { passed: false, message: error.message };
      throw error;
    });
    const { passed: pass, result, message } = found;
    if (result === 'unknown') throw new UnknownResultError(message, frames);
    if (pass === (this.isNot ?? false)) throw new ExpectationError(message, frames);
    return { pass, message: () => message };
  };

const toHaveReceived = matcher(
  async ({ isNot = false }, world, match: ExpectedRequest = {}, { times }: ReceivedOptions = {}) => {
    if (times === undefined) {
      // then the message says that none was expected, and shows the requests
      const count = isNot ? { exactly: 0 } : { at_least: 1 };
      const found = await world.verify({ match, count });
      return { ...found, passed: found.passed !== isNot };
    }
    const { passed, result, message } = await world.verify({ match, count: { exactly: times } });
    const unwanted = message.replace('expected ', 'expected any other number of requests than ');
    return { passed, result, message: passed ? unwanted : message };
  },
);

const toHavePayout = matcher(
  async ({ equals, utils }, world, reference: string, expected: ExpectedPayout = {}) => {
    const payout = await world.payout(reference);
    const fields = Object.entries(expected) as [keyof ExpectedPayout, unknown][];
    const misses = fields
      .filter(([field, value]) => !equals(payout[field], value))
      .map(
        ([field, value]) =>
          `${field} is ${utils.stringify(payout[field])}, expected ${utils.stringify(value)}`,
      );
    if (misses.length > 0) {
      const message = `the payout ${reference} has other values: ${misses.join('; ')}\n${payout.reason}`;
      return { passed: false, message };
    }
    const values = fields.map(([field, value]) => `${field} ${utils.stringify(value)}`).join(', ');
    const message =
      values === ''
        ? `there is a payout ${reference}, which was not expected: ${payout.reason}`
        : `the payout ${reference} was expected not to have ${values}`;
    return { passed: true, message };
  },
);

const toHaveGoodConduct = matcher(async (_context, world, settings: ConductSettings = {}) => {
  await world.expectGoodConduct(settings);
  return { passed: true, message: 'the client of this world behaved well, which was not expected' };
});

/** For `expect.extend`. */
export const matchers = { toHaveReceived, toHavePayout, toHaveGoodConduct };

/** The matchers as a test calls them. */
export interface PayoutMatchers {
  /** This world received requests that match: at least one, or exactly `times`. */
  toHaveReceived: (match?: ExpectedRequest, options?: ReceivedOptions) => Promise<void>;
  /** A payout has this reference, and these values. */
  toHavePayout: (reference: string, expected?: ExpectedPayout) => Promise<void>;
  /** The client behaved well: `world.expectGoodConduct(settings)`. */
  toHaveGoodConduct: (settings?: ConductSettings) => Promise<void>;
}

// the type parameters must be those of the declarations that these are merged with

declare module 'vitest' {
  interface Matchers<T = any> extends PayoutMatchers {} // oxlint-disable-line typescript/no-explicit-any -- as in vitest
}

// @ts-expect-error -- a package of jest, which is not installed here: these are the types of @jest/globals
declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends PayoutMatchers {}
}

declare global {
  namespace jest {
    interface Matchers<R, T = {}> extends PayoutMatchers {}
  }
}
