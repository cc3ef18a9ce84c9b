import type { RouteName } from '../contract/match.ts';
import { isTooLong } from '../contract/service.ts';
import { oneMore } from '../contract/snapshot-lines.ts';

const MAX_ATTEMPTS = 10_000;

interface Attempt {
  /** How many times the reference was sent on its route. */
  readonly count: number;
  /** Which new reference of its world it was; 0 on routes other than initiate. */
  readonly payout: number;
}

/**
 * How many times each reference of one world was sent, by `route reference`. A reference that is sent again moves from `older` to
 * `recent`. When `recent` holds half of what a world may count, it becomes `older`, and what was still there is forgotten.
 */
export interface Attempts {
  recent: Map<string, Attempt>;
  older: Map<string, Attempt>;
  /** How many new references initiates have sent. */
  references: number;
  /** What the counts that have changed since the latest control action were before, for an undo; null without one. */
  former: Map<string, Attempt | undefined> | null;
}

export const noAttempts = (): Attempts => ({
  recent: new Map(),
  older: new Map(),
  references: 0,
  former: null,
});

export const attemptsHeld = ({ recent, older }: Attempts): number => recent.size + older.size;

const keyOf = (route: RouteName, id: string): string => `${route} ${id}`;

const known = ({ recent, older }: Attempts, key: string): Attempt | undefined =>
  recent.get(key) ?? older.get(key);

/** Counts an attempt, from 1. @param isFull whether the sandbox is full: a new reference is refused then, and not counted */
export function countAttempt(attempts: Attempts, route: RouteName, id: string, isFull: boolean): number {
  if (isTooLong(id)) return 1; // no payout can have it
  const key = keyOf(route, id);
  const earlier = known(attempts, key);
  if (earlier === undefined && isFull) return 1;
  if (earlier === undefined && route === 'initiate') attempts.references = oneMore(attempts.references);
  const attempt = {
    count: oneMore(earlier?.count ?? 0),
    payout: earlier?.payout ?? (route === 'initiate' ? attempts.references : 0),
  };
  keepFormer(attempts, key, earlier);
  attempts.older.delete(key);
  attempts.recent.set(key, attempt);
  if (attempts.recent.size >= MAX_ATTEMPTS / 2) {
    for (const [one, forgotten] of attempts.older) keepFormer(attempts, one, forgotten);
    attempts.older = attempts.recent;
    attempts.recent = new Map();
  }
  return attempt.count;
}

function keepFormer({ former }: Attempts, key: string, attempt: Attempt | undefined): void {
  if (former?.has(key) === false) former.set(key, attempt);
}

/** Which new reference of its world this is, counted from 1; 0 for one that no initiate has sent, or that is forgotten. */
export const referenceNumber = (attempts: Attempts, reference: string): number =>
  known(attempts, keyOf('initiate', reference))?.payout ?? 0;
