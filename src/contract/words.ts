/** How amounts, counts and lists are written for people. */

/** The header of every response of the control API, with the version. A response without it is not from a sandbox. */
export const SANDBOX_HEADER = 'x-payout-sandbox';

/** In Indian groups. Made on demand, since preparing a formatter takes longer than a request. */
function formatOf(options: Intl.NumberFormatOptions): (value: number) => string {
  let format: Intl.NumberFormat | undefined;
  return (value) => (format ??= new Intl.NumberFormat('en-IN', options)).format(value);
}

/** ₹10,00,000.00 */
export const rupees = formatOf({ style: 'currency', currency: 'INR' });

/** With + for money that enters the wallet and − for money that leaves it. */
export const signedRupees = (inr: number): string => `${inr < 0 ? '−' : '+'}${rupees(Math.abs(inr))}`;

/** `1,00,000` */
export const grouped = formatOf({});

/** `1 payout`, `1,00,000 payouts` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** `once`, `twice`, `3 times` */
export const often = (times: number): string =>
  times === 1 ? 'once' : times === 2 ? 'twice' : `${times} times`;

/** `a`, `a and b`, `a, b and c` */
export const listed = (items: readonly string[], last: 'and' | 'or' = 'and'): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`;

/** `order-1, order-2 and 3 more` */
export const shortListed = (items: readonly string[]): string =>
  listed(items.length > 3 ? [...items.slice(0, 2), `${items.length - 2} more`] : items);

const WRITTEN_INR = /^\+?₹? ?((?:\d{1,3}(?:,\d{2,3})*,\d{3}|\d{1,15})(?:\.\d+)?)$/;

/** INR as people write it, and as commands print it: `1500.5`, `1,500.50`, `₹10,00,000.00`; undefined for other text. */
export function writtenInr(text: string): number | undefined {
  const [, digits] = WRITTEN_INR.exec(text.trim()) ?? [];
  return digits === undefined ? undefined : Number(digits.replaceAll(',', ''));
}
