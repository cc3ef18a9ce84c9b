// The work of `npm run bench` on general mock servers beside the sandbox: `npm run bench:peers [rounds] [seconds]`. They are
// packages of their own (bench/peers), installed at the first run. All programs run at once and are loaded in turns, so that a slow
// moment of the machine meets all; each kind of request begins with new ones, since some grow slower with what they hold.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { machine, median } from './figures.mjs';
import { KINDS, load, start } from './load.mjs';
import { peers } from './peers/programs.mjs';

const ROUNDS = Number(process.argv[2] ?? 5);
const SECONDS = Number(process.argv[3] ?? 3);
const WARM_UP_SECONDS = 5; // a JVM compiles for longer than Node.js
const IDLE_MS = 2000; // after which the memory is read

const MAIN = process.env.BENCH_MAIN ?? 'dist/main.cjs';
const PEERS_FOLDER = 'bench/peers';
const BARE = 'bare node:http';
const SANDBOX = 'sandbox';
const AS_DEFAULT = { SANDBOX_OPENING_BALANCE: '90000000000', SANDBOX_RATE_LIMIT: '100000000/1s' }; // counted, never met
const OURS = {
  [BARE]: { command: [process.execPath, 'bench/bare-server.mjs'] },
  [SANDBOX]: { command: [process.execPath, MAIN], environment: AS_DEFAULT },
  'sandbox, logs off': {
    command: [process.execPath, MAIN],
    environment: { ...AS_DEFAULT, SANDBOX_LOG_LEVEL: 'silent' },
  },
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
  for (let round = 0; round < ROUNDS; round += 1) {
    const results = {};
    for (const [name, program] of Object.entries(programs)) {
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
  for (const name of Object.keys(programs)) {
    const of = (what) => median(rounds.map((results) => results[name][what]));
    say(`${name.padEnd(32)}${column(of('readyMs'))}${column(of('idleMib'))}`);
  }
}

/** One kind of request on all programs, in turns. @returns the results by program, one for each round */
async function measure(programs, kind) {
  const running = {};
  const rounds = [];
  try {
    for (const [name, program] of Object.entries(programs)) running[name] = await start(program);
    for (const name of Object.keys(running)) await load(running[name], kind, WARM_UP_SECONDS);
    for (let round = 0; round < ROUNDS; round += 1) {
      const results = {};
      for (const name of Object.keys(running)) results[name] = await load(running[name], kind, SECONDS);
      rounds.push(results);
    }
  } finally {
    for (const program of Object.values(running)) await program.stop();
  }
  return rounds;
}

function report(kind, rounds) {
  say(
    `\n${kind.padEnd(20)} requests/s  to bare  sandbox/   p50 µs   p99 µs  CPU µs of server and of load, a request`,
  );
  for (const name of Object.keys(rounds[0])) {
    const of = (what) => median(rounds.map((results) => results[name][what]));
    const ratio = (above, below) =>
      median(rounds.map((results) => results[above].perSecond / results[below].perSecond));
    say(
      `${name.padEnd(20)}${column(of('perSecond'), 0, 11)}${column(ratio(name, BARE), 2)}${column(ratio(SANDBOX, name), 2)}` +
        `${column(of('p50Us'))}${column(of('p99Us'))}${column(of('serverUs'), 1)}${column(of('loadUs'), 1)}`,
    );
    const wrong = rounds.reduce((sum, results) => sum + results[name].wrong, 0);
    if (wrong > 0) {
      say(`  ${wrong} answers were no success`);
      process.exitCode = 1;
    }
  }
}

/** Whether an initiate takes the sandbox less processor time than any peer. */
function reportTarget(rounds, names) {
  const takes = (name) => median(rounds.map((results) => results[name].serverUs));
  if (takes(SANDBOX) === null) return; // where the system does not tell
  const least = names.toSorted((a, b) => takes(a) - takes(b))[0];
  const ratio = median(rounds.map((results) => results[SANDBOX].serverUs / results[least].serverUs));
  const verdict = ratio < 1 ? 'ok' : 'missed';
  say(
    `\ninitiate: the sandbox takes ${ratio.toFixed(2)} x the processor time of ${least}, the least of the peers; target below 1 x: ${verdict}`,
  );
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
    `medians of ${ROUNDS} rounds of ${SECONDS} s with 20 connections; ratios are the medians of each round's own`,
  );
  await measureStarts(programs);
  for (const kind of KINDS) {
    const rounds = await measure(programs, kind);
    report(kind, rounds);
    if (kind === 'initiate') reportTarget(rounds, Object.keys(there));
  }
} finally {
  rmSync(folder, { recursive: true });
}
