import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Ledger } from '../src/ledger/ledger.ts';
import { MemoryLedger } from '../src/ledger/memory.ts';
import { anyMode, anyTimeline, bookOf, look, newPayout, OPENED_AT_MS, pay, step } from './support/payouts.ts';

/** Every ledger that stands behind the seam passes this whole file unchanged. */
const LEDGERS: [string, (maxTransactions: number) => Ledger][] = [['memory', (max) => new MemoryLedger(max)]];

describe.each(LEDGERS)('the %s ledger', (_name, makeLedger) => {
  const ledgerOf = (maxTransactions = 1_000_000): Ledger => makeLedger(maxTransactions);
  const at = (ms: number): number => OPENED_AT_MS + ms;

  test('a payout that fails gives the money back once, and gets no UTR', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    await pay(ledger, book, at(0), newPayout('a', { timeline: [step('FAILED', at(5))] }));
    expect(await ledger.balance(book, at(4))).toMatchObject({ balancePaise: 900, lastUpdatedMs: at(0) });
    expect(await ledger.balance(book, at(9))).toMatchObject({ balancePaise: 1000, lastUpdatedMs: at(5) });
    expect(await ledger.balance(book, at(99))).toMatchObject({ balancePaise: 1000 });
    const { transaction } = await look(ledger, book, at(99), { clientRefId: 'a' });
    expect(transaction).toMatchObject({ state: 'FAILED', utr: null, completedAtMs: at(5) });
  });

  test('a success that is reversed days later gives the money back once, and keeps its UTR and completion', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const timeline = [step('SUCCESS', at(5)), step('REVERSED', at(50))] as const;
    await pay(ledger, book, at(0), newPayout('a', { timeline }));
    const success = (await look(ledger, book, at(49), { clientRefId: 'a' })).transaction!;
    expect(success).toMatchObject({
      state: 'SUCCESS',
      completedAtMs: at(5),
      utr: expect.stringMatching(/^\d{12}$/),
    });
    expect(await ledger.balance(book, at(49))).toMatchObject({ balancePaise: 900 });
    const reversed = (await look(ledger, book, at(50), { clientRefId: 'a' })).transaction!;
    expect(reversed).toMatchObject({ state: 'REVERSED', completedAtMs: at(5), utr: success.utr });
    expect(await ledger.balance(book, at(500))).toMatchObject({ balancePaise: 1000, lastUpdatedMs: at(50) });
  });

  test('a payout that is reversed straight away has a UTR: the money reached the rail', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    await pay(ledger, book, at(0), newPayout('a', { timeline: [step('REVERSED', at(0))] }));
    const { transaction } = await look(ledger, book, at(0), { clientRefId: 'a' });
    expect(transaction).toMatchObject({ state: 'REVERSED', utr: expect.any(String) });
  });

  test('the entries explain every paisa', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const { txnId } = newPayout('a');
    await pay(ledger, book, at(1), newPayout('a', { createdAtMs: at(1), timeline: [step('FAILED', at(5))] }));
    const { entries } = await ledger.inspect(book, at(9));
    expect(entries).toEqual([
      { kind: 'opening', amountPaise: 1000, balancePaise: 1000, txnId: null, atMs: at(0) },
      { kind: 'payout', amountPaise: -100, balancePaise: 900, txnId, atMs: at(1) },
      { kind: 'refund', amountPaise: 100, balancePaise: 1000, txnId, atMs: at(5) },
    ]);
  });

  test('a reference makes one transaction; what comes later is told what it made', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const first = await pay(ledger, book, at(0), newPayout('a'));
    expect(first).toMatchObject({ kind: 'accepted' });
    expect(await pay(ledger, book, at(1), newPayout('a'))).toMatchObject({
      kind: 'repeated',
      sameBody: true,
    });
    const changed = newPayout('a', { fingerprint: 'other', amountPaise: 200 });
    expect(await pay(ledger, book, at(2), changed)).toMatchObject({
      kind: 'repeated',
      sameBody: false,
      transaction: { amountPaise: 100 },
    });
    expect(await ledger.balance(book, at(3))).toMatchObject({ balancePaise: 900 });
  });

  test('refusals come in their order: a known reference, then the balance, then the room', async () => {
    const ledger = ledgerOf(1);
    const book = bookOf(150);
    await pay(ledger, book, at(0), newPayout('a'));
    expect(await pay(ledger, book, at(1), newPayout('a'))).toMatchObject({ kind: 'repeated' });
    expect(await pay(ledger, book, at(1), newPayout('b'))).toMatchObject({
      kind: 'insufficient',
      balancePaise: 50,
    });
    const small = newPayout('c', { amountPaise: 50 });
    expect(await pay(ledger, book, at(1), small)).toMatchObject({ kind: 'full', maxTransactions: 1 });
    expect(await ledger.balance(book, at(1))).toMatchObject({ balancePaise: 50 });
  });

  test('money that is due back pays for the next payout of the same instant', async () => {
    const ledger = ledgerOf();
    const book = bookOf(100);
    await pay(ledger, book, at(0), newPayout('a', { timeline: [step('FAILED', at(5))] }));
    expect(await pay(ledger, book, at(5), newPayout('b'))).toMatchObject({ kind: 'accepted' });
  });

  test('a dropped world is forgotten and makes room', async () => {
    const ledger = ledgerOf(1);
    await pay(ledger, bookOf(1000), at(0), newPayout('a'));
    await ledger.drop('world');
    expect((await look(ledger, bookOf(1000), at(1), { clientRefId: 'a' })).transaction).toBeNull();
    expect(await pay(ledger, bookOf(1000), at(1), newPayout('b'))).toMatchObject({ kind: 'accepted' });
    await ledger.drop('a world that never was');
  });

  test('payouts that draw the same number get different UTRs', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const timeline = [step('SUCCESS', at(5))] as const;
    for (const reference of ['a', 'b', 'c']) {
      await pay(ledger, book, at(0), newPayout(reference, { utrSerial: 999_999_999, timeline }));
    }
    const { changes } = await ledger.settle(book, at(5), 10);
    expect(changes.map(({ utr }) => utr)).toEqual(['601599999999', '601500000000', '601500000001']);
  });

  test('steps are applied by due time, then creation, then id: never by the order of arrival', async () => {
    const orders = [
      ['a', 'b', 'c'],
      ['c', 'a', 'b'],
    ].map(async (references) => {
      const ledger = ledgerOf();
      for (const reference of references) {
        const dueMs = reference === 'c' ? at(4) : at(5);
        await pay(ledger, bookOf(1000), at(0), newPayout(reference, { timeline: [step('SUCCESS', dueMs)] }));
      }
      return (await ledger.settle(bookOf(1000), at(5), 10)).changes;
    });
    const [one, other] = await Promise.all(orders);
    expect(one!.map(({ atMs }) => atMs)).toEqual([at(4), at(5), at(5)]);
    expect(other).toEqual(one);
  });

  test('settle applies the oldest steps first and says when the next is due', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    for (const [reference, dueMs] of [
      ['a', at(3)],
      ['b', at(1)],
      ['c', at(2)],
      ['d', at(90)],
    ] as const) {
      await pay(ledger, book, at(0), newPayout(reference, { timeline: [step('SUCCESS', dueMs)] }));
    }
    const some = await ledger.settle(book, at(10), 2);
    expect(some).toMatchObject({ changes: [{ clientRefId: 'b' }, { clientRefId: 'c' }], nextDueMs: at(3) });
    const rest = await ledger.settle(book, at(10), 2);
    expect(rest).toMatchObject({ changes: [{ clientRefId: 'a' }], nextDueMs: at(90) });
  });

  test('time never runs backwards for a book', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    await ledger.settle(book, at(100), 1);
    await pay(
      ledger,
      book,
      at(100),
      newPayout('a', { createdAtMs: at(100), timeline: [step('SUCCESS', at(100))] }),
    );
    expect((await look(ledger, book, at(50), { clientRefId: 'a' })).transaction).toMatchObject({
      state: 'SUCCESS',
    });
  });

  const anyPayouts = fc.array(
    fc.record({
      reference: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
      fingerprint: fc.constantFrom('same', 'other'),
      amountPaise: fc.integer({ min: 1, max: 400 }),
      transferMode: anyMode,
      waitMs: fc.nat(300),
      timeline: anyTimeline,
    }),
    { maxLength: 30 },
  );

  test('money is conserved whatever is paid, repeated and settled, and whenever', async () => {
    await fc.assert(
      fc.asyncProperty(anyPayouts, async (payouts) => {
        const ledger = ledgerOf();
        const book = bookOf(1000);
        let nowMs = at(0);
        for (const { reference, waitMs, timeline, ...change } of payouts) {
          nowMs += waitMs;
          const payout = newPayout(reference, { ...change, createdAtMs: nowMs, timeline: timeline(nowMs) });
          await pay(ledger, book, nowMs, payout);
          const { wallet, entries, transactions } = await ledger.inspect(book, nowMs);
          const out = transactions.filter(({ state }) => state === 'PENDING' || state === 'SUCCESS');
          expect(wallet.balancePaise + sum(out.map(({ amountPaise }) => amountPaise))).toBe(1000);
          expect(wallet.balancePaise).toBeGreaterThanOrEqual(0);
          expect(sum(entries.map(({ amountPaise }) => amountPaise))).toBe(wallet.balancePaise);
          expect(new Set(transactions.map(({ clientRefId }) => clientRefId)).size).toBe(transactions.length);
          for (const { txnId, state } of transactions) {
            const refunds = entries.filter((entry) => entry.txnId === txnId && entry.kind === 'refund');
            expect(refunds).toHaveLength(state === 'FAILED' || state === 'REVERSED' ? 1 : 0);
          }
        }
      }),
    );
  });

  test('one long wait equals many short ones, wherever they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(anyPayouts, fc.array(fc.nat(4000)), async (payouts, cuts) => {
        const endMs = at(20_000);
        const run = async (looks: readonly number[]) => {
          const ledger = ledgerOf();
          const book = bookOf(10_000);
          for (const { reference, timeline, ...change } of payouts) {
            await pay(ledger, book, at(0), newPayout(reference, { ...change, timeline: timeline(at(0)) }));
          }
          const changes = [];
          for (const lookMs of looks) changes.push(...(await ledger.balance(book, lookMs)).changes);
          const { wallet, entries, transactions, changes: last } = await ledger.inspect(book, endMs);
          return { changes: [...changes, ...last], wallet, entries, transactions };
        };
        const short = cuts.map((cut) => at(cut)).toSorted((a, b) => a - b);
        expect(await run(short)).toEqual(await run([]));
      }),
    );
  });
});

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
