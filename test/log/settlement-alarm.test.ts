import { expect, test } from 'vitest';
import { runningClock } from '../../src/world/clock.ts';
import { SettlementAlarm } from '../../src/log/settlement-alarm.ts';
import { ManualClock } from '../support/manual-clock.ts';

test('an alarm that has rung can be set for the same time again: more may be due then than was done', async () => {
  const wallClock = new ManualClock(0);
  let rings = 0;
  const alarm = new SettlementAlarm(wallClock, () => (rings += 1));
  alarm.set(10, runningClock);
  await wallClock.pass(10);
  alarm.set(10, runningClock);
  expect([rings, wallClock.alarms]).toEqual([1, 1]);
  await wallClock.pass(0);
  expect([rings, wallClock.alarms]).toEqual([2, 0]);
});
