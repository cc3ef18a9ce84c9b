import { expect, test } from 'vitest';
import { EventLog, type EventReader, type PublishedEvent } from '../../src/log/event-log.ts';
import { MemoryBudget } from '../../src/world/journal/bounded-log.ts';

/** A reader that remembers what it was told. */
function reader(): EventReader & { readonly told: PublishedEvent[]; ended: number } {
  const told: PublishedEvent[] = [];
  const reading = {
    told,
    ended: 0,
    take: (event: PublishedEvent) => void told.push(event),
    end: () => void (reading.ended += 1),
  };
  return reading;
}

const logOf = (budgetBytes = 1e9) => new EventLog(36 * 36, new MemoryBudget(budgetBytes));
const positions = ({ told }: { told: readonly PublishedEvent[] }) =>
  told.map(({ id, type }) => (type === 'missed' ? `missed up to ${id}` : id));

test('events are numbered from the first reader on; before that, none are built', () => {
  const log = logOf();
  log.publish('clock', () => expect.fail('nobody asked'));
  expect(log.isWatched).toBe(false);
  const one = reader();
  const stop = log.read(undefined, one);
  expect(log.isWatched).toBe(true);
  log.publish('clock', () => ({ now: 'then' }));
  const other = reader();
  log.read(undefined, other);
  log.publish('wallet', () => 2);
  stop();
  log.publish('rule', () => 3);
  expect(one.told).toEqual([
    { id: '100-2', type: 'clock', data: '{"now":"then"}' },
    { id: '100-3', type: 'wallet', data: '2' },
  ]);
  expect(positions(other)).toEqual(['100-3', '100-4']);
});

test('a reader resumes after the last event it has, and learns how many it missed', () => {
  const log = logOf();
  log.read(undefined, reader())();
  for (let nth = 2; nth <= 1001; nth += 1) log.publish('clock', () => nth);
  const from = (id: string) => {
    const one = reader();
    log.read(id, one)();
    return one;
  };
  expect(positions(from('100-1001'))).toEqual([]);
  expect(positions(from('100-999'))).toEqual(['100-1000', '100-1001']);
  expect(from('100-1').told).toHaveLength(1000);
  expect(from('100-0').told.slice(0, 2)).toEqual([
    { id: '100-1', type: 'missed', data: '{"missed":1}' },
    { id: '100-2', type: 'clock', data: '2' },
  ]);
  for (const foreign of ['100-1002', '101-5', 'x100-5', '100-5x', '100-', '100-1234567890123456', '/100-5']) {
    expect(from(foreign).told.slice(0, 1)).toEqual([
      { id: '100-1', type: 'missed', data: '{"missed":null}' },
    ]);
    expect(from(foreign).told).toHaveLength(1001);
  }
});

test('after a thousand unread events, later ones are only counted', () => {
  const log = logOf();
  log.read(undefined, reader())();
  let made = 0;
  for (let nth = 0; nth < 1003; nth += 1) log.publish('clock', () => (made += 1));
  expect(made).toBe(1000);
  const late = reader();
  log.read('100-1', late);
  expect(late.told).toEqual([{ id: '100-1004', type: 'missed', data: '{"missed":1003}' }]);
  log.publish('clock', () => 'again');
  expect(late.told[1]).toEqual({ id: '100-1005', type: 'clock', data: '"again"' });
  for (let nth = 0; nth < 1001; nth += 1) log.publish('clock', () => (made += 1));
  expect([made, late.told.length]).toEqual([2001, 1003]); // while somebody reads, all of them are made
});

test('the count of unread events restarts with each reader', () => {
  const log = logOf();
  let made = 0;
  for (const sum of [900, 1800]) {
    log.read(undefined, reader())();
    for (let nth = 0; nth < 900; nth += 1) log.publish('clock', () => (made += 1));
    expect(made).toBe(sum);
  }
});

test('a world keeps up to a megabyte of events, which includes the overhead of each', () => {
  const log = logOf();
  log.read(undefined, reader());
  const twoKib = 'x'.repeat(2048 - 200 - 2); // and its quotes
  for (let nth = 0; nth < 512; nth += 1) log.publish('clock', () => twoKib);
  const from = () => {
    const late = reader();
    log.read('100-1', late)();
    return late.told;
  };
  expect(from()).toHaveLength(512);
  expect(from()[0]).toMatchObject({ id: '100-2', type: 'clock' });
  log.publish('clock', () => '');
  expect(from().slice(0, 2)).toMatchObject([{ id: '100-2', data: '{"missed":1}' }, { id: '100-3' }]);
});

test('a world has at most 32 readers at once', () => {
  const log = logOf();
  const stops = Array.from({ length: 32 }, (_, nth) => {
    expect([nth, log.isFull]).toEqual([nth, false]);
    return log.read(undefined, reader());
  });
  expect(log.isFull).toBe(true);
  stops[0]!();
  expect(log.isFull).toBe(false);
});

test('closing an event log ends each reader once, and releases its memory', () => {
  const budget = new MemoryBudget(1e9);
  const log = new EventLog(1, budget);
  const [one, other] = [reader(), reader()];
  log.read(undefined, one);
  log.read(undefined, other);
  log.publish('clock', () => 1);
  expect(budget.bytes).toBe(201);
  log.close();
  log.close();
  expect([one.ended, other.ended, budget.bytes]).toEqual([1, 1, 0]);
});
