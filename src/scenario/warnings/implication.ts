import type { During, Match } from '../../contract/match.ts';
import { linearPattern } from '../pattern.ts';
import { boundsOf, numberTest, possibleRoutes, textTest, windowOf } from '../rule-compiler.ts';

type TextMatch = NonNullable<Match['client_ref_id']>;
type NumberMatch = NonNullable<Match['amount']>;
type Hours = NonNullable<Match['hours']>;
type Headers = NonNullable<Match['header']>;

/** Whether a condition on a text lists the texts that match. */
const isTexts = (match: TextMatch): match is string | string[] =>
  typeof match === 'string' || Array.isArray(match);

type Implied<T> = (later: T) => boolean;

function impliesText(earlier: TextMatch): Implied<TextMatch> {
  const test = textTest(earlier, linearPattern, () => undefined);
  return (later) => {
    if (isTexts(later)) return [later].flat().every(test);
    if (isTexts(earlier)) return false;
    const { prefix = '', suffix = '', matches } = earlier;
    return (
      (later.prefix ?? '').startsWith(prefix) &&
      (later.suffix ?? '').endsWith(suffix) &&
      (matches === undefined || matches === later.matches)
    );
  };
}

function impliesNumber(earlier: NumberMatch): Implied<NumberMatch> {
  const test = numberTest(earlier);
  return (later) => {
    if (typeof later === 'number' || Array.isArray(later)) return [later].flat().every(test);
    if (typeof earlier === 'number' || Array.isArray(earlier)) return false;
    const inner = boundsOf(later);
    const outer = boundsOf(earlier);
    const fitsBelow =
      inner.low > outer.low || (inner.low === outer.low && (outer.takesLow || !inner.takesLow));
    const fitsAbove =
      inner.high < outer.high || (inner.high === outer.high && (outer.takesHigh || !inner.takesHigh));
    return fitsBelow && fitsAbove;
  };
}

const DAY_MINUTES = 24 * 60;
const minutesBetween = (from: number, to: number): number => (to - from + DAY_MINUTES) % DAY_MINUTES;

const impliesHours =
  (earlier: Hours): Implied<Hours> =>
  (later) =>
    minutesBetween(earlier.from, later.from) + minutesBetween(later.from, later.to) <=
    minutesBetween(earlier.from, earlier.to);

/** A request may have a header several times, and a pattern is tested on each: it implies only the same pattern. */
function impliesHeaders(earlier: Headers): Implied<Headers> {
  const implied = Object.entries(earlier).map(([name, wanted]) => {
    const hasPattern = !isTexts(wanted) && wanted.matches !== undefined;
    return [name.toLowerCase(), hasPattern, impliesText(wanted)] as const;
  });
  return (later) => {
    const known = new Map(Object.entries(later).map(([name, wanted]) => [name.toLowerCase(), wanted]));
    return implied.every(([name, hasPattern, isImplied]) => {
      const own = known.get(name);
      return own !== undefined && !(hasPattern && isTexts(own)) && isImplied(own);
    });
  };
}

/** The comparison of one field with a condition of an earlier match. */
function impliesField(field: string, wanted: unknown): Implied<never> {
  if (field === 'header') return impliesHeaders(wanted as Headers);
  if (field === 'hours') return impliesHours(wanted as Hours);
  if (field === 'attempt' || field === 'amount' || field === 'payout')
    return impliesNumber(wanted as NumberMatch);
  return impliesText(wanted as TextMatch);
}

/** Makes a test: whether a match matches every request that a later one does. False when the way they are written does not prove it. */
export function takesAllOf(earlier: Match): Implied<Match> {
  const routes = possibleRoutes(earlier);
  const fields = Object.entries(earlier)
    .filter(([field, wanted]) => field !== 'route' && wanted !== undefined)
    .map(([field, wanted]) => [field as keyof Match, impliesField(field, wanted)] as const);
  return (later) =>
    fields.every(([field, isImplied]) => later[field] !== undefined && isImplied(later[field] as never)) &&
    possibleRoutes(later).every((route) => routes.includes(route));
}

/** Whether the later window is open only while the earlier one is. */
export function isWithin(later: During | undefined, earlier: During | undefined): boolean {
  const inner = windowOf(later);
  const outer = windowOf(earlier);
  return outer.from <= inner.from && inner.until <= outer.until;
}
