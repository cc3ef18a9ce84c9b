// How fast a hunt runs: a client in the process of the hunt, and a command for each run. The client is the example of
// docs/hunt.md, and every run of it is counted. `npm run bench:hunt`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { hunt } from '../dist/index.js';
import { pay } from '../docs/examples/pay-once.mjs';
import { figure, printTable } from './figures.mjs';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** A goal that this client does not reach: the whole number of runs is measured. */
const GOAL = 'stuck';
const RUNS = 300;

async function inProcess(workers) {
  const { runs, elapsedMs } = await hunt({ run: pay, goals: [GOAL], runs: RUNS, workers });
  return (runs * 1000) / elapsedMs;
}

/** The figures that the command prints in its last line. */
async function command(workers) {
  const flags = ['--goal', GOAL, '--runs', String(RUNS / 3), '--workers', String(workers)];
  const target = ['--env', 'PAYOUT_URL={url}', '--env', 'PAYOUT_KEY={key}'];
  const client = ['--', process.execPath, path('../docs/examples/pay-once.mjs')];
  const child = spawn(process.execPath, [path('../dist/main.cjs'), 'hunt', ...flags, ...target, ...client], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  await once(child, 'close');
  const [, runs, seconds] = /(\d+) runs in ([\d.]+) s/.exec(output);
  return Number(runs) / Number(seconds);
}

for (const workers of [1, 4]) {
  figure(`in process, ${workers} at once`, await inProcess(workers), 'runs/s');
}
for (const workers of new Set([1, availableParallelism()])) {
  figure(`a command of Node.js, ${workers} at once`, await command(workers), 'runs/s');
}
printTable();
