import assert from 'node:assert/strict';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connectSandbox } from '../../src/index.ts';
import { FastClient } from './support/fast-client.ts';
import { Random } from '../support/world/random.ts';
import { clientOf } from '../support/sandbox.ts';
import { crowdedWorld, modelledWorld, roughWorld, watchedWorld, type Soak } from './support/soak-worlds.ts';
import { keptWorlds, temporaryFolder } from '../support/temporary-folder.ts';
import { WatchedProgram } from './support/watched-program.ts';
import { START } from '../support/world/ways-in.ts';
import { assertMatchesModel, OPENING_PAISE } from '../support/world/world-moves.ts';

const { SOAK_MINUTES, SOAK_SEED = String(Date.now()) } = process.env;
const isLong = SOAK_MINUTES !== undefined;
const minutes = isLong ? Number(SOAK_MINUTES) : 1 / 3;
const SAMPLE_EVERY_MS = 5000;

const ADMIN_TOKEN = 'the-token-of-the-admin';
const MIB = 1024 * 1024;
const FLAT = 1.05;
/** More than all bounded stores of these settings hold together, and what is under way, ever takes beside an idle program. */
const MOST_BYTES = 32 * MIB;

const settings = (state: string): Record<string, string> => ({
  SANDBOX_CLOCK: START,
  SANDBOX_OPENING_BALANCE: String(OPENING_PAISE / 100),
  SANDBOX_RATE_LIMIT: 'off', // full speed; one of the scenarios has a limit of its own
  SANDBOX_ADMIN_TOKEN: ADMIN_TOKEN,
  SANDBOX_METRICS: 'on',
  SANDBOX_STATE: state,
  SANDBOX_STATE_EVERY: '1s',
  // what is bounded must be full within the first minute, or it would pass for a leak in the ones after it
  SANDBOX_JOURNAL_MEMORY: '4MiB',
  SANDBOX_JOURNAL_ENTRIES: '200',
  SANDBOX_MAX_WORLDS: '100',
});

const keys = (kind: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, nth) => `sk_test_${kind}_${nth}`);
const MODELLED = keys('modelled', 20);
const CROWDED = keys('crowded', 25);
const ROUGH = keys('rough', 5);

interface Sample {
  readonly atMs: number;
  readonly heap: number;
  readonly rss: number;
}

/** The median of what was on the heap between two times. */
function heapBetween(samples: readonly Sample[], fromMs: number, toMs: number): number {
  const heaps = samples.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ heap }) => heap);
  assert.ok(heaps.length > 0, 'the heap was looked at');
  return heaps.toSorted((a, b) => a - b)[heaps.length >> 1]!;
}

const inMib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;
const say = (text: string): void => void process.stdout.write(`soak: ${text}\n`);

test('fifty worlds at full speed cause no error, take constant memory and agree with their models', async () => {
  say(`SOAK_SEED=${SOAK_SEED} for ${isLong ? `${minutes} min` : '20 s'}`);
  const state = join(temporaryFolder(), 'soak.state');
  const errors: string[] = [];
  const counts = new Map<string, number>();
  const count = (what: string, times = 1): void => void counts.set(what, (counts.get(what) ?? 0) + times);
  const program = new WatchedProgram({
    environment: settings(state),
    measured: true,
    line(text) {
      if (text.endsWith('"msg":"request"}')) count('requests');
      if (/^\{"level":[56]0/.test(text)) errors.push(text);
      if (text.endsWith('"msg":"state written"}')) count('state files');
    },
  });
  const url = String((await program.ready)!['url']);
  const startedMs = performance.now();
  const endMs = startedMs + minutes * 60_000;
  let isBroken = false;
  const isOver = (): boolean => isBroken || performance.now() >= endMs;
  const sandbox = connectSandbox({ url, adminToken: ADMIN_TOKEN });
  const fast = new FastClient(url);
  const soak: Soak = { sandbox, fast, isOver, count };
  const idle = (await program.heap()).heapUsed;

  const samples: Sample[] = [];
  const lookAtHeap = async (): Promise<void> => {
    while (!isOver()) {
      const { heapUsed: heap, rss } = await program.heap();
      const atMs = performance.now() - startedMs;
      if (samples.length % 12 === 0)
        say(`${Math.round(atMs / 1000)} s: heap ${inMib(heap)}, resident ${inMib(rss)}`);
      samples.push({ atMs, heap, rss });
      await wait(Math.min(SAMPLE_EVERY_MS, Math.max(0, endMs - performance.now())));
    }
  };
  const watching = new AbortController();
  const random = (name: string): Random => new Random(SOAK_SEED, name);
  const modelled = MODELLED.map((key) => modelledWorld(soak, key, random(key)));
  const work: readonly Promise<unknown>[] = [
    ...modelled,
    ...CROWDED.map((key, nth) => crowdedWorld(soak, key, random(key), nth % 2 === 1)),
    ...ROUGH.map((key) => roughWorld(soak, key, ROUGH, random(key))),
    lookAtHeap(),
  ];
  const watchers = [MODELLED[0]!, CROWDED[0]!, ROUGH[0]!].map((key) =>
    watchedWorld(soak, key, watching.signal),
  );
  try {
    await Promise.all([...work, ...watchers.map((watcher) => Promise.race([watcher, Promise.all(work)]))]);
  } catch (error) {
    isBroken = true;
    throw error;
  } finally {
    watching.abort();
    fast.close();
  }
  await Promise.all(watchers);

  const worlds = await sandbox.worlds();
  expect(worlds).toHaveLength(MODELLED.length + CROWDED.length + ROUGH.length);
  const models = await Promise.all(modelled);
  for (const [nth, model] of models.entries())
    await assertMatchesModel(clientOf(sandbox.world(MODELLED[nth])), model); // still, when all others are done
  const last = await program.heap();

  program.child.kill('SIGTERM');
  expect(await program.ended).toEqual({ code: 0, signal: null });
  expect({ errors, stderr: program.stderr }).toEqual({ errors: [], stderr: '' });
  expect(keptWorlds(state)).toHaveLength(worlds.length);

  const figures = Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const early = isLong ? heapBetween(samples, 60_000, 120_000) : samples[0]!.heap;
  const late = isLong ? heapBetween(samples, (minutes - 1) * 60_000, Infinity) : samples.at(-1)!.heap;
  say(JSON.stringify(figures));
  say(`heap: ${inMib(idle)} idle, ${inMib(early)} early, ${inMib(late)} late (${(late / early).toFixed(3)})`);
  say(`heap when all was done ${inMib(last.heapUsed)}, resident ${inMib(last.rss)}`);
  const most = Math.max(...samples.map(({ heap }) => heap));
  say(`heap at its largest ${inMib(most)}`);
  // a run of seconds is too short to tell a leak from stores that fill: whatever the speed, it must stay below their bounds
  expect(most - idle).toBeLessThan(MOST_BYTES);
  if (isLong) expect(late / early).toBeLessThan(FLAT);
});
