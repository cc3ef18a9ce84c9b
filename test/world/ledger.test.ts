import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NewTransaction } from '../../src/payout/payout.ts';
import type { BookRef, Ledger } from '../../src/ledger/ledger.ts';
import { LEDGERS } from '../support/ledgers.ts';
import {
  anyHidden,
  anyMode,
  anyTimeline,
  atRead,
  bookOf,
  inspect,
  look,
  newPayout,
  OPENED_AT_MS,
  pay,
  step,
  utrAt,
} from '../support/payouts.ts';

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
    const { entries } = await inspect(ledger, book, at(9));
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

  test('two names that do not name the same payout find none, and count for neither', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const hidden = { reads: 1, by: 'test/hidden' };
    await pay(ledger, book, at(0), newPayout('a', { hidden }));
    await pay(ledger, book, at(0), newPayout('b'));
    const { txnId } = newPayout('a');
    expect((await look(ledger, book, at(1), { txnId, clientRefId: 'b' })).transaction).toBeNull();
    expect((await look(ledger, book, at(1), { txnId, clientRefId: 'a' })).transaction).toBeNull(); // its first read
    expect((await look(ledger, book, at(1), { txnId, clientRefId: 'a' })).transaction).toMatchObject({
      txnId,
    });
  });

  test('a refusal that was remembered is forgiven where the dialect forgets', async () => {
    const ledger = ledgerOf();
    const book = bookOf(100);
    const dear = newPayout('a', { amountPaise: 200 });
    await ledger.initiate(book, at(0), dear, { rememberInsufficient: true });
    const remembering = await ledger.initiate(book, at(1), newPayout('a'), { rememberInsufficient: true });
    expect(remembering).toMatchObject({ kind: 'insufficient', remembered: true });
    expect(await pay(ledger, book, at(1), newPayout('a'))).toMatchObject({ kind: 'accepted' });
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

  const A = { clientRefId: 'a' } as const;

  test('a step that waits for a status read happens at that read, by either name, and is stamped with its time', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const payout = newPayout('a', { timeline: [atRead('FAILED', 3)] });
    await pay(ledger, book, at(0), payout);
    expect(await look(ledger, book, at(1), A)).toMatchObject({ transaction: { state: 'PENDING' } });
    expect(await look(ledger, book, at(2), { txnId: payout.txnId })).toMatchObject({ changes: [] });
    expect(await ledger.balance(book, at(999))).toMatchObject({ balancePaise: 900, nextDueMs: null });
    const third = await look(ledger, book, at(1000), A);
    expect(third.changes).toMatchObject([{ from: 'PENDING', to: 'FAILED', atMs: at(1000) }]);
    expect(third.transaction).toMatchObject({ state: 'FAILED', completedAtMs: at(1000), utr: null });
    expect((await look(ledger, book, at(1001), A)).changes).toEqual([]);
    expect(await ledger.balance(book, at(1001))).toMatchObject({
      balancePaise: 1000,
      lastUpdatedMs: at(1000),
    });
  });

  test('only reads of the payout itself count, from its initiate on', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    await look(ledger, book, at(0), A);
    await pay(ledger, book, at(0), newPayout('a', { timeline: [atRead('SUCCESS', 1)] }));
    await pay(ledger, book, at(0), newPayout('b', { timeline: [atRead('SUCCESS', 2)] }));
    await pay(ledger, book, at(1), newPayout('a'));
    await ledger.settle(book, at(2), 10);
    const { transactions } = await inspect(ledger, book, at(2));
    expect(transactions).toMatchObject([{ state: 'PENDING' }, { state: 'PENDING' }]);
    expect((await look(ledger, book, at(3), A)).transaction).toMatchObject({ state: 'SUCCESS' });
    expect((await look(ledger, book, at(3), { clientRefId: 'b' })).transaction).toMatchObject({
      state: 'PENDING',
    });
  });

  test('a step by time that follows a step by reads is never stamped earlier than that', async () => {
    const timeline = [atRead('SUCCESS', 1), step('REVERSED', at(5))] as const;
    const early = ledgerOf();
    await pay(early, bookOf(1000), at(0), newPayout('a', { timeline }));
    expect(await look(early, bookOf(1000), at(3), A)).toMatchObject({
      transaction: { state: 'SUCCESS', completedAtMs: at(3) },
      nextDueMs: at(5),
    });
    expect((await early.settle(bookOf(1000), at(9), 10)).changes).toMatchObject([{ atMs: at(5) }]);

    const late = ledgerOf();
    await pay(late, bookOf(1000), at(0), newPayout('a', { timeline }));
    expect(await late.settle(bookOf(1000), at(20), 10)).toMatchObject({ changes: [], nextDueMs: null });
    const { changes, transaction } = await look(late, bookOf(1000), at(30), A);
    expect(changes).toMatchObject([
      { to: 'SUCCESS', atMs: at(30) },
      { to: 'REVERSED', atMs: at(30) },
    ]);
    expect(transaction).toMatchObject({ state: 'REVERSED', completedAtMs: at(30) });
    expect(await late.balance(bookOf(1000), at(30))).toMatchObject({ balancePaise: 1000 });
  });

  test('reads count while a step waits for its time; those that follow it need no new ones', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const timeline = [step('SUCCESS', at(5)), atRead('REVERSED', 2)];
    await pay(ledger, book, at(0), newPayout('a', { timeline }));
    expect((await look(ledger, book, at(1), A)).transaction).toMatchObject({ state: 'PENDING' });
    expect((await look(ledger, book, at(7), A)).changes).toMatchObject([
      { to: 'SUCCESS', atMs: at(5) },
      { to: 'REVERSED', atMs: at(7) },
    ]);
  });

  test('a payout that is hidden for two reads is there at the third: it was debited all the time', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const payout = newPayout('a', {
      hidden: { reads: 2, by: 'test/hidden' },
      timeline: [atRead('SUCCESS', 3)],
    });
    expect((await look(ledger, book, at(0), A)).transaction).toBeNull();
    await pay(ledger, book, at(0), payout);
    expect(await ledger.balance(book, at(1))).toMatchObject({ balancePaise: 900 });
    expect((await look(ledger, book, at(1), A)).transaction).toBeNull();
    expect((await look(ledger, book, at(2), { txnId: payout.txnId })).transaction).toBeNull();
    expect(await pay(ledger, book, at(2), payout)).toMatchObject({ kind: 'repeated', sameBody: true });
    expect((await look(ledger, book, at(3), A)).transaction).toMatchObject({ state: 'SUCCESS' });
    expect(await ledger.balance(book, at(3))).toMatchObject({ balancePaise: 900 });
  });

  test('a payout that is hidden for a read appears at the next, also when nothing else waits for reads', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    await pay(ledger, book, at(0), newPayout('a', { hidden: { reads: 1, by: 'test/hidden' } }));
    expect((await look(ledger, book, at(1), A)).transaction).toBeNull();
    expect((await look(ledger, book, at(2), A)).transaction).toMatchObject({ state: 'PENDING' });
    expect((await look(ledger, book, at(3), A)).transaction).toMatchObject({ state: 'PENDING' });
  });

  test('a payout that is hidden for a time settles unseen, and is there from that time on', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const hidden = { untilMs: at(10), by: 'test/hidden' };
    await pay(ledger, book, at(0), newPayout('a', { hidden, timeline: [step('FAILED', at(5))] }));
    const unseen = await look(ledger, book, at(9), A);
    expect(unseen).toMatchObject({ transaction: null, changes: [{ to: 'FAILED', atMs: at(5) }] });
    expect(await ledger.balance(book, at(9))).toMatchObject({ balancePaise: 1000 });
    expect((await look(ledger, book, at(10), A)).transaction).toMatchObject({ state: 'FAILED' });
  });

  test.each([
    ['before there was the payout', -1000, { state: 'PENDING', utr: null, completedAtMs: null }],
    ['just before it succeeded', 4, { state: 'PENDING', utr: null, completedAtMs: null }],
    ['when it succeeded', 5, { state: 'SUCCESS', utr: expect.any(String), completedAtMs: 5 }],
    ['just before it was reversed', 49, { state: 'SUCCESS', utr: expect.any(String), completedAtMs: 5 }],
    ['when it was reversed', 50, { state: 'REVERSED', utr: expect.any(String), completedAtMs: 5 }],
    ['in the future', 9999, { state: 'REVERSED', utr: expect.any(String), completedAtMs: 5 }],
  ])('a read as of a time shows the payout as it was %s', async (_when, asOfMs, shown) => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const timeline = [step('SUCCESS', at(5)), step('REVERSED', at(50))];
    await pay(ledger, book, at(0), newPayout('a', { timeline }));
    const { transaction } = await ledger.find(book, at(60), A, at(asOfMs));
    const completedAtMs = shown.completedAtMs === null ? null : at(shown.completedAtMs);
    expect(transaction).toMatchObject({ ...shown, completedAtMs });
    expect((await look(ledger, book, at(60), A)).transaction).toMatchObject({ state: 'REVERSED' });
    expect(await ledger.balance(book, at(60))).toMatchObject({ balancePaise: 1000 });
  });

  test('a read as of an earlier time counts, and does not show what it made happen', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    await pay(ledger, book, at(0), newPayout('a', { timeline: [atRead('SUCCESS', 1)] }));
    const { changes, transaction } = await ledger.find(book, at(10), A, at(9));
    expect(changes).toMatchObject([{ to: 'SUCCESS', atMs: at(10) }]);
    expect(transaction).toMatchObject({ state: 'PENDING', utr: null, completedAtMs: null });
    expect((await ledger.find(book, at(11), A, at(10))).transaction).toMatchObject({ state: 'SUCCESS' });
  });

  test('a UTR may come before the payout has ended, and stays the same', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const timeline = [utrAt(at(2)), step('FAILED', at(5))];
    await pay(ledger, book, at(0), newPayout('a', { timeline }));
    const early = await look(ledger, book, at(3), A);
    const { utr } = early.transaction!;
    expect(utr).toMatch(/^\d{12}$/);
    expect(early.changes).toMatchObject([{ from: 'PENDING', to: 'PENDING', atMs: at(2), utr }]);
    expect(early.transaction).toMatchObject({ state: 'PENDING', completedAtMs: null });
    expect(await ledger.balance(book, at(3))).toMatchObject({ balancePaise: 900, lastUpdatedMs: at(0) });
    expect((await look(ledger, book, at(5), A)).transaction).toMatchObject({ state: 'FAILED', utr });
    expect((await ledger.find(book, at(5), A, at(1))).transaction).toMatchObject({ utr: null });
  });

  test('a UTR may come after a success, which is not completed anew', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const timeline = [{ ...step('SUCCESS', at(5)), utr: false }, utrAt(at(9))];
    await pay(ledger, book, at(0), newPayout('a', { timeline }));
    const success = (await look(ledger, book, at(8), A)).transaction;
    expect(success).toMatchObject({ state: 'SUCCESS', utr: null, completedAtMs: at(5) });
    const late = (await look(ledger, book, at(9), A)).transaction;
    expect(late).toMatchObject({ state: 'SUCCESS', utr: expect.any(String), completedAtMs: at(5) });
    expect((await ledger.find(book, at(9), A, at(8))).transaction).toEqual({ ...success, timeline });
  });

  test('a reference may make a second payout and a third: each has its own debit, its own fate and its own refund', async () => {
    const ledger = ledgerOf();
    const book = bookOf(1000);
    const payouts = [1, 2, 3].map((nth) =>
      newPayout('a', { nth, timeline: nth === 2 ? [step('FAILED', at(5))] : [step('SUCCESS', at(5))] }),
    );
    for (const payout of payouts)
      expect(await pay(ledger, book, at(0), payout)).toMatchObject({ kind: 'accepted' });
    for (const payout of payouts) {
      const repeated = await pay(ledger, book, at(1), payout);
      expect(repeated).toMatchObject({ kind: 'repeated', sameBody: true, transaction: { nth: 3 } });
    }
    expect((await look(ledger, book, at(1), A)).transaction).toMatchObject({ nth: 3 });
    expect(await ledger.balance(book, at(4))).toMatchObject({ balancePaise: 700 });
    for (const { txnId, nth } of payouts) {
      const { transaction } = await look(ledger, book, at(5), { txnId });
      expect(transaction).toMatchObject({ nth, state: nth === 2 ? 'FAILED' : 'SUCCESS' });
    }
    expect(await ledger.balance(book, at(5))).toMatchObject({ balancePaise: 800 });
  });

  test('a second payout needs the money and the room of any other', async () => {
    const ledger = ledgerOf(2);
    const book = bookOf(350);
    const second = newPayout('a', { nth: 2 });
    await pay(ledger, book, at(0), newPayout('a'));
    const large = await pay(ledger, book, at(0), { ...second, amountPaise: 251 });
    expect(large).toMatchObject({ kind: 'insufficient', balancePaise: 250 });
    expect(await pay(ledger, book, at(0), second)).toMatchObject({ kind: 'accepted' });
    expect(await pay(ledger, book, at(0), newPayout('a', { nth: 3 }))).toMatchObject({ kind: 'full' });
    expect(await ledger.balance(book, at(0))).toMatchObject({ balancePaise: 150 });
  });

  test('the payouts of a reference leave out no number', async () => {
    const ledger = ledgerOf();
    await expect(pay(ledger, bookOf(1000), at(0), newPayout('a', { nth: 2 }))).rejects.toThrow(
      'broken invariant',
    );
    expect(await ledger.balance(bookOf(1000), at(0))).toMatchObject({ balancePaise: 1000 });
  });

  const payRemembering = (ledger: Ledger, book: BookRef, nowMs: number, payout: NewTransaction) =>
    ledger.initiate(book, nowMs, payout, { rememberInsufficient: true });

  test('a reference that was refused for the balance is free again, unless that is to be remembered', async () => {
    const ledger = ledgerOf();
    const book = bookOf(100);
    const large = (reference: string) => newPayout(reference, { amountPaise: 101 });
    expect(await pay(ledger, book, at(0), large('a'))).toMatchObject({
      kind: 'insufficient',
      remembered: false,
    });
    const first = await payRemembering(ledger, book, at(0), large('b'));
    expect(first).toMatchObject({ kind: 'insufficient', remembered: false });
    const again = await payRemembering(ledger, book, at(1), newPayout('b', { amountPaise: 1 }));
    expect(again).toMatchObject({ kind: 'insufficient', balancePaise: 100, remembered: true });
    expect((await look(ledger, book, at(1), { clientRefId: 'b' })).transaction).toBeNull();
    expect(await payRemembering(ledger, book, at(1), newPayout('a'))).toMatchObject({ kind: 'accepted' });
  });

  test('a payout that was made goes before a refusal that is remembered', async () => {
    const ledger = ledgerOf();
    const book = bookOf(150);
    await payRemembering(ledger, book, at(0), newPayout('a'));
    const second = newPayout('a', { nth: 2 });
    expect(await payRemembering(ledger, book, at(0), second)).toMatchObject({ kind: 'insufficient' });
    expect(await payRemembering(ledger, book, at(0), newPayout('a'))).toMatchObject({ kind: 'repeated' });
    const small = { ...second, amountPaise: 1 };
    expect(await payRemembering(ledger, book, at(0), small)).toMatchObject({ remembered: true });
  });

  test('a refusal that is remembered takes the room of one payout, once, until its world is dropped', async () => {
    const ledger = ledgerOf(2);
    const book = bookOf(100);
    const poor = bookOf(0, 'poor');
    for (const nowMs of [at(0), at(1), at(2)]) await payRemembering(ledger, poor, nowMs, newPayout('a'));
    expect(await pay(ledger, book, at(3), newPayout('a', { amountPaise: 1 }))).toMatchObject({
      kind: 'accepted',
    });
    expect(await pay(ledger, book, at(3), newPayout('b', { amountPaise: 1 }))).toMatchObject({
      kind: 'full',
    });
    for (const nowMs of [at(4), at(5)]) {
      const refused = await payRemembering(ledger, poor, nowMs, newPayout('b'));
      expect(refused).toMatchObject({ kind: 'insufficient', remembered: false }); // no room to remember it
    }
    await ledger.drop('poor');
    expect(await pay(ledger, book, at(6), newPayout('b', { amountPaise: 1 }))).toMatchObject({
      kind: 'accepted',
    });
    expect(await pay(ledger, book, at(6), newPayout('c', { amountPaise: 1 }))).toMatchObject({
      kind: 'full',
    });
  });

  const anyReference = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
  const ofPayout = {
    reference: anyReference,
    fingerprint: fc.constantFrom('same', 'other'),
    amountPaise: fc.integer({ min: 1, max: 400 }),
    transferMode: anyMode,
    timeline: anyTimeline,
    hidden: anyHidden,
  };
  const anyPayouts = fc.array(fc.record(ofPayout), { maxLength: 30 });

  /** Payouts that may be further ones of their reference, each with a wait before it and status reads after it. */
  const anyHistory = fc.array(
    fc.record({
      ...ofPayout,
      waitMs: fc.nat(300),
      isFurther: fc.boolean(),
      rememberInsufficient: fc.boolean(),
      reads: fc.array(fc.record({ clientRefId: anyReference, agoMs: fc.option(fc.nat(2000)) }), {
        maxLength: 6,
      }),
    }),
    { maxLength: 30 },
  );

  test('money is conserved whatever is paid, repeated, read and settled, and whenever', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, async (history) => {
        const ledger = ledgerOf();
        const book = bookOf(1000);
        const made = new Map<string, number>();
        let nowMs = at(0);
        for (const { reference, waitMs, isFurther, rememberInsufficient, reads, ...payoutOf } of history) {
          nowMs += waitMs;
          const nth = isFurther ? (made.get(reference) ?? 0) + 1 : 1;
          const payout = newPayout(reference, {
            ...payoutOf,
            nth,
            createdAtMs: nowMs,
            timeline: payoutOf.timeline(nowMs),
            hidden: payoutOf.hidden(nowMs),
          });
          const { kind } = await ledger.initiate(book, nowMs, payout, { rememberInsufficient });
          if (kind === 'accepted') made.set(reference, nth);
          for (const { clientRefId, agoMs } of reads) {
            await ledger.find(book, nowMs, { clientRefId }, agoMs === null ? null : nowMs - agoMs);
          }
          const { wallet, entries, transactions } = await inspect(ledger, book, nowMs);
          const out = transactions.filter(({ state }) => state === 'PENDING' || state === 'SUCCESS');
          expect(wallet.balancePaise + sum(out.map(({ amountPaise }) => amountPaise))).toBe(1000);
          expect(wallet.balancePaise).toBeGreaterThanOrEqual(0);
          expect(sum(entries.map(({ amountPaise }) => amountPaise))).toBe(wallet.balancePaise);
          expect(transactions).toHaveLength(sum([...made.values()]));
          const utrs = transactions.map(({ utr }) => utr).filter((utr) => utr !== null);
          expect(new Set(utrs).size).toBe(utrs.length);
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
          for (const { reference, timeline, hidden, ...change } of payouts) {
            const itsFate = { timeline: timeline(at(0)), hidden: hidden(at(0)) };
            await pay(ledger, book, at(0), newPayout(reference, { ...change, ...itsFate }));
          }
          const changes = [];
          for (const lookMs of looks) changes.push(...(await ledger.balance(book, lookMs)).changes);
          const { wallet, entries, transactions, changes: last } = await inspect(ledger, book, endMs);
          return { changes: [...changes, ...last], wallet, entries, transactions };
        };
        const short = cuts.map((cut) => at(cut)).toSorted((a, b) => a - b);
        expect(await run(short)).toEqual(await run([]));
      }),
    );
  });
});

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
