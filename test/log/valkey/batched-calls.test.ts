import { Redis } from 'iovalkey';
import { expect, onTestFinished, test } from 'vitest';
import { BatchedCalls } from '../../../src/log/valkey/calls/batched-calls.ts';
import { JoinedCalls } from '../../../src/log/valkey/calls/joined-calls.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';

/** Calls that are made without a store. */
function batchedCalls(call: (items: readonly string[]) => Promise<void>): BatchedCalls<string> {
  const client = new Redis({ lazyConnect: true });
  onTestFinished(() => client.disconnect());
  const wallClock = systemClock();
  return new BatchedCalls({ wallClock, store: { joined: new JoinedCalls(client, wallClock) } }, call);
}

test('what is added in one turn, and what comes while a call is under way, goes along with the next', async () => {
  const made: (readonly string[])[] = [];
  const calls = batchedCalls(async (items) => {
    made.push(items);
    if (items.includes('b')) for (const item of ['c', 'd']) calls.add(item);
  });
  calls.add('a');
  calls.add('b');
  await calls.flush();
  await calls.flush();
  expect(made).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

test('whoever waits for what was added before does not wait for what comes after it', async () => {
  let isOver = false;
  const made: string[] = [];
  const calls = batchedCalls(async ([item]) => {
    made.push(item!);
    if (!isOver) calls.add(`after ${item!}`);
  });
  calls.add('first');
  await calls.flush();
  isOver = true;
  expect(made[0]).toBe('first');
});
