import { Redis } from 'iovalkey';
import { pino } from 'pino';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { ControlClient } from '../../../src/client/control-client.ts';
import { keysOf } from '../../../src/log/valkey/scripts/scripts.ts';
import { connectSandbox } from '../../../src/index.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { startServer } from '../../../src/server.ts';
import { readSettings } from '../../../src/settings.ts';
import { serversFor } from '../../support/shared-servers.ts';

const WORLDS = 30;
const ADMIN_TOKEN = 'the-token-of-the-admin';

/** Worlds at one server, and another server that has not been asked for any of them. */
async function twoServers() {
  const given = { adminToken: ADMIN_TOKEN, settlement: 'manual' } as const; // nothing happens while a busy machine is slow
  const { store, servers, clients } = await serversFor(1, given);
  for (let nth = 0; nth < WORLDS; nth += 1) await clients(`sk_test_${nth}`)[0]!.pay({ amount: nth + 1 });
  const settings = readSettings({ port: 0, store, ...given }, {});
  const started = await startServer(settings, systemClock(), pino({ level: 'silent' }));
  const { worlds, url } = started;
  onTestFinished(() => started.close());
  const client = new Redis(store);
  onTestFinished(() => client.disconnect());
  const known = (rows: readonly { id: string }[]) => rows.filter(({ id }) => worlds.known(id) !== undefined);
  const admin = new ControlClient(url, ADMIN_TOKEN);
  return {
    server: servers[0]!,
    other: connectSandbox({ url, adminToken: ADMIN_TOKEN }),
    admin,
    client,
    known,
  };
}

describe.skipIf(inject('storeUrl') === '')('all worlds of a store', () => {
  test('are an empty list as long as there are none', async () => {
    const { servers } = await serversFor(1);
    expect(await servers[0]!.worlds()).toEqual([]);
  });

  test('are listed by a server without loading any of them', async () => {
    const { server, other, client } = await twoServers();
    const listed = await server.worlds();
    expect(listed).toHaveLength(WORLDS);
    for (const { id } of listed) await client.del(keysOf(id).log);
    expect(await other.worlds()).toEqual(listed);
  });

  test('are listed with their current state after a server died before it recorded it', async () => {
    const { server, other, client, known } = await twoServers();
    const listed = await server.worlds();
    await client.del('payout-sandbox:2:rows');
    expect(await other.worlds()).toEqual(listed);
    expect(known(listed)).toEqual([]);
  });

  test('are judged one after another by a server that keeps none of them loaded, and dropped with a verdict', async () => {
    const { server, other, admin, known } = await twoServers();
    const listed = await server.worlds();
    const report = await admin.put('/worlds/referee', {});
    expect(report).toMatchObject({ passed: true, worlds: { length: WORLDS } });
    expect(known(listed)).toEqual([]);
    await other.dropWorld(listed[0]!.id);
    expect(await other.worlds()).toHaveLength(WORLDS - 1);
    expect(await admin.get('/worlds/referee')).toEqual(report);
  });
});
