import { expect, test } from 'vitest';
import { SettlementTimer } from '../../src/worlds/in-memory.ts';
import { runningClock } from '../support/world/core.ts';
import { ManualClock } from '../support/world/manual-clock.ts';

test('a timer that has called back can be set for the same time again, and none is set beyond the year 9999', async () => {
  const wallClock = new ManualClock(0);
  const calls: number[] = [];
  const timer = new SettlementTimer(wallClock, () => calls.push(wallClock.nowMs()));
  timer.set(10, runningClock);
  await wallClock.pass(10);
  timer.set(10, runningClock); // more may be due then than was done
  expect([calls, wallClock.timers]).toEqual([[10], 1]);
  await wallClock.pass(0);
  expect([calls, wallClock.timers]).toEqual([[10, 10], 0]);
  timer.set(Date.UTC(10_000, 0), runningClock);
  expect(wallClock.timers).toBe(0);
});
