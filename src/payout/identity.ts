import { hash } from 'node:crypto';
import type { Draw } from './settlement.ts';

/** SHA-256 of a list of values, as 64 hexadecimal digits. JSON's quoting keeps ['a', 'b'] and ['a,b'] apart. */
export const digest = (parts: readonly (string | number | null)[]): string =>
  hash('sha256', JSON.stringify(parts), 'hex');

const TXN_ID_DIGITS = 24; // 96 bits: no two payouts get the same id
const SHORT_BYTES = 10;

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

/** The same short text for the same long ones. A part of the hexadecimal text would keep all of it in memory. */
export const shortDigest = (text: string): string =>
  hash('sha256', text, 'buffer').toString('hex', 0, SHORT_BYTES);

/** What is kept of remarks, to compare those of a repetition: short ones whole, of others a digest, which is longer; null for none. */
export const keptRemarks = (remarks: string | undefined): string | null =>
  remarks === undefined || remarks.length < 2 * SHORT_BYTES ? (remarks ?? null) : shortDigest(remarks);

/** A world's id: 128 bits of a digest of its key, so that logs and ids do not reveal the key. */
export function worldIdOf(apiKey: string): string {
  if (apiKey !== latest.apiKey) latest = { apiKey, id: digest(['world', apiKey]).slice(0, 32) };
  return latest.id;
}
/** The latest key, since many requests in a row have the same. */
let latest = { apiKey: '', id: digest(['world', '']).slice(0, 32) };

/** A serial is a whole number from 0 to this, exclusive. */
export const UTR_SERIALS = 1_000_000_000;
