import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/platform/system-clock.ts';

const DAY_MS = 86_400_000;

test('a callback that is scheduled 30 days ahead is not called at once', async () => {
  const clock = systemClock();
  const called: string[] = [];
  const cancel = clock.schedule(clock.nowMs() + 30 * DAY_MS, () => called.push('in 30 days'));
  await new Promise<void>((resolve) => {
    clock.schedule(clock.nowMs() + 20, () => {
      called.push('soon');
      resolve();
    });
  });
  cancel();
  expect(called).toEqual(['soon']);
});

test('a process that is paused while it reads the time is not ahead of it afterwards', () => {
  let passedMs = 0;
  let pauseMs = 20;
  const read = (startMs: number) => (): number => {
    const shownMs = startMs + passedMs;
    passedMs += pauseMs;
    return shownMs;
  };
  const spies = [
    vi.spyOn(Date, 'now').mockImplementation(read(1_000_000)),
    vi.spyOn(performance, 'now').mockImplementation(read(500)),
  ];
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
  const clock = systemClock();
  clock.nowMs();
  pauseMs = 0;
  expect(clock.nowMs()).toBe(1_000_000 + passedMs);
});
