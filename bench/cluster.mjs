// npm run bench:cluster: what worlds in a store cost, against worlds in memory in the same run. Needs redis-server.
// `-- --quick` measures one server only.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { atLeast, figure, median, printTable } from './figures.mjs';
import { payoutOf } from './payout.mjs';
import { startProcess } from './sandbox-process.mjs';
import { startStore } from './store-process.mjs';

const REQUESTS = 3000;
const CONNECTIONS = 20;
const WARM_UP = 3000;
const ROUNDS = 5;
// counted in the store as well, and never reached
const SETTINGS = { 'rate-limit': '1000000/1s', settlement: 'manual', 'opening-balance': 1e11 };

const print = (text) => process.stdout.write(`${text}\n`);
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
let sent = 0;

async function ask(url, key, method, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const [answer] = await once(request(url + path, { method, agent, headers }).end(body), 'response');
  answer.resume();
  await once(answer, 'end');
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode}`);
}

const pay = (url, key, reference) =>
  ask(url, key, 'POST', '/payout/initiate', JSON.stringify(payoutOf(reference)));
const KINDS = {
  initiate: (url, key) => pay(url, key, `r${(sent += 1)}`),
  status: (url, key) => ask(url, key, 'GET', '/payout/status?client_ref_id=known'),
  balance: (url, key) => ask(url, key, 'GET', '/client/fetchbalance'),
};

/** @returns answers a second, and µs of processor time of the servers and of the store for each */
async function measure(servers, store, kind, connections, keys) {
  const cpu = async () => {
    const times = await Promise.all(servers.map((server) => server.cpuMs()));
    return [times.reduce((sum, ms) => sum + ms, 0), (await store?.cpuMs()) ?? 0];
  };
  const count = connections === 1 ? REQUESTS / 5 : REQUESTS;
  let left = count;
  const before = await cpu();
  const startMs = performance.now();
  const work = async (nth) => {
    for (; left > 0;) {
      left -= 1;
      await KINDS[kind](servers[nth % servers.length].url, keys[nth % keys.length]);
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, nth) => work(nth)));
  const ms = performance.now() - startMs;
  const after = await cpu();
  const [server, inStore] = after.map((total, nth) => ((total - before[nth]) / count) * 1000);
  return { perSecond: Math.round((count / ms) * 1000), ms: ms / count, server, store: inStore };
}

async function warmUp(servers, keys) {
  for (const kind of Object.keys(KINDS)) {
    for (let sent = 0; sent < WARM_UP; sent += CONNECTIONS) {
      const asked = Array.from({ length: CONNECTIONS }, (_, nth) =>
        KINDS[kind](servers[nth % servers.length].url, keys[nth % keys.length]),
      );
      await Promise.all(asked);
    }
  }
}

const line = (name, { perSecond, ms, server, store }) =>
  print(
    `${name.padEnd(44)} ${String(perSecond).padStart(6)}/s ${ms.toFixed(2).padStart(6)} ms` +
      ` ${server.toFixed(0).padStart(6)} µs server ${store.toFixed(1).padStart(6)} µs store`,
  );

const start = (count, settings) => Promise.all(Array.from({ length: count }, () => startProcess(settings)));

/** A kind of request, in so many worlds, over so many connections. */
const CASES = [1, CONNECTIONS].flatMap((worlds) =>
  (worlds === 1 ? [1, CONNECTIONS] : [CONNECTIONS]).flatMap((connections) =>
    Object.keys(KINDS).map((kind) => ({ kind, worlds, connections })),
  ),
);
const nameOf = ({ kind, worlds, connections }) => `${worlds} worlds, ${connections} connections: ${kind}`;

async function ready(name, count, settings) {
  const servers = await start(count, settings);
  const keys = Array.from({ length: CONNECTIONS }, (_, nth) => `sk_test_${name}_${nth}`);
  for (const key of keys) await pay(servers[0].url, key, 'known');
  await warmUp(servers, keys);
  return { servers, keys, stop: () => Promise.all(servers.map((server) => server.stop())) };
}

const store = await startStore();
const measureCase = ({ servers, keys }, { kind, worlds, connections }) =>
  measure(servers, store, kind, connections, keys.slice(0, worlds));

/** Memory and store take turns, so that a slow moment of the machine meets both. */
const memory = await ready('memory', 1, SETTINGS);
const stored = await ready('store', 1, { ...SETTINGS, store: store.url });
const rounds = new Map();
for (const one of CASES) {
  const pairs = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    pairs.push({ memory: await measureCase(memory, one), stored: await measureCase(stored, one) });
  }
  const inMiddle = pairs.toSorted((a, b) => a.stored.perSecond - b.stored.perSecond)[Math.floor(ROUNDS / 2)];
  line(`memory, ${nameOf(one)}`, inMiddle.memory);
  line(`store, ${nameOf(one)}`, inMiddle.stored);
  rounds.set(nameOf(one), pairs);
}
await memory.stop();
await stored.stop();

for (const count of process.argv.includes('--quick') ? [] : [2, 4]) {
  const several = await ready(`store_${count}`, count, { ...SETTINGS, store: store.url });
  for (const one of CASES) line(`store, ${count} servers, ${nameOf(one)}`, await measureCase(several, one));
  await several.stop();
}

const MOST_OF_STORE_US = 25;
const LEAST = { initiate: 0.75, status: 0.65, balance: 0.65 };
for (const one of CASES) {
  const { kind, worlds, connections } = one;
  const inMiddle = (of) => median(rounds.get(nameOf(one)).map(of));
  if (connections === 1) {
    const more = inMiddle(({ memory, stored }) => stored.ms - memory.ms);
    figure(`${kind}: how much longer one connection waits`, more, 'ms', 0.4);
    continue;
  }
  const what = `${kind}, ${worlds} worlds`;
  atLeast(
    `${what}: answers a second, of those in memory`,
    inMiddle(({ memory, stored }) => stored.perSecond / memory.perSecond),
    '',
    LEAST[kind],
  );
  atLeast(
    `${what}: processor time in memory, of that with a store`,
    inMiddle(({ memory, stored }) => memory.server / stored.server),
    '',
    LEAST[kind],
  );
  figure(
    `${what}: processor time of the store`,
    inMiddle(({ stored }) => stored.store),
    'µs',
    MOST_OF_STORE_US,
  );
}

printTable();
process.exit();
