import { expect, test } from 'vitest';
import { SettlementTimer } from '../../src/log/wall-clock.ts';
import { frozenClock } from '../support/world/core.ts';
import { runningClock } from '../support/world/core.ts';
import { ManualClock } from '../support/world/manual-clock.ts';

function timerFor() {
  const wallClock = new ManualClock(0);
  const calls: number[] = [];
  const timer = new SettlementTimer(wallClock, () => calls.push(wallClock.nowMs()));
  return { wallClock, calls, timer };
}

test('a timer that has called back can be set for the same time again: more may be due then than was done', async () => {
  const { wallClock, calls, timer } = timerFor();
  timer.set(10, runningClock);
  await wallClock.pass(10);
  timer.set(10, runningClock);
  expect([calls, wallClock.timers]).toEqual([[10], 1]);
  await wallClock.pass(0);
  expect([calls, wallClock.timers]).toEqual([[10, 10], 0]);
});

test('a timer calls back at the wall time at which its clock shows the due time, and is rescheduled when the clock changes', async () => {
  const { wallClock, calls, timer } = timerFor();
  timer.set(100, { frozenAtMs: null, aheadMs: 30 });
  timer.set(100, { frozenAtMs: null, aheadMs: 40 });
  expect(wallClock.timers).toBe(1);
  await wallClock.pass(100);
  expect(calls).toEqual([60]);
});

test('there is no timer when nothing is due, in a frozen world, or beyond the year 9999', () => {
  const { wallClock, timer } = timerFor();
  timer.set(100, runningClock);
  timer.set(null, runningClock);
  expect(wallClock.timers).toBe(0);
  timer.set(100, frozenClock(5));
  timer.set(Date.UTC(10_000, 0), runningClock);
  expect(wallClock.timers).toBe(0);
});
