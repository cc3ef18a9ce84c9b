import type { Place } from '../../store.ts';

/** A state from which the log can be followed, as the head of a world lists it. The first of a world has no key: its scenario is in the head. */
export interface StoredBase extends Place {
  readonly key: string;
  readonly payouts: number;
}

export const FIRST_BASE: StoredBase = { position: 0, name: '', key: '', payouts: 0 };
export const basesIn = (text: string): StoredBase[] => JSON.parse(text) as StoredBase[];

const COMPACT_AFTER = 2000;
/** How many payouts in a state are worth one more command before it is stored again. */
const PAYOUTS_A_COMMAND = 4;
/** How many commands lie between two states at least: where there are fewer, another server was first. */
export const FEWEST_APART = 1000;
/** How many states are kept of one world: at least two, and more while they are small, so that ten restores can be undone. */
const FEWEST_BASES = 2;
const MOST_BASES = 24;
const MOST_PAYOUTS_IN_BASES = 100_000;
/** How many times more commands are kept than there are between two states, for a world with few requests among them. */
const MOST_COMPACTIONS = 4;

/** After how many commands a state with so many payouts is stored: a server that does not know the world applies at most so many. */
export const compactAfter = (payouts: number): number =>
  Math.max(COMPACT_AFTER, Math.floor(payouts / PAYOUTS_A_COMMAND));

/** The states that stay. @param oldest the position of the oldest command before which somebody may want to go back */
export function keptBases(all: readonly StoredBase[], oldest: number): StoredBase[] {
  const kept = [...all];
  const { position, payouts } = kept.at(-1)!;
  const earliest = position - MOST_COMPACTIONS * compactAfter(payouts);
  const isTooMuch = (): boolean =>
    kept.length > MOST_BASES ||
    kept[1]!.position <= oldest ||
    kept[1]!.position <= earliest ||
    kept.reduce((sum, { payouts }) => sum + payouts, 0) > MOST_PAYOUTS_IN_BASES;
  while (kept.length > FEWEST_BASES && isTooMuch()) kept.shift();
  return kept;
}
