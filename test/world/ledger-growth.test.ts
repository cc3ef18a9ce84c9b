import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DueQueue } from '../../src/ledger/due-queue.ts';
import { TextIndex } from '../../src/ledger/text-index.ts';
import { LEDGERS } from '../support/ledgers.ts';
import {
  anyTimeline,
  bookOf,
  inspect,
  look,
  newPayout,
  OPENED_AT_MS,
  pay,
  step,
} from '../support/payouts.ts';

const at = (ms: number): number => OPENED_AT_MS + ms;

test('an index finds the position of every text that it was told of, and of no other', () => {
  const texts: string[] = [];
  const index = new TextIndex((position) => texts[position]!);
  const count = 60_000; // so many that its parts were parted again and again
  for (let nth = 0; nth < count; nth += 1) {
    texts.push(`order-${nth}`);
    index.set(texts[nth]!, nth);
  }
  for (const [nth, text] of texts.entries()) {
    if (index.find(text) !== nth) throw new Error(`${text} is at ${index.find(text)}, not ${nth}`);
    if (index.has(`${text}x`)) throw new Error(`${text}x is nowhere`);
  }
  expect(index.size).toBe(count);
});

test('an index does what a map does, whatever the texts are and however often they are set', () => {
  const anyText = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.string({ unit: 'grapheme', maxLength: 3 }),
    fc.constantFrom('a', 'b', 'c'),
  );
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 200 }), (texts) => {
      const index = new TextIndex((position) => texts[position]!);
      const map = new Map<string, number>();
      for (const [nth, text] of texts.entries()) {
        expect(index.has(text)).toBe(map.has(text));
        index.set(text, nth);
        map.set(text, nth);
      }
      for (const [text, nth] of map) expect(index.find(text)).toBe(nth);
      expect(index.size).toBe(map.size);
    }),
  );
});

test('the queue gives steps by their time, then their creation, then the id of their payout', () => {
  const anyId = fc.oneof(
    fc.stringMatching(/^[0-9A-F]{24}$/).map((digits) => `TXN${digits}`),
    fc.constantFrom('A', 'B').map((digit) => `TXN00000000000${digit}000000000001`), // the same but for one digit
    fc.stringMatching(/^[a-zA-Z0-9]{1,30}$/), // a snapshot may hold any id
  );
  const anyDue = fc.record({ dueMs: fc.nat(3), createdAtMs: fc.nat(3), txnId: anyId });
  fc.assert(
    fc.property(fc.uniqueArray(anyDue, { selector: ({ txnId }) => txnId, maxLength: 300 }), (dues) => {
      const queue = new DueQueue((position) => dues[position]!.txnId);
      for (const [nth, { dueMs, createdAtMs, txnId }] of dues.entries())
        queue.push(dueMs, createdAtMs, txnId, nth);
      const given: string[] = [];
      for (let due = queue.peek(); due !== undefined; due = queue.peek()) {
        given.push(dues[due.position]!.txnId);
        queue.pop();
      }
      const sorted = dues.toSorted(
        (a, b) => a.dueMs - b.dueMs || a.createdAtMs - b.createdAtMs || (a.txnId < b.txnId ? -1 : 1),
      );
      expect(given).toEqual(sorted.map(({ txnId }) => txnId));
    }),
  );
});

describe.each(LEDGERS)('the %s ledger, grown', (_name, makeLedger) => {
  test('what was seen of a book stays as it was, whatever happens before it is read', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyTimeline, { minLength: 1, maxLength: 12 }),
        fc.nat(2000),
        fc.integer({ min: 1, max: 2000 }),
        async (timelines, seenMs, laterMs) => {
          const ledger = makeLedger(1000);
          const book = bookOf(1_000_000);
          for (const [nth, timeline] of timelines.entries())
            await pay(ledger, book, at(0), newPayout(`r${nth}`, { timeline: timeline(at(0)) }));
          const shown = await inspect(ledger, book, at(seenMs));
          const seen = await ledger.inspect(book, at(seenMs));
          await pay(ledger, book, at(seenMs), newPayout('more', { timeline: [step('FAILED', at(seenMs))] }));
          await ledger.settle(book, at(seenMs + laterMs), 1000);
          for (const nth of timelines.keys())
            await look(ledger, book, at(seenMs + laterMs), { clientRefId: `r${nth}` });
          await ledger.transition(book, at(seenMs + laterMs), newPayout('r0').txnId, 'REVERSED', true);
          await ledger.move(book, at(seenMs + laterMs), 'credit', 5);
          expect([...seen.entries]).toEqual(shown.entries);
          expect([...seen.transactions]).toEqual(shown.transactions);
          expect(seen.transactions.slice(0, 5)).toEqual(shown.transactions.slice(0, 5));
        },
      ),
    );
  });

  test('what was seen of a large book stays as it was, page by page', async () => {
    const ledger = makeLedger(10_000);
    const book = bookOf(1_000_000);
    const timeline = [step('SUCCESS', at(5)), step('REVERSED', at(9))];
    for (let nth = 0; nth < 9000; nth += 1)
      await pay(ledger, book, at(0), newPayout(`r${nth}`, { amountPaise: 1, timeline }));
    const before = await ledger.inspect(book, at(0));
    await ledger.settle(book, at(5), 1700); // some of each page
    const between = await ledger.inspect(book, at(5));
    await ledger.settle(book, at(9), 10_000);
    const states = (transactions: typeof before.transactions) => {
      const counts: Record<string, number> = {};
      for (const { state } of transactions) counts[state] = (counts[state] ?? 0) + 1;
      return counts;
    };
    expect(states(before.transactions)).toEqual({ PENDING: 9000 });
    expect(states(between.transactions)).toEqual({ SUCCESS: 9000 }); // to look is to settle what is due
    expect(before.entries.length).toBe(9001);
    expect((await ledger.summary(book, at(9))).tallies.REVERSED).toEqual({ count: 9000, paise: 9000 });
  });

  test('whatever a text holds comes back as it was, and so does a timeline that was replaced', async () => {
    const ledger = makeLedger(10);
    const book = bookOf(1000);
    const texts = {
      beneficiaryName: 'आशा राव 🙏',
      beneficiaryAccount: '\u0000',
      beneficiaryIfsc: 'x'.repeat(128),
    };
    const payout = newPayout('ref\u2028\n"', { ...texts, timeline: [step('SUCCESS', at(5))] });
    await pay(ledger, book, at(0), payout);
    await ledger.transition(book, at(1), payout.txnId, 'SUCCESS', true);
    await ledger.transition(book, at(2), payout.txnId, 'REVERSED', true);
    const forced = { polls: null, utr: true, forced: true };
    expect((await look(ledger, book, at(9), { clientRefId: 'ref\u2028\n"' })).transaction).toMatchObject({
      ...payout,
      timeline: [
        { ...forced, to: 'SUCCESS', dueMs: at(1) },
        { ...forced, to: 'REVERSED', dueMs: at(2) },
      ],
    });
  });
});
