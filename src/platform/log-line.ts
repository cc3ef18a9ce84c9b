import type { LoggerOptions } from 'pino';
import { maskAccount } from '../contract/service.ts';
import type { Settings } from '../settings.ts';

/** A key may contain a slash, which ends it in a path only: what follows there may be worth reading. */
const KEY_LIKE = /sk_\S+/g;
const KEY_LIKE_IN_PATH = /sk_[^\s/]+/g;
const ACCOUNT_LIKE = /\d{9,}/g;
/** A reference of digits alone may be an account number; one with a prefix, such as order-1700000000000, is left as it is. */
const ACCOUNT = /^\d{9,18}$/g;
const LONGEST_PATH = 128;
const LONGEST_READ_PATH = 1024;

/** Without percent-encoding of ASCII, however often it was encoded. */
function decoded(text: string): string {
  const once = text.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return once === text ? text : decoded(once);
}

/** Makes functions that hide account numbers, keys and the admin token in the path and the reference of a line. */
function lineRedaction(secrets: readonly string[]) {
  const longestFirst = secrets.map(decoded).toSorted((a, b) => b.length - a.length); // one may be a part of another
  /**
   * Without the keys and the token that are known. They go first: with a part of them hidden, they are not found. One like a key
   * stays like one, so that nothing is left of a longer key that begins with it.
   */
  const withoutSecrets = (text: string): string => {
    const plain = decoded(text);
    const hidden = longestFirst.reduce(
      (rest, secret) => rest.replaceAll(secret, secret.startsWith('sk_') ? 'sk_***' : '***'),
      plain,
    );
    return hidden === plain ? text : hidden;
  };
  const redacted = (text: string, keys: RegExp, accounts: RegExp): string => {
    const hide = (shown: string): string =>
      shown.replaceAll(keys, 'sk_***').replaceAll(accounts, maskAccount);
    const shown = hide(withoutSecrets(text));
    const plain = decoded(shown);
    if (plain === shown) return shown;
    const hidden = hide(plain);
    return hidden === plain ? shown : hidden;
  };
  return {
    path: (path: string) =>
      redacted(path.slice(0, LONGEST_READ_PATH), KEY_LIKE_IN_PATH, ACCOUNT_LIKE).slice(0, LONGEST_PATH),
    client_ref_id: (reference: string) => redacted(reference, KEY_LIKE, ACCOUNT),
  };
}

/** Escapes what would end the line, move a terminal or turn the direction of a text: a reference may hold anything. */
export const escapeControls = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** How every line is written: without secrets, and without control characters that a terminal would obey. */
export const logOptions = ({
  logLevel,
  apiKeys = [],
  adminToken,
}: Pick<Settings, 'logLevel' | 'apiKeys' | 'adminToken'>): LoggerOptions => ({
  level: logLevel,
  base: null,
  serializers: lineRedaction(adminToken === undefined ? apiKeys : [...apiKeys, adminToken]),
  hooks: { streamWrite: (line) => `${escapeControls(line.trimEnd())}\n` }, // JSON has the same escapes
});
