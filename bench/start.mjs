// How long the sandbox takes to be ready, and how much memory it then holds, against a bare node:http server of the same
// API, and against the floor, Fastify alone, bundled (it keeps no compiled code): `npm run bench:start [rounds]`. All in turns, so that a slow
// moment of the machine meets all.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import * as module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { build } from 'tsdown';
import { machine, median } from './figures.mjs';
import { payoutOf } from './payout.mjs';

const ROUNDS = Number(process.argv[2] ?? 15);
const BOUND_RATIO = module.enableCompileCache ? 3 : 5; // Node.js 20 keeps no compiled code
const BOUND_MIB = 24; // above the bare server, whose own size differs by 15 MiB between versions of Node.js
const IDLE_MS = 2000; // after which the memory is read

const folder = mkdtempSync(join(tmpdir(), 'bench-start-'));

await build({
  config: false,
  entry: 'bench/floor-server.mjs',
  format: 'cjs',
  outDir: folder,
  noExternal: /./,
  dts: false,
  logLevel: 'silent',
});

const FIRST = 'sandbox, first start ever';
const PROGRAMS = {
  bare: ['bench/bare-server.mjs'],
  'Fastify alone': [join(folder, 'floor-server.cjs')],
  // before 22.8, Node.js keeps no compiled code: every start is like the first
  ...(module.enableCompileCache && { [FIRST]: ['dist/main.cjs'] }),
  sandbox: ['dist/main.cjs'],
};
const environment = (name) => ({
  PATH: process.env.PATH,
  PORT: '0',
  TMPDIR: folder, // where Node.js keeps compiled code
  ...(name === FIRST && { NODE_DISABLE_COMPILE_CACHE: '1' }),
});

const payout = {
  method: 'POST',
  headers: { authorization: 'Bearer sk_test_bench', 'content-type': 'application/json' },
  body: JSON.stringify(payoutOf('order-1', 1500.5)),
};

/** Starts a program. @returns when it was ready, when its first payout was answered, and what it holds when idle */
async function start(name, isLeftIdle) {
  const startMs = performance.now();
  const child = spawn(process.execPath, PROGRAMS[name], {
    env: environment(name),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const readyMs = performance.now() - startMs;
  await (await fetch(`${JSON.parse(line.split('\n')[0]).url}/payout/initiate`, payout)).text();
  const answeredMs = performance.now() - startMs;
  let idleMib;
  if (isLeftIdle) {
    await wait(IDLE_MS);
    idleMib =
      Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' })) / 1024;
  }
  child.kill('SIGTERM');
  await once(child, 'exit');
  return { readyMs, answeredMs, idleMib };
}

const say = (line) => void process.stdout.write(`${line}\n`);

const names = Object.keys(PROGRAMS);
const idleMib = {};
for (const name of names) ({ idleMib: idleMib[name] } = await start(name, true));
const rounds = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const results = {};
  for (const name of names) results[name] = await start(name, false);
  rounds.push(results);
}
rmSync(folder, { recursive: true });

const of = (name, what) => median(rounds.map((results) => results[name][what]));
const ratio = (name, what) => median(rounds.map((results) => results[name][what] / results.bare[what]));
for (const name of names) {
  const [ready, answered] = [of(name, 'readyMs'), of(name, 'answeredMs')];
  say(
    `${name.padEnd(26)} ready ${ready.toFixed(0).padStart(4)} ms (${ratio(name, 'readyMs').toFixed(2)} x bare), ` +
      `first payout answered ${answered.toFixed(0).padStart(4)} ms, idle ${idleMib[name].toFixed(0)} MiB`,
  );
}
say(
  `medians of ${ROUNDS} rounds on ${machine()}; bounds: ready ${BOUND_RATIO} x bare, idle ${BOUND_MIB} MiB above it`,
);
if (ratio('sandbox', 'readyMs') > BOUND_RATIO || idleMib.sandbox - idleMib.bare > BOUND_MIB)
  process.exitCode = 1;
