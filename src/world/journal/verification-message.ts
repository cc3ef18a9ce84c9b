import type { Verification } from '../../contract/control.ts';
import type { VerifyResponse } from '../../contract/control-responses.ts';
import { counted } from '../../contract/words.ts';
import { timeOfDay } from '../../contract/times.ts';
import type { Condition } from '../../scenario/rule-compiler.ts';
import { withoutControls } from './journal-text.ts';

/** The message of a verification: the first line is the result; a failure also shows what was expected and what came closest. */

type Shown = VerifyResponse['closest'][number];
type Miss = Shown['misses'][number];

const LONGEST_VALUE = 200;

/** `exactly 2`, `at least 1 and at most 3` */
const wanted = (count: NonNullable<Verification['count']>): string =>
  (['exactly', 'at_least', 'at_most'] as const)
    .filter((bound) => count[bound] !== undefined)
    .map((bound) => `${bound.replace('_', ' ')} ${count[bound]}`)
    .join(' and ');

/** Says which requests are missing, and how to have them. */
export function evictedText(evicted: number): string {
  const were = counted(evicted, 'older request was', 'older requests were');
  return `${were} dropped: raise SANDBOX_JOURNAL_ENTRIES, or SANDBOX_JOURNAL_TOTAL if all worlds have more`;
}

/** Says that older requests, which the journal has dropped, are missing from a count. */
const dropped = (evicted: number): string => (evicted === 0 ? '' : `; ${evictedText(evicted)}`);

export const countMessage = (
  count: number,
  expected: NonNullable<Verification['count']>,
  evicted: number,
): string =>
  `${counted(count, 'request')} ${count === 1 ? 'matches' : 'match'}; expected ${wanted(expected)}${dropped(evicted)}`;

export const sequenceMessage = (found: number, steps: number, evicted: number): string =>
  found === steps
    ? `The whole sequence of ${counted(steps, 'request')} was seen`
    : `${found} of the sequence of ${counted(steps, 'request')} were seen: nothing after them matches sequence[${found}]${dropped(evicted)}`;

function valueText(field: string, value: unknown): string {
  const isRange = field === 'hours' && typeof value === 'object' && value !== null;
  const { from, to } = value as { readonly from: number; readonly to: number };
  const text = JSON.stringify(isRange ? { from: timeOfDay(from), to: timeOfDay(to) } : value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

/** The headers of a request that were expected. */
function expectedHeaders(expected: unknown, actual: unknown): unknown {
  const names = new Set(Object.keys(expected as object).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(actual as object).filter(([name]) => names.has(name)));
}

/** `amount is 100, expected 150`, and the names of the other fields that differ. */
function missText([first, ...others]: readonly Miss[]): string {
  const { field, expected, actual } = first!;
  const value = field === 'header' ? expectedHeaders(expected, actual) : actual;
  const what = value === null ? `no ${field}` : `${field} is ${valueText(field, value)}`;
  const more = others.map((miss) => miss.field).join(', ');
  const differ = others.length === 1 ? 'differs' : 'differ';
  return `${what}, expected ${valueText(field, expected)}${more === '' ? '' : ` (${more} ${differ} too)`}`;
}

/** `route "initiate", amount {"gte":100}` */
export const matchText = (conditions: readonly Pick<Condition, 'field' | 'wanted'>[]): string =>
  conditions.length === 0
    ? 'any request'
    : conditions.map(({ field, wanted }) => `${field} ${valueText(field, wanted)}`).join(', ');

/** One request in a line, with the first field that differs. */
const requestText = ({ request, misses }: Shown): string =>
  misses.length === 0 ? request : `${request}: ${missText(misses)}`;

/** Lines below the first line of a message. @param title introduces the requests, if there are any */
export function withRequests(
  lines: readonly string[],
  title: string,
  requestsToShow: readonly Shown[],
): string {
  const list =
    requestsToShow.length === 0 ? [] : [title, ...requestsToShow.map((one) => `  ${requestText(one)}`)];
  return [...lines, ...list].map(withoutControls).join('\n');
}

export const NOTHING_CAME = 'No request came to this world: does the client use its url and its key?';
