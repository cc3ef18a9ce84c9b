import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FORMAT, keysOf } from '../../../src/log/valkey/scripts.ts';
import type { WorldState } from '../../../src/world/state.ts';
import { ask } from '../../support/control.ts';
import type { Client } from '../../support/sandbox.ts';
import { freshStore, redisAt } from '../../support/store/fresh-store.ts';
import { credit, storedLogFor, WORLD } from '../../support/store/stored-log.ts';
import { serversFor } from '../../support/store/shared-servers.ts';

/** A world as an earlier version left it: its keys, and what the control API said of it. */
interface Golden {
  readonly key: string;
  readonly worldId: string;
  readonly head: Readonly<Record<string, string>>;
  readonly log: readonly (readonly [id: string, fields: readonly string[]])[];
  readonly restores: Readonly<Record<string, string>>;
  readonly states: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly summary: object;
  readonly transactions: readonly object[];
  readonly requests: readonly object[];
}

/** Each line of the file has one part, or one item of it. */
function golden(format: number): Golden {
  const whole: Record<string, unknown> = {};
  const text = readFileSync(new URL(`format-${format}.ndjson`, import.meta.url), 'utf8');
  for (const line of text.trimEnd().split('\n')) {
    const [[name, part]] = Object.entries(JSON.parse(line) as object) as [[string, unknown]];
    whole[name] = Array.isArray(part) ? [...((whole[name] ?? []) as unknown[]), ...part] : part;
  }
  return whole as unknown as Golden;
}

describe('the format of a log', () => {
  test.each(
    Array.from({ length: FORMAT }, (_, nth) => [
      [nth + 1, 'its latest state', -1],
      [nth + 1, 'its beginning', 0],
    ]).flat() as [number, string, number][],
  )(
    '%i is read from %s: a world that an earlier version wrote continues as it was',
    async (format, _from, nth) => {
      const { key, worldId, head, log, restores, states, summary, transactions, requests } = golden(format);
      const store = await freshStore();
      const client = redisAt(store);
      const keys = keysOf(worldId);
      const base = (JSON.parse(head['bases']!) as object[]).at(nth);
      await client.hset(keys.head, { ...head, bases: JSON.stringify([base]) });
      for (const [id, fields] of log) await client.xadd(keys.log, id, ...fields);
      await client.hset(keys.restores, restores);
      for (const [name, pieces] of Object.entries(states)) await client.hset(keys.state(name), pieces);
      const [world] = (await serversFor(1, { store })).clients(key) as [Client];
      expect(await world.world.summary()).toEqual(summary);
      expect(await world.world.transactions()).toEqual(transactions);
      expect((await ask(world, 'GET', '/requests?order=oldest')).body.requests).toEqual(requests);
      expect((await world.pay({ client_ref_id: 'one more' })).status).toBe(200);
    },
  );

  test('of a newer version is left alone: responses and a metric say so, and the server stays ready for the others', async () => {
    const { store, clients } = await serversFor(2, { metrics: 'on' });
    const [one, other] = clients() as [Client, Client];
    await one.pay({ amount: 10 });
    const client = redisAt(store);
    const { head, log } = keysOf((await one.world.summary()).id);
    await client.hset(head, 'format', FORMAT + 1);
    const length = await client.xlen(log);
    for (const { pay } of [one, other]) {
      expect(await pay({ client_ref_id: 'later' })).toMatchObject({
        status: 503,
        body: { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('update this server') },
      });
    }
    expect(await client.xlen(log)).toBe(length);
    const get = async (path: string) => fetch(`${one.url}/_sandbox/${path}`);
    const newerWorlds = async () =>
      /^payout_sandbox_store_newer_worlds \d+$/m.exec(await (await get('metrics')).text())![0];
    expect((await get('health')).status).toBe(200);
    expect(await newerWorlds()).toBe('payout_sandbox_store_newer_worlds 1');
    await client.hset(head, 'format', FORMAT);
    await expect.poll(newerWorlds).toBe('payout_sandbox_store_newer_worlds 0');
    expect((await other.balance()).body.data.balance).toBe(999_990);
  });
});

test('the format of a world is raised when a state of it is stored, and the log says once that one is too new', async () => {
  const url = await freshStore();
  const { log, warnings } = await storedLogFor(url, 'one');
  const world = await log.use(WORLD);
  const client = redisAt(url);
  const { head } = keysOf(WORLD);
  const format = async () => Number(await client.hget(head, 'format'));
  await client.hset(head, 'format', FORMAT - 1);
  await credit(log);
  expect(await format()).toBe(FORMAT - 1); // servers of that version still use it
  const state = (await log.use('d'.repeat(32))).latest as WorldState;
  await world.submit({ kind: 'restore', state, clock: 'from-snapshot' });
  await expect.poll(format).toBe(FORMAT);
  await client.hset(head, 'format', FORMAT + 1);
  for (let nth = 0; nth < 2; nth += 1)
    await expect(credit(log)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(warnings).toEqual([expect.stringContaining('a newer version of the sandbox wrote this world')]);
});

test('worlds of an earlier version that cannot be read are named at the start of a server', async () => {
  const url = await freshStore();
  expect((await storedLogFor(url, 'one')).warnings).toEqual([]);
  await redisAt(url).zadd('payout-sandbox:3:{worlds}:used', 1, 'a', 2, 'b');
  expect((await storedLogFor(url, 'other')).warnings).toEqual([
    'it has 2 worlds of an earlier version (keys payout-sandbox:3:*), which this version cannot read: keep using that version, or delete these keys',
  ]);
});
