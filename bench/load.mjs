// The load of the benches that measure throughput: a program in a process of its own, and autocannon in this one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import autocannon from 'autocannon';
import { payoutOf } from './payout.mjs';

/** How many connections a load has, unless a bench says otherwise. */
export const CONNECTIONS = 20;
const SEEDS = 500;
const READY_WAIT_MS = 10;
const READY_TRIES = 60_000 / READY_WAIT_MS;
const TICK_US = 10_000; // Linux counts the time of a process in hundredths of a second

const headers = { authorization: 'Bearer sk_test_bench', 'content-type': 'application/json' };
const payout = (reference) => ({
  method: 'POST',
  path: '/payout/initiate',
  headers: { ...headers }, // a copy, since autocannon writes the length of the body into it
  body: JSON.stringify(payoutOf(reference, 1500.5)),
});
const status = (reference) => ({
  method: 'GET',
  path: `/payout/status?client_ref_id=${reference}`,
  headers: { authorization: headers.authorization },
});

let runs = 0;

/** What is asked, by the word for it. No initiate is ever a repetition; a status is one of a payout that there is. */
const REQUESTS = {
  initiate: [(run, nth) => payout(`order-${run}-${nth}`)],
  status: [(_, nth) => status(`seed-${nth % SEEDS}`)],
  balance: [
    () => ({
      method: 'GET',
      path: '/client/fetchbalance',
      headers: { authorization: headers.authorization },
    }),
  ],
};
/** What a client does that pays and polls. */
REQUESTS.mixed = [...REQUESTS.initiate, ...REQUESTS.status, ...REQUESTS.status, ...REQUESTS.balance];

export const KINDS = Object.keys(REQUESTS);

/** The CPU time that a process has used, all its threads together, in µs; null where the system does not tell. */
function cpuUs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_US;
  } catch {
    return null;
  }
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Starts a program that is ready once it answers a payout. What it prints goes into a file, as a log would.
 *
 * @param program its `command`, a list of words in which PORT stands for the port to listen on, its `environment`, and the
 *   status with which it says that a payout was `created`
 * @param seeds how many payouts it is given, for the statuses that will be asked for
 */
export async function start({ command, environment = {}, created = 200 }, seeds = SEEDS) {
  const port = await freePort();
  const startMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const output = openSync(join(folder, 'output'), 'w');
  const [file, ...words] = command.map((word) => word.replace('PORT', String(port)));
  const child = spawn(file, words, {
    env: { ...process.env, PORT: String(port), ...environment },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    if (child.exitCode !== null || tries === READY_TRIES) {
      if (child.exitCode === null) child.kill('SIGKILL');
      throw new Error(
        `${command.join(' ')} does not listen:\n${readFileSync(join(folder, 'output'), 'utf8')}`,
      );
    }
    const answer = await fetch(`${url}/payout/initiate`, payout('ready')).catch(() => null);
    await answer?.text();
    if (answer?.status === created) break;
    await wait(READY_WAIT_MS);
  }
  const readyMs = performance.now() - startMs;
  for (let nth = 0; nth < seeds; nth += 1) {
    await (await fetch(`${url}/payout/initiate`, payout(`seed-${nth}`))).text();
  }
  return {
    url,
    pid: child.pid,
    created,
    readyMs,
    async stop() {
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true });
    },
  };
}

/** A program under load. @returns requests a second, and the time of responses and of processors, in µs a request */
export async function load({ url, pid, created }, kind, seconds, connections = CONNECTIONS) {
  runs += 1;
  const run = runs;
  let nth = 0;
  const times = [];
  const serverUs = cpuUs(pid);
  const own = process.cpuUsage();
  const going = autocannon({
    url,
    connections,
    duration: seconds,
    requests: REQUESTS[kind].map((next) => ({
      setupRequest(request) {
        nth += 1;
        return Object.assign(request, next(run, nth));
      },
    })),
  });
  going.on('response', (_client, code, _bytes, ms) => {
    times.push(code === 200 || code === created ? ms : Infinity);
  });
  await going;
  const { user, system } = process.cpuUsage(own);
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor((times.length - 1) * share)] * 1000;
  const wrong = times.filter((ms) => ms === Infinity).length;
  return {
    perSecond: times.length / seconds,
    p50Us: at(0.5),
    p99Us: at(0.99),
    serverUs: serverUs === null ? null : (cpuUs(pid) - serverUs) / times.length,
    loadUs: (user + system) / times.length,
    wrong,
  };
}
