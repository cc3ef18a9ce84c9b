// Processes that run tests under runner.mjs, watched from the outside: a mutant may make one stand still.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { ROOT } from './mutants.mjs';

/** Where plans, reports and results are kept. */
export const WORK = `${ROOT}node_modules/.cache/mutation/`;

const PROCESSES = 2;
/** So long may a process tell nothing before it is ended: longer than a test may take. */
const SILENT_MS = 60_000;

let plans = 0;

/** Carries out a plan. @returns what the process told, and how it ended */
export async function runTests(plan, vitestArgs) {
  const name = `${WORK}reports/${++plans}`;
  const report = `${name}.jsonl`;
  writeFileSync(report, '');
  writeFileSync(`${name}.json`, JSON.stringify({ ...plan, report }));
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mutation/vitest.config.mjs', ...vitestArgs],
    { cwd: ROOT, env: { ...process.env, MUTATION_PLAN: `${name}.json` }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  let told = -1;
  const watch = setInterval(() => {
    const { length } = readFileSync(report);
    if (length === told) child.kill('SIGKILL');
    told = length;
  }, SILENT_MS);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(watch);
  const lines = readFileSync(report, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}')) // the last one of a process that was ended may be cut off
    .map((line) => JSON.parse(line));
  return { lines, code, output };
}

/** As many at once as there are cores to use. */
export async function inParallel(jobs, run) {
  const waiting = [...jobs];
  const work = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await run(job);
  };
  await Promise.all(Array.from({ length: PROCESSES }, work));
}
