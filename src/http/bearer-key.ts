import { hash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../contract/errors.ts';

/** The prefix of every key that is accepted when no list of keys is set. */
const TEST_KEY_PREFIX = 'sk_test_';
const BEARER = /^Bearer +([\x21-\x7e]{1,256})$/i;

const unauthorized = (message: string): Refusal =>
  new Refusal('UNAUTHORIZED', { message, headers: { 'www-authenticate': 'Bearer' } });

/** Compares two texts in a time that does not depend on where they differ, or on how long they are. */
const sameText = (given: string, expected: string): boolean =>
  timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));

/** The token of an Authorization header. @throws Refusal UNAUTHORIZED when there is none, or it has another form */
function tokenOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw unauthorized('The Authorization header is missing: send Authorization: Bearer <API_KEY>');
  }
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized('The Authorization header is not of the form Bearer <API_KEY>');
  return token;
}

/**
 * Reads the API key of a request.
 *
 * @param accepted the only keys accepted, or undefined for every key that begins with `sk_test_`
 * @returns a function that takes the Authorization header and throws Refusal UNAUTHORIZED
 */
export function bearerKeys(
  accepted: readonly string[] | undefined,
): (authorization: string | undefined) => string {
  const accepts =
    accepted === undefined
      ? (key: string) => key.startsWith(TEST_KEY_PREFIX)
      : (key: string) => accepted.filter((expected) => sameText(key, expected)).length > 0; // looks at every key
  const wanted =
    accepted === undefined ? `a key that begins with ${TEST_KEY_PREFIX}` : 'one of the keys it was given';

  return (authorization) => {
    const key = tokenOf(authorization);
    if (!accepts(key)) throw unauthorized(`The API key is not accepted: this sandbox takes ${wanted}`);
    return key;
  };
}

/**
 * Asks for the admin token, which is no key of a world.
 *
 * @returns a function that takes the Authorization header and throws Refusal UNAUTHORIZED
 */
export const adminOnly =
  (adminToken: string) =>
  (authorization: string | undefined): void => {
    if (sameText(tokenOf(authorization), adminToken)) return;
    throw unauthorized('This needs the admin token (SANDBOX_ADMIN_TOKEN, or the one printed at the start)');
  };
