import type { TransferMode } from '../contract/payout.ts';
import { invariant } from './invariant.ts';

/** How many serial numbers there are: a serial is a whole number from 0 to this, exclusive. */
export const UTR_SERIALS = 1_000_000_000;

const IST_OFFSET_MS = 19_800_000; // +05:30: the business day of an Indian bank
const EIGHT_DIGITS = 100_000_000;
const SIX_DIGITS = 1_000_000;

/** The last `length` digits of a number that has no more, with noughts before it. */
const digits = (value: number, length: number): string => String(10 ** length + value).slice(1);

/**
 * The UTR (bank reference) of a payout, in the shape of its mode. The shapes come from secondary sources and dated
 * samples; the sending bank's letters are invented (SBXA to SBXJ), so that no UTR is ever that of a real bank.
 *
 * - RTGS, 22 characters: bank (4), `R`, channel `5`, YYYYMMDD, 8 digits
 * - NEFT, 16 characters: bank (4), `N`, YYDDD, 6 digits
 * - IMPS and UPI, 12 digits: last digit of the year, DDD, 8 digits
 *
 * @param atMs world time at which the bank gives the reference; its date is that in IST
 * @param serial 0 to 999,999,999
 */
export function formatUtr(mode: TransferMode, atMs: number, serial: number): string {
  invariant(Number.isInteger(serial) && serial >= 0 && serial < UTR_SERIALS, 'a UTR serial is in its range');
  const date = new Date(atMs + IST_OFFSET_MS);
  const year = date.getUTCFullYear();
  const dayOfYear = digits(1 + Math.floor((date.getTime() - Date.UTC(year, 0, 1)) / 86_400_000), 3);
  const bank = `SBX${String.fromCharCode(65 + Math.floor(serial / EIGHT_DIGITS))}`;
  switch (mode) {
    case 'RTGS': {
      const day = `${year}${digits(date.getUTCMonth() + 1, 2)}${digits(date.getUTCDate(), 2)}`;
      return `${bank}R5${day}${digits(serial % EIGHT_DIGITS, 8)}`;
    }
    case 'NEFT':
      return `${bank}N${digits(year % 100, 2)}${dayOfYear}${digits(serial % SIX_DIGITS, 6)}`;
    case 'IMPS':
    case 'UPI':
      return `${year % 10}${dayOfYear}${digits(serial % EIGHT_DIGITS, 8)}`;
  }
}

/**
 * The UTR of a payout that nothing else in `taken` has: the serial's own, or else that of the next free one.
 *
 * @returns a UTR in the shape of `formatUtr`
 */
export function freeUtr(
  mode: TransferMode,
  atMs: number,
  serial: number,
  taken: { readonly size: number; has(utr: string): boolean },
): string {
  for (let tried = 0; tried <= taken.size; tried += 1) {
    const utr = formatUtr(mode, atMs, (serial + tried) % UTR_SERIALS);
    if (!taken.has(utr)) return utr;
  }
  throw new Error('unreachable: more UTRs were tried than are taken');
}
