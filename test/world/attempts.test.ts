import { expect, test } from 'vitest';
import type { RouteName } from '../../src/contract/match.ts';
import { countAttempt } from '../../src/world/request/request-plan.ts';
import { noAttempts, type Attempts } from '../../src/world/state-shape.ts';

const held = ({ counts }: Attempts): number => counts.size;

const counter = (isFull = () => false) => {
  const attempts = noAttempts();
  const count = (id: string, route: RouteName = 'initiate') => countAttempt(attempts, route, id, isFull());
  return { attempts, count };
};

test('each reference is counted separately on each route', () => {
  const { count } = counter();
  expect([count('a'), count('a'), count('b'), count('a', 'status'), count('a')]).toEqual([1, 2, 1, 1, 3]);
});

test('of more than ten thousand references, the thousand that came first are forgotten', () => {
  const { attempts, count } = counter();
  for (let nth = 0; nth < 10_000; nth += 1) count(`r${nth}`);
  expect([count('r0'), held(attempts)]).toEqual([2, 10_000]);
  count('one more');
  expect([count('r1000'), count('r999'), held(attempts)]).toEqual([2, 1, 9002]);
});

test('a reference as long as a payout may have is counted; a longer one never is', () => {
  const { attempts, count } = counter();
  const twice = (text: string) => [count(text), count(text)];
  const texts = ['x'.repeat(128), 'x'.repeat(129), '\u{1f600}'.repeat(128), '\u{1f600}'.repeat(129)];
  expect(texts.map(twice)).toEqual([
    [1, 2],
    [1, 1],
    [1, 2],
    [1, 1],
  ]);
  expect(held(attempts)).toBe(2);
});

test('in a full sandbox, known references are counted and new ones are not', () => {
  let isFull = false;
  const { attempts, count } = counter(() => isFull);
  for (const id of ['a', 'b', 'c']) count(id);
  isFull = true;
  expect([count('a'), count('d'), count('d'), held(attempts)]).toEqual([2, 1, 1, 3]);
  expect(attempts.references).toBe(3);
});
