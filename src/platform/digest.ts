import { hash, timingSafeEqual } from 'node:crypto';
import type { Digest } from '../payout/identity.ts';

/** SHA-256 of the list as JSON, whose quoting keeps ['a', 'b'] and ['a,b'] apart. */
export const sha256: Digest = (parts) => hash('sha256', JSON.stringify(parts), 'hex');

/** Compares two texts in a time that does not depend on where they differ, or on how long they are. */
export const sameText = (given: string, expected: string): boolean =>
  timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));
