import { invariant } from '../domain/invariant.ts';
import type { Transaction } from '../domain/transaction.ts';

/** The texts of a transaction, which are kept as one: an object of the heap for each would take more than its letters. */
export const PART = {
  txnId: 0,
  clientRefId: 1,
  fingerprint: 2,
  beneficiaryName: 3,
  beneficiaryAccount: 4,
  beneficiaryIfsc: 5,
} as const;

type Texts = Pick<Transaction, keyof typeof PART>;

/** A part is shorter than this, so that where five of them end fits into one whole number. */
export const LONGEST_PART = 1023;
const BASE = LONGEST_PART + 1;

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

/** All texts as one. (Joined, since what is added up is kept in its parts until somebody looks at it.) */
export const joined = (texts: Texts): string => partsOf(texts).join('');

/** How long the parts are, but for the last, which goes to the end: a whole number below 2^50. */
export function cutsOf(texts: Texts): number {
  let cuts = 0;
  const parts = partsOf(texts);
  for (let nth = parts.length - 2; nth >= 0; nth -= 1) {
    const { length } = parts[nth]!;
    invariant(length <= LONGEST_PART, 'the texts of a payout are bounded');
    cuts = cuts * BASE + length;
  }
  return cuts;
}

/** One of the texts again. */
export function part(text: string, cuts: number, nth: number): string {
  let from = 0;
  let rest = cuts;
  for (let before = 0; before < nth; before += 1) {
    from += rest % BASE;
    rest = Math.floor(rest / BASE);
  }
  return text.slice(from, nth === PART.beneficiaryIfsc ? text.length : from + (rest % BASE));
}
