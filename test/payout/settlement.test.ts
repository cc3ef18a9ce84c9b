import { expect, test } from 'vitest';
import type { TransferMode } from '../../src/contract/service.ts';
import { istDate, istMinute, timeOfDay } from '../../src/contract/times.ts';
import { formatUtr } from '../../src/payout/utr.ts';
import { BANK_CALENDAR, isWorkingDay, istDay } from '../../src/payout/calendar.ts';
import { plannedSteps, settlementName, timelineOf } from '../../src/payout/settlement.ts';
import { testRows } from '../support/test-rows.ts';

const startMs = Date.parse('2026-01-15T10:30:00Z');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

testRows<[mode: TransferMode, at: string, serial: number, utr: string]>([
  ['RTGS', '2026-01-15T18:29:59.999Z', 123_456_789, 'SBXBR52026011523456789'],
  ['RTGS', '2026-01-15T18:30:00Z', 123_456_789, 'SBXBR52026011623456789'],
  ['RTGS', '2026-01-01T00:00:00+05:30', 900_000_007, 'SBXJR52026010100000007'],
  ['NEFT', '2025-12-31T23:59:59.999+05:30', 0, 'SBXAN25365000000'],
  ['NEFT', '2026-01-01T00:00:00+05:30', 0, 'SBXAN26001000000'],
  ['NEFT', '2028-12-31T10:30:00Z', 123_456_789, 'SBXBN28366456789'],
  ['NEFT', '2005-02-03T00:00:00Z', 101_999_999, 'SBXBN05034999999'],
  ['IMPS', '2026-01-15T18:30:00Z', 123_456_789, '601623456789'],
  ['IMPS', '2030-02-03T00:00:00Z', 99_999_999, '003499999999'],
  ['UPI', '2025-12-31T18:29:59Z', 123_456_789, '536523456789'],
])(
  'a UTR has the real format of its mode, the date in IST, and a bank from its serial',
  (mode, at, serial, utr) => {
    expect(formatUtr(mode, Date.parse(at), serial)).toBe(utr);
  },
);

const ALMOST = 1 - 2 ** -48;
const planned = (
  settlement: 'demo' | 'instant' | 'realistic',
  mode: TransferMode,
  draws: Readonly<Record<string, number>> = {},
  createdAtMs = startMs,
) =>
  plannedSteps(settlement, mode, createdAtMs, (purpose) => draws[purpose] ?? expect.fail(`draws ${purpose}`));

testRows([
  ['demo', 'IMPS', {}, 'SUCCESS', 2 * SECOND],
  ['demo', 'UPI', {}, 'SUCCESS', 2 * SECOND],
  ['demo', 'RTGS', {}, 'SUCCESS', 10 * SECOND],
  ['demo', 'NEFT', {}, 'SUCCESS', 20 * SECOND],
  ...(['IMPS', 'UPI', 'RTGS', 'NEFT'] as const).map((mode) => ['instant', mode, {}, 'SUCCESS', 0] as const),
  ['realistic', 'IMPS', { deemed: 0.015, delay: 0 }, 'SUCCESS', 2 * SECOND],
  ['realistic', 'UPI', { deemed: 0.5, delay: ALMOST }, 'SUCCESS', 10 * SECOND],
  ['realistic', 'UPI', { deemed: 0.0149, outcome: 0.499, delay: 0 }, 'SUCCESS', DAY],
  ['realistic', 'IMPS', { deemed: 0, outcome: 0.5, delay: ALMOST }, 'FAILED', 3 * DAY],
  ['realistic', 'RTGS', { delay: 0 }, 'SUCCESS', 5 * MINUTE],
  ['realistic', 'RTGS', { delay: ALMOST }, 'SUCCESS', 30 * MINUTE],
  ['realistic', 'NEFT', { delay: 0 }, 'SUCCESS', 30 * MINUTE], // created at the start of a batch, it goes with the next one
  ['realistic', 'NEFT', { delay: ALMOST }, 'SUCCESS', 150 * MINUTE],
] as const)(
  'a settlement, a mode and a draw give the outcome and its time',
  (settlement, mode, draws, to, afterMs) => {
    expect(planned(settlement, mode, draws)).toEqual([{ to, when: { afterMs }, utr: null }]);
  },
);

test('realistic: NEFT is settled in the next half-hourly batch', () => {
  const waits = [1, MINUTE, 30 * MINUTE - 1].map(
    (ms) => planned('realistic', 'NEFT', { delay: 0 }, startMs + ms)[0]!.when,
  );
  expect(waits).toEqual([30 * MINUTE - 1, 29 * MINUTE, 1].map((afterMs) => ({ afterMs })));
});

test('each mode can have its own settlement, by a preset or by steps, which gives it its name', () => {
  const steps = [{ to: 'FAILED', when: { afterMs: 5 }, utr: null }] as const;
  const settlement = { IMPS: 'instant', UPI: 'manual', RTGS: 'demo', NEFT: steps } as const;
  const chosen = (['IMPS', 'UPI', 'RTGS', 'NEFT'] as const).map((mode) => [
    settlementName(settlement, mode, 'mine'),
    plannedSteps(settlement, mode, startMs, () => expect.fail('draws')),
  ]);
  expect(chosen).toEqual([
    ['instant', planned('instant', 'IMPS')],
    ['manual', []],
    ['demo', planned('demo', 'RTGS')],
    ['mine', steps],
  ]);
  expect(settlementName('realistic', 'UPI', 'mine')).toBe('realistic');
});

test('minutes of the day and dates are in IST', () => {
  const minutes = ['T18:29:59.999Z', 'T18:30:00Z', 'T00:00:00Z', 'T00:00:59.999Z', 'T00:01:00Z'];
  expect(minutes.map((time) => istMinute(Date.parse(`2026-01-15${time}`)))).toEqual([1439, 0, 330, 330, 331]);
  expect([1439, 0, 330, 69].map(timeOfDay)).toEqual(['23:59', '00:00', '05:30', '01:09']);
  const dates = ['2026-01-15T18:29:59.999Z', '2026-01-15T18:30:00Z'].map((time) => istDate(Date.parse(time)));
  expect(dates).toEqual(['2026-01-15', '2026-01-16']);
});

test('a step at a minute of the day waits for the next such minute in IST, from the creation of each payout', () => {
  const atMinute = (minute: number) => [{ to: 'SUCCESS', when: { atMinute: minute }, utr: null }] as const;
  const dueAt = (created: string, planned: Parameters<typeof timelineOf>[0]) => {
    const createdAtMs = Date.parse(created);
    const [step] = timelineOf(planned, createdAtMs, false, BANK_CALENDAR);
    return new Date(createdAtMs + step!.afterMs!).toISOString();
  };
  const midnight = atMinute(0); // the same steps for several payouts
  expect(dueAt('2026-01-15T18:29:59.999Z', midnight)).toBe('2026-01-15T18:30:00.000Z');
  expect(dueAt('2026-01-15T18:30:00.000Z', midnight)).toBe('2026-01-16T18:30:00.000Z'); // not the instant of its creation
  expect(dueAt('2026-01-15T18:30:00.000Z', atMinute(1))).toBe('2026-01-15T18:31:00.000Z');
  expect(dueAt('2026-01-15T10:30:00.000Z', atMinute(1439))).toBe('2026-01-15T18:29:00.000Z');
  expect(dueAt('2026-01-15T10:30:00.000Z', atMinute(959))).toBe('2026-01-16T10:29:00.000Z');
});

test('a step at a minute of the day comes after the step before it, not at the same instant', () => {
  const planned = [
    { to: 'SUCCESS', when: { atMinute: 420 }, utr: null },
    { to: 'REVERSED', when: { atMinute: 1080 }, utr: null },
  ] as const; // at 07:00, and at 18:00
  const noon = Date.parse('2026-01-15T12:00:00+05:30');
  const due = timelineOf(planned, noon, false, BANK_CALENDAR).map(({ afterMs }) =>
    new Date(noon + afterMs!).toISOString(),
  );
  expect(due).toEqual(['2026-01-16T01:30:00.000Z', '2026-01-16T12:30:00.000Z']);
});

test('steps keep their order, wait for their time or for reads, and have a UTR if money reached the rail', () => {
  const planned = [
    { to: null, when: { afterMs: 9 }, utr: true },
    { to: 'SUCCESS', when: { afterMs: 5 }, utr: null },
    { to: null, when: { polls: 2 }, utr: null },
    { to: 'REVERSED', when: { afterMs: 7 }, utr: false },
  ] as const;
  const step = (to: string | null, afterMs: number | null, polls: number | null, utr: boolean) =>
    ({ to, afterMs, polls, utr, forced: false }) as const;
  expect(timelineOf(planned, 100, false, BANK_CALENDAR)).toEqual([
    step(null, 9, null, true),
    step('SUCCESS', 9, null, true),
    step(null, null, 2, false),
    step('REVERSED', 9, null, false),
  ]);
  const failed = [{ to: 'FAILED', when: { afterMs: 0 }, utr: null }] as const;
  expect([true, false].map((has) => timelineOf(failed, 100, has, BANK_CALENDAR)[0]!.utr)).toEqual([
    true,
    false,
  ]);
});

const OWN = { saturdays: [1], holidays: ['2026-11-09'] };
const dayOf = (date: string): number => istDay(Date.parse(`${date}T00:00+05:30`));

test('banks work but on Sundays, second and fourth Saturdays, national holidays and those of a calendar', () => {
  const closed = (month: string, calendar = BANK_CALENDAR) =>
    Array.from({ length: 30 }, (_, nth) => `${month}-${String(nth + 1).padStart(2, '0')}`)
      .filter((date) => !isWorkingDay(dayOf(date), calendar))
      .map((date) => Number(date.slice(8)));
  expect(closed('2026-01')).toEqual([4, 10, 11, 18, 24, 25, 26]);
  expect(closed('2027-10')).toEqual([2, 3, 9, 10, 17, 23, 24]);
  expect(closed('2028-08')).toEqual([6, 12, 13, 15, 20, 26, 27]);
  expect(closed('2026-11', OWN)).toEqual([1, 7, 8, 9, 15, 22, 29]);
});

testRows([
  ['2026-11-06T23:59', BANK_CALENDAR, '2026-11-07T01:30'], // a Friday, then the first Saturday
  ['2026-11-07T00:00', BANK_CALENDAR, '2026-11-09T01:30'],
  ['2026-11-06T23:59', OWN, '2026-11-10T01:30'],
  ['2026-11-10T03:00', OWN, '2026-11-11T01:30'], // never the same day
] as const)('a step at a time of the next working day waits for it', (created, calendar, due) => {
  const createdAtMs = Date.parse(`${created}+05:30`);
  const planned = [
    { to: 'SUCCESS', when: { atMinute: 420, onNextWorkingDay: true }, utr: null },
    { to: 'REVERSED', when: { atMinute: 420, onNextWorkingDay: true }, utr: null },
  ] as const;
  const [first, second] = timelineOf(planned, createdAtMs, false, calendar);
  expect(new Date(createdAtMs + first!.afterMs!).toISOString()).toBe(`${due}:00.000Z`);
  expect(second!.afterMs! - first!.afterMs!).toBeGreaterThanOrEqual(DAY);
});
