import { Redis } from 'iovalkey';
import { expect, onTestFinished, test } from 'vitest';
import { BatchedCalls } from '../../../src/log/valkey/calls/batched-calls.ts';
import { JoinedCalls } from '../../../src/log/valkey/calls/joined-calls.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';

/** Calls that are made without a store. */
function batchedCalls(
  call: (items: readonly string[]) => Promise<readonly string[] | void>,
): BatchedCalls<string> {
  const client = new Redis({ lazyConnect: true });
  onTestFinished(() => client.disconnect());
  const wallClock = systemClock();
  return new BatchedCalls({ wallClock, store: { joined: new JoinedCalls(client, wallClock) } }, call);
}

test('items added in one turn share a call, and items added during a call share the next one', async () => {
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

test('a flush waits for the items added before it, not for later ones', async () => {
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

test('items that a call returns go with a later call, before all others', async () => {
  const made: (readonly string[])[] = [];
  const calls = batchedCalls(async (items) => {
    made.push(items);
    return made.length === 1 ? items : [];
  });
  for (const item of ['a', 'b']) calls.add(item);
  await calls.flush();
  expect(made).toEqual([['a', 'b']]);
  calls.add('c');
  await calls.flush();
  expect(made).toEqual([
    ['a', 'b'],
    ['a', 'b', 'c'],
  ]);
  expect(calls.isIdle).toBe(true);
});
