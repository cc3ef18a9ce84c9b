import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventLog, type EventReader, type WorldEvent } from '../../src/world/event-log.ts';
import { History, HistoryBudget, type Kept } from '../../src/world/bounded-log.ts';

/** What histories are meant to do, told a second time: a list of all items, and who makes room. */
class Model {
  all: { owner: number; item: number; bytes: number }[] = [];
  evicted = [0, 0, 0];

  readonly items: number;
  readonly bytes = 400;
  readonly budget = 700;

  constructor(items: number) {
    this.items = items;
  }

  of(owner: number) {
    return this.all.filter((kept) => kept.owner === owner);
  }

  settle(owner: number): void {
    const sum = (list: { bytes: number }[]) => list.reduce((total, { bytes }) => total + bytes, 0);
    while (this.all.length > 0 && sum(this.all) > this.budget) this.evict(this.all[0]!);
    for (let own = this.of(owner); own.length > this.items || sum(own) > this.bytes; own = this.of(owner))
      this.evict(own[0]!);
  }

  evict(kept: { owner: number }): void {
    this.all.splice(this.all.indexOf(kept as never), 1);
    this.evicted[kept.owner]! += 1;
  }
}

const anySteps = fc.array(
  fc.oneof(
    { weight: 60, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 90 }), owner: fc.nat(2) }) },
    { weight: 20, arbitrary: fc.record({ grow: fc.integer({ min: 1, max: 60 }), back: fc.nat(12) }) },
    { weight: 1, arbitrary: fc.record({ clear: fc.nat(2) }) },
  ),
  { minLength: 150, maxLength: 400, size: 'max' },
);

test('histories keep the latest, each within its bounds and all within theirs: the oldest of all makes room', () => {
  fc.assert(
    fc.property(anySteps, fc.integer({ min: 1, max: 12 }), (steps, items) => {
      const model = new Model(items);
      const budget = new HistoryBudget(model.budget);
      const histories = [0, 1, 2].map(() => new History<number>(model, budget));
      const handles: [owner: number, kept: Kept<number>][] = [];
      for (const [nth, step] of steps.entries()) {
        if ('add' in step) {
          handles.push([step.owner, histories[step.owner]!.add(nth, step.add)]);
          model.all.push({ owner: step.owner, item: nth, bytes: step.add });
          model.settle(step.owner);
        } else if ('grow' in step) {
          const handle = handles.at(-1 - step.back);
          if (handle === undefined) continue;
          histories[handle[0]]!.grow(handle[1], step.grow);
          const kept = model.all.find(({ item }) => item === handle[1].item);
          if (kept !== undefined) kept.bytes += step.grow;
          model.settle(handle[0]);
        } else {
          histories[step.clear]!.clear();
          model.all = model.all.filter(({ owner }) => owner !== step.clear);
          model.evicted[step.clear] = 0;
        }
        const seen = histories.map((history) => [history.items(), history.size, history.evicted]);
        const meant = [0, 1, 2].map((owner) => {
          const items = model.of(owner).map(({ item }) => item);
          return [items, items.length, model.evicted[owner]];
        });
        expect(seen).toEqual(meant);
        expect(budget.bytes).toBe(model.all.reduce((total, { bytes }) => total + bytes, 0));
      }
    }),
    { numRuns: 20 },
  );
});

test('an item that is larger than all that may be kept is not kept, and what was before it is gone', () => {
  const budget = new HistoryBudget(100);
  const history = new History<string>({ items: 10, bytes: 50 }, budget);
  history.add('small', 50);
  expect(history.items()).toEqual(['small']);
  history.add('large', 51);
  expect(history.items()).toEqual([]);
  expect([budget.bytes, history.evicted, history.size]).toEqual([0, 2, 0]);
  history.forgetOldest();
  expect(history.evicted).toBe(2);
  const gone = history.add('first', 10);
  history.add('second', 45);
  expect(gone).toMatchObject({ isKept: false, older: null, newer: null }); // whoever holds it holds nothing else
  history.add('third', 1);
  const others = new History<string>({ items: 10, bytes: 50 }, budget);
  const between = others.add('between', 1);
  history.add('fourth', 1);
  others.clear();
  expect(between).toMatchObject({ isKept: false, older: null, newer: null });
  history.clear();
  expect(budget.bytes).toBe(0);
});

/** A reader that remembers what it was told. */
function reader(): EventReader & { readonly told: WorldEvent[]; ended: number } {
  const told: WorldEvent[] = [];
  const reading = {
    told,
    ended: 0,
    take: (event: WorldEvent) => void told.push(event),
    end: () => void (reading.ended += 1),
  };
  return reading;
}

const logOf = (budgetBytes = 1e9) => new EventLog(36 * 36, new HistoryBudget(budgetBytes));
const positions = ({ told }: { told: readonly WorldEvent[] }) =>
  told.map(({ id, type }) => (type === 'missed' ? `missed up to ${id}` : id));

test('events are numbered from the first reader on; nothing is made of those that nobody reads', () => {
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

test('a reader goes on where it stopped, and is told how many it missed', () => {
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

test('events that nobody comes back for are counted, and no longer made once a thousand have gone unread', () => {
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

test('what goes unread is counted anew after each reader', () => {
  const log = logOf();
  let made = 0;
  for (const sum of [900, 1800]) {
    log.read(undefined, reader())();
    for (let nth = 0; nth < 900; nth += 1) log.publish('clock', () => (made += 1));
    expect(made).toBe(sum);
  }
});

test('the events of a world are kept up to a megabyte, each with what it takes besides its text', () => {
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

test('thirty-two may read at once', () => {
  const log = logOf();
  const stops = Array.from({ length: 32 }, (_, nth) => {
    expect([nth, log.isFull]).toEqual([nth, false]);
    return log.read(undefined, reader());
  });
  expect(log.isFull).toBe(true);
  stops[0]!();
  expect(log.isFull).toBe(false);
});

test('a log that is closed tells all its readers, once, and gives its memory back', () => {
  const budget = new HistoryBudget(1e9);
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
