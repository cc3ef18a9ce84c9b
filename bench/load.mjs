// The load of the benches that measure throughput: a program in a process of its own, and autocannon in this one.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import autocannon from 'autocannon';
import { payoutOf } from './payout.mjs';

/** How many connections a load has, unless a bench says otherwise. */
export const CONNECTIONS = 32;
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

/** What is asked, by the word for it: of a payout with a reference of its own, or of one that there is. */
const NEW = { ask: payout, isNew: true };
const KNOWN = { ask: status, isNew: false };
const NONE = {
  ask: () => ({
    method: 'GET',
    path: '/client/fetchbalance',
    headers: { authorization: headers.authorization },
  }),
  isNew: false,
};
/** `mixed` is what a client does that pays and polls. */
const REQUESTS = { initiate: [NEW], status: [KNOWN], balance: [NONE], mixed: [NEW, KNOWN, KNOWN, NONE] };

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

/** Calls from this process. @returns the time of each response in ms, those of a wrong one as Infinity, and the time of processors in µs */
async function loadFromHere({ url, created }, kind, run, seconds, connections) {
  let nth = 0;
  const times = [];
  const own = process.cpuUsage();
  const going = autocannon({
    url,
    connections,
    duration: seconds,
    requests: REQUESTS[kind].map(({ ask, isNew }) => ({
      setupRequest(request) {
        nth += 1;
        return Object.assign(request, ask(isNew ? `order-${run}-${nth}` : `seed-${nth % SEEDS}`));
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
  return { count: times.length, p50Us: at(0.5), p99Us: at(0.99), loadUs: user + system, wrong };
}

/** The requests of a kind as wrk reads them. */
const wrkScript = (kind, run) => `
local asked = { ${REQUESTS[kind]
  .map(({ ask, isNew }) => {
    const { method, path, headers: sent, body } = ask('REFERENCE');
    const fields = Object.entries(sent).map(([name, value]) => `["${name}"] = [[${value}]]`);
    return `{ "${method}", [[${path}]], { ${fields.join(', ')} }, ${body ? `[[${body}]]` : '""'}, ${isNew} }`;
  })
  .join(', ')} }
local nth = 0
function request()
  nth = nth + 1
  local method, path, headers, body, isNew = unpack(asked[(nth - 1) % #asked + 1])
  local reference = isNew and "order-${run}-" .. nth or "seed-" .. nth % ${SEEDS}
  path = path:gsub("REFERENCE", reference)
  body = body:gsub("REFERENCE", reference)
  return wrk.format(method, path, headers, body ~= "" and body or nil)
end`;

const MS = { us: 0.001, ms: 1, s: 1000 };

/** Calls with wrk, which takes a tenth of the processor time of autocannon, so that it limits a fast server less. */
async function loadFromWrk({ url }, kind, run, seconds, connections) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    const script = join(folder, 'requests.lua');
    writeFileSync(script, wrkScript(kind, run));
    const words = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, url];
    const { stdout } = await promisify(execFile)('wrk', words);
    const numberIn = (pattern) => Number(pattern.exec(stdout)?.[1] ?? 0);
    const timeIn = (share) => {
      const [, value, unit] = new RegExp(`${share}%\\s+([\\d.]+)(us|ms|s)`).exec(stdout);
      return Number(value) * MS[unit] * 1000;
    };
    return {
      count: numberIn(/(\d+) requests in/),
      p50Us: timeIn(50),
      p99Us: timeIn(99),
      loadUs: null,
      wrong: numberIn(/Non-2xx or 3xx responses: (\d+)/),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * A program under load: from autocannon in this process, or from wrk with BENCH_LOAD=wrk.
 *
 * @returns requests a second, and the time of responses and of processors, in µs a request
 */
export async function load(program, kind, seconds, connections = CONNECTIONS) {
  runs += 1;
  const serverUs = cpuUs(program.pid);
  const from = process.env.BENCH_LOAD === 'wrk' ? loadFromWrk : loadFromHere;
  const { count, loadUs, ...measured } = await from(program, kind, runs, seconds, connections);
  return {
    perSecond: count / seconds,
    serverUs: serverUs === null ? null : (cpuUs(program.pid) - serverUs) / count,
    loadUs: loadUs === null ? null : loadUs / count,
    ...measured,
  };
}
