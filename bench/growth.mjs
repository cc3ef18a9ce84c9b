// What grows with the number of transactions and worlds, and what must not: `npm run bench:growth [-- --quick]`. With
// `--quick` it stops at 100,000 transactions. docs/performance.md says what each figure is.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
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

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const rows = [];

/** Adds a figure to the table, and tells it at once. @param bound what it must not pass; null for one that has none */
function figure(what, value, unit, bound = null, isOver = (measured) => measured > bound) {
  const verdict = bound === null ? '' : isOver(value) ? 'OVER' : 'ok';
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 1000 ? 1 : 0;
  const cells = [what, bound === null ? '' : `${bound} ${unit}`, `${value.toFixed(digits)} ${unit}`, verdict];
  rows.push(cells);
  process.stderr.write(`${cells.join(' | ')}\n`);
}
const note = (text) => process.stderr.write(`${text}\n`);
const name = (count) => (count >= 1e6 ? `${count / 1e6}M` : `${count / 1e3}k`);

/** How fast payouts are made in worlds that hold much, against a new world, in turns. */
async function throughput(url, load, keys) {
  const pairs = [];
  for (let nth = 0; nth < ROUNDS; nth += 1) {
    const empty = [`sk_test_empty_${keys.length}_${Math.floor(performance.now() * 1000)}`];
    // who goes first changes: the machine is not the same from one moment to the next
    const order = nth % 2 === 0 ? [keys, empty] : [empty, keys];
    const speeds = [];
    for (const target of order) speeds.push(await load.pay(target, PAYOUTS_A_ROUND));
    const [full, fresh] = nth % 2 === 0 ? speeds : speeds.toReversed();
    pairs.push({ full, fresh });
    await control(url, empty[0], 'POST', '/reset'); // what it holds, its journal among it, would count as that of others
  }
  return {
    ratio: median(pairs.map(({ full, fresh }) => full / fresh)),
    full: median(pairs.map(({ full }) => full)),
    fresh: median(pairs.map(({ fresh }) => fresh)),
  };
}

const heldBytes = ({ heapUsed, external }) => heapUsed + external;

/** What each of `count` transactions takes, of what two measurements differ by. */
function bytesEach(what, before, after, count) {
  const each = (key) => (after[key] - before[key]) / count;
  figure(`${what}: heap and external memory each`, (heldBytes(after) - heldBytes(before)) / count, 'B', 700);
  figure(`${what}: of that, heap`, each('heapUsed'), 'B');
  figure(`${what}: of that, array buffers`, each('arrayBuffers'), 'B');
}

const BIG = 'sk_test_big';
const OTHER = 'sk_test_other';
const longest = (times) => times.at(-1) ?? 0;

async function asked(server, asker, what, work, bound = 50) {
  const { result, times } = await asker.during({ url: server.url, apiKey: OTHER }, work);
  figure(`${what}: other world's longest answer (${times.length} asked)`, longest(times), 'ms', bound);
  figure(`${what}: its median`, median(times), 'ms');
  return result;
}

async function oneWorld(folder) {
  const server = await startProcess({ ...SETTINGS, state: join(folder, 'big.state'), 'state-every': 'off' });
  const asker = new Asker();
  const load = await PayoutLoad.connectTo(server.url);
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
    const { ratio, full, fresh } = await throughput(url, load, [BIG]);
    made += ROUNDS * PAYOUTS_A_ROUND;
    note(`${name(size)}: ${full.toFixed(0)} a second, in a new world ${fresh.toFixed(0)}`);
    figure(`initiate in a world of ${name(size)}, to one of none`, ratio, '×', 0.9, (value) => value < 0.9);
  }
  const [from, to] = [memories.find(({ made }) => made >= 10_000), memories.at(-1)];
  bytesEach(
    `a transaction, ${name(from.made)} to ${name(LARGEST)} in one world`,
    from.memory,
    to.memory,
    to.made - from.made,
  );
  figure(`resident memory with ${name(LARGEST)}`, to.memory.rss / 2 ** 20, 'MiB');

  await asked(server, asker, `nothing for 3 s (${name(LARGEST)} held)`, () => wait(3_000), null);
  const step = async (what, by) => {
    const beforeMs = await server.cpuMs();
    const { ms, bytes } = await asked(server, asker, what, () =>
      control(url, BIG, 'POST', '/clock/advance', { body: Buffer.from(JSON.stringify({ by })) }),
    );
    figure(
      `${what}: until its last byte (${(bytes / 1e6).toFixed(0)} MB)`,
      ms,
      'ms',
      Math.round(3_000 * (made / 1e6)),
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
  load.close();
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
  figure("snapshot of 100k: other world's longest answer, median of 5", median(worst.taken), 'ms', 50);
  figure("snapshot of 100k: other world's longest answer, worst of 5", Math.max(...worst.taken), 'ms');
  figure('restore of 100k (median of 5)', median(took.put), 'ms');
  figure("restore of 100k: other world's longest answer, median of 5", median(worst.put), 'ms', 50);
  figure("restore of 100k: other world's longest answer, worst of 5", Math.max(...worst.put), 'ms');
  figure('advance over 100k steps (median of 5)', median(took.advance), 'ms', 300);
  figure("advance over 100k: other world's longest answer, median of 5", median(worst.advance), 'ms', 50);
  figure("advance over 100k: other world's longest answer, worst of 5", Math.max(...worst.advance), 'ms');
}

/** The state file, written every so often while others are asked. */
async function keptState(folder) {
  const file = join(folder, 'kept.state');
  const size = LARGEST;
  const settings = { ...SETTINGS, state: file, 'state-every': `${STATE_EVERY_S}s` };
  const server = await startProcess(settings);
  const asker = new Asker();
  const load = await PayoutLoad.connectTo(server.url);
  await load.pay([BIG], size);
  const writtenAt = () => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  await asked(server, asker, `state file of ${name(size)}, written meanwhile`, async () => {
    const before = writtenAt();
    await control(server.url, OTHER, 'GET', '/world');
    while (writtenAt() === before) await wait(50);
    const next = writtenAt();
    while (writtenAt() === next) await wait(50); // one writing from its beginning to its end
  });
  load.close();
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
    'journal-memory': '1MiB',
  });
  const load = await PayoutLoad.connectTo(server.url);
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
  const { ratio, full, fresh } = await throughput(server.url, load, keys);
  note(`${name(WORLDS)} worlds: ${full.toFixed(0)} a second, in a new world ${fresh.toFixed(0)}`);
  figure(
    `initiate in ${name(WORLDS)} worlds in turn, to one of none`,
    ratio,
    '×',
    0.9,
    (value) => value < 0.9,
  );
  load.close();
  await server.stop();
}

const folder = mkdtempSync(join(tmpdir(), 'bench-growth-'));
try {
  const [{ model }] = cpus();
  const machine = `${model.trim()}, ${cpus().length} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node.js ${process.version}`;
  note(machine);
  const parts = { oneWorld, keptState, manyWorlds };
  const only = process.env.BENCH_ONLY;
  for (const [part, run] of Object.entries(parts)) if (only === undefined || only === part) await run(folder);
  const table = [['figure', 'target', 'measured', ''], ...rows];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
  process.stdout.write(`${machine}\n\n${lines.join('\n')}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
