// How long an advance over many due steps takes, and how long others wait meanwhile: `npm run bench:advance [steps]`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connectSandbox } from '../dist/index.js';

const STEPS = Number(process.argv[2] ?? 100_000);
const ROUNDS = 5;
const AT_ONCE = 50;

const PAYOUT = {
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1,
  transfer_mode: 'IMPS',
};

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Makes `count` payouts in a world, each of which is due by itself. */
async function fill(world, count) {
  const headers = { authorization: `Bearer ${world.apiKey}`, 'content-type': 'application/json' };
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, async (_, nth) => {
      const body = JSON.stringify({ ...PAYOUT, client_ref_id: `order-${from + nth}` });
      const answer = await fetch(`${world.url}/payout/initiate`, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    });
    await Promise.all(some);
  }
}

/** Asks a world for its balance until it is told to stop. @returns how long each answer took, in ms */
async function keepAsking({ url, apiKey }, isOver) {
  const times = [];
  while (!isOver()) {
    const start = performance.now();
    const answer = await fetch(`${url}/client/fetchbalance`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    await answer.arrayBuffer();
    times.push(performance.now() - start);
  }
  return times;
}

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const flags = [
  '--port',
  '0',
  '--clock',
  '2026-01-15T10:30:00Z',
  '--rate-limit',
  'off',
  '--log-level',
  'warn',
];
const server = spawn(process.execPath, [main, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
const [ready] = await once(server.stdout, 'data');
const sandbox = connectSandbox({ url: JSON.parse(String(ready)).url });
const world = sandbox.world();
const other = sandbox.world();
await fill(world, STEPS);
const snapshot = await world.snapshot();
const rows = [];
for (let round = 0; round < ROUNDS; round += 1) {
  await world.restore(snapshot);
  let isOver = false;
  const asked = keepAsking(other, () => isOver);
  const start = performance.now();
  const { changes } = await world.clock.advance('1h');
  const ms = performance.now() - start;
  isOver = true;
  const times = await asked;
  if (changes.length !== STEPS) throw new Error(`${changes.length} changes`);
  rows.push({ ms, answered: times.length, median: median(times), longest: Math.max(...times) });
}
const line = (what, value) => `  ${what.padEnd(32)}${value}\n`;
const ms = (of) => `${median(rows.map(of)).toFixed(1)} ms`;
process.stdout.write(
  `an advance over ${STEPS} due steps, while another world is asked for its balance (${ROUNDS} rounds, medians)\n` +
    line(
      'the advance and its answer',
      ms((row) => row.ms),
    ) +
    line('balances answered meanwhile', median(rows.map((row) => row.answered))) +
    line(
      'their time, median',
      ms((row) => row.median),
    ) +
    line(
      'their time, longest',
      ms((row) => row.longest),
    ),
);
server.kill();
