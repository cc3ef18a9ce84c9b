import fc from 'fast-check';
import { expect, test } from 'vitest';
import { barsOf, msAt, timeScale, xOf, type Tick } from '../../src/dashboard/overview/time-scale.ts';

const WIDTH = 800;
const moments = fc.uniqueArray(fc.integer({ min: 0, max: 1e12 }), { minLength: 2, maxLength: 50 });

test('time goes from left to right, and every place stands for one moment', () => {
  fc.assert(
    fc.property(moments, (given) => {
      const scale = timeScale(given, WIDTH);
      const sorted = given.toSorted((a, b) => a - b);
      const places = sorted.map((ms) => xOf(scale, ms));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(places[0]).toBeCloseTo(0);
      expect(places.at(-1)).toBeCloseTo(WIDTH);
      const span = sorted.at(-1)! - sorted[0]!;
      for (const ms of sorted)
        expect(Math.abs(msAt(scale, xOf(scale, ms)) - ms)).toBeLessThanOrEqual(span / 1e6 + 1);
    }),
  );
});

test('a night without events takes little of the ribbon', () => {
  const minute = 60_000;
  const day = 86_400_000;
  const busy = Array.from({ length: 10 }, (_, nth) => nth * minute);
  const scale = timeScale([...busy, ...busy.map((ms) => ms + day)], WIDTH);
  const night = xOf(scale, day) - xOf(scale, 9 * minute);
  expect(night).toBeLessThan(WIDTH / 4);
  expect(night).toBeGreaterThan(xOf(scale, minute));
});

test('payouts at the same place are one bar, and none at risk is hidden', () => {
  const scale = timeScale([0, 1000], WIDTH);
  const tick = (change: Partial<Tick>): Tick => ({
    atMs: 0,
    lane: 'made',
    isAhead: false,
    isRisk: false,
    ...change,
  });
  const bars = barsOf([tick({ isRisk: true }), tick({}), tick({}), tick({ atMs: 1000 })], scale);
  expect(bars.map(({ count, isRisk }) => [count, isRisk])).toEqual([
    [2, false],
    [1, false],
    [1, true],
  ]);
});
