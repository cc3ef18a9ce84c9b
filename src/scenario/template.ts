import { suggestion } from '../contract/suggestion.ts';
import type { Report } from './planned-timeline.ts';
import type { Respond } from './rule.ts';

/**
 * Answers that are built from the request: `{{client_ref_id}}` in a text of `respond` is replaced by the value in the
 * request. There is no logic, and filled-in values are not expanded again.
 */

/** The names that a text can use. A name without a value in the request gives an empty text. */
export const TEMPLATE_NAMES = [
  'client_ref_id',
  'txn_id',
  'beneficiary_name',
  'beneficiary_account',
  'beneficiary_ifsc',
  'amount',
  'transfer_mode',
  'remarks',
  'status',
  'utr',
  'attempt',
  'now',
  'request_id',
] as const;
type TemplateName = (typeof TEMPLATE_NAMES)[number];

type TemplateValues = Readonly<Partial<Record<TemplateName, string | number | null | undefined>>>;

/** What one response is filled with. */
export interface Filling {
  readonly values: TemplateValues;
  /** How many characters may still be filled in, as they are escaped. */
  left: number;
}

/**
 * How many characters of values one response has at most. In a snapshot, each may take six more as JSON, twice in one line: with
 * the request and the rule's own text, that stays below the longest line that is read.
 */
const MOST_FILLED = 32_768;

export const fillingWith = (values: TemplateValues): Filling => ({ values, left: MOST_FILLED });

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
/** Longer values are cut to so many characters. Only `remarks` can be longer. */
const LONGEST_VALUE = 200;

/** The first characters of a value: each takes at most two units of a string. */
const shortened = (value: string): string =>
  value.length <= LONGEST_VALUE
    ? value
    : Array.from(value.slice(0, 2 * LONGEST_VALUE))
        .slice(0, LONGEST_VALUE)
        .join('');

type Escape = (text: string) => string;

export const filled = (text: string, filling: Filling, escape: Escape, values = filling.values): string =>
  text.replaceAll(PLACEHOLDER, (_placeholder, name: string) => {
    const value = String(values[name.trim() as TemplateName] ?? '');
    const escaped = escape(shortened(value).toWellFormed());
    filling.left -= escaped.length;
    return filling.left < 0 ? '' : escaped;
  });

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const asItIs: Escape = (text) => text;
const asHtml: Escape = (text) => text.replaceAll(/[&<>"']/g, (character) => HTML_ENTITIES[character]!);
const insideJson: Escape = (text) => JSON.stringify(text).slice(1, -1);
/** Percent-encodes what a header cannot hold. */
const asHeader: Escape = (text) => text.replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent);

const markupEscape = (contentType: string): Escape => (/html|xml/i.test(contentType) ? asHtml : asItIs);

/** Headers whose time has the form of HTTP: `Thu, 15 Jan 2026 10:30:00 GMT`. */
const HAS_HTTP_DATE = /^(?:expires|last-modified|retry-after|sunset)$/i;

export const filledHeaders = (
  headers: NonNullable<Respond['headers']>,
  filling: Filling,
): Readonly<Record<string, string | string[]>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, given]) => {
      const { values } = filling;
      const now = HAS_HTTP_DATE.test(name) ? new Date(values.now!).toUTCString() : values.now;
      const fill = (text: string): string => filled(text, filling, asHeader, { ...values, now });
      return [name, typeof given === 'string' ? fill(given) : given.map(fill)];
    }),
  );

/** The text of a body: values in a text are escaped for its content type, those in an object as JSON. */
export function filledBody(
  body: NonNullable<Respond['body']>,
  filling: Filling,
  contentType: string,
): string {
  const escape = markupEscape(contentType);
  if (typeof body === 'string') return filled(body, filling, /json/i.test(contentType) ? insideJson : escape);
  return JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'string' ? filled(value, filling, escape) : value,
  );
}

/** Reports names that no request has. */
export function reportUnknownNames({ message, headers, body }: Respond, report: Report): void {
  const check = (value: unknown, path: readonly PropertyKey[]): void => {
    if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value);
      for (const [key, part] of Object.entries(value)) check(part, [...path, isList ? Number(key) : key]);
    }
    if (typeof value !== 'string') return;
    const names = [...value.matchAll(PLACEHOLDER)].map(([, name]) => name!.trim());
    const unknown = names.find((name) => !TEMPLATE_NAMES.some((known) => known === name));
    if (unknown === undefined) return;
    const hint = suggestion(unknown, TEMPLATE_NAMES) || ` (known: ${TEMPLATE_NAMES.join(', ')})`;
    report(path, `names {{${unknown}}}, which is not known here${hint}`);
  };
  check({ message, headers, body }, []);
}
