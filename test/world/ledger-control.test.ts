import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { STATES, type State } from '../../src/contract/payout.ts';
import { mayMove } from '../../src/payout/payout.ts';
import type { Ledger, PageRequest } from '../../src/ledger/ledger.ts';
import { LEDGERS } from '../support/ledgers.ts';
import {
  anyTimeline,
  bookOf,
  inspect,
  look,
  newPayout,
  OPENED_AT_MS,
  pay,
  restore,
  step,
  type WholeState,
} from '../support/payouts.ts';

const at = (ms: number): number => OPENED_AT_MS + ms;
const FIRST: PageRequest = { from: null, newestFirst: false, limit: 1000 };

describe.each(LEDGERS)('the %s ledger, steered', (_name, makeLedger) => {
  const book = bookOf(1000);
  const ledgerOf = (max = 1000): Ledger => makeLedger(max);

  test('money put in and taken out is explained, and changes what was put in', async () => {
    const ledger = ledgerOf();
    expect(await ledger.move(book, at(1), 'credit', 500)).toMatchObject({
      kind: 'moved',
      balanceBeforePaise: 1000,
      balancePaise: 1500,
      entry: { kind: 'credit', amountPaise: 500, balancePaise: 1500, txnId: null, atMs: at(1) },
    });
    expect(await ledger.move(book, at(2), 'debit', 1500)).toMatchObject({ kind: 'moved', balancePaise: 0 });
    expect(await ledger.move(book, at(3), 'debit', 1)).toMatchObject({ kind: 'refused', balancePaise: 0 });
    const { wallet, entries, broken } = await ledger.summary(book, at(3));
    expect([wallet.putInPaise, entries, broken]).toEqual([0, 3, []]);
  });

  test('a wallet takes no more than the interface can show exactly', async () => {
    const ledger = ledgerOf();
    expect(await ledger.move(book, at(0), 'credit', 1e13 - 1000)).toMatchObject({ kind: 'moved' });
    expect(await ledger.move(book, at(0), 'credit', 1)).toMatchObject({
      kind: 'refused',
      balancePaise: 1e13,
    });
  });

  const edges = STATES.flatMap((from) => STATES.map((to) => [from, to] as const));

  test.each(edges)('forced from %s to %s: the legal edges and no others', async (from, to) => {
    const ledger = ledgerOf();
    const timeline = from === 'PENDING' ? [] : [step(from, at(1))];
    const { txnId } = newPayout('a');
    await pay(ledger, book, at(0), newPayout('a', { timeline }));
    const before = await inspect(ledger, book, at(5));
    const outcome = await ledger.transition(book, at(5), txnId, to, true);
    expect(outcome.kind).toBe(mayMove(from, to) ? 'moved' : 'illegal');
    const { transactions, wallet, entries } = await inspect(ledger, book, at(5));
    if (outcome.kind !== 'moved') {
      expect({ transactions, wallet, entries }).toEqual({
        transactions: before.transactions,
        wallet: before.wallet,
        entries: before.entries,
      });
      return;
    }
    expect(outcome.changes).toMatchObject([{ from, to, atMs: at(5) }]);
    expect(transactions[0]).toMatchObject({ state: to, completedAtMs: from === 'PENDING' ? at(5) : at(1) });
    expect(wallet.balancePaise).toBe(to === 'SUCCESS' ? 900 : 1000);
  });

  test('a payout that is forced forgets what was planned, also when its time comes', async () => {
    const ledger = ledgerOf();
    const { txnId } = newPayout('a');
    const timeline = [step('SUCCESS', at(10)), step('REVERSED', at(20))];
    await pay(ledger, book, at(0), newPayout('a', { timeline }));
    await pay(ledger, book, at(0), newPayout('b', { timeline: [step('SUCCESS', at(30))] }));
    expect((await ledger.transition(book, at(5), txnId, 'SUCCESS', true)).nextDueMs).toBe(at(30));
    expect(await ledger.settle(book, at(25), 100)).toEqual({ changes: [], nextDueMs: at(30) });
    expect((await look(ledger, book, at(25), { txnId })).transaction).toMatchObject({ state: 'SUCCESS' });
    expect(await ledger.transition(book, at(26), 'TXN0', 'FAILED', false)).toMatchObject({ kind: 'unknown' });
  });

  test('lists come in pages, from either end, with nothing twice and nothing left out', async () => {
    const ledger = ledgerOf();
    const references = Array.from({ length: 25 }, (_, nth) => `r${nth}`);
    for (const reference of references)
      await pay(ledger, book, at(0), newPayout(reference, { amountPaise: 1 }));
    for (const newestFirst of [false, true]) {
      const seen: string[] = [];
      for (let from: number | null = null; ;) {
        const page = await ledger.transactions(book, at(0), {}, { from, newestFirst, limit: 10 });
        seen.push(...page.items.map(({ clientRefId }) => clientRefId));
        if (page.next === null) break;
        from = page.next;
      }
      expect(seen).toEqual(newestFirst ? references.toReversed() : references);
    }
    const { items } = await ledger.entries(book, at(0), newPayout('r7').txnId, FIRST);
    expect(items).toMatchObject([{ kind: 'payout', amountPaise: -1 }]);
  });

  test('a list shows one state, or one reference with all its payouts', async () => {
    const ledger = ledgerOf();
    await pay(ledger, book, at(0), newPayout('a'));
    await pay(ledger, book, at(0), newPayout('b', { timeline: [step('FAILED', at(1))] }));
    await pay(ledger, book, at(0), newPayout('b', { nth: 2 }));
    const listed = async (filter: { state?: State; clientRefId?: string; txnId?: string }) =>
      (await ledger.transactions(book, at(2), filter, FIRST)).items.map(
        ({ clientRefId, nth }) => clientRefId + nth,
      );
    expect(await listed({ state: 'FAILED' })).toEqual(['b1']);
    expect(await listed({ clientRefId: 'b' })).toEqual(['b1', 'b2']);
    expect(await listed({ clientRefId: 'a' })).toEqual(['a1']);
    expect(await listed({ clientRefId: 'c' })).toEqual([]);
    expect(await listed({ txnId: newPayout('b').txnId })).toEqual(['b1']);
    expect(await listed({ txnId: newPayout('b').txnId, state: 'SUCCESS' })).toEqual([]);
  });

  test('a book is opened anew only as long as nothing stands in it', async () => {
    const ledger = ledgerOf();
    await ledger.balance(book, at(0));
    expect(await ledger.reopen({ ...book, openingBalancePaise: 7 })).toBe(true);
    expect(await ledger.balance(book, at(0))).toMatchObject({ balancePaise: 7 });
    await ledger.move(book, at(0), 'credit', 1);
    expect(await ledger.reopen({ ...book, openingBalancePaise: 100 })).toBe(false);
    expect(await ledger.balance(book, at(0))).toMatchObject({ balancePaise: 8 });
  });

  test('what is kept of a book and restored goes on as the book does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ timeline: anyTimeline, waitMs: fc.nat(500) }), { maxLength: 8 }),
        fc.nat(3000),
        async (payouts, laterMs) => {
          const [ledger, other] = [ledgerOf(), ledgerOf()];
          let nowMs = OPENED_AT_MS;
          for (const [nth, { timeline, waitMs }] of payouts.entries()) {
            await pay(
              ledger,
              book,
              nowMs,
              newPayout(`r${nth}`, { createdAtMs: nowMs, timeline: timeline(nowMs) }),
            );
            await look(ledger, book, nowMs, { clientRefId: 'r0' });
            nowMs += waitMs;
          }
          const { changes: _changes, nextDueMs, ...state } = await inspect(ledger, book, nowMs);
          const kept = JSON.parse(JSON.stringify(state)) as WholeState;
          expect(await restore(other, book, kept)).toEqual({ kind: 'restored', changes: [], nextDueMs });
          for (const ms of [0, laterMs, 1e6]) {
            expect(await other.settle(book, nowMs + ms, 1000)).toEqual(
              await ledger.settle(book, nowMs + ms, 1000),
            );
            expect(await look(other, book, nowMs + ms, { clientRefId: 'r0' })).toEqual(
              await look(ledger, book, nowMs + ms, { clientRefId: 'r0' }),
            );
          }
          expect(await inspect(other, book, nowMs + 1e6)).toEqual(await inspect(ledger, book, nowMs + 1e6));
          expect((await other.summary(book, nowMs + 1e6)).broken).toEqual([]);
        },
      ),
    );
  });

  /** A book with a payout that succeeded, one that failed and one under way, as it is kept. */
  async function kept(): Promise<WholeState> {
    const ledger = ledgerOf();
    await pay(ledger, book, at(0), newPayout('a', { timeline: [step('SUCCESS', at(1))] }));
    await pay(ledger, book, at(0), newPayout('b', { timeline: [step('FAILED', at(1))] }));
    await pay(ledger, book, at(0), newPayout('c'));
    const { changes: _changes, nextDueMs: _next, ...state } = await inspect(ledger, book, at(2));
    return structuredClone(state);
  }

  type Loose<T> = T extends object ? { -readonly [K in keyof T]: Loose<T[K]> } : T;

  test.each<[string, (state: Loose<WholeState>) => void]>([
    ['more money than its entries', (state) => void (state.wallet.balancePaise += 1)],
    ['an entry too few', (state) => void state.entries.pop()],
    ['an entry twice', (state) => void state.entries.push(state.entries.at(-1)!)],
    ['another opening balance', (state) => void (state.openingBalancePaise -= 1)],
    ['a payout twice', (state) => void state.transactions.push(state.transactions[0]!)],
    ['a payout that no entry paid', (state) => void (state.transactions[2]!.amountPaise += 1)],
    ['a payout without its steps', (state) => void (state.transactions[0]!.stepsDone = 0)],
    ['a payout with more steps done than it has', (state) => void (state.transactions[2]!.stepsDone = 1)],
    ['a step before its payout was made', (state) => void (state.transactions[0]!.timeline[0]!.dueMs = 0)],
    [
      'a step that waits for nothing',
      (state) => void state.transactions[2]!.timeline.push({ ...step('SUCCESS', 0), dueMs: null }),
    ],
    ['a payout that came back without its money', (state) => void (state.transactions[2]!.state = 'FAILED')],
    ['a gap in the payouts of a reference', (state) => void (state.transactions[0]!.nth = 2)],
    ['a payout of no whole paise', (state) => void (state.transactions[0]!.amountPaise = 0.5)],
    ['money that nobody put in', (state) => void (state.wallet.putInPaise += 1)],
    ['money that is out twice', (state) => void (state.wallet.paidOutPaise += 1)],
  ])('a state with %s is damaged, and nothing of it is taken', async (_what, damage) => {
    const state = (await kept()) as Loose<WholeState>;
    damage(state);
    const ledger = ledgerOf();
    await ledger.move(book, at(0), 'credit', 5);
    expect(await restore(ledger, book, state)).toMatchObject({ kind: 'damaged', what: expect.any(String) });
    expect(await ledger.balance(book, at(0))).toMatchObject({ balancePaise: 1005 });
  });

  test('a draft is known until it is restored or discarded, and each is its own', async () => {
    const { entries, transactions, ...head } = await kept();
    const ledger = ledgerOf();
    const [one, other, third] = [
      await ledger.draft(head),
      await ledger.draft(head),
      await ledger.draft(head),
    ];
    for (const draft of [one, other]) await ledger.extend(draft, { entries });
    await ledger.extend(one, { transactions });
    expect(await ledger.balance(book, at(0))).toMatchObject({ balancePaise: 1000 });
    await ledger.discard(third);
    await ledger.discard(third);
    await expect(ledger.extend(third, { entries })).rejects.toThrow('a draft is restored once');
    expect(await ledger.restore(book, one)).toMatchObject({ kind: 'restored' });
    await expect(ledger.restore(book, one)).rejects.toThrow('a draft is restored once');
    expect(await ledger.restore(book, other)).toMatchObject({ kind: 'damaged' }); // its payouts never came
    await expect(ledger.restore(book, other)).rejects.toThrow('a draft is restored once');
    expect(await ledger.balance(book, at(2))).toMatchObject({ balancePaise: head.wallet.balancePaise });
  });

  test('a state is restored only if there is room, and counts for what it replaces', async () => {
    const state = await kept();
    const small = ledgerOf(2);
    expect(await restore(small, book, state)).toEqual({ kind: 'full', maxTransactions: 2 });
    const ledger = ledgerOf(3);
    for (let round = 0; round < 3; round += 1) {
      expect(await restore(ledger, book, state)).toMatchObject({ kind: 'restored' });
    }
    expect(await pay(ledger, book, at(9), newPayout('d'))).toMatchObject({ kind: 'full' });
  });
});
