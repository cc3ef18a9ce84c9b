import { expect, test } from 'vitest';
import { DelayedResponses } from '../../src/log/connections/world-connections.ts';

test('a delayed response ends once: by itself, when it is released, or at once if its world has ended', () => {
  const delayed = new DelayedResponses();
  const ended: string[] = [];
  const hold = (name: string) => delayed.hold(() => ended.push(name));
  const leave = hold('left by itself');
  hold('released');
  leave();
  delayed.release();
  delayed.release();
  hold('at the end');
  delayed.close();
  hold('late');
  expect(ended).toEqual(['released', 'at the end', 'late']);
  delayed.close();
  expect(ended).toHaveLength(3);
});

test('answers end for good with their world or the sandbox, and not with a reset', () => {
  const [delayed, closed] = [new DelayedResponses(), new DelayedResponses()];
  const seen = [delayed.isForGood];
  delayed.release();
  seen.push(delayed.isForGood);
  delayed.release(true);
  seen.push(delayed.isForGood);
  delayed.release();
  closed.close();
  expect([...seen, delayed.isForGood, closed.isForGood]).toEqual([false, false, true, true, true]);
});
