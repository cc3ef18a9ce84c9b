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

/** The same, or `; the nearest are a, b, c` for a word that names begin with, or that is one of the words in them. */
export function nearestNames(word: string, known: readonly string[]): string {
  const near = known.filter(
    (name) => (word !== '' && name.startsWith(word)) || `-${name}-`.includes(`-${word}-`),
  );
  const likely = suggestion(word, known);
  if (likely !== '' || near.length === 0) return likely;
  return `; the nearest are ${near.slice(0, OFFERED).join(', ')}`;
}
