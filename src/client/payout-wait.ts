import type { AdvanceResponse, ClockResponse, TransactionResponse } from '../contract/control-responses.ts';
import { checkReference, type ExpectationError } from './expectation.ts';

/** How long `waitFor` waits on a running clock: less than the 5 s that vitest and jest give a test. */
const DEFAULT_TIMEOUT_MS = 4000;
/** How often it asks meanwhile. */
const AGAIN_MS = 20;

export interface WaitOptions {
  /** How long to wait on a running clock, in wall time; 4,000 by default. A frozen clock is moved instead, without waiting. */
  readonly timeoutMs?: number;
}

/** What a wait uses of a world. */
interface Payouts {
  readonly clock: {
    read(): Promise<ClockResponse>;
    advance(move: { readonly to: string }): Promise<AdvanceResponse>;
  };
  transactions(query?: { readonly client_ref_id: string }): Promise<readonly TransactionResponse[]>;
}

/** How many references an error lists: the latest. */
const LISTED = 3;

type Status = TransactionResponse['status'];
export const STATES = ['PENDING', 'SUCCESS', 'FAILED', 'REVERSED'] as const satisfies readonly Status[];

type Step = TransactionResponse['timeline'][number];

/** The message for a reference without a payout: it lists other references. */
export async function unknownReference(world: Payouts, reference: string): Promise<string> {
  const known = (await world.transactions()).map(({ client_ref_id: other }) => other);
  const latest = known.slice(-LISTED).join(', ');
  const some = known.length > LISTED ? `the latest of ${known.length} are` : 'there are';
  const there = known.length === 0 ? 'this world has no payouts' : `${some} ${latest}`;
  return `no payout has the reference ${reference}: ${there}`;
}

/** The steps still to come, up to the one that leads to this state; null if none does. */
function wayTo(state: Status, { timeline }: TransactionResponse): readonly Step[] | null {
  const toCome = timeline.filter(({ done }) => !done);
  const last = toCome.findIndex(({ to }) => to === state);
  return last === -1 ? null : toCome.slice(0, last + 1);
}

/**
 * Why no wait would bring the payout into this state; null if one can.
 *
 * @param isFrozen moving a frozen clock does not apply a step that waits for a client's status read
 */
function obstacle(payout: TransactionResponse, state: Status, isFrozen: boolean): string | null {
  const { client_ref_id: reference, reason } = payout;
  const way = wayTo(state, payout);
  const waitsForRead = isFrozen && way !== null && way.some(({ polls }) => polls !== null);
  const canCome = way !== null && way.every(({ at, polls }) => at !== null || polls !== null);
  if (canCome && !waitsForRead) return null;
  const unless = waitsForRead ? ' until a client reads its status' : '';
  return `${reference} will not become ${state}${unless}, since it is ${reason}`;
}

/** Waits until a payout is in a state. A frozen clock is moved to the step that leads there, and no further; a running one takes its time. */
export async function waitForPayout(
  world: Payouts,
  reference: string,
  state: Status,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: WaitOptions,
  fail: (reason: string) => ExpectationError,
): Promise<TransactionResponse> {
  checkReference(reference);
  if (!STATES.includes(state)) throw fail(`${state} is not a state: use one of ${STATES.join(', ')}`);
  const latest = async (): Promise<TransactionResponse | undefined> =>
    (await world.transactions({ client_ref_id: reference })).at(-1);

  /** The payout once it is in the state; null while a running clock has to reach it. */
  const look = async (): Promise<TransactionResponse | null> => {
    const [payout, { frozen }] = [await latest(), await world.clock.read()];
    if (payout === undefined) {
      if (frozen) throw fail(`${await unknownReference(world, reference)}; and the clock is frozen`);
      return null;
    }
    if (payout.status === state) return payout;
    const reason = obstacle(payout, state, frozen);
    if (reason !== null) throw fail(reason);
    if (!frozen) return null;
    const { now } = await world.clock.advance({ to: wayTo(state, payout)!.at(-1)!.at! });
    const moved = (await latest())!;
    if (moved.status === state) return moved;
    throw fail(`at ${now}, ${reference} is not ${state}: ${moved.reason}`);
  };

  const over = AbortSignal.timeout(timeoutMs);
  do {
    const reached = await look();
    if (reached !== null) return reached;
    await new Promise((resolve) => void setTimeout(resolve, AGAIN_MS));
  } while (!over.aborted);
  const when = `after ${timeoutMs} ms`;
  const payout = await latest();
  if (payout?.status === state) return payout;
  if (payout === undefined) throw fail(`${when}, ${await unknownReference(world, reference)}`);
  const hint = obstacle(payout, state, true) === null ? '. Freeze the clock, and waitFor moves it there' : '';
  throw fail(`${when}, ${reference} is ${payout.reason}${hint}`);
}
