import { describe, expect, test, vi } from 'vitest';
import { dropWorld } from '../../../src/http/referee/evidence.ts';
import { LIST_KEYS } from '../../../src/log/valkey/scripts.ts';
import type { World } from '../../../src/log/world.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { Referee } from '../../../src/referee/referee.ts';
import { initiate, readerOf, sourceOf } from '../../support/world/core.ts';
import { freshStore } from '../../support/store/fresh-store.ts';
import { laterClock } from '../../support/world/later-clock.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';
import { beforeReply } from '../../support/store/scripts-run.ts';
import { balanceAt, credit, storedLogFor, storedLogsFor } from '../../support/store/stored-log.ts';

const DROPPED = 'd'.repeat(32);
const LIVE = 'e'.repeat(32);

/** A clock that moves only when a test moves it: its server does nothing but what it is asked to. */
const stillClock = () => ({ wallClock: new ManualClock(systemClock().nowMs()) });

/** Two servers that both know one world, which takes all the room, and have nothing more to write down of it. */
async function twoServers() {
  const { redis, one, other } = await storedLogsFor({ maxRecords: 3 });
  for (const log of [one, other, one]) await credit(log, DROPPED);
  const world = await other.use(DROPPED);
  await world.read(() => null);
  await expect(credit(other, LIVE)).rejects.toMatchObject({ code: 'SANDBOX_FULL' });
  for (const log of [one, other, one, other]) await log.ids();
  return { redis, one, other, world };
}

describe('a world that one server drops and another has just used', () => {
  test('does not return to the list, where it would cost another world its place', async () => {
    const { one, other } = await storedLogsFor({ maxWorlds: 2 });
    await credit(other, LIVE);
    await other.use(DROPPED);
    await one.drop(DROPPED);
    expect(await other.ids()).toEqual([LIVE]);
    await one.use('f'.repeat(32));
    expect(await balanceAt(one, LIVE)).toBe(1500);
  });

  test('is one without payouts when a new world needs its place, if there is one', async () => {
    const { log } = await storedLogFor(await freshStore(), 'one', { maxWorlds: 2 });
    await credit(log, LIVE);
    await log.use(DROPPED);
    await log.ids(); // writes down what they hold
    await log.use('f'.repeat(32));
    expect(await log.ids()).toEqual([LIVE, 'f'.repeat(32)]);
  });

  test('is not listed, even if it was dropped while the other server recorded its use', async () => {
    const { one, other, ofOther } = await storedLogsFor();
    for (const worldId of [DROPPED, LIVE]) await other.use(worldId);
    beforeReply(ofOther.store, 'exchange', () => one.drop(DROPPED));
    await other.ids();
    expect(await other.ids()).toEqual([LIVE]);
  });

  test('is forgotten, even if the other server drops another world while it records the uses of both', async () => {
    const { one, other, ofOther } = await storedLogsFor({}, stillClock());
    for (const worldId of [LIVE, DROPPED]) await credit(other, worldId);
    await other.ids();
    await one.drop(DROPPED);
    beforeReply(ofOther.store, 'exchange', () => other.drop(LIVE));
    await other.ids();
    expect(other.copies.size).toBe(0);
    await credit(one, 'f'.repeat(32));
    await one.ids();
    await other.ids();
    expect(other.recordsHeld).toBe(1);
  });

  test('is forgotten by a server that knows many others', async () => {
    const { wallClock, later } = laterClock();
    const { one, other } = await storedLogsFor({ maxWorlds: 1000 }, { wallClock });
    const ids = Array.from({ length: 150 }, (_, nth) => String(nth).padStart(32, '0'));
    for (const worldId of ids) await other.use(worldId);
    later(61_000); // it looks up those that were used lately anyway
    await one.drop(ids[120]!);
    const copies = async (): Promise<number> => {
      await other.ids();
      return other.copies.size;
    };
    await expect.poll(copies).toBe(149);
  });

  test('frees its room, even if the other server stops right after it recorded its state', async () => {
    const { one, other } = await storedLogsFor({}, stillClock());
    await credit(other, DROPPED);
    await other.ids();
    await other.close();
    await expect.poll(() => one.recordsHeld).toBe(1);
    await one.drop(DROPPED);
    expect((await one.page(0, 10)).worlds).toEqual([]);
    await expect.poll(() => one.recordsHeld).toBe(0);
  });

  test('frees its room, even if the server that dropped it dies before it removes it from the list', async () => {
    const { one, other, ofOne } = await storedLogsFor(stillClock(), { wallClock: systemClock() });
    await credit(one, DROPPED);
    await one.ids();
    await expect.poll(() => other.recordsHeld).toBe(1);
    await new Promise<void>((die) => {
      vi.spyOn(ofOne.store.directory, 'remove').mockImplementation(async () => {
        die();
        return new Promise<never>(() => undefined);
      });
      void one.drop(DROPPED);
    });
    await one.close();
    expect((await other.page(0, 10)).worlds).toEqual([]);
    await expect.poll(() => other.recordsHeld).toBe(0);
  });

  test('is dropped once, even if the reply is lost and it is opened again before the drop is repeated', async () => {
    const { log, store } = await storedLogFor(await freshStore(), 'one');
    await credit(log, DROPPED);
    let openedAgain: World | undefined;
    beforeReply(store, 'drop', async () => {
      openedAgain = await log.use(DROPPED);
      await openedAgain.submit({ kind: 'debit', amountPaise: 1 });
      throw new Error('the connection broke');
    });
    expect(await log.drop(DROPPED)).toBe(true);
    await openedAgain?.submit({ kind: 'debit', amountPaise: 1 });
    expect(await balanceAt(log, DROPPED)).toBe(998);
    await expect.poll(() => log.ids()).toEqual([DROPPED]);
  });

  test('is gone for a reader, and new for a request, when it is dropped while the other server opens it', async () => {
    const { one, other, ofOther } = await storedLogsFor();
    for (const worldId of [DROPPED, LIVE]) await credit(one, worldId);
    beforeReply(ofOther.store, 'open', () => one.drop(DROPPED));
    expect(await other.visit(DROPPED, async () => 'there')).toBeNull();
    beforeReply(ofOther.store, 'open', () => one.drop(LIVE));
    expect(await balanceAt(other, LIVE)).toBe(1000);
  });

  test('leaves no timer for its next step when the reply to a command arrives after the drop', async () => {
    const wallClock = new ManualClock(systemClock().nowMs());
    const source = sourceOf({ settlement: { IMPS: [{ to: 'SUCCESS', after: '1h' }] } });
    const { log, store } = await storedLogFor(await freshStore(), 'one', {
      wallClock,
      activeSource: () => source,
    });
    await log.use(DROPPED);
    const { timers } = wallClock;
    const world = await log.use(DROPPED);
    await world.submit(initiate());
    expect(wallClock.timers).toBe(timers + 1);
    beforeReply(store, 'append', () => log.drop(DROPPED));
    await world.submit({ kind: 'credit', amountPaise: 500 });
    expect(wallClock.timers).toBe(timers);
  });

  test('is reported as gone to an admin who drops it just after another did, and no report is kept', async () => {
    const { one, other, ofOne } = await storedLogsFor();
    const world = await one.use(DROPPED);
    await world.submit(initiate());
    const referee = new Referee(10_000);
    referee.configureAll({});
    beforeReply(ofOne.store, 'append', () => other.drop(DROPPED));
    expect(await dropWorld(DROPPED, { referee, worlds: one, wallClock: systemClock() })).toBe(false);
    expect(referee.reports(new Map()).worlds).toEqual([]);
  });

  test('is listed in its next life by the other server, and heard there from its first command on', async () => {
    const { one, other } = await storedLogsFor({}, stillClock()); // it learns of the drop only when a reader comes
    for (let nth = 0; nth < 3; nth += 1) await credit(other, DROPPED);
    await one.drop(DROPPED);
    await one.use(DROPPED);
    expect((await other.page(0, 10)).worlds).toMatchObject([{ id: DROPPED, balance: 10 }]);
    const { read } = await readerOf(await other.use(DROPPED));
    await credit(one, DROPPED);
    await expect.poll(() => read).toMatchObject([{ type: 'wallet' }]);
  });
});

describe('a world that is gone, at a server that has not used it since', () => {
  test('frees its room for other worlds at every server', async () => {
    const { one, other } = await twoServers();
    await one.drop(DROPPED);
    for (const log of [one, other])
      await expect.poll(() => credit(log, LIVE).then(() => 'taken', String)).toBe('taken');
  });

  test('ends its delayed responses and its readers of events, and frees its room, when the store has lost it', async () => {
    const { redis, one, other, world } = await twoServers();
    const ended: string[] = [];
    world.connections.delayed.hold(() => ended.push('answer'));
    await world.watch(undefined, { take: () => undefined, end: () => void ended.push('reader') });
    await redis.flushdb();
    await expect.poll(() => ended).toEqual(['answer', 'reader']);
    await expect.poll(() => [one.recordsHeld, other.recordsHeld]).toEqual([0, 0]);
  });

  test('is listed again if it still exists in the store', async () => {
    const { redis, other } = await twoServers();
    await redis.del(...LIST_KEYS);
    await expect.poll(() => other.ids()).toEqual([DROPPED, LIVE]);
  });
});
