import { getHeapStatistics } from 'node:v8';

const MIB = 1024 * 1024;
/** Of the heap limit: the program, and the largest young generation, which V8 13 of Node.js 24 has made larger. */
const NOT_FOR_WORLDS = (32 + (Number.parseInt(process.versions.v8, 10) < 13 ? 48 : 192)) * MIB;

/** What clients have not read of long responses, at most: an eighth of the heap, if that is less than 128 MiB. */
export function maxUnreadBytes(): number {
  const { heap_size_limit: limit } = getHeapStatistics();
  return Math.min(128 * MIB, Math.floor(Math.max(limit - NOT_FOR_WORLDS, limit / 4) / 8));
}
