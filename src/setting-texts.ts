import { z } from 'zod';
import { durationMs } from './contract/duration.ts';
import { MAX_AMOUNT_INR } from './contract/service.ts';
import type { RateLimit } from './contract/snapshot-lines.ts';

/** Parsers of settings. Each returns undefined for a text that it cannot parse. */

export const commaList = (text: string): readonly string[] | undefined => {
  const keys = text.split(',').map((key) => key.trim());
  return keys.every((key) => /^[\x21-\x7e]{1,256}$/.test(key)) ? keys : undefined;
};

/** Host names without a port, in lower case. */
export const hostNames = (text: string): readonly string[] | undefined => {
  const names = commaList(text.toLowerCase());
  return names?.every((name) => /^[a-z0-9_]([a-z0-9._-]{0,251}[a-z0-9_])?$/.test(name)) ? names : undefined;
};

export const rupees = (text: string): number | undefined => {
  const amount = /^\d{1,12}(\.\d{1,2})?$/.test(text) ? Number(text) : Number.NaN;
  return amount <= MAX_AMOUNT_INR ? amount : undefined;
};

const BYTES = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

export const byteSize = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,6}) ?(KiB|MiB|GiB)$/i.exec(text) ?? [];
  const name = Object.keys(BYTES).find((known) => known.toLowerCase() === unit?.toLowerCase());
  return name === undefined ? undefined : Number(count) * BYTES[name as keyof typeof BYTES];
};

const LONGEST_WINDOW_MS = 86_400_000;

export const rateLimit = (text: string): RateLimit | 'off' | undefined => {
  if (text === 'off') return 'off';
  const [, count, window] = /^(\d{1,9})\/(.+)$/.exec(text) ?? [];
  const max = Number(count);
  const windowMs = durationMs(window ?? '');
  if (!(max > 0) || !windowMs || windowMs > LONGEST_WINDOW_MS) return undefined;
  return { max, windowMs };
};

export const duration = (text: string): number | undefined => durationMs(text) || undefined;

export const everySoOften = (text: string): number | 'off' | undefined =>
  text === 'off' ? 'off' : duration(text);

const EARLIEST_CLOCK_MS = Date.UTC(2000, 0, 1);

type StartingClock = { readonly frozenAtMs: number } | 'running';

/** ISO 8601 in UTC with a four-digit year, like the timestamps of the interface. */
export const startingClock = (text: string): StartingClock | undefined => {
  if (text === 'running') return 'running';
  const time = z.iso.datetime().safeParse(text);
  const frozenAtMs = time.success ? Date.parse(text) : Number.NaN;
  return frozenAtMs >= EARLIEST_CLOCK_MS ? { frozenAtMs } : undefined;
};
