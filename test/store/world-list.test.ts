import { describe, expect, onTestFinished, test } from 'vitest';
import { ControlClient } from '../../src/client/control-client.ts';
import { sendOverHttp } from '../../src/client/http-client.ts';
import type { WorldsResponse } from '../../src/contract/control-responses.ts';
import { startSandbox } from '../../src/index.ts';
import { systemClock } from '../../src/platform/system-clock.ts';
import { clockAt } from '../../src/worlds/wall-clock.ts';
import { freshStore } from '../support/store/fresh-store.ts';
import { DAY_MS } from '../support/world/core.ts';
import { serverFor } from '../support/server.ts';
import { serversFor } from '../support/store/shared-servers.ts';

const WORLDS = 30;
const ADMIN_TOKEN = 'the-token-of-the-admin';

/** Worlds at one server, and another server that has not been asked for any of them. */
async function twoServers() {
  const given = { adminToken: ADMIN_TOKEN, settlement: 'manual' } as const; // nothing happens while a busy machine is slow
  const { store, servers, clients } = await serversFor(1, given);
  for (let nth = 0; nth < WORLDS; nth += 1) await clients(`sk_test_${nth}`)[0]!.pay({ amount: nth + 1 });
  const { url, sandbox } = await serverFor({ store, ...given }, systemClock());
  const admin = new ControlClient(sendOverHttp, url, ADMIN_TOKEN);
  return { server: servers[0]!, other: sandbox, admin };
}

describe('all worlds of a store', () => {
  test('are listed with times of the store, also by a server whose clock is two days ahead', async () => {
    const clock = systemClock();
    const ahead = clockAt({ nowMs: () => clock.nowMs() + 2 * DAY_MS }, clock);
    const { sandbox, worlds } = await serverFor({ store: await freshStore() }, ahead);
    await sandbox.world('sk_test_ahead').balance();
    await worlds.ids(); // writes down the use
    const [{ used_at }] = (await sandbox.worlds()) as [WorldsResponse['worlds'][number]];
    expect(Date.parse(used_at) - clock.nowMs()).toBeLessThan(DAY_MS);
  });

  test('are listed and judged by a server that was not asked for them, and dropped with a verdict', async () => {
    const { server, other, admin } = await twoServers();
    const listed = await server.worlds();
    expect(await other.worlds()).toEqual(listed);
    const report = await admin.put('/worlds/referee', {});
    expect(report).toMatchObject({ passed: true, worlds: { length: WORLDS } });
    await other.dropWorld(listed[0]!.id);
    expect(await other.worlds()).toHaveLength(WORLDS - 1);
    expect(await admin.get('/worlds/referee')).toEqual(report);
  });
});

test.each(['memory', 'a store'])(
  'the list of worlds in %s comes in pages, none of which leaves out a world that is used meanwhile',
  async (where) => {
    const store = where === 'memory' ? {} : { store: await freshStore() };
    const sandbox = await startSandbox({ adminToken: ADMIN_TOKEN, ...store });
    onTestFinished(() => sandbox.close());
    const worlds = Array.from({ length: 7 }, () => sandbox.world());
    const ids: string[] = [];
    for (const world of worlds) ids.push((await world.summary()).id);
    const admin = new ControlClient(sendOverHttp, sandbox.url, ADMIN_TOKEN);
    const listed: string[] = [];
    let cursor: number | null | undefined;
    for (let pages = 0; cursor !== null; pages += 1) {
      const page = await admin.get<WorldsResponse>('/worlds', { limit: 3, cursor });
      listed.push(...page.worlds.map(({ id }) => id));
      cursor = page.next;
      if (pages === 0) await worlds[0]!.pay(); // which was on that page
    }
    expect(listed.toSorted()).toEqual([...ids, ids[0]!].toSorted()); // each once, but for the one that was used
    expect(listed.at(-1)).toBe(ids[0]);
    expect((await sandbox.worlds()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  },
);
