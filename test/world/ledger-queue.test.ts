import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DueQueue } from '../../src/ledger/due-queue.ts';
import { Random } from '../support/random.ts';

interface Due {
  readonly dueMs: number;
  readonly createdAtMs: number;
  readonly txnId: string;
}

const inOrder = (a: Due, b: Due): number =>
  a.dueMs - b.dueMs || a.createdAtMs - b.createdAtMs || (a.txnId < b.txnId ? -1 : 1);

/** A queue, and beside it a list that is sorted. */
class Both {
  readonly #dues: Due[] = [];
  readonly queue: DueQueue;
  #waiting: number[] = [];
  /** What the queue gave as its first, each time, and what the list did. */
  readonly given: unknown[] = [];
  readonly sorted: unknown[] = [];

  constructor(mostNew?: number) {
    this.queue = new DueQueue((position) => this.#dues[position]!.txnId, mostNew);
  }

  /** Sets out what is due by a time, if nothing is set out. */
  setOut(untilMs: number): void {
    if (this.queue.isSetOut) return;
    const due = this.#waiting.filter((position) => this.#dues[position]!.dueMs <= untilMs);
    this.given.push(this.queue.setOut(untilMs), this.queue.isSetOut);
    this.sorted.push(due.slice(0, 64), due.length > 0);
  }

  push(due: Due): void {
    const position = this.#dues.push(due) - 1;
    this.queue.push(due.dueMs, due.createdAtMs, due.txnId, position);
    const after = this.#waiting.findIndex((other) => inOrder(due, this.#dues[other]!) < 0);
    this.#waiting.splice(after === -1 ? this.#waiting.length : after, 0, position);
  }

  pop(): void {
    const [first] = this.#waiting;
    const due = first === undefined ? undefined : { dueMs: this.#dues[first]!.dueMs, position: first };
    this.given.push(this.queue.peek());
    this.sorted.push(due);
    if (due === undefined) return;
    this.queue.pop();
    this.#waiting = this.#waiting.slice(1);
  }

  popAll(): void {
    while (this.#waiting.length > 0) this.pop();
    this.pop();
  }
}

/** Ids that nearly are of the form that ids have here, and such that are; many begin alike. */
const anyId = fc.oneof(
  fc.stringMatching(/^[0-9A-F]{15}$/).map((digits) => `TXN${digits}`),
  fc.stringMatching(/^[0-9A-F]{2}$/).map((digits) => `TXN00000000000${digits}`),
  fc
    .tuple(fc.constantFrom('TXN', 'TXM', 'TXO', 'XNT', 'aTXN'), fc.stringMatching(/^[019AF]{12}$/))
    .map((parts) => parts.join('')),
  fc
    .tuple(fc.nat(12), fc.constantFrom('/', ':', '@', 'G', '`', 'a', 'g', '0', '9', 'A', 'F'))
    .map(([at, digit]) => `TXN${'0'.repeat(at)}${digit}${'0'.repeat(12 - at)}`),
  fc.nat(14).map((length) => `TXN${'0'.repeat(length)}`),
  fc.stringMatching(/^[a-zA-Z0-9]{0,20}$/), // a snapshot may hold any id
);
const anyDue = fc.record({ dueMs: fc.nat(1), createdAtMs: fc.nat(1), txnId: anyId });

test('a queue gives what a sorted list gives, however steps come and go', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyDue, { selector: ({ txnId }) => txnId, maxLength: 80, size: 'max' }),
      fc.array(fc.nat(9), { minLength: 80, maxLength: 80 }),
      fc.array(fc.nat(9), { minLength: 80, maxLength: 80 }),
      fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 90 })), // so that there are many runs, and few
      (dues, pops, setsOut, mostNew) => {
        const both = new Both(mostNew);
        for (const [nth, due] of dues.entries()) {
          both.push(due);
          for (let popped = 7; popped < (pops[nth] ?? 0); popped += 1) both.pop(); // fewer than come, so that many wait
          if (setsOut[nth]! < 2) both.setOut(setsOut[nth]!);
        }
        both.popAll();
        expect(both.given).toEqual(both.sorted);
      },
    ),
  );
});

/** Characters on both sides of each edge of what is a digit here. */
const DIGITS = Array.from('!/09:@ABFGH');
const ALL_IDS = [
  ...DIGITS.flatMap((a) =>
    DIGITS.flatMap((b) =>
      DIGITS.flatMap((c) => ['0', 'A'].map((digit) => `TXN${digit.repeat(9)}${a}${b}${c}`)),
    ),
  ),
  ...Array.from({ length: 17 }, (_, length) => 'TXN00000000000000'.slice(0, length)), // of every length
  ...['AAA', 'TX0', 'TXM', 'TXO', 'XXX'].flatMap((start) => [
    `${start}${'0'.repeat(12)}`,
    `${start}${'F'.repeat(12)}`,
  ]),
  'ZZZ000000000000TXN',
  'AAAFFFFFFFFFFFFTXN',
];

test('ids of one instant are in the order of texts, at every edge of what is a number', () => {
  const ids = [...new Set(ALL_IDS)];
  const random = new Random('queue', 'edges');
  for (const order of [ids, ids.toReversed(), ids.toSorted(() => random.below(3) - 1)]) {
    const queue = new DueQueue((position) => order[position]!);
    for (const [position, txnId] of order.entries()) queue.push(1, 1, txnId, position);
    const given: string[] = [];
    for (let due = queue.peek(); due !== undefined; due = queue.peek()) {
      given.push(order[due.position]!);
      queue.pop();
    }
    expect(given).toEqual(ids.toSorted());
  }
});

test('an id of the form that ids have here is not looked at, unless another begins with the same digits', () => {
  const digits = Array.from('0123456789ABCDEF');
  const begins = digits.flatMap((digit) =>
    Array.from({ length: 12 }, (_, at) => `${'0'.repeat(at)}${digit}${'F'.repeat(11 - at)}`),
  );
  const ids = [...new Set(['0'.repeat(12), 'F'.repeat(12), '000000000001', ...begins])].flatMap(
    (begin, nth) => (nth % 3 === 0 ? [`TXN${begin}`] : [`TXN${begin}${String(nth).repeat(2)}`]),
  );
  let looks = 0;
  const queue = new DueQueue((position) => {
    looks += 1;
    return ids[position]!;
  });
  for (const [position, txnId] of ids.entries()) queue.push(1, 1, txnId, position);
  const given = ids.map(() => {
    const { position } = queue.peek()!;
    queue.pop();
    return ids[position]!;
  });
  expect(given).toEqual(ids.toSorted());
  expect(looks).toBe(0);
  queue.push(1, 1, `${ids[0]!}1`, 1);
  queue.push(1, 1, `${ids[0]!}2`, 2);
  expect(looks).toBeGreaterThan(0);
});

test('steps that were many enough are put in order once, and then each is taken with one comparison', () => {
  const ids = Array.from({ length: 101 }, (_, nth) => `id ${1000 + nth}`);
  let looks = 0;
  const queue = new DueQueue((position) => {
    looks += 1;
    return ids[position]!;
  }, 100);
  for (const [position, txnId] of ids.entries()) queue.push(1, 1, txnId, position);
  looks = 0;
  for (let nth = 0; nth < 100; nth += 1) queue.pop();
  expect(queue.peek()).toEqual({ dueMs: 1, position: 100 });
  expect(looks).toBe(2 * 100); // two ids each time
});

test('of what is due, no more is set out than 64, and no more before it was taken', () => {
  for (const count of [0, 1, 63, 64, 65, 200]) {
    const both = new Both();
    for (let nth = 0; nth < count; nth += 1) both.push({ dueMs: 5, createdAtMs: 0, txnId: `TXN${nth}` });
    both.push({ dueMs: 6, createdAtMs: 0, txnId: 'TXN' });
    both.setOut(5);
    both.push({ dueMs: 4, createdAtMs: 0, txnId: 'earlier' }); // comes before what is set out
    both.popAll();
    expect(both.given).toEqual(both.sorted);
  }
  const queue = new DueQueue(String);
  queue.push(1, 1, 'TXN1', 0);
  queue.setOut(1);
  expect(() => queue.setOut(1)).toThrow('what is set out is taken first');
});

test('a queue of thousands gives them in their order, while others come', () => {
  const random = new Random('queue', 'thousands');
  const dues: number[] = [];
  const queue = new DueQueue(String);
  const push = (): void => {
    const dueMs = random.below(1_000_000);
    queue.push(dueMs, 0, '', dues.push(dueMs) - 1);
  };
  const pop = (): number => {
    const { dueMs, position } = queue.peek()!;
    expect(dueMs).toBe(dues[position]);
    queue.pop();
    return dueMs;
  };
  for (let nth = 0; nth < 9000; nth += 1) push();
  const first = Array.from({ length: 6000 }, pop);
  expect(first).toEqual(dues.toSorted((a, b) => a - b).slice(0, 6000));
  const left = dues.toSorted((a, b) => a - b).slice(6000);
  for (let nth = 0; nth < 6000; nth += 1) push();
  expect(Array.from({ length: 9000 }, pop)).toEqual([...left, ...dues.slice(9000)].toSorted((a, b) => a - b));
  expect(queue.peek()).toBeUndefined();
});
