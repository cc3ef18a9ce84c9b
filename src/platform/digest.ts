import { hash, timingSafeEqual } from 'node:crypto';

/** Compares two texts in a time that does not depend on where they differ, or on how long they are. */
export const sameText = (given: string, expected: string): boolean =>
  timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));
