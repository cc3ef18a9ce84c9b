import type { Transaction } from '../payout/payout.ts';

/** The texts of a transaction, which are kept as one: an object of the heap for each would take more than its letters. */
export const PART = {
  txnId: 0,
  clientRefId: 1,
  fingerprint: 2,
  beneficiaryName: 3,
  beneficiaryAccount: 4,
  beneficiaryIfsc: 5,
} as const;

export const PARTS = Object.keys(PART).length;

type Texts = Pick<Transaction, keyof typeof PART>;

/** So that where each of them ends fits into 16 bits. */
export const LONGEST_PART = 1023;

const partsOf = (texts: Texts): readonly string[] => [
  texts.txnId,
  texts.clientRefId,
  texts.fingerprint,
  texts.beneficiaryName,
  texts.beneficiaryAccount,
  texts.beneficiaryIfsc,
];

export const isTooLong = (texts: Texts): boolean =>
  partsOf(texts).some(({ length }) => length > LONGEST_PART);

/**
 * Puts all texts into one.
 *
 * @param ends where it is written down where each of them ends, from `row` on
 */
export function joined(texts: Texts, ends: Uint16Array, row: number): string {
  const parts = partsOf(texts);
  let end = 0;
  for (const [nth, { length }] of parts.entries()) {
    end += length;
    ends[row + nth] = end;
  }
  return parts.join(''); // what is added up is kept in its parts until somebody looks at it
}

/** One of the texts again. */
export const part = (text: string, ends: Uint16Array, row: number, nth: number): string =>
  text.slice(nth === 0 ? 0 : ends[row + nth - 1]!, ends[row + nth]);
