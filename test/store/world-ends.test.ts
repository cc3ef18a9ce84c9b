import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { dropWorld } from '../../src/http/control/referee-routes.ts';
import { Connections } from '../../src/http/limits/connections.ts';
import { HeavyWork } from '../../src/http/limits/heavy-work.ts';
import { stopwatchMs, systemClock } from '../../src/platform/system-clock.ts';
import { Referee } from '../../src/referee/referee.ts';
import { STORE_TIMES } from '../../src/store/store-times.ts';
import { keysOf } from '../../src/store/scripts.ts';
import { whole } from '../../src/world/steps.ts';
import type { World } from '../../src/worlds/world.ts';
import type { Worlds } from '../../src/worlds/worlds.ts';
import { freshStore } from '../support/store/fresh-store.ts';
import { beforeReply } from '../support/store/scripts-run.ts';
import { balanceAt, credit, storedLogFor, storedLogsFor, WORLD } from '../support/store/stored-log.ts';
import type { Client } from '../support/sandbox.ts';
import { serversFor } from '../support/store/shared-servers.ts';
import { balance, initiate } from '../support/world/core.ts';

const LIVE = 'e'.repeat(32);

/** Waits for what happens in a world, as a delayed response and a reader do. @returns how they have ended so far */
async function endsOf(world: World): Promise<readonly string[]> {
  const ended: string[] = [];
  world.connections.wait(() => ended.push('answer'));
  await world.watch(undefined, { take: () => undefined, end: () => void ended.push('reader') });
  return ended;
}

async function ask(log: Worlds, name: string): Promise<World> {
  const world = await log.use(name.padStart(32, '0'));
  await world.submit(balance());
  return world;
}

describe('a world that one server drops and another knows', () => {
  test('is not listed, and new at the next request', async () => {
    const { one, other } = await storedLogsFor();
    for (const worldId of [WORLD, LIVE]) await credit(other, worldId);
    expect(await one.drop(WORLD)).toBe(true);
    expect(await one.drop(WORLD)).toBe(false);
    for (const log of [one, other])
      expect((await log.page(0, 10)).worlds.map(({ id }) => id)).toEqual([LIVE]);
    expect(await balanceAt(other, WORLD)).toBe(1000);
    for (const log of [one, other])
      expect((await log.page(0, 10)).worlds.map(({ id, balance }) => [id, balance])).toEqual([
        [LIVE, 15],
        [WORLD, 10],
      ]);
  });

  test('is new there without what ended in its former life: no request of the new one gets such an end', async () => {
    const { listen } = STORE_TIMES;
    onTestFinished(() => void (STORE_TIMES.listen = listen));
    STORE_TIMES.listen = 1_000_000; // it does not learn of the drop before a request comes
    const { clients, servers } = await serversFor(2);
    const [one, other] = clients() as [Client, Client];
    await one.world.rule({ match: { route: 'status' }, effect: { fault: 'hang' } });
    const hanging = other.status({ client_ref_id: 'a' }).catch(() => 'ended');
    await expect.poll(async () => (await one.world.requests()).length).toBe(1);
    const { id } = await one.world.summary();
    await servers[0]!.dropWorld(id);
    await one.world.rule({ match: { route: 'status' }, effect: { fault: 'hang' } });
    const later = one.status({ client_ref_id: 'b' }).catch(() => 'ended');
    await expect.poll(async () => (await one.world.requests()).length).toBe(1);
    await other.balance();
    expect(await hanging).toBe('ended');
    await other.balance(); // takes along what has ended
    expect((await other.world.requests())[0]).toMatchObject({ id: 1, outcome: 'pending' });
    await one.world.reset();
    await later;
  });

  test('ends its delayed responses and its readers there, as one that the store has lost', async () => {
    const { redis, one, other } = await storedLogsFor();
    const dropped = await endsOf(await other.use(WORLD));
    const lost = await endsOf(await other.use(LIVE));
    await one.drop(WORLD);
    await redis.del(keysOf(LIVE).head);
    await expect
      .poll(() => [dropped, lost])
      .toEqual([
        ['answer', 'reader'],
        ['answer', 'reader'],
      ]);
    await expect.poll(() => other.size).toBe(0);
  });

  test('is gone for a reader, and new for a request, when it is dropped while the other server opens it', async () => {
    const { one, other, ofOther } = await storedLogsFor();
    for (const worldId of [WORLD, LIVE]) await credit(one, worldId);
    beforeReply(ofOther.store, 'call', () => one.drop(WORLD));
    expect(await other.visit(WORLD, () => 'there')).toBeNull();
    beforeReply(ofOther.store, 'call', () => one.drop(LIVE));
    expect(await balanceAt(other, LIVE)).toBe(1000);
  });

  test('is reported as gone to an admin who drops it just after another did, and no report is kept', async () => {
    const { one, other, ofOne } = await storedLogsFor();
    await (await one.use(WORLD)).submit(initiate());
    const referee = new Referee();
    referee.settingsOfAll = {};
    beforeReply(ofOne.store, 'call', () => other.drop(WORLD));
    const wallClock = systemClock();
    const connections = new Connections({ max: 1, wallClock, stopwatchMs, ended: () => undefined });
    const heavy = new HeavyWork(connections);
    expect(await dropWorld(WORLD, { referee, worlds: one, wallClock, heavy })).toBe(false);
    expect(whole(referee.reports(new Map())).worlds).toEqual([]);
  });
});

test('a world of a store expires when nobody uses it, also if somebody looks at it, and is then on no list', async () => {
  const { one, other } = await storedLogsFor({ idleMs: 250 });
  await credit(one);
  expect(await other.ids()).toEqual([WORLD]);
  const look = () => other.visit(WORLD, () => 'there').catch(() => null);
  await expect.poll(look).toBeNull();
  await expect.poll(async () => (await other.page(0, 10)).worlds).toEqual([]);
  await expect.poll(() => one.size).toBe(0);
});

test('a world of a store is kept with all that is stored of it for as long as somebody uses it', async () => {
  const { redis, one } = await storedLogsFor();
  const world = await one.use(WORLD);
  await credit(one);
  await world.submit({ kind: 'forgetUndo' });
  await world.flush();
  const keys = Object.values(keysOf(WORLD));
  for (const key of keys) await redis.pexpire(key, 3_600_000);
  await redis.hset(keysOf(WORLD).head, 'renewed', 0);
  await credit(one);
  for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(3_600_000);
});

test('the copy of a world that somebody only looks at is forgotten after the last look, and there for one who comes as it ends', async () => {
  const { one, other } = await storedLogsFor();
  await credit(one);
  let leave: (() => void) | undefined;
  const first = other.visit(WORLD, () => new Promise<void>((resolve) => (leave = resolve)));
  await expect.poll(() => leave).toBeDefined();
  leave!();
  const second = other.visit(WORLD, ({ wallet }) => wallet.balancePaise);
  expect(await second).toBe(1500);
  await first;
  await expect(other.visit(WORLD, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(other.size).toBe(0);
});

test.each([
  ['take too much', { maxRequestsInAll: 32 }],
  ['are too many', { maxWorlds: 30 }],
])('the copy of a world is forgotten with others when they %s, unless it is in use', async (_what, limit) => {
  const { log } = await storedLogFor(await freshStore(), 'one', limit);
  const read = await ask(log, 'a');
  const end = vi.fn<() => void>();
  await read.watch(undefined, { take: () => undefined, end });
  const asked = await ask(log, 'aa');
  asked.enter(); // a request is on its way to it
  for (let nth = 0; nth < 60; nth += 1) await ask(log, `b${nth}`);
  await log.ids(); // the list of all worlds knows that they were used
  await ask(log, 'c');
  expect(log.size).toBeLessThan(40);
  expect([asked.closed !== null, read.closed !== null, end.mock.calls]).toEqual([false, false, []]);
});
