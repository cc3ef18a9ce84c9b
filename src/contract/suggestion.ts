import { closest, distance } from 'fastest-levenshtein';

const LONGEST_WORD = 64;
/** Two edits make almost any other word of a word this short. */
const SHORT_WORD = 5;

/** `beneficiary_ifsc` for `ifsc`; otherwise the known word that the fewest edits lead to, if they are few. */
function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > LONGEST_WORD || known.length === 0) return undefined;
  const upper = word.toUpperCase();
  const whole = known.find((name) => name.endsWith(`_${word}`) || name.toUpperCase() === upper);
  if (whole !== undefined) return whole;
  const near = closest(word, known);
  const isOther = word.length < SHORT_WORD && near[0] !== word[0]; // path and date, to and utr
  return distance(word, near) <= (isOther ? 1 : Math.max(2, word.length / 3)) ? near : undefined;
}

/** ` (did you mean amount?)` when a known word is close, otherwise empty. @param named how to show the word */
export function suggestion(
  word: string,
  known: readonly string[],
  named = (near: string): string => near,
): string {
  const near = nearest(word, known);
  return near === undefined ? '' : ` (did you mean ${named(near)}?)`;
}

/** How many names are offered for a word that is not quite one. */
const OFFERED = 3;

/** Whether a word is the beginning of a name, or one or more of the words in it. */
const isPart = (word: string, name: string): boolean =>
  name.startsWith(word) || `-${name}-`.includes(`-${word}-`);

/** The same, or `; the nearest are a, b, c` when several known words are near: first those that the word is a part of. */
export function nearestNames(word: string, known: readonly string[]): string {
  const start = word.slice(0, LONGEST_WORD);
  const near = known
    .map((name) => ({ name, isPart: isPart(word, name), edits: distance(start, name) }))
    .filter((one) => one.isPart || one.edits <= Math.max(start.length, one.name.length) / 2)
    .toSorted((a, b) => Number(b.isPart) - Number(a.isPart) || a.edits - b.edits)
    .map(({ name }) => name)
    .slice(0, OFFERED);
  const likely = suggestion(word, known);
  if (likely !== '' || near.length === 0) return likely;
  return near.length === 1 ? ` (did you mean ${near[0]}?)` : `; the nearest are ${near.join(', ')}`;
}
