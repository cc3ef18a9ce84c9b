import { closest, distance } from 'fastest-levenshtein';

const LONGEST_WORD = 64;

function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > LONGEST_WORD || known.length === 0) return undefined;
  const near = closest(word, known);
  return distance(word, near) <= Math.max(2, word.length / 3) ? near : undefined;
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
