import { invariant } from './invariant.ts';

/**
 * Whole paise of an amount in INR that the contract has accepted (at most two decimals).
 * Read from the number's shortest text, never as a float product: 4.35 * 100 is 434.99999999999994.
 */
export function toPaise(amountInr: number): number {
  const [rupees, decimals = ''] = String(amountInr).split('.');
  const paise = Number(rupees) * 100 + Number(decimals.padEnd(2, '0'));
  invariant(
    Number.isSafeInteger(paise) && amountInr >= 0 && decimals.length <= 2,
    `${amountInr} INR is whole paise`,
  );
  return paise;
}

/** INR for the wire. The quotient of whole paise by 100 is the closest number to it, so it prints with two decimals at most. */
export const toInr = (paise: number): number => paise / 100;
