import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readFileSync } from 'node:fs';

const LOOK_MS = 100;
/** How many looks at a memory that is short go by until a collection is made: an idle process makes none by itself. */
const LOOKS_TO_COLLECT = 20;
/** What the heap limit has for the young generation at its largest: all that lives longer must fit into the rest. */
const YOUNG_BYTES = (Number.parseInt(process.versions.v8, 10) < 13 ? 48 : 192) * 1024 * 1024;

const isWhole = (entry: PerformanceEntry & { readonly detail?: unknown }): boolean =>
  (entry.detail as { readonly kind: number }).kind === constants.NODE_PERFORMANCE_GC_MAJOR;

function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** The memory of this process: its heap as the latest whole collection left it, and the buffers outside it. See `Memory`. */
export function processMemory(look: (percent: number, isCollected: boolean) => boolean): () => void {
  let usedBytes = 0;
  let isCollected = false;
  let looks = 0;
  const observer = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isWhole)) return;
    isCollected = true;
    usedBytes = getHeapStatistics().used_heap_size;
  });
  observer.observe({ entryTypes: ['gc'] });
  const timer = setInterval(() => {
    const { used_heap_size: now, external_memory: outside, heap_size_limit: limit } = getHeapStatistics();
    const percent = ((Math.min(now, usedBytes) + outside) / (limit - YOUNG_BYTES)) * 100;
    const isShort = look(percent, isCollected);
    looks = isShort && !isCollected ? looks + 1 : 0;
    if (isShort) isCollected = false;
    if (looks >= LOOKS_TO_COLLECT) collect();
  }, LOOK_MS).unref();
  return () => {
    observer.disconnect();
    clearInterval(timer);
  };
}

/** How many files and connections this process may have open; Infinity where the system does not say. */
export function openFiles(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? Infinity : Number(limit);
  } catch {
    return Infinity; // not Linux
  }
}
