import { describe, expect, test, vi } from 'vitest';
import type { World } from '../../../src/log/world.ts';
import type { Worlds } from '../../../src/log/worlds.ts';
import { freshStore } from '../../support/store/fresh-store.ts';
import { credit, storedLogFor, storedLogsFor, WORLD } from '../../support/store/stored-log.ts';
import { balance } from '../../support/world/core.ts';

const FEW = { maxRequestsInAll: 32 };
async function ask(log: Worlds, name: string): Promise<World> {
  const world = await log.use(name.padStart(32, '0'));
  await world.submit(balance());
  return world;
}

describe('a world that a server has just loaded', () => {
  test('is there for a reader who arrives as the last one leaves', async () => {
    const { one, other } = await storedLogsFor();
    await credit(one);
    let leave: (() => void) | undefined;
    const first = other.visit(WORLD, () => new Promise<void>((resolve) => (leave = resolve)));
    await expect.poll(() => leave).toBeDefined();
    leave!();
    expect(await other.visit(WORLD, async (world) => world.read(({ wallet }) => wallet.balancePaise))).toBe(
      1500,
    );
    await first;
    expect(other.copies.size).toBe(0);
  });

  test('is forgotten also when the last one to look at it fails, and its records stay those of another server', async () => {
    const { one, other } = await storedLogsFor();
    await credit(one);
    await one.ids(); // writes down what it holds
    const look = () => Promise.reject(new Error('failed'));
    await expect(other.visit(WORLD, look)).rejects.toThrow('failed');
    await other.ids(); // reads what all hold
    expect([other.copies.size, other.recordsHeld]).toEqual([0, 1]);
  });

  test.each([
    ['take too much', FEW],
    ['are too many', { maxCopies: 30 }],
  ])('is forgotten with others when they %s, unless it is in use', async (_what, limit) => {
    const { log } = await storedLogFor(await freshStore(), 'one', { maxWorlds: 100, ...limit });
    const read = await ask(log, 'a');
    const end = vi.fn<() => void>();
    await read.watch(undefined, { take: () => undefined, end });
    const asked = await ask(log, 'aa');
    asked.enter(); // a request is on its way to it
    for (let nth = 0; nth < 60; nth += 1) await ask(log, `b${nth}`);
    await log.ids(); // the list of all worlds knows that they were used
    await ask(log, 'c');
    expect(log.copies.size).toBeLessThan(40);
    expect(asked.isClosed).toBe(false);
    expect(end).not.toHaveBeenCalled();
    expect(read.isClosed).toBe(false);
  });

  test('is loaded again for whoever waits for it when it is forgotten meanwhile', async () => {
    const { log, store } = await storedLogFor(await freshStore(), 'one', { maxWorlds: 100, ...FEW });
    const add = store.directory.add.bind(store.directory);
    let list = (): void => undefined;
    const listed = new Promise<void>((resolve) => (list = resolve));
    vi.spyOn(store.directory, 'add').mockImplementationOnce((...row) => listed.then(() => add(...row)));
    const waiting = log.use(WORLD);
    await expect.poll(() => log.copies.get(WORLD)).toBeDefined();
    for (let nth = 0; nth < 60; nth += 1) await ask(log, `b${nth}`);
    await log.ids(); // notes the uses
    await ask(log, 'c');
    expect(log.copies.get(WORLD)).toBeUndefined();
    list();
    expect(await (await waiting).read(({ id }) => id)).toBe(WORLD);
  });

  test('counts once towards the limit over all worlds', async () => {
    const { one, other } = await storedLogsFor({ maxRecords: 5 });
    for (let nth = 0; nth < 3; nth += 1) await credit(one);
    await expect.poll(() => other.recordsHeld).toBe(3);
    await credit(other);
    expect(other.recordsHeld).toBe(4);
  });
});
