import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DueHeap, NO_KEY, NO_RUN, POSITION, STEP_WIDTH } from '../../src/ledger/due-heap.ts';

/** A heap of steps whose ids no number stands for, and beside it a list that is sorted. */
class Both {
  readonly #ids: string[] = [];
  #list: (readonly [dueMs: number, position: number])[] = [];
  /** What the heap gave, and what the list did. */
  readonly given: unknown[] = [];
  readonly sorted: unknown[] = [];
  /** How often the heap asked for an id. */
  looks = 0;
  readonly heap = new DueHeap((position) => {
    this.looks += 1;
    return this.#ids[position]!;
  });

  push(dueMs: number): void {
    const position = this.#ids.push(`id ${String(this.#ids.length).padStart(4, '0')}`) - 1;
    this.heap.push(Float64Array.of(dueMs, 0, NO_KEY, position), 0, NO_RUN);
    this.#list = [...this.#list, [dueMs, position] as const].toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  }

  pop(): void {
    const [first, ...others] = this.#list;
    if (first === undefined) return;
    this.given.push(this.heap.first(POSITION), this.heap.length);
    this.sorted.push(first[1], this.#list.length);
    this.heap.pop();
    this.#list = others;
  }

  popAll(): void {
    const rows = this.heap.popAll();
    this.given.push(
      Array.from({ length: rows.length / STEP_WIDTH }, (_, nth) => rows[nth * STEP_WIDTH + POSITION]),
    );
    this.given.push(this.heap.length);
    this.sorted.push(
      this.#list.map(([, position]) => position),
      0,
    );
    this.#list = [];
  }
}

test('all of a heap are taken in their order, whether they came in it or not, and whatever was taken before', () => {
  const anyDeed = fc.oneof(
    { weight: 12, arbitrary: fc.constant('later' as const) },
    { weight: 1, arbitrary: fc.record({ dueMs: fc.nat(20) }) },
    { weight: 2, arbitrary: fc.constant('pop' as const) },
    { weight: 1, arbitrary: fc.constant('popAll' as const) },
  );
  fc.assert(
    fc.property(fc.array(anyDeed, { maxLength: 60 }), (deeds) => {
      const both = new Both();
      for (const [nth, deed] of deeds.entries()) {
        if (deed === 'pop') both.pop();
        else if (deed === 'popAll') both.popAll();
        else both.push(deed === 'later' ? nth : deed.dueMs);
      }
      both.popAll();
      expect(both.given).toEqual(both.sorted);
    }),
    { numRuns: 200 },
  );
});

test('every order of a few steps becomes their one order', () => {
  const orders = (count: number): readonly (readonly number[])[] =>
    count === 0
      ? [[]]
      : orders(count - 1).flatMap((order) =>
          Array.from({ length: count }, (_, at) => order.toSpliced(at, 0, count)),
        );
  const both = new Both();
  for (const order of [1, 2, 3, 4, 5].flatMap(orders)) {
    for (const dueMs of order) both.push(dueMs);
    both.popAll();
  }
  expect(both.given).toEqual(both.sorted);
});

test('steps that came in their order are not compared once more, also after others that did not', () => {
  const both = new Both();
  for (const before of [[], [2, 1], [3, 3, 3], [1, 3, 2]]) {
    for (const dueMs of before) both.push(dueMs);
    both.popAll();
    for (let nth = 0; nth < 40; nth += 1) both.push(7);
    both.looks = 0;
    both.popAll();
    expect(both.looks).toBe(0);
  }
  expect(both.given).toEqual(both.sorted);
});

test('steps whose first was replaced are taken in their order', () => {
  const heap = new DueHeap(String);
  const step = (dueMs: number, position: number) => Float64Array.of(dueMs, 0, NO_KEY, position);
  for (const dueMs of [1, 2, 3]) heap.push(step(dueMs, dueMs), 0, NO_RUN);
  heap.replaceFirst(step(9, 9), 0);
  const rows = heap.popAll();
  expect([0, 1, 2].map((nth) => rows[nth * STEP_WIDTH + POSITION])).toEqual([2, 3, 9]);
});
