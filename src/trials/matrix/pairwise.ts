import { digest } from '../../payout/identity.ts';

/** How many rows are tried for each that is taken: more make the table shorter, but slower to make. */
const CANDIDATES = 30;

type Row = readonly number[];

const pairKey = (i: number, a: number, j: number, b: number): string =>
  i < j ? `${i}=${a} ${j}=${b}` : `${j}=${b} ${i}=${a}`;

/** Every pair of choices of two switches. */
function allPairs(sizes: readonly number[]): Set<string> {
  const pairs = new Set<string>();
  for (const [j, ofJ] of sizes.entries()) {
    for (const [i, ofI] of sizes.slice(0, j).entries()) {
      for (let a = 0; a < ofI; a += 1) for (let b = 0; b < ofJ; b += 1) pairs.add(pairKey(i, a, j, b));
    }
  }
  return pairs;
}

const pairsOf = (row: Row): readonly string[] =>
  row.flatMap((b, j) => row.slice(0, j).map((a, i) => pairKey(i, a, j, b)));

/** A row with the first pair that is missing. The other switches, in any order, each take the choice with the most missing pairs. */
function candidate(sizes: readonly number[], missing: ReadonlySet<string>, seed: string): Row {
  const [first] = missing;
  const fixed = new Map(first!.split(' ').map((part) => part.split('=').map(Number) as [number, number]));
  const rank = (i: number): string => digest([seed, i]);
  const others = sizes.map((_, i) => i).filter((i) => !fixed.has(i));
  for (const i of others.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))) {
    const gains = Array.from(
      { length: sizes[i]! },
      (_, a) => [...fixed].filter(([j, b]) => missing.has(pairKey(i, a, j, b))).length,
    );
    const best = gains.flatMap((gain, a) => (gain === Math.max(...gains) ? [a] : []));
    fixed.set(i, best[Number.parseInt(rank(i).slice(0, 8), 16) % best.length]!);
  }
  return sizes.map((_, i) => fixed.get(i)!);
}

/**
 * Few rows in which every pair of choices of two switches occurs, found greedily.
 *
 * @param sizes how many choices each switch has
 * @returns the choice of each switch in each row, counted from 0; the same for the same seed
 */
export function pairwise(sizes: readonly number[], seed: string): readonly Row[] {
  const missing = allPairs(sizes);
  const gain = (row: Row): number => pairsOf(row).filter((pair) => missing.has(pair)).length;
  const rows: Row[] = [];
  while (missing.size > 0) {
    const tried = Array.from({ length: CANDIDATES }, (_, n) =>
      candidate(sizes, missing, digest([seed, rows.length, n])),
    );
    const best = tried.reduce((one, other) => (gain(other) > gain(one) ? other : one));
    rows.push(best);
    for (const pair of pairsOf(best)) missing.delete(pair);
  }
  return rows;
}
