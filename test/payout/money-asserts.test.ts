import { expect, test } from 'vitest';
import { advance, frozenClock, runningClock } from '../../src/world/clock.ts';
import { toInr, toPaise } from '../../src/payout/money.ts';
import { afterStep, born, withForcedStep } from '../../src/payout/payout.ts';
import { formatUtr, freeUtr, UTR_SERIALS } from '../../src/payout/utr.ts';
import {
  covers,
  credit,
  debit,
  hasRoom,
  openWallet,
  payOut,
  refund,
  type Wallet,
} from '../../src/payout/wallet.ts';
import { blankBook, enter } from '../../src/ledger/book.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import { MAX_AMOUNT_INR } from '../../src/contract/payout.ts';
import { atRead, bookOf, newPayout, OPENED_AT_MS, pay, step, utrAt } from '../support/payouts.ts';

// Assertions that a correct program never reaches.

const wallet = payOut(openWallet(1000), 300);
const MOVES = { payOut, refund, credit, debit };

test('money moves by whole paise above 0, down to a balance of 0', () => {
  expect(wallet).toEqual({ balancePaise: 700, putInPaise: 1000, paidOutPaise: 300 });
  expect(payOut(wallet, 700)).toEqual({ balancePaise: 0, putInPaise: 1000, paidOutPaise: 1000 });
  expect(refund(wallet, 300)).toEqual({ balancePaise: 1000, putInPaise: 1000, paidOutPaise: 0 });
  expect(credit(wallet, 1)).toEqual({ balancePaise: 701, putInPaise: 1001, paidOutPaise: 300 });
  expect(debit(wallet, 700)).toEqual({ balancePaise: 0, putInPaise: 300, paidOutPaise: 300 });
  expect(covers(wallet, 700)).toBe(true);
  expect(covers(wallet, 701)).toBe(false);
});

test.each(
  Object.entries(MOVES).flatMap(([name, move]) => [0, -1, 0.5, NaN].map((amount) => [name, amount, move])),
)('%s of %s paise is an error', (_name, amount, move) => {
  const moved = () => (move as typeof credit)(wallet, amount as number);
  expect(moved).toThrow('broken invariant: an amount is whole paise above 0');
});

test('overdrawing the wallet and refunding more than was paid out are errors', () => {
  expect(() => payOut(wallet, 701)).toThrow('broken invariant: a payout never overdraws the wallet');
  expect(() => debit(wallet, 701)).toThrow('broken invariant: a debit never overdraws the wallet');
  expect(() => refund(wallet, 301)).toThrow('broken invariant: no more comes back than went out');
});

test('a wallet holds at most the largest amount of the interface', () => {
  const most = MAX_AMOUNT_INR * 100;
  const full = openWallet(most - 1);
  expect(hasRoom(full, 1)).toBe(true);
  expect(credit(full, 1).balancePaise).toBe(most);
  expect(hasRoom(full, 2)).toBe(false);
  expect(() => credit(full, 2)).toThrow('broken invariant: a credit never overfills the wallet');
});

test('an inconsistent wallet is an error at its next movement', () => {
  for (const openingPaise of [-1, 0.5, NaN]) {
    expect(() => openWallet(openingPaise)).toThrow('the balance is whole paise, 0 or more');
  }
  expect(openWallet(0).balancePaise).toBe(0);
  const wrong: Wallet = { ...wallet, putInPaise: 1001 };
  for (const move of Object.values(MOVES)) expect(() => move(wrong, 1)).toThrow('money put in');
});

test('an amount is converted to paise exactly', () => {
  const read = [0, 0.01, 0.1, 1.1, 4.35, 1234.56, 7, 1e11].map((inr) => [inr, toPaise(inr)]);
  expect(read).toEqual(
    [0, 1, 10, 110, 435, 123_456, 700, 1e13].map((paise) => [expect.closeTo(paise / 100, 9), paise]),
  );
  expect(toInr(123_456)).toBe(1234.56);
  for (const inr of [-1, -0.5, 4.355, 1e-7, 1e14, NaN]) expect(() => toPaise(inr)).toThrow('is whole paise');
});

test('a clock moves forward by whole milliseconds', () => {
  for (const clock of [runningClock, frozenClock(5)]) {
    for (const byMs of [-1, 0.5, NaN]) {
      expect(() => advance(clock, byMs, 0)).toThrow('a clock moves forward by whole ms');
    }
    expect(advance(clock, 0, 0)).toEqual(clock);
  }
});

test('a clock ends at the last instant of the year 9999', () => {
  const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
  expect(advance(frozenClock(lastMs - 1), 1, 0)).toEqual(frozenClock(lastMs));
  expect(advance(runningClock, 1, lastMs - 1)).toEqual({ frozenAtMs: null, aheadMs: 1 });
  for (const clock of [frozenClock(lastMs), { frozenAtMs: null, aheadMs: lastMs }]) {
    expect(() => advance(clock, 1, 0)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  }
});

const at = (ms: number): number => OPENED_AT_MS + ms;

test.each([
  ['takes an illegal edge', [step('FAILED', at(1)), step('SUCCESS', at(2))], /legal edges only/],
  ['takes an illegal edge late', [step('SUCCESS', at(1)), step('FAILED', at(1))], /legal edges only/],
  ['begins before its payout', [step('SUCCESS', at(-1))], /in order of due time/],
  ['goes back in time', [step('SUCCESS', at(2)), step('REVERSED', at(1))], /in order of due time/],
  [
    'goes back in time over a read',
    [utrAt(at(5)), atRead('SUCCESS', 1), step('REVERSED', at(4))],
    /in order of due time/,
  ],
  ['waits for nothing', [{ ...step('SUCCESS', 0), dueMs: null }], /waits for its time or for reads/],
  ['waits for two things', [{ ...atRead('SUCCESS', 1), dueMs: at(1) }], /waits for its time or for reads/],
])('no payout is created with a timeline that %s', (_what, timeline, why) => {
  expect(() => born(newPayout('a', { timeline }))).toThrow(why);
});

test('a payout is created PENDING, before the first step of its timeline', () => {
  const timeline = [step('SUCCESS', at(0)), atRead('REVERSED', 1)];
  expect(born(newPayout('a', { timeline }))).toEqual({
    ...newPayout('a', { timeline }),
    stepsDone: 0,
    reads: 0,
    state: 'PENDING',
    utr: null,
    completedAtMs: null,
  });
});

test('a payout never goes beyond its timeline, or along an illegal transition', () => {
  const settled = afterStep(born(newPayout('a')), step('SUCCESS', at(1)), at(1), null);
  expect(() => afterStep(settled, undefined, at(2), null)).toThrow(
    'a timeline that has ended goes no further',
  );
  expect(() => afterStep(settled, step('FAILED', at(2)), at(2), null)).toThrow(
    'no edge from SUCCESS to FAILED',
  );
});

test('a forced step replaces the planned steps, and keeps the completed ones', () => {
  const timeline = [utrAt(at(1)), step('SUCCESS', at(2)), step('REVERSED', at(9))];
  const forced = { dueMs: at(3), polls: null, to: 'FAILED', utr: false, forced: true };
  expect(withForcedStep({ timeline, stepsDone: 1 }, 'FAILED', at(3), false)).toEqual([timeline[0], forced]);
});

test('a UTR needs a serial number within its range', () => {
  const utrOf = (serial: number) => () => formatUtr('UPI', at(0), serial);
  for (const serial of [-1, 0.5, UTR_SERIALS]) expect(utrOf(serial)).toThrow('a UTR serial is in its range');
  expect(utrOf(0)()).toBe('601500000000');
  expect(utrOf(UTR_SERIALS - 1)()).toBe('601599999999');
});

test('a UTR that is taken is replaced by the next free one', () => {
  const taken = new Set([5, 6].map((serial) => formatUtr('IMPS', at(0), serial)));
  const of = (serial: number): string =>
    freeUtr('IMPS', at(0), serial, taken.size, (utr) => !taken.has(utr) && taken.add(utr).size > 0);
  expect(of(5)).toBe(formatUtr('IMPS', at(0), 7));
  expect(of(4)).toBe(formatUtr('IMPS', at(0), 4));
  expect(of(5)).toBe(formatUtr('IMPS', at(0), 8));
});

test('an entry that does not match the balance is an error', () => {
  const book = blankBook(100, at(0));
  expect(() => enter(book, 'opening', 99, null, at(0))).toThrow('entries explain every paisa');
  expect([...book.entries]).toEqual([]);
  enter(book, 'opening', 100, null, at(0));
  expect(() => enter(book, 'credit', 1, null, at(1))).toThrow('entries explain every paisa');
});

test('the ledger refuses a repeated txn_id, and gaps in the payouts of a reference', async () => {
  const [ledger, book] = [new MemoryLedger(10), bookOf(1000)];
  const { txnId } = newPayout('a');
  await pay(ledger, book, at(0), newPayout('a'));
  await expect(pay(ledger, book, at(0), newPayout('b', { txnId }))).rejects.toThrow('one txn_id');
  await expect(pay(ledger, book, at(0), newPayout('a', { nth: 3 }))).rejects.toThrow('without a gap');
  await expect(pay(ledger, book, at(0), newPayout('b', { nth: 2 }))).rejects.toThrow('without a gap');
  expect(await ledger.balance(book, at(0))).toMatchObject({ balancePaise: 900 });
  expect(await pay(ledger, book, at(0), newPayout('a', { nth: 2 }))).toMatchObject({ kind: 'accepted' });
});
