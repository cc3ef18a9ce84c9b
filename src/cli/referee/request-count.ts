import { durationText } from '../../contract/duration.ts';
import { counted } from '../../contract/words.ts';
import type { Worlds } from '../../log/worlds.ts';
import { stopwatchMs } from '../../platform/system-clock.ts';

/**
 * Reports every half minute that a long command is still running, in whole lines, since the command writes to the same terminal. Requests to
 * the control API count too. @returns a function that stops it
 */
export function showRequestCount(
  sandboxes: () => readonly Pick<Worlds, 'uses' | 'size'>[],
  write: (line: string) => void,
  everyMs = 30_000,
): () => void {
  const beganMs = stopwatchMs();
  const timer = setInterval(() => {
    const seconds = Math.round((stopwatchMs() - beganMs) / 1000);
    const requests = sandboxes().reduce((sum, { uses }) => sum + uses, 0);
    const worlds = sandboxes().reduce((sum, { size }) => sum + size, 0);
    write(
      `after ${durationText(seconds * 1000)}: ${counted(requests, 'request')}, ${counted(worlds, 'world')}`,
    );
  }, everyMs);
  timer.unref(); // must not keep the process alive when the command cannot be run
  return () => clearInterval(timer);
}
