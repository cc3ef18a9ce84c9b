import { expect, test } from 'vitest';
import { Attempts } from '../../src/world/attempts.ts';

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

test('a reference as long as a payout may have is counted; a longer one never is', () => {
  const { attempts, budget } = attemptsFor();
  const count = (length: number) => [1, 2].map(() => attempts.next('initiate', 'x'.repeat(length)));
  expect([count(128), count(129)]).toEqual([
    [1, 2],
    [1, 1],
  ]);
  expect(budget.held).toBe(1);
});

test('what was not used among the last five thousand references is the next to be forgotten', () => {
  const { attempts, budget } = attemptsFor();
  const use = (from: number, to: number) => {
    for (let nth = from; nth < to; nth += 1) attempts.next('initiate', `r${nth}`);
  };
  const sizes = () => [attempts.counts.old.length, attempts.counts.young.length, budget.held];
  use(0, 4999);
  expect(sizes()).toEqual([0, 4999, 4999]);
  use(4999, 5000);
  expect(sizes()).toEqual([5000, 0, 5000]);
  expect(attempts.next('initiate', 'r0')).toBe(2);
  expect(sizes()).toEqual([4999, 1, 5000]);
  use(5000, 9999);
  expect(sizes()).toEqual([5000, 0, 5000]);
  expect(['r0', 'r1'].map((id) => attempts.next('initiate', id))).toEqual([3, 1]);
  attempts.clear();
  expect(sizes()).toEqual([0, 0, 0]);
});

test('past what all worlds may hold, the world that is asked forgets what it used before', () => {
  const { attempts, budget } = attemptsFor(3);
  const counts = ['a', 'b', 'c', 'a', 'd', 'e', 'f', 'b', 'd'].map((id) => attempts.next('initiate', id));
  expect(counts).toEqual([1, 1, 1, 2, 1, 1, 1, 1, 1]);
  expect(budget.held).toBe(attempts.counts.old.length + attempts.counts.young.length);
  const { attempts: full } = attemptsFor(3);
  for (const id of ['a', 'b', 'c']) full.next('initiate', id);
  expect([full.counts.old.length, full.counts.young.length]).toEqual([0, 3]); // as many as there may be
  full.next('initiate', 'd');
  expect([full.counts.old.length, full.counts.young.length]).toEqual([4, 0]);
});

test('counters that are restored take the place of those that were, and no more than there is room for', () => {
  const { attempts, budget } = attemptsFor(7000);
  attempts.next('initiate', 'before');
  const many = (letter: string) =>
    Array.from({ length: 5001 }, (_, nth): [string, number] => [`initiate ${letter}${nth}`, 7]);
  attempts.restore({ old: many('o').slice(0, 2), young: [['initiate y', 3]] });
  expect([attempts.counts, budget.held]).toEqual([
    { old: many('o').slice(0, 2), young: [['initiate y', 3]] },
    3,
  ]);
  expect(['o1', 'y', 'before'].map((id) => attempts.next('initiate', id))).toEqual([8, 4, 1]);
  attempts.restore({ old: many('o'), young: many('y') });
  expect([attempts.counts.old.length, attempts.counts.young.length, budget.held]).toEqual([5000, 0, 5000]);
  expect(attempts.next('initiate', 'y4999')).toBe(8);
  const wide = attemptsFor().attempts;
  wide.restore({ old: many('o'), young: many('y') });
  expect([wide.counts.old.length, wide.counts.young.length]).toEqual([5000, 5000]);
  attempts.restore({ old: many('o').slice(0, 2000), young: many('y') });
  expect([attempts.counts.old.length, attempts.counts.young.length, budget.held]).toEqual([2000, 5000, 7000]);
});
