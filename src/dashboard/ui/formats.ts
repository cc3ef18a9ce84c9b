import { grouped } from '../../contract/words.ts';

/** How times are written: in IST and UTC. */

const IST = 'Asia/Kolkata';

const SECONDS = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const DAY = { day: '2-digit', month: 'short', year: 'numeric' } as const;

type Moment = string | number;

function timeText(timeZone: string, options: Intl.DateTimeFormatOptions): (at: Moment) => string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, ...options });
  return (at) => format.format(new Date(at));
}

/** Why a text is refused as an amount. */
export const noAmountText = (text: string): string => `“${text}” is not an amount: write 1500.50 or 1,500.50`;

/** `1,200`; `3 of 1,200` when some are left out. */
export const countedOf = (shown: number, all: number): string =>
  shown === all ? grouped(all) : `${grouped(shown)} of ${grouped(all)}`;

export const istTime = timeText(IST, SECONDS);
export const istDay = timeText(IST, DAY);
export const istShortDay = timeText(IST, { day: '2-digit', month: 'short' });
const utcTime = timeText('UTC', SECONDS);
const utcDay = timeText('UTC', DAY);
/** 20 Nov 2026, 22:36:05 IST */
export const istMoment = (at: Moment): string => `${istDay(at)}, ${istTime(at)} IST`;
/** A sentence of the server, with its times as people here read them. */
export const timesInIst = (text: string): string =>
  text.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, istMoment);
/** 20 Nov 2026, 17:06:05 UTC */
export const utcMoment = (at: Moment): string => `${utcDay(at)}, ${utcTime(at)} UTC`;

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** `3 d 2 h`, `12 s`, `1.9 s`, `340 ms`: rounded to the smaller of its two units. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${Math.round(ms / 100) / 10} s`;
  const [, size] = UNITS[UNITS.findIndex(([, one]) => one <= ms) + 1] ?? UNITS[3];
  let rest = Math.round(ms / size) * size;
  return UNITS.flatMap(([unit, one]) => {
    const whole = Math.floor(rest / one);
    rest -= whole * one;
    return whole > 0 ? [`${whole} ${unit}`] : [];
  }).join(' ');
}

/** A text of a client without control characters, and without those that change its direction. Joiners of Indian scripts and of emoji stay. */
export const plain = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '\uFFFD');

/** JSON with line breaks; a text unchanged. */
export const readable = (body: unknown): string =>
  typeof body === 'string' ? body : JSON.stringify(body, null, 2);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
