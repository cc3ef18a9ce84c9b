const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

const SHORT = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/;
const ISO_8601 = /^P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/**
 * Parses a duration: `300ms`, `90s`, `40m`, `2h`, `3d`, `1w`, or ISO 8601 (`PT90S`, `P3D`).
 * Months and years have no fixed length and are not accepted.
 *
 * @returns whole milliseconds, at least 0, or undefined when the text is not a duration
 */
export function durationMs(text: string): number | undefined {
  const short = SHORT.exec(text);
  if (short) return checked(Number(short[1]) * UNIT_MS[short[2] as keyof typeof UNIT_MS]);
  const iso = ISO_8601.exec(text);
  if (!iso) return undefined;
  const [weeks, days, hours, minutes, seconds] = iso.slice(1).map((part) => Number(part ?? 0));
  return checked(
    weeks! * UNIT_MS.w + days! * UNIT_MS.d + hours! * UNIT_MS.h + minutes! * UNIT_MS.m + seconds! * UNIT_MS.s,
  );
}

const checked = (ms: number): number | undefined => {
  const whole = Math.round(ms);
  return Number.isSafeInteger(whole) ? whole : undefined;
};

/** Writes whole milliseconds in the largest unit that keeps them whole: 90000 is `90s`, 86400000 is `1d`. */
export function durationText(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= UNIT_MS[unit] && ms % UNIT_MS[unit] === 0) return `${ms / UNIT_MS[unit]}${unit}`;
  }
  return `${ms}ms`;
}
