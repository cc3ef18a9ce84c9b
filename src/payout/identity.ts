import type { Draw } from './settlement.ts';
import { UTR_SERIALS } from './utr.ts';

/** A cryptographic digest of a list of values as 64 hexadecimal digits; no two different lists share one. */
export type Digest = (parts: readonly (string | number | null)[]) => string;

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
export function payoutIds(
  digest: Digest,
  seed: string,
  worldId: string,
  clientRefId: string,
  nth: number,
): PayoutIds {
  const hex = digest(['payout', seed, worldId, clientRefId, nth]);
  return {
    txnId: `TXN${hex.slice(0, TXN_ID_DIGITS).toUpperCase()}`,
    utrSerial: number48(hex, TXN_ID_DIGITS) % UTR_SERIALS,
  };
}

/**
 * Chance for one payout: how it settles. The world is left out on purpose: a test that invents a fresh key for each run
 * still meets the same fate for the same reference.
 */
export const payoutDraw =
  (digest: Digest, seed: string, clientRefId: string, nth: number): Draw =>
  (purpose) =>
    fraction(digest(['draw', seed, clientRefId, nth, purpose]));

/**
 * Chance for one request: which rule it meets, and what that does.
 *
 * @param id the reference that it names, or what names it
 * @param attempt the how manieth time, from 1; 0 where nothing depends on it
 */
export const requestDraw =
  (digest: Digest, seed: string, route: string, id: string, attempt: number): Draw =>
  (purpose) =>
    fraction(digest(['request', seed, route, id, attempt, purpose]));

/** Tells two request bodies apart: the same for the same values. */
export const fingerprintOf = (digest: Digest, values: readonly (string | number | null)[]): string =>
  digest(['body', ...values]).slice(0, FINGERPRINT_DIGITS);
