import type { TransferMode } from '../contract/payout.ts';
import { invariant } from './invariant.ts';

/** How many serial numbers there are: a serial is a whole number from 0 to this, exclusive. */
export const UTR_SERIALS = 1_000_000_000;

const IST_OFFSET_MS = 19_800_000; // +05:30: the business day of an Indian bank
const DAY_MS = 86_400_000;
const EIGHT_DIGITS = 100_000_000;
const SIX_DIGITS = 1_000_000;

/** A number below a power of ten in as many digits as that has noughts. */
const digits = (value: number, powerOfTen: number): string => String(powerOfTen + value).slice(1);

/** A day in the words of each shape. */
interface Day {
  /** Days since the epoch. */
  readonly nth: number;
  readonly rtgs: string;
  readonly neft: string;
  readonly instant: string;
}

function dayOf(nth: number): Day {
  const date = new Date(nth * DAY_MS);
  const year = date.getUTCFullYear();
  const dayOfYear = digits(1 + nth - Date.UTC(year, 0, 1) / DAY_MS, 1000);
  return {
    nth,
    rtgs: `${year}${digits(date.getUTCMonth() + 1, 100)}${digits(date.getUTCDate(), 100)}`,
    neft: digits(year % 100, 100) + dayOfYear,
    instant: (year % 10) + dayOfYear,
  };
}

const bankOf = (serial: number): string =>
  `SBX${String.fromCharCode(65 + Math.floor(serial / EIGHT_DIGITS))}`;

/** The day of the last UTR: that of the next, most times. */
let lastDay = dayOf(0);

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
  const nth = Math.floor((atMs + IST_OFFSET_MS) / DAY_MS);
  if (nth !== lastDay.nth) lastDay = dayOf(nth);
  switch (mode) {
    case 'RTGS':
      return `${bankOf(serial)}R5${lastDay.rtgs}${digits(serial % EIGHT_DIGITS, EIGHT_DIGITS)}`;
    case 'NEFT':
      return `${bankOf(serial)}N${lastDay.neft}${digits(serial % SIX_DIGITS, SIX_DIGITS)}`;
    case 'IMPS':
    case 'UPI':
      return lastDay.instant + digits(serial % EIGHT_DIGITS, EIGHT_DIGITS);
  }
}

/**
 * The UTR of a payout, of its serial, or else of the next one whose UTR no other payout has.
 *
 * @param taken how many are taken
 * @param take takes one for this payout, unless it is taken; says whether it did
 * @returns a UTR in the shape of `formatUtr`
 */
export function freeUtr(
  mode: TransferMode,
  atMs: number,
  serial: number,
  taken: number,
  take: (utr: string) => boolean,
): string {
  for (let tried = 0; tried <= taken; tried += 1) {
    const utr = formatUtr(mode, atMs, (serial + tried) % UTR_SERIALS);
    if (take(utr)) return utr;
  }
  throw new Error('unreachable: more UTRs were tried than are taken');
}
