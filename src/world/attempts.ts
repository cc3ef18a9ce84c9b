import type { RouteName } from '../contract/scenario-document.ts';
import { MAX_TEXT_LENGTH } from '../contract/service.ts';

const MAX_PER_WORLD = 10_000;

/**
 * How often each reference of one world was sent, by `route reference`. Bounded: once half of what a world may count is
 * recent, everything that was not counted since the last time is forgotten, and starts from 1 again.
 */
export interface Attempts {
  recent: Map<string, number>;
  older: Map<string, number>;
}

export const noAttempts = (): Attempts => ({ recent: new Map(), older: new Map() });

/** How many references are counted. */
export const attemptsHeld = ({ recent, older }: Attempts): number => recent.size + older.size;

/**
 * Counts one more attempt.
 *
 * @param isFull whether all worlds together count as many as they may
 * @returns 1 for the first; always 1 for an id that no payout can have
 */
export function countAttempt(attempts: Attempts, route: RouteName, id: string, isFull: boolean): number {
  if (id.length > MAX_TEXT_LENGTH) return 1;
  const key = `${route} ${id}`;
  const attempt = (attempts.recent.get(key) ?? attempts.older.get(key) ?? 0) + 1;
  attempts.older.delete(key);
  attempts.recent.set(key, attempt);
  if (attempts.recent.size >= MAX_PER_WORLD / 2 || (isFull && attempt === 1)) {
    attempts.older = attempts.recent;
    attempts.recent = new Map();
  }
  return attempt;
}
