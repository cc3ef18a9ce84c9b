import { expect, test } from 'vitest';
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
