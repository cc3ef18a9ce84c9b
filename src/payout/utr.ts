import { IST_OFFSET_MS } from '../contract/times.ts';
import type { TransferMode } from '../contract/service.ts';
import { UTR_SERIALS } from './identity.ts';
import { invariant } from './money.ts';

const DAY_MS = 86_400_000;

const digits = (value: number, length: number): string => String(value % 10 ** length).padStart(length, '0');

/** An invented bank, SBXA to SBXJ, by the first digit of a serial. */
const bankOf = (serial: number): string => `SBX${String.fromCharCode(65 + Math.floor(serial / 10 ** 8))}`;

/**
 * The UTR (bank reference) of a payout, in the form of its mode. The forms come from secondary sources and dated samples.
 * The bank's letters are invented, so that no UTR is that of a real bank.
 *
 * - RTGS, 22 characters: bank (4), `R`, channel `5`, YYYYMMDD, 8 digits
 * - NEFT, 16 characters: bank (4), `N`, YYDDD, 6 digits
 * - IMPS and UPI, 12 digits: last digit of the year, DDD, 8 digits
 *
 * @param atMs world time at which the bank gives the reference; its date is that in IST
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

/** The UTR of a serial, or of the next one that is free. @param nextSerials where earlier searches ended, to go on there; updated */
export function freeUtr(
  mode: TransferMode,
  atMs: number,
  serial: number,
  taken: ReadonlySet<string>,
  nextSerials: Map<string, number>,
): string {
  const passed: string[] = [];
  for (let next = serial; passed.length <= taken.size;) {
    const utr = formatUtr(mode, atMs, next % UTR_SERIALS);
    next += 1;
    if (!taken.has(utr)) {
      for (const one of passed) nextSerials.set(one, next);
      return utr;
    }
    passed.push(utr);
    next = Math.max(next, nextSerials.get(utr) ?? 0);
  }
  throw new Error('unreachable: more UTRs were tried than are taken');
}
