import { closest, distance } from 'fastest-levenshtein';

const LONGEST_WORD = 64;

/** ` (did you mean amount?)` when a known word is close, else nothing. */
export function suggestion(word: string, known: readonly string[]): string {
  if (word.length > LONGEST_WORD) return '';
  const near = known.length > 0 ? closest(word, known) : undefined;
  return near !== undefined && distance(word, near) <= Math.max(2, word.length / 3)
    ? ` (did you mean ${near}?)`
    : '';
}
