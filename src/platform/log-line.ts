import type { LoggerOptions } from 'pino';
import { maskAccount } from '../contract/service.ts';
import type { Settings } from '../settings.ts';

const KEY_LIKE = /sk_[^\s/]+/g;
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
  const longestFirst = secrets.toSorted((a, b) => b.length - a.length); // one may be a part of another
  const withoutKeys = (text: string): string =>
    longestFirst.reduce(
      (rest, secret) => rest.replaceAll(secret, '***'),
      text.replaceAll(KEY_LIKE, 'sk_***'),
    );
  const redacted = (text: string, accounts: RegExp): string => {
    const hide = (shown: string): string => withoutKeys(shown).replaceAll(accounts, maskAccount);
    const shown = hide(text);
    const plain = decoded(shown);
    if (plain === shown) return shown;
    const hidden = hide(plain);
    return hidden === plain ? shown : hidden;
  };
  return {
    path: (path: string) => redacted(path.slice(0, LONGEST_READ_PATH), ACCOUNT_LIKE).slice(0, LONGEST_PATH),
    client_ref_id: (reference: string) => redacted(reference, ACCOUNT),
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
