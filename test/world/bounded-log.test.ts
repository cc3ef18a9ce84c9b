import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundedLog, type Item, MemoryBudget } from '../../src/world/journal/bounded-log.ts';

/** What logs are meant to do, written a second time: a list of all items, the oldest of which are dropped. */
class Model {
  all: { owner: number; value: number; bytes: number }[] = [];
  evicted = [0, 0, 0];
  readonly items: number;
  readonly bytes = 400;
  readonly budget = 700;

  constructor(items: number) {
    this.items = items;
  }

  of(owner: number) {
    return this.all.filter((item) => item.owner === owner);
  }

  shrink(owner: number): void {
    const sum = (list: { bytes: number }[]) => list.reduce((total, { bytes }) => total + bytes, 0);
    while (this.all.length > 0 && sum(this.all) > this.budget) this.evict(this.all[0]!);
    for (let own = this.of(owner); own.length > this.items || sum(own) > this.bytes; own = this.of(owner))
      this.evict(own[0]!);
  }

  evict(item: { owner: number }): void {
    this.all.splice(this.all.indexOf(item as never), 1);
    this.evicted[item.owner]! += 1;
  }
}

const anySteps = fc.array(
  fc.oneof(
    { weight: 60, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 90 }), owner: fc.nat(2) }) },
    { weight: 20, arbitrary: fc.record({ bytes: fc.integer({ min: 1, max: 150 }), back: fc.nat(12) }) },
    { weight: 1, arbitrary: fc.record({ clear: fc.nat(2) }) },
  ),
  { minLength: 150, maxLength: 400, size: 'max' },
);

test('logs keep the latest items, each within its own limits and all within a shared one: the oldest of all is dropped first', () => {
  fc.assert(
    fc.property(anySteps, fc.integer({ min: 1, max: 12 }), (steps, items) => {
      const model = new Model(items);
      const budget = new MemoryBudget(model.budget);
      const logs = [0, 1, 2].map(() => new BoundedLog<number>(model, budget));
      const added: [owner: number, item: Item<number>, value: number][] = [];
      for (const [nth, step] of steps.entries()) {
        if ('add' in step) {
          added.push([step.owner, logs[step.owner]!.add(nth, step.add), nth]);
          model.all.push({ owner: step.owner, value: nth, bytes: step.add });
          model.shrink(step.owner);
        } else if ('bytes' in step) {
          const [owner, item, value] = added.at(-1 - step.back) ?? [];
          if (owner === undefined || item === undefined) continue;
          logs[owner]!.replace(item, value!, step.bytes);
          const kept = model.all.find((one) => one.value === value);
          if (kept !== undefined) kept.bytes = step.bytes;
          model.shrink(owner);
        } else {
          logs[step.clear]!.clear();
          model.all = model.all.filter(({ owner }) => owner !== step.clear);
          model.evicted[step.clear] = 0;
        }
        const seen = logs.map((log) => [log.items(), log.size, log.evicted]);
        const meant = [0, 1, 2].map((owner) => {
          const values = model.of(owner).map(({ value }) => value);
          return [values, values.length, model.evicted[owner]];
        });
        expect(seen).toEqual(meant);
        expect(budget.bytes).toBe(model.all.reduce((total, { bytes }) => total + bytes, 0));
      }
    }),
    { numRuns: 20 },
  );
});

test('an item larger than the limit drops all others, and is not kept either', () => {
  const budget = new MemoryBudget(100);
  const log = new BoundedLog<string>({ items: 10, bytes: 50 }, budget);
  log.add('small', 50);
  expect(log.items()).toEqual(['small']);
  log.add('large', 51);
  expect([log.items(), budget.bytes, log.evicted, log.size]).toEqual([[], 0, 2, 0]);
  log.dropOldest();
  expect(log.evicted).toBe(2);
});

test('an item may be replaced by a larger one, for which older ones are dropped, and no more once it was dropped', () => {
  const budget = new MemoryBudget(100);
  const log = new BoundedLog<string>({ items: 10, bytes: 50 }, budget);
  const first = log.add('first', 10);
  const second = log.add('second', 10);
  log.replace(second, 'second, answered', 45);
  expect([log.items(), budget.bytes]).toEqual([['second, answered'], 45]);
  log.replace(first, 'late', 5);
  expect([log.items(), budget.bytes]).toEqual([['second, answered'], 45]);
});

test('an item that was dropped has released its value', () => {
  const log = new BoundedLog<string>({ items: 1, bytes: 50 }, new MemoryBudget(100));
  const dropped = log.add('first', 1);
  const cleared = log.add('second', 1);
  log.clear();
  expect([dropped.value, cleared.value]).toEqual([undefined, undefined]);
});
