import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { FastClient } from './support/fast-client.ts';
import { Random } from '../support/world/random.ts';
import { hasRedisServer, RedisServer } from '../support/store/redis-server.ts';
import { assertStands, OPENING, sharedWorld, type SharedSoak } from './support/shared-soak.ts';
import { WatchedProgram } from './support/watched-program.ts';
import { START } from '../support/world/ways-in.ts';

const { SOAK_MINUTES, SOAK_SEED = String(Date.now()) } = process.env;
const isLong = SOAK_MINUTES !== undefined;
const minutes = isLong ? Number(SOAK_MINUTES) : 1 / 3;
const SAMPLE_EVERY_MS = 5000;
const SERVERS = 3;
const WORLDS = Array.from({ length: 12 }, (_, nth) => `sk_test_shared_${nth}`);
const MIB = 1024 * 1024;
const FLAT = { heap: 1.1, resident: 1.15, store: 1.15 };
type Part = keyof typeof FLAT;
type Sample = Readonly<Record<Part | 'atMs', number>>;

const say = (text: string): void => void process.stdout.write(`store soak: ${text}\n`);

/** The median of what was held between two times. */
function between(samples: readonly Sample[], part: Part, fromMs: number, toMs: number): number {
  const held = samples.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map((sample) => sample[part]);
  assert.ok(held.length > 0, 'the memory was looked at');
  return held.toSorted((a, b) => a - b)[held.length >> 1]!;
}

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
    say(`SOAK_SEED=${SOAK_SEED} for ${isLong ? `${minutes} min` : '20 s'}`);
    const store = await RedisServer.start('--databases', '1'); // it looks for expired keys in one after the other
    onTestFinished(() => store.end());
    const errors: string[] = [];
    const counts = new Map<string, number>();
    const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
    const start = async (measured: boolean) => {
      const program = new WatchedProgram({
        environment: {
          SANDBOX_STORE: store.url,
          SANDBOX_CLOCK: START,
          SANDBOX_OPENING_BALANCE: String(OPENING),
          SANDBOX_RATE_LIMIT: 'off',
          SANDBOX_JOURNAL_ENTRIES: '200', // full within the first minute
        },
        measured,
        line: (text) => void (/^\{"level":[56]0/.test(text) && errors.push(text)),
      });
      return { program, client: new FastClient(String((await program.ready)!['url'])) };
    };
    const servers = await Promise.all(Array.from({ length: SERVERS }, (_, nth) => start(nth === 0)));
    const { program: lasting } = servers[0]!;

    const startedMs = performance.now();
    const endMs = startedMs + minutes * 60_000;
    let isBroken = false;
    const isOver = (): boolean => isBroken || performance.now() >= endMs;
    const untilEnd = (ms: number): Promise<void> =>
      wait(Math.min(ms, Math.max(0, endMs - performance.now())));
    const random = (name: string): Random => new Random(SOAK_SEED, name);
    const draws = random('servers');
    const soak: SharedSoak = { anyServer: () => draws.pick(servers).client, isOver, count };

    const samples: Sample[] = [];
    const lookAtMemory = async (): Promise<void> => {
      for (; !isOver(); await untilEnd(SAMPLE_EVERY_MS)) {
        const { heapUsed: heap, rss: resident } = await lasting.heap();
        const sample = { atMs: performance.now() - startedMs, heap, resident, store: await usedBy(store) };
        samples.push(sample);
      }
    };
    const kill = async (): Promise<void> => {
      const kills = random('kills');
      for (let nth = 0; !isOver(); nth += 1) {
        await untilEnd(2000 + kills.below(8000));
        if (isOver()) return;
        const victim = 1 + (nth % (SERVERS - 1));
        const { program, client } = servers[victim]!;
        program.child.kill('SIGKILL');
        await program.ended;
        client.close();
        servers[victim] = await start(false);
        count('kills');
      }
    };
    const worlds = WORLDS.map((key) => sharedWorld(soak, key, random(key)));
    try {
      await Promise.all([...worlds, lookAtMemory(), kill()]);
    } catch (error) {
      isBroken = true;
      throw error;
    }

    const models = await Promise.all(worlds);
    for (const { client, program } of servers) {
      for (const [nth, key] of WORLDS.entries()) {
        assertStands((await client.control('GET', '/world', key)).text, models[nth]!, key);
      }
      client.close();
      program.child.kill('SIGTERM');
      expect(await program.ended).toEqual({ code: 0, signal: null });
      expect(program.stderr).toBe('');
    }
    expect(errors).toEqual([]);

    say(JSON.stringify(Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))));
    // a short run may have as little as one sample: it reports the median of all, twice
    const [fromMs, toMs, lastMs] = isLong ? [60_000, 120_000, (minutes - 1) * 60_000] : [0, Infinity, 0];
    const growth = (Object.keys(FLAT) as Part[]).map((part) => {
      const [early, late] = [between(samples, part, fromMs, toMs), between(samples, part, lastMs, Infinity)];
      say(
        `${part}: ${(early / MIB).toFixed(1)} MiB early, ${(late / MIB).toFixed(1)} MiB late (${(late / early).toFixed(3)})`,
      );
      return [part, late / early] as const;
    });
    // a run of seconds is too short to tell a leak from what fills
    if (isLong) expect(growth.filter(([part, ratio]) => ratio > FLAT[part])).toEqual([]);
  },
);
