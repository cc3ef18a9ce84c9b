import { expect, test } from 'vitest';
import { HeldAnswers } from '../../src/log/world-log.ts';

test('answers that are held back end once: by themselves, when they are released, or at once after the end', () => {
  const held = new HeldAnswers();
  const ended: string[] = [];
  const hold = (name: string) => held.hold(() => ended.push(name));
  const leave = hold('left by itself');
  hold('released');
  leave();
  held.release();
  held.release();
  hold('at the end');
  held.close();
  hold('late');
  expect(ended).toEqual(['released', 'at the end', 'late']);
  held.close();
  expect(ended).toHaveLength(3);
});

test('answers end for good with their world or the sandbox, and not with a reset', () => {
  const [held, closed] = [new HeldAnswers(), new HeldAnswers()];
  const seen = [held.isForGood];
  held.release();
  seen.push(held.isForGood);
  held.release(true);
  seen.push(held.isForGood);
  held.release();
  closed.close();
  expect([...seen, held.isForGood, closed.isForGood]).toEqual([false, false, true, true, true]);
});
