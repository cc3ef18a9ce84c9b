import { MAX_AMOUNT_INR } from '../contract/service.ts';
import { invariant } from './invariant.ts';

/**
 * The money of one world. What was put in (opening balance, top-ups less withdrawals) is either in the balance
 * or out in payouts that are PENDING or SUCCESS.
 */
export interface Wallet {
  readonly balancePaise: number;
  readonly putInPaise: number;
  readonly paidOutPaise: number;
}

export type EntryKind = 'opening' | 'payout' | 'refund' | 'credit' | 'debit';

/** One line of the wallet's book: why the balance changed, by how much, and to what. */
export interface Entry {
  readonly kind: EntryKind;
  /** Signed: below 0 when it left the balance. */
  readonly amountPaise: number;
  readonly balancePaise: number;
  readonly txnId: string | null;
  readonly atMs: number;
}

/** @param openingPaise whole paise, 0 or more */
export function openWallet(openingPaise: number): Wallet {
  return asserted({ balancePaise: openingPaise, putInPaise: openingPaise, paidOutPaise: 0 });
}

/** True when the wallet can pay `amountPaise`; a payout may empty the wallet and never overdraw it. */
export const covers = (wallet: Wallet, amountPaise: number): boolean => amountPaise <= wallet.balancePaise;

/** Takes the money of one payout out of the balance. @param amountPaise whole paise above 0, covered */
export function payOut(wallet: Wallet, amountPaise: number): Wallet {
  assertAmount(amountPaise);
  invariant(covers(wallet, amountPaise), 'a payout never overdraws the wallet');
  return asserted({
    balancePaise: wallet.balancePaise - amountPaise,
    putInPaise: wallet.putInPaise,
    paidOutPaise: wallet.paidOutPaise + amountPaise,
  });
}

/** Gives the money of one payout back. @param amountPaise whole paise above 0, paid out before */
export function refund(wallet: Wallet, amountPaise: number): Wallet {
  assertAmount(amountPaise);
  invariant(amountPaise <= wallet.paidOutPaise, 'no more comes back than went out');
  return asserted({
    balancePaise: wallet.balancePaise + amountPaise,
    putInPaise: wallet.putInPaise,
    paidOutPaise: wallet.paidOutPaise - amountPaise,
  });
}

/** True when so much more may be put in: a wallet holds what the interface's numbers can show exactly. */
export const hasRoom = (wallet: Wallet, amountPaise: number): boolean =>
  wallet.putInPaise + amountPaise <= MAX_AMOUNT_INR * 100;

/** Puts money in from outside. @param amountPaise whole paise above 0, for which there is room */
export function credit(wallet: Wallet, amountPaise: number): Wallet {
  assertAmount(amountPaise);
  invariant(hasRoom(wallet, amountPaise), 'a credit never overfills the wallet');
  return asserted({
    ...wallet,
    balancePaise: wallet.balancePaise + amountPaise,
    putInPaise: wallet.putInPaise + amountPaise,
  });
}

/** Takes money out for good, by no payout. @param amountPaise whole paise above 0, covered */
export function debit(wallet: Wallet, amountPaise: number): Wallet {
  assertAmount(amountPaise);
  invariant(covers(wallet, amountPaise), 'a debit never overdraws the wallet');
  return asserted({
    ...wallet,
    balancePaise: wallet.balancePaise - amountPaise,
    putInPaise: wallet.putInPaise - amountPaise,
  });
}

function assertAmount(amountPaise: number): void {
  invariant(Number.isSafeInteger(amountPaise) && amountPaise > 0, 'an amount is whole paise above 0');
}

function asserted(wallet: Wallet): Wallet {
  invariant(
    Number.isSafeInteger(wallet.balancePaise) && wallet.balancePaise >= 0,
    'the balance is whole paise, 0 or more',
  );
  invariant(
    wallet.balancePaise + wallet.paidOutPaise === wallet.putInPaise,
    'balance + PENDING + SUCCESS = money put in',
  );
  return wallet;
}
