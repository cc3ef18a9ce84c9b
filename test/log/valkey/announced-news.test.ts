import { expect, test } from 'vitest';
import { keysOf } from '../../../src/log/valkey/scripts.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { ownStore } from '../../support/store/fresh-store.ts';
import { credit, storedLogFor, WORLD } from '../../support/store/stored-log.ts';
import { readerOf } from '../../support/world/core.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';

const MINUTE_MS = 60_000;

async function storeFor() {
  const store = await ownStore();
  const info = async () => String(await store.command('INFO', 'commandstats'));
  const announced = async () => Number(/cmdstat_publish:calls=(\d+)/.exec(await info())?.[1] ?? 0);
  return { store, announced };
}

test('a command is announced only while a server listens', async () => {
  const { store, announced } = await storeFor();
  const { log: one } = await storedLogFor(store.url, 'one');
  const { log: other } = await storedLogFor(store.url, 'other');
  await credit(one);
  expect(await announced()).toBe(0);
  const { read, stop } = await readerOf(await other.use(WORLD));
  const { head } = keysOf(WORLD);
  await expect.poll(() => store.command('HEXISTS', head, 'heard')).toBe(1);
  await credit(one);
  await expect.poll(() => read).toHaveLength(1);
  expect(await announced()).toBe(1);
  stop();
  const untilMs = Number(await store.command('HGET', head, 'heard'));
  expect(untilMs).toBeLessThanOrEqual(Date.now() + MINUTE_MS);
  await store.command('HSET', head, 'heard', String(untilMs - MINUTE_MS)); // as a minute later
  await credit(one);
  expect(await announced()).toBe(1);
});

test('a server that the store no longer takes to listen gets what it missed, and is announced to again', async () => {
  const { store } = await storeFor();
  const wallClock = new ManualClock(systemClock().nowMs());
  const { log: one } = await storedLogFor(store.url, 'one');
  const { log: other } = await storedLogFor(store.url, 'other', { wallClock });
  const { read } = await readerOf(await other.use(WORLD));
  const { head } = keysOf(WORLD);
  await expect.poll(() => store.command('HEXISTS', head, 'heard')).toBe(1);
  await store.command('HDEL', head, 'heard');
  await credit(one);
  await wallClock.pass(MINUTE_MS / 2);
  await expect.poll(() => read).toHaveLength(1);
  await credit(one);
  await expect.poll(() => read).toHaveLength(2);
});
