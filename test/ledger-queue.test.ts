import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DueQueue } from '../src/ledger/due-queue.ts';
import { Random } from './support/random.ts';

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
  readonly queue = new DueQueue((position) => this.#dues[position]!.txnId);
  #waiting: number[] = [];
  /** What the queue gave as its first, each time, and what the list did. */
  readonly given: unknown[] = [];
  readonly sorted: unknown[] = [];

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
const anyDue = fc.record({ dueMs: fc.nat(2), createdAtMs: fc.nat(2), txnId: anyId });

test('a queue gives what a sorted list gives, however steps come and go', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyDue, { selector: ({ txnId }) => txnId, maxLength: 80 }),
      fc.array(fc.nat(3), { maxLength: 80 }),
      (dues, pops) => {
        const both = new Both();
        for (const [nth, due] of dues.entries()) {
          both.push(due);
          for (let popped = 0; popped < (pops[nth] ?? 0) - 1; popped += 1) both.pop();
        }
        both.popAll();
        expect(both.given).toEqual(both.sorted);
      },
    ),
  );
});

test('of ids of one instant, those of another form come where their letters put them', () => {
  const ids = [
    '',
    'ABC000000000000F',
    'TXM000000000000F',
    'TXN',
    'TXN00000000000',
    'TXN00000000000:0',
    'TXN00000000000A00',
    'TXN00000000000A01',
    'TXN00000000000G',
    'TXN0000000000G0',
    'TXN000000000010',
    'TXNF00000000000',
    'TXNa00000000000',
    'TXO000000000000',
    'a',
  ].toSorted();
  for (const order of [ids, ids.toReversed(), ids.toSorted((a, b) => a.length - b.length)]) {
    const both = new Both();
    for (const txnId of order) both.push({ dueMs: 1, createdAtMs: 1, txnId });
    both.popAll();
    expect(both.given).toEqual(both.sorted);
  }
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
