import { stdSerializers, type LoggerOptions } from 'pino';
import { maskAccount } from '../contract/service.ts';
import type { Settings } from '../settings.ts';

/** A key may contain a slash. Only in a path does a slash end it, so that the rest of the path stays readable. */
const KEY_LIKE = /sk_\S+/g;
const KEY_LIKE_IN_PATH = /sk_[^\s/]+/g;
const ACCOUNT_LIKE = /\d{9,}/g;
/** A word of digits alone, or before the @ of a UPI handle, may be an account number; one with a prefix, such as order-1700000000000, is kept. */
const ACCOUNT = /(?<!\S)\d{9,18}(?=$|[\s@])/g;
/** What every text has that something is hidden in, unless it is a known secret. Most have none, and every request has such a text. */
const SUSPECT = /%|sk_|\d{9}/;
const LONGEST_PATH = 128;
const LONGEST_READ_PATH = 1024;

/** Undoes percent-encoding of ASCII, however many times it was applied. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  const once = text.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return once === text ? text : decoded(once);
}

/** Makes functions that hide account numbers, keys and the admin token in what a client chose: path, reference and name of its world. */
function lineRedaction(secrets: readonly string[]) {
  const longestFirst = secrets.map(decoded).toSorted((a, b) => b.length - a.length); // one may be a part of another
  /**
   * Hides the known keys and the token. They go first, since they are not found once a part of them is hidden. What replaces one
   * that looks like a key still looks like a key, so that a longer key that begins with it is hidden too.
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
  const chosen = (text: string): string =>
    secrets.length === 0 && !SUSPECT.test(text) ? text : redacted(text, KEY_LIKE, ACCOUNT);
  return {
    path: (path: string) =>
      redacted(path.slice(0, LONGEST_READ_PATH), KEY_LIKE_IN_PATH, ACCOUNT_LIKE).slice(0, LONGEST_PATH),
    client_ref_id: chosen,
    world_name: chosen,
  };
}

/** Escapes characters that end a line, control a terminal or change the direction of text: a reference may contain any. */
export const escapeControls = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** A line without anything to escape, as most are. */
const ASCII_LINE = /^[ -~]*\n$/;

/** What is logged of an error. Its other fields may contain secrets: those of a store's client have the command, even a password. */
function loggedError(error: Error) {
  const { type, message, stack } = stdSerializers.err(error);
  return { type, message, stack };
}

/** How every line is written: without secrets and without control characters. */
export const logOptions = ({
  logLevel,
  apiKeys = [],
  adminToken,
}: Pick<Settings, 'logLevel' | 'apiKeys' | 'adminToken'>): LoggerOptions => ({
  level: logLevel,
  base: null,
  serializers: {
    ...lineRedaction(adminToken === undefined ? apiKeys : [...apiKeys, adminToken]),
    err: loggedError,
  },
  hooks: {
    streamWrite: (line) => (ASCII_LINE.test(line) ? line : `${escapeControls(line.trimEnd())}\n`), // JSON has the same escapes
  },
});
