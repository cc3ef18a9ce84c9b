/** The last four characters of an account; nothing of one that has no more than that. */
export const maskAccount = (account: string): string =>
  account.length <= 4 ? '*'.repeat(account.length) : '*'.repeat(account.length - 4) + account.slice(-4);

/** What an account looks like, in a path where none belongs. */
const ACCOUNT_LIKE = /\d{9,}/g;

/** A text without what looks like a key: people put them where they do not belong. */
export const withoutKeyTexts = (text: string): string => text.replace(/sk_[\w-]+/g, 'sk_***');

const LONGEST_PATH = 128;

/** A path of no route, which may hold anything. */
export const maskedPath = (path: string): string =>
  withoutKeyTexts(path.slice(0, LONGEST_PATH)).replace(ACCOUNT_LIKE, maskAccount);
