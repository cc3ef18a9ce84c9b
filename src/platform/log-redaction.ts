type Line = Readonly<Record<string, unknown>>;

const KEY_LIKE = /sk_[^\s/]+/g;
const ACCOUNT_LIKE = /\d{9,}/g;
/** A reference of digits alone may be an account number; one with a prefix, such as order-1700000000000, is left as it is. */
const ACCOUNT = /^\d{9,18}$/g;
const LONGEST_PATH = 128;
const LONGEST_READ_PATH = 1024;

const maskAccount = (account: string): string => '*'.repeat(account.length - 4) + account.slice(-4);

/** Without percent-encoding of ASCII, however often it was encoded. */
function decoded(text: string): string {
  const once = text.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return once === text ? text : decoded(once);
}

/** Makes a function that hides account numbers, keys and the admin token in the path and the reference of a log line. */
export function lineRedaction(secrets: readonly string[]): (line: Line) => Record<string, unknown> {
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
    const hidden = hide(plain);
    return hidden === plain ? shown : hidden;
  };
  return (line) => {
    const { path, client_ref_id: reference } = line;
    return {
      ...line,
      ...(typeof path === 'string' && {
        path: redacted(path.slice(0, LONGEST_READ_PATH), ACCOUNT_LIKE).slice(0, LONGEST_PATH),
      }),
      ...(typeof reference === 'string' && { client_ref_id: redacted(reference, ACCOUNT) }),
    };
  };
}
