import type { Digest } from '../domain/identity.ts';

/** Loaded at the first request: nothing needs it to start. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** SHA-256 of the list as JSON, whose quoting keeps ['a', 'b'] and ['a,b'] apart. */
export const sha256: Digest = (parts) => crypto().hash('sha256', JSON.stringify(parts), 'hex');

/** Compares two texts in a time that does not depend on where they differ, or on how long they are. */
export const sameText = (given: string, expected: string): boolean =>
  crypto().timingSafeEqual(
    crypto().hash('sha256', given, 'buffer'),
    crypto().hash('sha256', expected, 'buffer'),
  );
