import { getHeapStatistics } from 'node:v8';

export const MIB = 1024 * 1024;
/** Of the heap limit: the program, and the largest young generation, which V8 13 of Node.js 24 has made larger. */
const NOT_FOR_WORLDS = (32 + (Number.parseInt(process.versions.v8, 10) < 13 ? 48 : 192)) * MIB;

/** This count, or what fits into a part of this process's heap if that is less. */
export function atMost(count: number, partOfHeap: number, bytesEach = 1): number {
  const { heap_size_limit: limit } = getHeapStatistics();
  const forWorlds = Math.max(limit - NOT_FOR_WORLDS, limit / 4);
  return Math.min(count, Math.floor((forWorlds * partOfHeap) / bytesEach));
}

/** How many worlds fit, at 10 KiB each without its payouts and requests. */
export const worldsThatFit = (): number => atMost(10_000, 0.2, 10 * 1024);

/** A snapshot that is restored: some 300,000 payouts. */
export const maxStateBytes = (): number => atMost(256 * MIB, 1 / 16);

/** What clients have not read of long responses. */
export const maxUnreadBytes = (): number => atMost(128 * MIB, 1 / 8);

/** The referee's reports on dropped worlds. */
export const maxReportCharacters = (): number => atMost(64 * MIB, 1 / 16);
