import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { balanceAxis, stepPath } from '../../src/dashboard/lists/balance-scale.ts';
import { timeTicks } from '../../src/dashboard/lists/time-ticks.ts';

const LAKH = 100_000;
const labelsFor = (lowest: number, highest: number): readonly string[] =>
  balanceAxis(lowest, highest).ticks.map(({ label }) => label);

describe('the axis of the balances', () => {
  test.each([
    ['a new world', 10 * LAKH, 10 * LAKH, ['₹0', '₹5L', '₹10L', '₹15L']],
    ['an empty wallet', 0, 0, ['₹0', '₹0.25', '₹0.50', '₹0.75', '₹1.00']],
    [
      'one small payout',
      10 * LAKH - 1500.5,
      10 * LAKH,
      ['₹9,98,000', '₹9,98,500', '₹9,99,000', '₹9,99,500', '₹10,00,000'],
    ],
    ['a payout of one paisa', 99.99, 100, ['₹99.99', '₹100.00']],
    ['a payout of paise', 99.5, 100, ['₹99.40', '₹99.60', '₹99.80', '₹100.00']],
    ['a wallet that was spent', 0, 10 * LAKH, ['₹0', '₹2.5L', '₹5.0L', '₹7.5L', '₹10.0L']],
    ['crores', 40_000_000, 60_000_000, ['₹4.0Cr', '₹4.5Cr', '₹5.0Cr', '₹5.5Cr', '₹6.0Cr']],
  ])('has round and distinct amounts for %s', (_what, lowest, highest, labels) => {
    expect(labelsFor(lowest, highest)).toEqual(labels);
  });

  test('contains every balance, with a few labels of which no two are the same', () => {
    const paise = fc.oneof(fc.nat({ max: 1000 }), fc.integer({ min: 0, max: 1e13 })); // also changes of a few paise
    fc.assert(
      fc.property(paise, paise, (least, rise) => {
        const [lowest, highest] = [least / 100, (least + rise) / 100];
        const { from, to, ticks } = balanceAxis(lowest, highest);
        expect(from).toBeLessThanOrEqual(lowest + 1e-6 * highest);
        expect(to).toBeGreaterThanOrEqual(highest - 1e-6 * highest);
        expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length);
        expect(ticks.length).toBeGreaterThan(1);
        expect(ticks.length).toBeLessThan(8);
      }),
      { endOnFailure: true }, // two balances that are close to each other shrink a paisa at a time
    );
  });
});

describe('the line of the balances', () => {
  const y = (balance: number): number => 100 - balance;

  test('is one level line for a new world', () => {
    expect(stepPath([10], 200, y)).toBe('M0 90.0V90.0H200.0');
  });

  test('steps down and up at each change', () => {
    expect(stepPath([10, 4, 6], 300, y)).toBe('M0 90.0V90.0H100.0V96.0H200.0V94.0H300.0');
  });

  test('shows the lowest balance of thousands, however narrow it is', () => {
    const balances = Array.from({ length: 5000 }, (_, nth) => (nth === 2501 ? 0 : 50));
    const path = stepPath(balances, 300, y);
    expect(path).toContain('V100.0');
    expect(path.length).toBeLessThan(12_000);
  });
});

describe('the times of the chart', () => {
  const at = (...times: readonly string[]): readonly number[] =>
    times.map((time) => Date.parse(`2026-01-${time}:00+05:30`));
  const shown = (atMs: readonly number[], distance = 1): readonly string[] =>
    timeTicks(atMs, distance, atMs.length - 1).map(({ time, day }) =>
      day === null ? time : `${time} ${day}`,
    );

  test('on a frozen clock, show its only time once', () => {
    expect(shown(at('15T10:00', '15T10:00', '15T10:00'))).toEqual(['10:00 15 Jan']);
  });

  test('show seconds where minutes would be the same', () => {
    const start = Date.parse('2026-01-15T10:00:00+05:30');
    expect(shown([start, start + 2000, start + 4000])).toEqual(['10:00:00 15 Jan', '10:00:02', '10:00:04']);
  });

  test('show the date again when three days have passed, even where it takes the place of another time', () => {
    expect(shown(at('15T10:00', '15T10:20', '15T10:40', '18T10:20', '18T10:30'), 2)).toEqual([
      '10:00 15 Jan',
      '10:20 18 Jan',
    ]);
  });

  test('are never closer than the room that they need, nor so close to the end', () => {
    const times = Array.from({ length: 100 }, (_, minute) => minute * 60_000);
    const ticks = timeTicks(times, 12, 90);
    expect(ticks.map(({ index }) => index)).toEqual([0, 12, 24, 36, 48, 60, 72, 84]);
  });
});
