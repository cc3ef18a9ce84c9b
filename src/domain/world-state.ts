import type { StateDocument, StateHead } from '../contract/state.ts';
import type { Transaction } from './transaction.ts';
import type { Entry } from './wallet.ts';

/** All of one world that its future depends on, as plain data. */
export interface WorldState extends StateHead {
  readonly entries: readonly Entry[];
  readonly transactions: readonly Transaction[];
}

/** Sums a text up, piece by piece: any other text has another sum. */
export interface Sum {
  readonly add: (piece: string) => void;
  readonly total: () => string;
}

export const STATE_FORMAT = 'payout-sandbox/world';
export const STATE_VERSION = 1;

/** How many items are written at once: some 300 KB, so that others have their turn in between. */
const ITEMS_AT_ONCE = 500;

function* listInPieces(items: readonly object[]): Generator<string> {
  yield '[';
  for (let from = 0; from < items.length; from += ITEMS_AT_ONCE) {
    const piece = items.slice(from, from + ITEMS_AT_ONCE).map((item) => JSON.stringify(item));
    yield (from === 0 ? '' : ',') + piece.join(',');
  }
  yield ']';
}

function* worldInPieces(
  head: object,
  entries: readonly object[],
  transactions: readonly object[],
): Generator<string> {
  yield `{"head":${JSON.stringify(head)},"entries":`;
  yield* listInPieces(entries);
  yield ',"transactions":';
  yield* listInPieces(transactions);
  yield '}';
}

/** A state as a JSON document, in pieces. @param sum a new one */
export function* stateInPieces(state: WorldState, sum: Sum): Generator<string> {
  const { entries, transactions, ...head } = state;
  yield `{"format":"${STATE_FORMAT}","version":${STATE_VERSION},"world":`;
  for (const piece of worldInPieces(head, entries, transactions)) {
    sum.add(piece);
    yield piece;
  }
  yield `,"checksum":"${sum.total()}"}\n`;
}

/** Whether a document is as it was written. @param sum a new one */
export function isWhole({ world, checksum }: StateDocument, sum: Sum): boolean {
  for (const piece of worldInPieces(world.head, world.entries, world.transactions)) sum.add(piece);
  return sum.total() === checksum;
}

export const stateOf = ({ world }: StateDocument): WorldState => ({
  ...world.head,
  entries: world.entries,
  transactions: world.transactions,
});
