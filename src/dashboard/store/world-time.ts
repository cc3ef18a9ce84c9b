import { signal } from '@preact/signals';
import type { LiveWorld } from './live-world.ts';

const TICK_MS = 500;

/** Counts half seconds, once for the whole page. */
const ticks = signal(0);
setInterval(() => (ticks.value += 1), TICK_MS);

/** World time, updated twice a second; null before the first reading. It stands still while the server is away. */
export function worldNowMs({ clock, feed, heardMs }: LiveWorld): number | null {
  const reading = clock.value;
  if (reading === null) return null;
  const untilMs = ticks.value >= 0 && feed.connection.value.state === 'live' ? performance.now() : heardMs;
  return Date.parse(reading.now) + Math.max(0, untilMs - reading.readAtMs) * reading.speed;
}
