import { getHeapStatistics } from 'node:v8';

/** So many bytes, or a part of this process's heap limit if that is less. */
export const atMost = (bytes: number, partOfHeap: number): number =>
  Math.min(bytes, Math.floor(getHeapStatistics().heap_size_limit * partOfHeap));
