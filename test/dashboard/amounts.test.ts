import { expect } from 'vitest';
import { parseAmount } from '../../src/dashboard/ui/formats.ts';
import { testRows } from '../support/test-rows.ts';

testRows([
  ['1500.50', 1500.5],
  ['1,500.50', 1500.5],
  ['₹ 1,00,000', 100_000],
  ['100,000', 100_000],
  ['12,34,567.8', 1_234_567.8],
  [' 5 ', 5],
])('amounts are read as people write them', (text, inr) => {
  expect(parseAmount(text)).toBe(inr);
});

testRows(['1500,50', '1,0,0', '10 000', '1.005', '-5', '1e3', '1,00', 'much', '', '₹'])(
  'an amount that can be read in two ways is refused',
  (text) => {
    expect(parseAmount(text)).toBeNull();
  },
);
