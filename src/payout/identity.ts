import { hash } from 'node:crypto';
import type { TransferMode } from '../contract/service.ts';
import { invariant } from './money.ts';
import { IST_OFFSET_MS } from '../contract/instant.ts';
import type { Draw } from './settlement.ts';

/** SHA-256 of a list of values, as 64 hexadecimal digits. JSON's quoting keeps ['a', 'b'] and ['a,b'] apart. */
export const digest = (parts: readonly (string | number | null)[]): string =>
  hash('sha256', JSON.stringify(parts), 'hex');

const TXN_ID_DIGITS = 24; // 96 bits: no two payouts get the same id
const FINGERPRINT_BYTES = 10;

const number48 = (digest: string, from: number): number => Number.parseInt(digest.slice(from, from + 12), 16);

/** A number from 0 to 1, exclusive. */
const fraction = (digest: string): number => number48(digest, 0) / 2 ** 48;

/**
 * The ids of a payout. They do not depend on the order of arrival, so a parallel run gives the ids of a serial run, and a
 * restart with the same seed gives them again.
 *
 * @param nth which payout of this reference it is, counted from 1
 */
export function payoutIds(seed: string, worldId: string, clientRefId: string, nth: number) {
  const hex = digest(['payout', seed, worldId, clientRefId, nth]);
  return {
    txnId: `TXN${hex.slice(0, TXN_ID_DIGITS).toUpperCase()}`,
    utrSerial: number48(hex, TXN_ID_DIGITS) % UTR_SERIALS,
  };
}

/** The random draws of one payout. The key is left out, so that a test with a new key for each run draws the same. */
export const payoutDraw =
  (seed: string, clientRefId: string, nth: number): Draw =>
  (purpose) =>
    fraction(digest(['draw', seed, clientRefId, nth, purpose]));

/** The random draws of one request. @param id its reference or txn_id @param attempt 0 where nothing depends on it */
export const requestDraw =
  (seed: string, route: string, id: string, attempt: number): Draw =>
  (purpose) =>
    fraction(digest(['request', seed, route, id, attempt, purpose]));

/** The same text for request bodies with the same values. A part of the hexadecimal text would keep all of it in memory. */
export const fingerprintOf = (values: readonly (string | number | null)[]): string =>
  hash('sha256', JSON.stringify(['body', ...values]), 'buffer').toString('hex', 0, FINGERPRINT_BYTES);

/** A world's id: 128 bits of a digest of its key, so that logs and ids do not reveal the key. */
export const worldIdOf = (apiKey: string): string => digest(['world', apiKey]).slice(0, 32);

/** A serial is a whole number from 0 to this, exclusive. */
export const UTR_SERIALS = 1_000_000_000;

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
