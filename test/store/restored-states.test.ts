import { expect, test } from 'vitest';
import { keysOf } from '../../src/store/scripts.ts';
import { beforeReply, loseReplies, onScripts } from '../support/store/scripts-run.ts';
import { balance, load, save } from '../support/world/core.ts';
import {
  balanceAt,
  credit,
  snapshotAt,
  storedLogFor,
  storedLogsFor,
  WORLD,
} from '../support/store/stored-log.ts';

test('a world that is restored again and again has one state in its store once a snapshot is kept', async () => {
  const { url, redis, one, other } = await storedLogsFor();
  await credit(one);
  const saved = save((await one.use(WORLD)).latest);
  for (let nth = 0; nth < 6; nth += 1) {
    const world = await [one, other][nth % 2]!.use(WORLD);
    await world.submit({ kind: 'restore', state: load(saved), clock: 'from-snapshot' });
    for (const log of [one, other]) expect(await balanceAt(log)).toBe(1500);
  }
  const names = async () =>
    new Set((await redis.hkeys(keysOf(WORLD).states)).map((field) => field.split('/')[0]));
  expect((await names()).size).toBe(6);
  onScripts(async ({ name, run }) => {
    if (name === 'keep') await balanceAt(other); // so that it does not begin from the new snapshot
    return run();
  });
  for (const log of [one, other]) {
    const world = await log.use(WORLD);
    await world.submit({ kind: 'forgetUndo' });
    await world.flush();
    expect((await names()).size).toBe(1);
    expect(await redis.xlen(keysOf(WORLD).log)).toBe(0); // also for the one that has not made the one before
  }
  expect(await snapshotAt(url)).toBeGreaterThan(7);
  const { log: late } = await storedLogFor(url, 'late');
  expect(await balanceAt(late)).toBe(1500);
});

test('a server that is behind a snapshot goes on from it, and its readers have missed something', async () => {
  const { one, other } = await storedLogsFor();
  const seen: string[] = [];
  await (await other.use(WORLD)).read(() => null);
  const world = await one.use(WORLD);
  await credit(one);
  await world.submit({ kind: 'forgetUndo' });
  await world.flush();
  await (
    await other.use(WORLD)
  ).watch(undefined, { take: ({ type }) => void seen.push(type), end: () => undefined });
  expect(seen).toEqual([]); // who joins has missed nothing
  await credit(one);
  await expect.poll(() => seen).toEqual(['wallet']);
  expect(await balanceAt(other)).toBe(2000);
});

test('a command beside a restore whose state is gone before its server has read it is a 503, and is not appended again', async () => {
  const { one, other, ofOther } = await storedLogsFor();
  const [world, late] = [await one.use(WORLD), await other.use(WORLD)];
  await world.submit({ kind: 'restore', state: load(save(world.latest)), clock: 'from-snapshot' });
  beforeReply(ofOther.store, 'call', async () => {
    await world.submit({ kind: 'forgetUndo' });
    await world.flush();
  });
  await expect(late.submit({ kind: 'credit', amountPaise: 500 })).rejects.toThrow(/outcome .* is unknown/);
  for (const log of [one, other]) expect(await balanceAt(log)).toBe(1500);
});

test('a log that is too long is followed by one snapshot, however many commands make it so at once', async () => {
  const { url, one } = await storedLogsFor();
  const world = await one.use(WORLD);
  const request = { body: 'x'.repeat(60_000) };
  await Promise.all(Array.from({ length: 25 }, () => world.submit(balance({ request }))));
  await expect.poll(() => snapshotAt(url)).toBe(26);
  await credit(one);
  expect(world.position).toBe(27);
});

test('a server that opens a world again takes what it did there before for no news', async () => {
  const { url, one } = await storedLogsFor();
  const world = await one.use(WORLD);
  await Promise.all(Array.from({ length: 510 }, () => world.submit(balance())));
  const found = loseReplies(false, 'keep');
  await world.submit({ kind: 'forgetUndo' });
  await world.flush();
  found();
  const { log: again } = await storedLogFor(url, 'one');
  expect((await again.use(WORLD)).isIdle).toBe(true); // it ends no request, and keeps no snapshot
});

test('what is stored of a state expires, even if its server dies in the middle of writing it', async () => {
  const { redis, one } = await storedLogsFor();
  const world = await one.use(WORLD);
  await world.submit({ kind: 'restore', state: load(save(world.latest)), clock: 'from-snapshot' });
  for (const key of Object.values(keysOf(WORLD))) expect(await redis.pttl(key)).toBeGreaterThan(0);
});
