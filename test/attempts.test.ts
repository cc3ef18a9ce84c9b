import { expect, test } from 'vitest';
import { Attempts } from '../src/domain/attempts.ts';

const attemptsFor = (max = 1_000_000) => {
  const budget = { max, held: 0 };
  return { budget, attempts: new Attempts(budget) };
};

test('each reference is counted by itself, and by route', () => {
  const { attempts } = attemptsFor();
  const counted = [
    attempts.next('initiate', 'a'),
    attempts.next('initiate', 'a'),
    attempts.next('initiate', 'b'),
    attempts.next('status', 'a'),
    attempts.next('initiate', 'a'),
  ];
  expect(counted).toEqual([1, 2, 1, 1, 3]);
});

test('a reference that is used is remembered, however many others come; one that is not is forgotten', () => {
  const { attempts, budget } = attemptsFor();
  attempts.next('initiate', 'forgotten');
  for (let nth = 1; nth <= 30_000; nth += 1) {
    attempts.next('initiate', `other-${nth}`);
    if (nth % 1000 === 0) expect(attempts.next('initiate', 'kept')).toBe(nth / 1000);
  }
  expect(attempts.next('initiate', 'forgotten')).toBe(1);
  expect(budget.held).toBeLessThanOrEqual(10_000);
});

test('all worlds together hold no more than they may', () => {
  const budget = { max: 100, held: 0 };
  const worlds = Array.from({ length: 10 }, () => new Attempts(budget));
  for (let nth = 0; nth < 1000; nth += 1) {
    for (const attempts of worlds) attempts.next('initiate', `r${nth}`);
    expect(budget.held).toBeLessThanOrEqual(100 + worlds.length);
  }
  for (const attempts of worlds) attempts.clear();
  expect(budget.held).toBe(0);
});

test('counters that are kept and restored count on, and forget at the same time', () => {
  const [one, other] = [attemptsFor().attempts, attemptsFor().attempts];
  for (let nth = 0; nth < 7000; nth += 1) one.next('initiate', `r${nth}`);
  other.restore(structuredClone(one.counts));
  for (let nth = 6000; nth < 12_000; nth += 1) one.next('initiate', `r${nth}`);
  for (let nth = 6000; nth < 12_000; nth += 1) other.next('initiate', `r${nth}`);
  expect(other.counts).toEqual(one.counts);
});
