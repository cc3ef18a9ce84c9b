import type { Wallet } from '../contract/snapshot.ts';
import { MAX_AMOUNT_INR } from '../contract/service.ts';
import { rupees } from '../contract/words.ts';

/** Asserts something that can only be false because of a bug. It stays on in production; a client sees its Error as INTERNAL_ERROR. */
export function invariant(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`broken invariant: ${what}`);
}

/**
 * Whole paise of an amount with at most two decimals. Rounding is exact: 4.35 * 100 is 434.99999999999994, and the product is off
 * by less than a hundredth of a paisa up to the largest amount.
 */
export function toPaise(amountInr: number): number {
  const paise = Math.round(amountInr * 100);
  invariant(
    Number.isSafeInteger(paise) && paise >= 0 && toInr(paise) === amountInr,
    `${amountInr} INR is whole paise`,
  );
  return paise;
}

/** INR on the wire. The quotient is the closest number, so it prints with at most two decimals. */
export const toInr = (paise: number): number => paise / 100;

/** ₹2,50,000.00 */
export const rupeesOf = (paise: number): string => rupees(toInr(paise));

/** @param openingPaise whole paise, 0 or more */
export const openWallet = (openingPaise: number): Wallet =>
  asserted({ balancePaise: openingPaise, putInPaise: openingPaise, paidOutPaise: 0 });

export const covers = (wallet: Wallet, amountPaise: number): boolean => amountPaise <= wallet.balancePaise;

/** Debits a payout. @param amountPaise whole paise above 0, covered by the balance */
export function payOut(wallet: Wallet, amountPaise: number): Wallet {
  assertAmount(amountPaise);
  invariant(covers(wallet, amountPaise), 'a payout never overdraws the wallet');
  return moved(wallet, { balancePaise: -amountPaise, paidOutPaise: amountPaise });
}

/** Returns the money of a payout. @param amountPaise whole paise above 0, paid out before */
export function refund(wallet: Wallet, amountPaise: number): Wallet {
  assertAmount(amountPaise);
  invariant(amountPaise <= wallet.paidOutPaise, 'no more is returned than was paid out');
  return moved(wallet, { balancePaise: amountPaise, paidOutPaise: -amountPaise });
}

/** Whether this amount may be credited: the API can represent what a wallet holds, also once all of its payouts have come back. */
export const hasRoom = (wallet: Wallet, amountPaise: number): boolean =>
  wallet.putInPaise + amountPaise <= MAX_AMOUNT_INR * 100;

/** Puts money in without a payout. @param amountPaise whole paise above 0, for which there is room */
export function credit(wallet: Wallet, amountPaise: number): Wallet {
  assertAmount(amountPaise);
  invariant(hasRoom(wallet, amountPaise), 'a credit never overfills the wallet');
  return moved(wallet, { balancePaise: amountPaise, putInPaise: amountPaise });
}

/** Takes money out without a payout. @param amountPaise whole paise above 0, covered by the balance */
export function debit(wallet: Wallet, amountPaise: number): Wallet {
  assertAmount(amountPaise);
  invariant(covers(wallet, amountPaise), 'a debit never overdraws the wallet');
  return moved(wallet, { balancePaise: -amountPaise, putInPaise: -amountPaise });
}

function moved(wallet: Wallet, added: Partial<Wallet>): Wallet {
  return asserted({
    balancePaise: wallet.balancePaise + (added.balancePaise ?? 0),
    putInPaise: wallet.putInPaise + (added.putInPaise ?? 0),
    paidOutPaise: wallet.paidOutPaise + (added.paidOutPaise ?? 0),
  });
}

function assertAmount(amountPaise: number): void {
  invariant(Number.isSafeInteger(amountPaise) && amountPaise > 0, 'an amount is whole paise above 0');
}

function asserted(wallet: Wallet): Wallet {
  const { balancePaise, putInPaise, paidOutPaise } = wallet;
  invariant(Number.isSafeInteger(balancePaise) && balancePaise >= 0, 'the balance is whole paise, 0 or more');
  invariant(balancePaise + paidOutPaise === putInPaise, 'balance + PENDING + SUCCESS = money put in');
  return wallet;
}
