import type { TransferMode } from '../contract/service.ts';
import { invariant } from './invariant.ts';

/** How many serial numbers there are: a serial is a whole number from 0 to this, exclusive. */
export const UTR_SERIALS = 1_000_000_000;

const IST_OFFSET_MS = 19_800_000; // +05:30: the business day of an Indian bank
const DAY_MS = 86_400_000;

/** The last digits of a number, with leading zeros. */
const digits = (value: number, length: number): string => String(value % 10 ** length).padStart(length, '0');

/** An invented bank, SBXA to SBXJ, by the first digit of a serial. */
const bankOf = (serial: number): string => `SBX${String.fromCharCode(65 + Math.floor(serial / 10 ** 8))}`;

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
  const dayOfYear = digits(1 + Math.floor((date.getTime() - Date.UTC(year, 0, 1)) / DAY_MS), 3);
  switch (mode) {
    case 'RTGS':
      return `${bankOf(serial)}R5${year}${digits(date.getUTCMonth() + 1, 2)}${digits(date.getUTCDate(), 2)}${digits(serial, 8)}`;
    case 'NEFT':
      return `${bankOf(serial)}N${digits(year, 2)}${dayOfYear}${digits(serial, 6)}`;
    case 'IMPS':
    case 'UPI':
      return `${year % 10}${dayOfYear}${digits(serial, 8)}`;
  }
}

/**
 * The UTR of a payout: that of its serial, or of the next one that no other payout has.
 *
 * @param taken the UTRs of all other payouts
 */
export function freeUtr(
  mode: TransferMode,
  atMs: number,
  serial: number,
  taken: ReadonlySet<string>,
): string {
  for (let tried = 0; tried <= taken.size; tried += 1) {
    const utr = formatUtr(mode, atMs, (serial + tried) % UTR_SERIALS);
    if (!taken.has(utr)) return utr;
  }
  throw new Error('unreachable: more UTRs were tried than are taken');
}
