import { readFileSync } from 'node:fs';

/** How many files and connections this process may have open; Infinity where the system does not say. */
export function openFiles(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? Infinity : Number(limit);
  } catch {
    return Infinity; // not Linux
  }
}
