import type { ReleaseRequest, RuleRequest } from '../contract/control.ts';
import type { HeldRequestResponse } from '../contract/control/held-responses.ts';
import type { ControlClient } from './control-client.ts';

/** What the client of a released request sees: the normal response if nothing is given. */
export type ReleaseOrder = NonNullable<ReleaseRequest>;

/** A request that a rule holds. */
export interface HeldRequest extends HeldRequestResponse {
  /**
   * Releases it. A request that has only arrived makes its payout now, before this resolves.
   *
   * @param order what the client sees instead of the response: `{ fault: 'connection-reset' }`, `{ respond: { status: 500 } }`
   * @throws SandboxError HELD_NOT_FOUND when it was released, expired, or its client left
   */
  release(order?: ReleaseOrder): Promise<void>;
}

export interface HeldOptions {
  /** How long to wait for the requests, in wall time: `10s` by default. */
  readonly within?: string;
}

/** Waits until this many requests are held. @returns them in the order in which they arrived */
export async function heldRequests(
  control: ControlClient,
  count: number | undefined,
  { within }: HeldOptions,
): Promise<readonly HeldRequest[]> {
  const { held } = await control.get<{ held: HeldRequestResponse[] }>('/held', { count, within });
  return held.map((request) =>
    Object.assign(request, {
      async release(order?: ReleaseOrder): Promise<void> {
        await control.post(`/held/${request.id}/release`, order);
      },
    }),
  );
}

/** One order in which requests in flight are released. */
export interface Order {
  /** `[2, 1]`: the second request is released first. */
  readonly sequence: readonly number[];
  /**
   * Waits until all requests are held. @returns them in the order in which to release them. They are sorted by route,
   * reference and arrival first, so that every run has the same orders.
   */
  held(): Promise<readonly HeldRequest[]>;
  /** Waits until all requests are held, and releases them one after the other. */
  release(): Promise<void>;
}

export interface OrdersOptions extends HeldOptions {
  /** Which requests are in flight: initiates by default. */
  readonly match?: RuleRequest['match'];
  /** Whether they wait before or after their payouts happen: `arrived` by default. */
  readonly at?: 'arrived' | 'committed';
}

/** The part of a world that `runOrders` uses. */
interface OrderedWorld {
  reset(): Promise<unknown>;
  snapshot(): Promise<string>;
  restore(snapshot: string): Promise<unknown>;
  rule(rule: RuleRequest): Promise<unknown>;
  held(count: number, options?: HeldOptions): Promise<readonly HeldRequest[]>;
}

const MOST_IN_FLIGHT = 5; // in 120 orders

function permutations(numbers: readonly number[]): readonly (readonly number[])[] {
  if (numbers.length === 0) return [[]];
  return numbers.flatMap((first) =>
    permutations(numbers.filter((other) => other !== first)).map((rest) => [first].concat(rest)),
  );
}

const textOf = ({ route, client_ref_id: reference, txn_id: txnId }: HeldRequestResponse): string =>
  `${route} ${reference ?? txnId ?? ''}`.trim();

const inOrder = (one: HeldRequest, other: HeldRequest): number => {
  const [a, b] = [textOf(one), textOf(other)];
  return a === b ? one.id - other.id : a < b ? -1 : 1;
};

/** Runs a test once for every order of requests in flight, each time in the same new world. */
export async function runOrders(
  world: OrderedWorld,
  count: number,
  run: (order: Order) => Promise<void>,
  { match = { route: 'initiate' }, at = 'arrived', ...options }: OrdersOptions,
): Promise<void> {
  if (!Number.isInteger(count) || count < 1 || count > MOST_IN_FLIGHT) {
    throw new RangeError(`orders takes 1 to ${MOST_IN_FLIGHT} requests in flight, not ${count}`);
  }
  if (typeof run !== 'function') {
    throw new TypeError(`orders takes the test as a function: orders(${count}, async (order) => { … })`);
  }
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const sequences = permutations(numbers);
  await world.reset();
  const empty = await world.snapshot(); // after another reset, settings of the referee would leave out what it found in the orders before
  for (const [index, sequence] of sequences.entries()) {
    if (index > 0) await world.restore(empty);
    await world.rule({ name: 'in-flight', match, times: count, effect: { hold: at } });
    let taken: readonly HeldRequest[] = [];
    const held = async (): Promise<readonly HeldRequest[]> => {
      const sorted = (await world.held(count, options)).toSorted(inOrder);
      taken = sequence.map((number) => sorted[number - 1]!);
      return taken;
    };
    const release = async (): Promise<void> => {
      for (const request of await held()) await request.release();
    };
    try {
      await run({ sequence, held, release });
      if (taken.length === 0) throw new Error('the test did not call order.release() or order.held()');
    } catch (cause) {
      const which = `order ${sequence.join(', ')} (${index + 1} of ${sequences.length}) failed`;
      const released = taken.length === 0 ? '' : `; in the order: ${taken.map(textOf).join(', ')}`;
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${which}${released}: ${message}`, { cause });
    }
  }
  await world.restore(empty);
}
