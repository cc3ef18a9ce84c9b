import { expect, test } from 'vitest';
import { DelayedResponses } from '../../src/log/connections/world-connections.ts';

test('a delayed response ends once: by itself, with a reset, or for good, at once if its world has ended', () => {
  const delayed = new DelayedResponses(() => undefined);
  const ended: string[] = [];
  const hold = (name: string) => delayed.hold((how) => ended.push(`${name}: ${how}`));
  const leave = hold('left by itself');
  hold('released');
  leave();
  delayed.release('reset');
  delayed.release('reset');
  hold('at the stop');
  delayed.release('ended');
  hold('at the end');
  delayed.close();
  hold('late');
  expect(ended).toEqual(['released: reset', 'at the stop: ended', 'at the end: ended', 'late: ended']);
  delayed.close();
  expect(ended).toHaveLength(4);
});
