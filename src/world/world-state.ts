import type { StateHead } from '../contract/state.ts';
import type { BookPiece, Sequence } from '../ledger/ledger.ts';
import type { Transaction } from '../payout/payout.ts';
import type { Entry } from '../payout/wallet.ts';

/** All of one world that its future depends on, as plain data. */
export interface WorldState extends StateHead {
  readonly entries: Sequence<Entry>;
  readonly transactions: Sequence<Transaction>;
}

/** Some of the entries of a state, or, after all of those, of its transactions. */
export type StatePiece = BookPiece;

/** Sums a text up, piece by piece: any other text has another sum. */
export interface Sum {
  readonly add: (piece: string) => void;
  readonly total: () => string;
}

export const STATE_FORMAT = 'payout-sandbox/world';
export const STATE_VERSION = 1;

/** How many items are written at once: some 100 KB, so that others have their turn in between. */
const ITEMS_AT_ONCE = 200;

function* listInPieces(items: Sequence<object>): Generator<string> {
  yield '[';
  for (let from = 0; from < items.length; from += ITEMS_AT_ONCE) {
    const piece = items.slice(from, from + ITEMS_AT_ONCE).map((item) => JSON.stringify(item));
    yield (from === 0 ? '' : ',') + piece.join(',');
  }
  yield ']';
}

function* worldInPieces(
  head: object,
  entries: Sequence<object>,
  transactions: Sequence<object>,
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

/** A state that is there as a whole, in the pieces in which it is restored. */
export function* piecesOf({ entries, transactions }: WorldState): Generator<StatePiece> {
  for (let from = 0; from < entries.length; from += ITEMS_AT_ONCE)
    yield { entries: entries.slice(from, from + ITEMS_AT_ONCE) };
  for (let from = 0; from < transactions.length; from += ITEMS_AT_ONCE)
    yield { transactions: transactions.slice(from, from + ITEMS_AT_ONCE) };
}
