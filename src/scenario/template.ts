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

export type TemplateValues = Readonly<Partial<Record<TemplateName, string | number | null | undefined>>>;

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
/** Longer values are cut to this length, so that the size of a response is bounded. Only `remarks` can be longer. */
const LONGEST_VALUE = 200;

type Escape = (text: string) => string;

export const filled = (text: string, values: TemplateValues, escape: Escape): string =>
  text.replaceAll(PLACEHOLDER, (_placeholder, name: string) => {
    const value = String(values[name.trim() as TemplateName] ?? '');
    return escape(value.slice(0, LONGEST_VALUE).toWellFormed());
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

export const filledHeaders = (
  headers: NonNullable<Respond['headers']>,
  values: TemplateValues,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, filled(text, values, asHeader)]));

/** The text of a body: values in a text are escaped for its content type, those in an object as JSON. */
export function filledBody(
  body: NonNullable<Respond['body']>,
  values: TemplateValues,
  contentType: string,
): string {
  const escape = markupEscape(contentType);
  if (typeof body === 'string') return filled(body, values, /json/i.test(contentType) ? insideJson : escape);
  return JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'string' ? filled(value, values, escape) : value,
  );
}

/** Reports names that no request has. */
export function reportUnknownNames({ message, headers, body }: Respond, report: Report): void {
  const look = (value: unknown, path: readonly PropertyKey[]): void => {
    if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value);
      for (const [key, part] of Object.entries(value)) look(part, [...path, isList ? Number(key) : key]);
    }
    if (typeof value !== 'string') return;
    const names = [...value.matchAll(PLACEHOLDER)].map(([, name]) => name!.trim());
    const unknown = names.find((name) => !TEMPLATE_NAMES.some((known) => known === name));
    if (unknown === undefined) return;
    const hint = suggestion(unknown, TEMPLATE_NAMES) || ` (known: ${TEMPLATE_NAMES.join(', ')})`;
    report(path, `names {{${unknown}}}, which is not known here${hint}`);
  };
  look({ message, headers, body }, []);
}
