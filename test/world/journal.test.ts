import { expect, test } from 'vitest';
import { MemoryBudget } from '../../src/world/journal/bounded-log.ts';
import { Journal } from '../../src/world/journal/journal.ts';
import type { Exchange } from '../../src/world/journal/exchange.ts';

const exchange = (change: Partial<Exchange> = {}): Exchange =>
  ({ nth: 0, method: 'GET', url: '/12345', headers: {}, outcome: 'pending', atMs: 0, ...change }) as Exchange;

const journalFor = (items: number, budgetBytes = 1e9) => {
  const budget = new MemoryBudget(budgetBytes);
  return { budget, journal: new Journal({ items, bytes: 1e9 }, budget) };
};

test('requests are numbered in the order of arrival, also after the journal was cleared', () => {
  const { journal } = journalFor(2);
  const numbers = () => journal.read().exchanges.map(({ nth }) => nth);
  expect([1, 2, 3].map(() => journal.begin(exchange(), 0).nth)).toEqual([1, 2, 3]);
  expect([numbers(), journal.read().evicted]).toEqual([[2, 3], 1]);
  expect([journal.clear(), journal.clear(), journal.read().evicted]).toEqual([2, 0, 0]);
  journal.begin(exchange(), 0);
  expect(numbers()).toEqual([4]);
});

test('a request is in the journal before it is answered, and its entry is completed as more is known', () => {
  const { journal, budget } = journalFor(2);
  const { nth, update } = journal.begin(exchange({ body: '12' }), 10);
  expect(journal.read().exchanges).toMatchObject([{ nth: 1, outcome: 'pending' }]);
  expect(budget.bytes).toBe(1000 + 6 + 2 + 10);
  const answer = { status: 200, headers: {}, body: '123' };
  update(exchange({ nth, body: '12', answer, outcome: 'answered' }));
  expect(journal.read().exchanges).toMatchObject([{ nth: 1, outcome: 'answered', answer }]);
  expect(budget.bytes).toBe(1000 + 6 + 2 + 3 + 10);
});

test('an answer to a request that was dropped changes nothing', () => {
  const { journal, budget } = journalFor(1);
  const first = journal.begin(exchange(), 0);
  journal.begin(exchange(), 0);
  first.update(exchange({ nth: 1, outcome: 'answered' }));
  expect(journal.read().exchanges).toMatchObject([{ nth: 2, outcome: 'pending' }]);
  expect(budget.bytes).toBe(1006);
});

test('an entry says which requests began before its own ended, however short the time between them', () => {
  const { journal } = journalFor(9);
  const [first, second] = [1, 2].map(() => journal.begin(exchange(), 0));
  second!.update(exchange({ nth: 2, outcome: 'answered' }));
  journal.begin(exchange(), 0);
  first!.update(exchange({ nth: 1, outcome: 'fault' }));
  const ends = journal.read().exchanges.map(({ endedAfter }) => endedAfter);
  expect(ends).toEqual([3, 2, undefined]);
});

test('past the memory of all journals, the oldest request of all is dropped, whatever its world', () => {
  const budget = new MemoryBudget(2500);
  const [quiet, busy] = [1, 2].map(() => new Journal({ items: 10, bytes: 1e9 }, budget));
  quiet!.begin(exchange(), 0);
  busy!.begin(exchange(), 0);
  busy!.begin(exchange(), 0);
  expect([quiet!.read().exchanges.length, quiet!.read().evicted, busy!.read().exchanges.length]).toEqual([
    0, 1, 2,
  ]);
});
