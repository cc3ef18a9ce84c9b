import { useEffect, useState } from 'preact/hooks';
import type { LiveWorld } from './live-world.ts';

const TICK_MS = 500;

/** World time, extrapolated from the last reading; null before the first. */
function worldNowMs({ clock }: LiveWorld): number | null {
  const reading = clock.value;
  if (reading === null) return null;
  const sinceMs = reading.frozen ? 0 : performance.now() - reading.readAtMs;
  return Date.parse(reading.now) + sinceMs;
}

/** World time, updated twice a second. */
export function useWorldNow(live: LiveWorld): number | null {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((nth) => nth + 1), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return worldNowMs(live);
}
