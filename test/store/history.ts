/** What a client saw: times in ms of one clock, with which all clients were measured. */
interface Seen {
  readonly sentMs: number;
  readonly endedMs: number;
}

/** A payout that was acknowledged. */
interface Acknowledged extends Seen {
  readonly reference: string;
  readonly txnId: string;
}

/** A status of a reference; without a txn_id it was not found. */
interface StatusRead extends Seen {
  readonly reference: string;
  readonly txnId: string | null;
}

interface BalanceRead extends Seen {
  readonly balance: number;
}

/** All that clients did and saw of one world, whose payouts all have the same amount. */
export interface History {
  readonly opening: number;
  readonly amount: number;
  /** When each reference was sent first. */
  readonly sent: Map<string, number>;
  readonly acknowledged: Acknowledged[];
  readonly statuses: StatusRead[];
  readonly balances: BalanceRead[];
}

export const newHistory = (opening: number, amount: number): History => ({
  opening,
  amount,
  sent: new Map(),
  acknowledged: [],
  statuses: [],
  balances: [],
});

/** How many of these times are before another one. @param times in order */
function countBefore(times: readonly number[], ms: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

const inOrder = (times: Iterable<number>): number[] => [...times].toSorted((one, other) => one - other);

/**
 * What a service that loses nothing, pays nothing twice and reads nothing stale could not have done: an empty list for a correct one.
 *
 * @param payouts those of the world in the end
 */
export function violations(
  { opening, amount, sent, acknowledged, statuses, balances }: History,
  payouts: readonly { readonly client_ref_id: string; readonly txn_id: string }[],
): string[] {
  const found: string[] = [];
  const stored = new Map<string, string>();
  for (const { client_ref_id: reference, txn_id: txnId } of payouts) {
    if (stored.has(reference)) found.push(`${reference} was paid twice`);
    if (!sent.has(reference)) found.push(`${reference} was paid, and never sent`);
    stored.set(reference, txnId);
  }
  const firstMs = new Map<string, number>();
  for (const { reference, txnId, endedMs } of acknowledged) {
    if (stored.get(reference) !== txnId) found.push(`${reference} was acknowledged as ${txnId}, and is lost`);
    firstMs.set(reference, Math.min(endedMs, firstMs.get(reference) ?? Infinity));
  }
  for (const { reference, txnId, sentMs } of statuses) {
    const isKnown = (firstMs.get(reference) ?? Infinity) < sentMs;
    if (txnId === null && isKnown) found.push(`${reference} was acknowledged, and then not found`);
    if (txnId !== null && stored.get(reference) !== txnId) found.push(`${reference} was read as ${txnId}`);
  }
  const [sentMs, paidMs] = [inOrder(sent.values()), inOrder(firstMs.values())];
  for (const read of balances) {
    const most = opening - amount * countBefore(paidMs, read.sentMs);
    const least = opening - amount * countBefore(sentMs, read.endedMs);
    if (read.balance > most) found.push(`a balance of ${read.balance} is stale: at most ${most} was left`);
    if (read.balance < least)
      found.push(`a balance of ${read.balance} is too low: at least ${least} was left`);
  }
  return found;
}
