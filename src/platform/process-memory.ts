import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_MS = 100;
/** What the heap limit has for the young generation at its largest: all that lives longer must fit into the rest. */
const YOUNG_BYTES = (Number.parseInt(process.versions.v8, 10) < 13 ? 48 : 192) * 1024 * 1024;

const isWhole = (entry: PerformanceEntry & { readonly detail?: unknown }): boolean =>
  (entry.detail as { readonly kind: number }).kind === constants.NODE_PERFORMANCE_GC_MAJOR;

/** The memory of this process: its heap as the latest whole collection left it, and the buffers outside it. */
export function processMemory() {
  let collections = 0;
  let usedBytes = 0;
  return {
    /** How much of the heap limit is in use, without garbage, in percent. */
    percent(): number {
      const { used_heap_size: now, external_memory: outside, heap_size_limit: limit } = getHeapStatistics();
      return ((Math.min(now, usedBytes) + outside) / (limit - YOUNG_BYTES)) * 100;
    },
    /** How many whole collections there were. */
    get collections(): number {
      return collections;
    },
    collect(): void {
      setFlagsFromString('--expose-gc');
      (runInNewContext('gc') as () => void)();
    },
    /** Calls back every 100 ms. @returns a function that ends this */
    watch(look: () => void): () => void {
      const observer = new PerformanceObserver((list) => {
        if (!list.getEntries().some(isWhole)) return;
        collections += 1;
        usedBytes = getHeapStatistics().used_heap_size;
      });
      observer.observe({ entryTypes: ['gc'] });
      const timer = setInterval(look, LOOK_MS).unref();
      return () => {
        observer.disconnect();
        clearInterval(timer);
      };
    },
  };
}
