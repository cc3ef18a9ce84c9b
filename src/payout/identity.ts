import { hash } from 'node:crypto';
import type { Draw } from './settlement.ts';
import { UTR_SERIALS } from './utr.ts';

/** SHA-256 of a list of values as 64 hexadecimal digits. JSON's quoting keeps ['a', 'b'] and ['a,b'] apart. */
export const digest = (parts: readonly (string | number | null)[]): string =>
  hash('sha256', JSON.stringify(parts), 'hex');

const TXN_ID_DIGITS = 24; // 96 bits: no two payouts ever meet
const FINGERPRINT_DIGITS = 20;

/** 48 bits of a digest, as a whole number. */
const number48 = (digest: string, from: number): number => Number.parseInt(digest.slice(from, from + 12), 16);

/** A number from 0 to 1, exclusive. */
const fraction = (digest: string): number => number48(digest, 0) / 2 ** 48;

interface PayoutIds {
  /** `TXN` and 24 hexadecimal digits. */
  readonly txnId: string;
  readonly utrSerial: number;
}

/**
 * The ids of a payout, from the seed, the world and the client's reference: never from the order of arrival, so a
 * parallel run gives what a serial run gives, and a restart with the same seed gives it again.
 *
 * @param nth which payout of this reference it is, from 1
 */
export function payoutIds(seed: string, worldId: string, clientRefId: string, nth: number): PayoutIds {
  const hex = digest(['payout', seed, worldId, clientRefId, nth]);
  return {
    txnId: `TXN${hex.slice(0, TXN_ID_DIGITS).toUpperCase()}`,
    utrSerial: number48(hex, TXN_ID_DIGITS) % UTR_SERIALS,
  };
}

/**
 * Chance for one payout: how it settles. The world is left out on purpose: a test that invents a fresh key for each run
 * still draws the same for the same reference.
 */
export const payoutDraw =
  (seed: string, clientRefId: string, nth: number): Draw =>
  (purpose) =>
    fraction(digest(['draw', seed, clientRefId, nth, purpose]));

/**
 * Chance for one request: which rule applies to it, and what that does.
 *
 * @param id the reference, or the txn_id, that the request names
 * @param attempt which attempt of this reference it is, counted from 1; 0 where nothing depends on it
 */
export const requestDraw =
  (seed: string, route: string, id: string, attempt: number): Draw =>
  (purpose) =>
    fraction(digest(['request', seed, route, id, attempt, purpose]));

/** Tells two request bodies apart: the same for the same values. */
export const fingerprintOf = (values: readonly (string | number | null)[]): string =>
  digest(['body', ...values]).slice(0, FINGERPRINT_DIGITS);

/** A world's id: 128 bits of a digest of its key. It names the world in logs and ids, and does not give the key away. */
export const worldIdOf = (apiKey: string): string => digest(['world', apiKey]).slice(0, 32);
