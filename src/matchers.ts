import { callerFrames } from './client/control-client.ts';
import type { World } from './client/controlled-world.ts';
import { ExpectationError, type ExpectedRequest } from './client/expectation.ts';
import type { TransactionResponse } from './contract/control-responses.ts';

/**
 * Matchers for the `expect` of vitest and jest, and the journal of a test that fails. It imports neither runner: a test file
 * calls `expect.extend(matchers)`.
 */

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
 * Ends a matcher. A failing one throws its own error, since vitest's has no stack after an `await` and would not show the line
 * of the test.
 */
function settled(
  { isNot = false }: MatcherContext,
  pass: boolean,
  message: string,
  frames: string,
): MatcherResult {
  if (pass === isNot) throw new ExpectationError(message, frames);
  return { pass, message: () => message };
}

/** @throws TypeError for anything but a world */
function checkWorld(world: Partial<World> | null | undefined): void {
  if (typeof world?.verify === 'function') return;
  throw new TypeError('this matcher takes a world of the sandbox: expect(sandbox.world())');
}

async function toHaveReceived(
  this: MatcherContext,
  world: World,
  match: ExpectedRequest = {},
  { times }: ReceivedOptions = {},
): Promise<MatcherResult> {
  const frames = callerFrames();
  checkWorld(world);
  if (times !== undefined) {
    const { passed, message } = await world.verify({ match, count: { exactly: times } });
    const unwanted = message.replace('expected ', 'expected any other number of requests than ');
    return settled(this, passed, passed ? unwanted : message, frames);
  }
  const isNone = this.isNot === true; // then the message says that none was expected, and shows the requests
  const { passed, message } = await world.verify({ match, count: isNone ? { exactly: 0 } : { at_least: 1 } });
  return settled(this, passed !== isNone, message, frames);
}

async function toHavePayout(
  this: MatcherContext,
  world: World,
  reference: string,
  expected: ExpectedPayout = {},
): Promise<MatcherResult> {
  const frames = callerFrames();
  const { equals, utils } = this;
  checkWorld(world);
  let payout: TransactionResponse;
  try {
    payout = await world.payout(reference);
  } catch (error) {
    if (isUnmet(error)) return settled(this, false, error.message, frames);
    throw error;
  }
  const fields = Object.entries(expected) as [keyof ExpectedPayout, unknown][];
  const misses = fields
    .filter(([field, value]) => !equals(payout[field], value))
    .map(
      ([field, value]) => `${field} is ${utils.stringify(payout[field])}, expected ${utils.stringify(value)}`,
    );
  if (misses.length > 0) {
    const message = `the payout ${reference} has other values: ${misses.join('; ')}\n${payout.reason}`;
    return settled(this, false, message, frames);
  }
  const values = fields.map(([field, value]) => `${field} ${utils.stringify(value)}`).join(', ');
  const message =
    values === ''
      ? `there is a payout ${reference}, which was not expected: ${payout.reason}`
      : `the payout ${reference} was expected not to have ${values}`;
  return settled(this, true, message, frames);
}

async function toHaveGoodConduct(
  this: MatcherContext,
  world: World,
  settings: ConductSettings = {},
): Promise<MatcherResult> {
  const frames = callerFrames();
  checkWorld(world);
  try {
    await world.expectGoodConduct(settings);
  } catch (error) {
    if (!isUnmet(error)) throw error; // it says nothing about the client
    return settled(this, false, error.message, frames);
  }
  return settled(this, true, 'the client of this world behaved well, which was not expected', frames);
}

/** For `expect.extend`. */
export const matchers = { toHaveReceived, toHavePayout, toHaveGoodConduct };

/**
 * Prints the journal of a world when the test fails.
 *
 * @param onTestFailed vitest's, or any function that calls back after a failed test
 */
export function printJournalOnFailure(
  world: Pick<World, 'journalText'>,
  onTestFailed: (print: () => Promise<void>) => unknown,
): void {
  onTestFailed(async () => console.error(await world.journalText())); // oxlint-disable-line no-console -- runners show it with the test
}

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
