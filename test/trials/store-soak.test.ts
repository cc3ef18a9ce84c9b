import { expect, onTestFinished, test } from 'vitest';
import { clientOf } from '../support/sandbox.ts';
import { hasRedisServer, RedisServer } from '../support/store/redis-server.ts';
import { assertMatchesModel } from '../support/world/world-moves.ts';
import { keysOf, Soak } from './support/soak.ts';
import { crowdedWorld } from './support/soak-worlds.ts';

const WORLDS = keysOf('shared', 12);
/** Payouts to these end in SUCCESS, FAILED and REVERSED. None breaks its connection, as a server that is killed does. */
const ACCOUNTS = ['9999200001', '9999200003', '9999200004'];
const FLAT = { heap: 1.1, resident: 1.15, store: 1.15 };

/** The states of restores that a snapshot has, which are kept for a minute more: as many as there were restores in that minute. */
const SUPERSEDED = `
  local bytes = 0
  for _, key in ipairs(redis.call('KEYS', '*:snapshot:restored:*')) do
    if redis.call('PTTL', key) <= 60000 then bytes = bytes + redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0) end
  end
  return bytes`;

/** What a store holds, without what it forgets within a minute: that goes with the pace of the machine and not with the time. */
async function usedBy(store: RedisServer): Promise<number> {
  const used = /^used_memory:(\d+)/m.exec(String(await store.command('INFO', 'memory')))![1];
  return Number(used) - Number(await store.command('EVAL', SUPERSEDED, '0'));
}

test.skipIf(!hasRedisServer)(
  'three servers on one store, two of which are killed repeatedly, cause no error, take constant memory and agree with the models',
  async () => {
    const store = await RedisServer.start('--databases', '1'); // it looks for expired keys in one after the other
    onTestFinished(() => store.end());
    const soak = await Soak.start(3, { SANDBOX_STORE: store.url });
    const measure = async () => {
      const { heapUsed: heap, rss: resident } = await soak.servers[0]!.program.heap();
      return { heap, resident, store: await usedBy(store) };
    };
    const worlds = WORLDS.map((key) => crowdedWorld(soak, key, ACCOUNTS));
    await soak.run([...worlds, soak.killServers()], measure);

    const models = await Promise.all(worlds);
    for (const { sandbox } of soak.servers) {
      for (const [nth, key] of WORLDS.entries())
        await assertMatchesModel(clientOf(sandbox.world(key)), models[nth]!, null);
    }
    await soak.stop();
    const grown = Object.entries(FLAT).filter(([part, most]) => soak.held(part).growth >= most);
    expect(grown).toEqual([]);
  },
);
