import type { Payout, PayoutStep, Wallet } from '../../src/contract/snapshot.ts';
import { expect, test } from 'vitest';
import {
  covers,
  credit,
  debit,
  hasRoom,
  openWallet,
  payOut,
  refund,
  toInr,
  toPaise,
} from '../../src/payout/money.ts';
import { afterStep, asOf, countsReads, timelineFault, withForcedStep } from '../../src/payout/timeline.ts';
import { UTR_SERIALS } from '../../src/payout/identity.ts';
import { formatUtr, freeUtr } from '../../src/payout/utr.ts';
import { addPayout, brokenInvariants, recordEntry, takeStep } from '../../src/world/ledger.ts';
import { MAX_AMOUNT_INR } from '../../src/contract/service.ts';
import { Core, load, save } from '../support/world/core.ts';
import { atRead, CREATED_AT_MS, newPayout, step, utrAfter } from '../support/world/payouts.ts';
import { testRows } from '../support/test-rows.ts';

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

testRows(
  Object.entries(MOVES).flatMap(([name, move]) => [0, -1, 0.5, NaN].map((amount) => [name, amount, move])),
)('a movement of anything but whole paise above 0 is an error', (_name, amount, move) => {
  const moved = () => move(wallet, amount);
  expect(moved).toThrow('broken invariant: an amount is whole paise above 0');
});

test('overdrawing the wallet and refunding more than was paid out are errors', () => {
  expect(() => payOut(wallet, 701)).toThrow('broken invariant: a payout never overdraws the wallet');
  expect(() => debit(wallet, 701)).toThrow('broken invariant: a debit never overdraws the wallet');
  expect(() => refund(wallet, 301)).toThrow('broken invariant: no more is returned than was paid out');
});

test('a wallet holds at most the largest amount of the payout API', () => {
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
  const amounts = [0, 0.01, 0.1, 1.1, 4.35, 1234.56, 7, 1e11];
  expect(amounts.map(toPaise)).toEqual([0, 1, 10, 110, 435, 123_456, 700, 1e13]);
  expect(toInr(123_456)).toBe(1234.56);
  for (const inr of [-1, -0.5, 4.355, 1e-7, 1e14, NaN]) expect(() => toPaise(inr)).toThrow('is whole paise');
});

const at = (ms: number): number => CREATED_AT_MS + ms;

const EDGES = 'legal edges only';
const ORDER = 'in order of due time';
const WAITS = 'waits either for its time or for reads';

testRows<[what: string, timeline: readonly PayoutStep[], why: string]>([
  ['takes an illegal edge', [step('FAILED', 1), step('SUCCESS', 2)], EDGES],
  ['takes an illegal edge late', [step('SUCCESS', 1), step('FAILED', 1)], EDGES],
  ['begins before its payout', [step('SUCCESS', -1)], ORDER],
  ['goes back in time', [step('SUCCESS', 2), step('REVERSED', 1)], ORDER],
  ['goes back over a read', [utrAfter(5), atRead('SUCCESS', 1), step('REVERSED', 4)], ORDER],
  ['waits for nothing', [{ ...step('SUCCESS', 0), afterMs: null }], WAITS],
  ['waits for two things', [{ ...atRead('SUCCESS', 1), afterMs: 1 }], WAITS],
])('no payout has a timeline that contradicts itself', (_what, timeline, why) => {
  expect(timelineFault(timeline)).toContain(why);
});

/** A payout of this timeline, of which some steps have happened at their time. */
const after = (timeline: readonly PayoutStep[], done: number) => {
  let payout = newPayout('a', { timeline });
  for (const { afterMs } of timeline.slice(0, done)) payout = afterStep(payout, at(afterMs ?? 1), 'UTR1');
  return payout;
};

test('a payout never goes beyond its timeline, or makes a transition that does not exist', () => {
  const settled = after([step('SUCCESS', 1)], 1);
  expect(() => afterStep(settled, at(2), null)).toThrow('a timeline that has ended goes no further');
  const wrong = { ...settled, timeline: [...settled.timeline, step('FAILED', 2)] };
  expect(() => afterStep(wrong, at(2), null)).toThrow('no edge from SUCCESS to FAILED');
});

test('a forced step replaces all steps ahead, and none that has happened', () => {
  const timeline = [utrAfter(1), step('SUCCESS', 2), step('REVERSED', 9)];
  const forced = { afterMs: 3, polls: null, to: 'FAILED', utr: false, forced: true, requests: 5 };
  expect(withForcedStep(after(timeline, 1), 'FAILED', at(3), false, 5).timeline).toEqual([
    timeline[0],
    forced,
  ]);
});

test('reads are counted only while a step waits for them', () => {
  expect(countsReads(after([], 0))).toBe(false);
  expect(countsReads(after([step('SUCCESS', 1)], 0))).toBe(false);
  expect(countsReads(after([step('SUCCESS', 1), atRead('REVERSED', 2)], 0))).toBe(true);
  expect(countsReads(after([atRead('SUCCESS', 1), step('REVERSED', 9)], 1))).toBe(false);
  expect(countsReads({ ...after([], 0), hidden: { reads: 1, by: 'r' } })).toBe(true);
  expect(countsReads({ ...after([], 0), hidden: { untilMs: 1, by: 'r' } })).toBe(false);
});

test('a payout as it was knows of its UTR from the step on at which it came, and no step that is ahead', () => {
  const timeline = [utrAfter(5), step('SUCCESS', 10), utrAfter(15), step('REVERSED', 20)];
  const payout = after(timeline, 3);
  const seen = (ms: number) => {
    const { state, utr, completedAtMs, stepsDone } = asOf(payout, at(ms));
    return [state, utr, completedAtMs, stepsDone];
  };
  expect(seen(4)).toEqual(['PENDING', null, null, 0]);
  expect(seen(5)).toEqual(['PENDING', 'UTR1', null, 1]);
  expect(seen(10)).toEqual(['SUCCESS', 'UTR1', at(10), 2]);
  expect(seen(15)).toEqual(['SUCCESS', 'UTR1', at(10), 3]);
  expect(asOf(payout, at(17))).toBe(payout);
  const reversed = after([step('SUCCESS', 1), step('REVERSED', 2), utrAfter(3)], 3);
  expect(asOf(reversed, at(2))).toMatchObject({ state: 'REVERSED', stepsDone: 2 });
});

test('a UTR needs a serial number within its range', () => {
  const utrOf = (serial: number) => () => formatUtr('UPI', at(0), serial);
  for (const serial of [-1, 0.5, UTR_SERIALS]) expect(utrOf(serial)).toThrow('a UTR serial is in its range');
  expect(utrOf(0)()).toBe('601500000000');
  expect(utrOf(UTR_SERIALS - 1)()).toBe('601599999999');
});

test('payouts that want the same UTR get the next free ones, each after a few tries', () => {
  let looks = 0;
  class Counted extends Set<string> {
    override has(utr: string): boolean {
      looks += 1;
      return super.has(utr);
    }
  }
  const taken = new Counted();
  const nextSerials = new Map<string, number>();
  const wanted = Array.from({ length: 600 }, (_, nth) => (nth % 3 === 0 ? 7 : UTR_SERIALS - (nth % 50) - 1));
  for (const serial of wanted) {
    let next = serial;
    while (Set.prototype.has.call(taken, formatUtr('NEFT', at(0), next % UTR_SERIALS))) next += 1;
    const utr = freeUtr('NEFT', at(0), serial, taken, nextSerials);
    expect(utr).toBe(formatUtr('NEFT', at(0), next % UTR_SERIALS));
    taken.add(utr);
  }
  expect(looks).toBeLessThan(10 * wanted.length);
});

test('an entry that does not explain the balance is never written', () => {
  const { state } = new Core();
  expect(() => recordEntry(state, 'credit', 1, null, at(1))).toThrow('entries explain every paisa');
  expect(state.entries).toHaveLength(1);
});

test('the ledger takes no txn_id twice, and the payouts of a reference only one after the other', () => {
  const { state } = new Core();
  const add = (reference: string, change = {}) => addPayout(state, newPayout(reference, change));
  add('a');
  expect(() => add('b', { txnId: newPayout('a').txnId })).toThrow('one txn_id');
  expect(() => add('a', { nth: 3 })).toThrow('without a gap');
  expect(() => add('b', { nth: 2 })).toThrow('without a gap');
  expect(state.wallet.balancePaise).toBe(900);
  add('a', { nth: 2 });
  expect(state.payouts).toHaveLength(2);
});

test('a payout never gets a UTR that another one has, also in a world that was restored', () => {
  const world = new Core({ settlement: 'instant' });
  world.pay('a');
  world.balance();
  const [{ utr, utrSerial }] = world.state.payouts as [Payout];
  expect(utr).toBeTruthy();
  for (const state of [load(save(world.state)), world.state]) {
    addPayout(state, newPayout('b', { utrSerial, timeline: [step('SUCCESS', 0)] }));
    takeStep(state, 1, CREATED_AT_MS, []);
    expect(state.payouts[1]!.utr).toBe(String(Number(utr) + 1));
  }
});

test('a world whose payouts and their sums are not the same has lost one', () => {
  const { state } = new Core();
  expect(brokenInvariants(state)).toEqual([]);
  state.index.tallies.PENDING.count += 1;
  expect(brokenInvariants(state)).toEqual(['every payout is in one state']);
  const wallet = { ...state.wallet, balancePaise: -1 };
  expect(brokenInvariants({ ...state, wallet })).toContain('the balance is never below 0');
});
