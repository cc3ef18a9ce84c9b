// The work of `npm run bench` on general mock servers beside the sandbox: `npm run bench:peers -- [rounds] [seconds] [--json FILE]`. They
// are packages of their own (bench/peers), installed at the first run. All programs run at once and are loaded in turns, so that a slow
// moment of the machine meets all; each kind of request begins with new ones, since some grow slower with what they hold.
// BENCH_BEFORE=other/dist/main.cjs measures another build in the same rounds; BENCH_LOAD=wrk loads with wrk instead of autocannon.
// FILE gets { KIND: { PROGRAM: { rps, cpuUs, p99Us, rssMib } } }.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { machine, median } from './figures.mjs';
import { CONNECTIONS, KINDS, load, start } from './load.mjs';
import { peers } from './peers/programs.mjs';

const { values: given, positionals } = parseArgs({
  options: { json: { type: 'string' } },
  allowPositionals: true,
});
const ROUNDS = Number(positionals[0] ?? 5);
const SECONDS = Number(positionals[1] ?? 3);
const WARM_UP_SECONDS = 5; // a JVM compiles for longer than Node.js
const IDLE_MS = 2000; // after which the memory is read

const MAIN = process.env.BENCH_MAIN ?? 'dist/main.cjs';
const PEERS_FOLDER = 'bench/peers';
const BARE = 'bare node:http';
const SANDBOX = 'sandbox';
const AS_DEFAULT = { SANDBOX_OPENING_BALANCE: '90000000000', SANDBOX_RATE_LIMIT: '100000000/1s' }; // counted, never met
const FLOOR = 'Fastify alone';
const TWO = 'two sandboxes';
const ours = (environment, main = MAIN) => ({
  command: [process.execPath, main],
  environment: { ...AS_DEFAULT, ...environment },
});
const OURS = {
  [BARE]: { command: [process.execPath, 'bench/bare-server.mjs'] },
  [FLOOR]: { command: [process.execPath, 'bench/floor-server.mjs'] },
  [SANDBOX]: ours({}),
  'sandbox, logs off': ours({ SANDBOX_LOG_LEVEL: 'silent' }),
  // each with half of the connections, as a balancer by key gives it
  [TWO]: { ...ours({}), processes: 2 },
  ...(process.env.BENCH_BEFORE && { before: ours({}, process.env.BENCH_BEFORE) }),
};

const say = (line) => void process.stdout.write(`${line}\n`);
const column = (value, digits = 0, width = 9) =>
  (value === null ? '-' : value.toFixed(digits)).padStart(width);

/** Written by npm when an installation is complete. */
function install() {
  if (existsSync(join(PEERS_FOLDER, 'node_modules', '.package-lock.json'))) return;
  say('the peers are installed first, into bench/peers/node_modules');
  execFileSync('npm', ['ci', '--prefix', PEERS_FOLDER, '--ignore-scripts', '--no-audit', '--no-fund'], {
    stdio: 'inherit',
  });
}

const residentMib = (pid) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;

/** How long each takes from its start to its first payout, alone, and what it then holds when idle. */
async function measureStarts(programs) {
  const rounds = [];
  const alone = Object.entries(programs).filter(([, { processes }]) => processes === undefined);
  for (let round = 0; round < ROUNDS; round += 1) {
    const results = {};
    for (const [name, program] of alone) {
      const running = await start(program, 0);
      try {
        await wait(IDLE_MS);
        results[name] = { readyMs: running.readyMs, idleMib: residentMib(running.pid) };
      } finally {
        await running.stop();
      }
    }
    rounds.push(results);
  }
  say(`\n${'first payout answered, and idle'.padEnd(32)}       ms      MiB`);
  for (const [name] of alone) {
    const of = (what) => median(rounds.map((results) => results[name][what]));
    say(`${name.padEnd(32)}${column(of('readyMs'))}${column(of('idleMib'))}`);
  }
}

/** Loads all processes of a program at once. */
async function loadAll(processes, kind, seconds) {
  const loads = await Promise.all(
    processes.map((one) => load(one, kind, seconds, CONNECTIONS / processes.length)),
  );
  if (loads.length === 1) return loads[0];
  const perSecond = loads.reduce((sum, one) => sum + one.perSecond, 0);
  const perRequest = (what) =>
    loads[0][what] === null
      ? null
      : loads.reduce((sum, one) => sum + one[what] * one.perSecond, 0) / perSecond;
  const worst = (what) => Math.max(...loads.map((one) => one[what]));
  return {
    perSecond,
    serverUs: perRequest('serverUs'),
    loadUs: loads[0].loadUs === null ? null : loads[0].loadUs / loads.length, // each saw the time of both
    p50Us: worst('p50Us'),
    p99Us: worst('p99Us'),
    wrong: loads.reduce((sum, one) => sum + one.wrong, 0),
  };
}

/** One kind of request on all programs, in turns. @returns the results by program, one for each round; the last has the memory after it */
async function measure(programs, kind) {
  const running = {};
  const rounds = [];
  try {
    for (const [name, program] of Object.entries(programs))
      running[name] = await Promise.all(Array.from({ length: program.processes ?? 1 }, () => start(program)));
    const names = Object.keys(running);
    for (const name of names) await loadAll(running[name], kind, WARM_UP_SECONDS);
    for (let round = 0; round < ROUNDS; round += 1) {
      const results = {};
      for (const name of round % 2 === 0 ? names : names.toReversed())
        results[name] = await loadAll(running[name], kind, SECONDS);
      rounds.push(results);
    }
    for (const name of names)
      rounds.at(-1)[name].rssMib = running[name].reduce((sum, { pid }) => sum + residentMib(pid), 0);
  } finally {
    for (const program of Object.values(running).flat()) await program.stop();
  }
  return rounds;
}

/** The figures of a kind, by program. */
const figuresOf = (rounds) =>
  Object.fromEntries(
    Object.keys(rounds[0]).map((name) => {
      const of = (what) => median(rounds.map((results) => results[name][what]));
      const rssMib = rounds.at(-1)[name].rssMib;
      return [name, { rps: of('perSecond'), cpuUs: of('serverUs'), p99Us: of('p99Us'), rssMib }];
    }),
  );

function report(kind, rounds) {
  say(
    `\n${kind.padEnd(20)} requests/s  to bare  sandbox/   p50 µs   p99 µs  CPU µs of server and of load, a request; MiB afterwards`,
  );
  for (const name of Object.keys(rounds[0])) {
    const of = (what) => median(rounds.map((results) => results[name][what]));
    const ratio = (above, below) =>
      median(rounds.map((results) => results[above].perSecond / results[below].perSecond));
    say(
      `${name.padEnd(20)}${column(of('perSecond'), 0, 11)}${column(ratio(name, BARE), 2)}${column(ratio(SANDBOX, name), 2)}` +
        `${column(of('p50Us'))}${column(of('p99Us'))}${column(of('serverUs'), 1)}${column(of('loadUs'), 1)}${column(rounds.at(-1)[name].rssMib)}`,
    );
    const wrong = rounds.reduce((sum, results) => sum + results[name].wrong, 0);
    if (wrong > 0) {
      say(`  ${wrong} answers were no success`);
      process.exitCode = 1;
    }
  }
}

const TARGETS = { cpuUs: 0.7, rps: 1 };

/** One line: where the sandbox is ahead of the best of the peers, and where it is not. */
function summary(kind, rounds, names) {
  const said = Object.entries({ cpuUs: 'serverUs', rps: 'perSecond' }).flatMap(([what, key]) => {
    const of = (name) => median(rounds.map((results) => results[name][key]));
    if (of(SANDBOX) === null) return []; // where the system does not tell
    const isLess = what === 'cpuUs';
    const best = names.toSorted((a, b) => (isLess ? of(a) - of(b) : of(b) - of(a)))[0];
    const ratio = median(rounds.map((results) => results[SANDBOX][key] / results[best][key]));
    const isMet = isLess ? ratio <= TARGETS[what] : ratio > TARGETS[what];
    const unit = isLess ? 'processor time' : 'requests/s';
    return `${ratio.toFixed(2)} x the ${unit} of ${best} (${isMet ? 'ok' : `missed: ${TARGETS[what]}`})`;
  });
  return `${kind}: ${said.join(', ')}`;
}

install();
const folder = mkdtempSync(join(tmpdir(), 'bench-peers-'));
try {
  const all = Object.entries(await peers(MAIN, folder));
  for (const [name, { missing }] of all) if (missing) say(`${name} is skipped: ${missing}`);
  const there = Object.fromEntries(all.filter(([, { missing }]) => !missing));
  const programs = { ...OURS, ...there };
  say(machine());
  say(
    `medians of ${ROUNDS} rounds of ${SECONDS} s with ${CONNECTIONS} connections; ratios are the medians of each round's own`,
  );
  await measureStarts(programs);
  const figures = {};
  const summaries = [];
  for (const kind of KINDS) {
    const rounds = await measure(programs, kind);
    report(kind, rounds);
    figures[kind] = figuresOf(rounds);
    if (Object.keys(there).length > 0) summaries.push(summary(kind, rounds, Object.keys(there)));
  }
  say(`\n${summaries.join('\n')}`);
  if (given.json !== undefined) writeFileSync(given.json, `${JSON.stringify(figures, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
