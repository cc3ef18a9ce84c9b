import { expect, test } from 'vitest';
import { parseAmount } from '../../src/dashboard/ui/amounts.ts';

test.each([
  ['1500.50', 1500.5],
  ['1,500.50', 1500.5],
  ['₹ 1,00,000', 100_000],
  ['100,000', 100_000],
  ['12,34,567.8', 1_234_567.8],
  [' 5 ', 5],
])('%j is an amount', (text, inr) => {
  expect(parseAmount(text)).toBe(inr);
});

test.each(['1500,50', '1,0,0', '10 000', '1.005', '-5', '1e3', '1,00', 'much', '', '₹'])(
  '%j is refused, rather than read in one of two ways',
  (text) => {
    expect(parseAmount(text)).toBeNull();
  },
);
