// What grows with the number of transactions and worlds, and what must not: `npm run bench:growth [-- --quick]`. With
// `--quick` it stops at 100,000 transactions.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { atLeast, figure, machine, median, note, printTable } from './figures.mjs';
import { PayoutLoad } from './payout-load.mjs';
import { Asker, control, startProcess } from './sandbox-process.mjs';

const IS_QUICK = process.argv.includes('--quick');
const SIZES = [1_000, 10_000, 100_000, 1_000_000].filter((size) => !IS_QUICK || size <= 100_000);
const LARGEST = SIZES.at(-1);
const WORLDS = IS_QUICK ? 1_000 : 10_000;
const TRANSACTIONS_EACH = 100;
const ROUNDS = IS_QUICK ? 9 : 15;
const PAYOUTS_A_ROUND = 2_000;
const STATE_EVERY_S = 20;

/** Each payout has two steps, so that a million can be due twice: first its success, then its money comes back. */
const STEPS = [
  { to: 'SUCCESS', after: '1h' },
  { to: 'REVERSED', after: '3d' },
];
const SETTINGS = {
  clock: '2026-01-15T10:30:00Z',
  'rate-limit': 'off',
  'log-level': 'warn',
  'opening-balance': '90000000000',
  'max-transactions': 3_000_000,
};

const name = (count) => (count >= 1e6 ? `${count / 1e6}M` : `${count / 1e3}k`);

/**
 * How fast payouts are made in worlds that hold much, against others, in turns: the machine is not the same from one moment to the
 * next.
 *
 * @param others keys of worlds that hold little; without them, a new world for each round
 */
async function throughput(url, load, keys, others) {
  const pairs = [];
  for (let nth = 0; nth < ROUNDS; nth += 1) {
    const empty = others ?? [`sk_test_empty_${keys.length}_${Math.floor(performance.now() * 1000)}`];
    const order = nth % 2 === 0 ? [keys, empty] : [empty, keys];
    const speeds = [];
    for (const target of order) speeds.push(await load.pay(target, PAYOUTS_A_ROUND));
    const [full, fresh] = nth % 2 === 0 ? speeds : speeds.toReversed();
    pairs.push({ full, fresh });
    // what a new world holds, its journal among it, would count as that of others
    if (others === undefined) await control(url, empty[0], 'POST', '/reset');
  }
  const [full, fresh] = ['full', 'fresh'].map((which) => median(pairs.map((pair) => pair[which])));
  note(`${full.toFixed(0)} a second, against ${fresh.toFixed(0)}`);
  return median(pairs.map(({ full, fresh }) => full / fresh));
}

const heldBytes = ({ heapUsed, external }) => heapUsed + external;

/** What each of `count` transactions takes, of what two measurements differ by. */
function bytesEach(what, before, after, count) {
  const each = (key) => (after[key] - before[key]) / count;
  figure(`${what}: heap and external memory each`, (heldBytes(after) - heldBytes(before)) / count, 'B', 800);
  figure(`${what}: of that, heap`, each('heapUsed'), 'B');
  figure(`${what}: of that, array buffers`, each('arrayBuffers'), 'B');
}

const BIG = 'sk_test_big';
const OTHER = 'sk_test_other';
const longest = (times) => times.at(-1) ?? 0;

async function asked(server, asker, what, work, bound = 50) {
  const { result, times } = await asker.during({ url: server.url, apiKey: OTHER }, work);
  figure(`${what}: other world's longest response (${times.length} asked)`, longest(times), 'ms', bound);
  figure(`${what}: its median`, median(times), 'ms');
  return result;
}

async function oneWorld(folder) {
  const server = await startProcess({ ...SETTINGS, state: join(folder, 'big.state'), 'state-every': 'off' });
  const asker = new Asker();
  const load = new PayoutLoad(server.url);
  const { url } = server;
  const scenario = Buffer.from(JSON.stringify({ settlement: { IMPS: STEPS } }));
  await control(url, BIG, 'PUT', '/scenario', { body: scenario });
  await load.pay(['sk_test_warm'], 20_000); // compiles; fills what is bounded, attempts and journals
  await load.pay([BIG], 1_000);
  let made = 1_000;
  const memories = [{ made, memory: await server.memory() }];
  for (const size of SIZES) {
    if (size > made) await load.pay([BIG], size - made);
    made = Math.max(made, size);
    const memory = await server.memory();
    memories.push({ made, memory });
    const ratio = await throughput(url, load, [BIG]);
    made += ROUNDS * PAYOUTS_A_ROUND;
    atLeast(`initiate in a world of ${name(size)}, to a new one`, ratio, '×', 0.9);
  }
  const [from, to] = [memories.find(({ made }) => made >= 10_000), memories.at(-1)];
  bytesEach(
    `a transaction, ${name(from.made)} to ${name(LARGEST)} in one world`,
    from.memory,
    to.memory,
    to.made - from.made,
  );
  figure(`resident memory with ${name(LARGEST)}`, to.memory.rss / 2 ** 20, 'MiB');

  await asked(server, asker, `nothing for 3 s (${name(LARGEST)} held)`, () => wait(3_000), Infinity);
  const step = async (what, by) => {
    const beforeMs = await server.cpuMs();
    const advance = () =>
      control(url, BIG, 'POST', '/clock/advance', { body: Buffer.from(JSON.stringify({ by })) });
    const { ms, bytes } = await asked(server, asker, what, advance, 100);
    figure(
      `${what}: until its last byte (${(bytes / 1e6).toFixed(0)} MB)`,
      ms,
      'ms',
      Math.round(10_000 * (made / 1e6)),
    );
    figure(`${what}: computing, the other world's answers included`, (await server.cpuMs()) - beforeMs, 'ms');
  };
  await step(`advance over ${name(made)} steps, to SUCCESS`, '1h');
  await step(`advance over ${name(made)} steps, money back`, '3d');
  await asked(server, asker, `reset of ${name(made)}, and 3 s after it`, async () => {
    const { ms } = await control(url, BIG, 'POST', '/reset');
    figure(`reset of ${name(made)}`, ms, 'ms', 5);
    await wait(3_000);
  });
  await restores(server, asker, load);
  asker.stop();
  await server.stop();
}

/** A snapshot of 100k, taken and put back. */
async function restores(server, asker, load) {
  const { url } = server;
  const key = 'sk_test_snapshot';
  await control(url, key, 'PUT', '/scenario', {
    body: Buffer.from(JSON.stringify({ settlement: { IMPS: STEPS } })),
  });
  await load.pay([key], 100_000);
  let whole;
  const worst = { taken: [], put: [], advance: [] };
  const took = { taken: [], put: [], advance: [] };
  const target = { url, apiKey: OTHER };
  for (let round = 0; round < 5; round += 1) {
    const taken = await asker.during(target, () => control(url, key, 'GET', '/state', { keeps: true }));
    whole = taken.result.whole;
    const put = await asker.during(target, () => control(url, key, 'PUT', '/state', { body: whole }));
    const body = Buffer.from('{"by":"1h"}');
    const advance = await asker.during(target, () => control(url, key, 'POST', '/clock/advance', { body }));
    await control(url, key, 'PUT', '/state', { body: whole });
    for (const [what, { result, times }] of Object.entries({ taken, put, advance })) {
      took[what].push(result.ms);
      worst[what].push(longest(times));
    }
  }
  note(`a snapshot of 100k has ${(whole.length / 1e6).toFixed(0)} MB`);
  figure('snapshot of 100k (median of 5)', median(took.taken), 'ms', 1000);
  figure("snapshot of 100k: other world's longest response, median of 5", median(worst.taken), 'ms', 50);
  figure("snapshot of 100k: other world's longest response, worst of 5", Math.max(...worst.taken), 'ms');
  figure('restore of 100k (median of 5)', median(took.put), 'ms');
  figure("restore of 100k: other world's longest response, median of 5", median(worst.put), 'ms', 50);
  figure("restore of 100k: other world's longest response, worst of 5", Math.max(...worst.put), 'ms');
  figure('advance over 100k steps (median of 5)', median(took.advance), 'ms', 1000);
  figure("advance over 100k: other world's longest response, median of 5", median(worst.advance), 'ms', 100);
  figure("advance over 100k: other world's longest response, worst of 5", Math.max(...worst.advance), 'ms');
}

/** The state file, written every so often while others are asked. */
async function keptState(folder) {
  const file = join(folder, 'kept.state');
  const size = LARGEST;
  const settings = { ...SETTINGS, state: file, 'state-every': `${STATE_EVERY_S}s` };
  const server = await startProcess(settings);
  const asker = new Asker();
  const load = new PayoutLoad(server.url);
  await load.pay([BIG], size);
  const writtenAt = () => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  await asked(server, asker, `state file of ${name(size)}, written meanwhile`, async () => {
    const before = writtenAt();
    await control(server.url, OTHER, 'GET', '/world');
    while (writtenAt() === before) await wait(50);
    const next = writtenAt();
    while (writtenAt() === next) await wait(50); // one writing from its beginning to its end
  });
  asker.stop();
  const startMs = performance.now();
  await server.stop();
  figure(`stop with ${name(size)} to keep`, performance.now() - startMs, 'ms');
  note(`the state file has ${(statSync(file).size / 1e6).toFixed(0)} MB`);
  const again = await startProcess(settings);
  figure(`start with ${name(size)} kept`, again.readyMs, 'ms');
  await again.stop();
}

/** Many worlds of a few transactions each. */
async function manyWorlds() {
  const server = await startProcess({
    ...SETTINGS,
    'max-worlds': 2 * WORLDS + 1000,
    'journal-entries': 0,
    'journal-total': '1000',
  });
  const load = new PayoutLoad(server.url);
  await load.pay(['sk_test_warm'], 20_000);
  const keys = Array.from({ length: WORLDS }, (_, nth) => `sk_test_world_${nth}`);
  const before = await server.memory();
  await load.pay(keys, WORLDS); // each world, with its first payout
  const opened = await server.memory();
  await load.pay(keys, WORLDS * (TRANSACTIONS_EACH - 1));
  const after = await server.memory();
  figure(`a world with one transaction`, (heldBytes(opened) - heldBytes(before)) / WORLDS, 'B');
  bytesEach(
    `a transaction, in ${name(WORLDS)} worlds of ${TRANSACTIONS_EACH}`,
    opened,
    after,
    WORLDS * (TRANSACTIONS_EACH - 1),
  );
  const small = Array.from({ length: WORLDS }, (_, nth) => `sk_test_small_${nth}`);
  await load.pay(small, WORLDS);
  const toSmall = await throughput(server.url, load, keys, small);
  atLeast(
    `initiate in ${name(WORLDS)} worlds of ${TRANSACTIONS_EACH} in turn, to as many of one`,
    toSmall,
    '×',
    0.9,
  );
  const toOne = await throughput(server.url, load, keys);
  atLeast(
    `initiate in ${name(WORLDS)} worlds of ${TRANSACTIONS_EACH} in turn, to one new world`,
    toOne,
    '×',
    0.9,
  );
  await server.stop();
}

const folder = mkdtempSync(join(tmpdir(), 'bench-growth-'));
try {
  note(machine());
  const parts = [oneWorld, keptState, manyWorlds];
  for (const run of parts) await run(folder);
  printTable();
} finally {
  rmSync(folder, { recursive: true });
}
