import { closest, distance } from 'fastest-levenshtein';

/** " (did you mean amount?)", where a known word is near; else nothing. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = known.length > 0 ? closest(word, known) : undefined;
  return near !== undefined && distance(word, near) <= Math.max(2, word.length / 3)
    ? ` (did you mean ${near}?)`
    : '';
}
