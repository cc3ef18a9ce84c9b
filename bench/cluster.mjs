// npm run bench:cluster: what worlds in a store cost, against worlds in memory in the same run. Needs redis-server.
// `-- --quick` measures one server only.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { atLeast, figure, printTable } from './figures.mjs';
import { startProcess } from './sandbox-process.mjs';
import { startStore } from './store-process.mjs';

const REQUESTS = 6000;
const CONNECTIONS = 20;
const WARM_UP = 3000;
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

const payout = () => {
  sent += 1;
  return JSON.stringify({
    client_ref_id: `r${sent}`,
    beneficiary_name: 'Asha Rao',
    beneficiary_account: '000123456789',
    beneficiary_ifsc: 'SBIN0000001',
    amount: 1,
    transfer_mode: 'IMPS',
  });
};
const KINDS = {
  initiate: (url, key) => ask(url, key, 'POST', '/payout/initiate', payout()),
  status: (url, key) => ask(url, key, 'GET', '/payout/status?client_ref_id=known'),
  balance: (url, key) => ask(url, key, 'GET', '/client/fetchbalance'),
};

/** @returns answers a second, and µs of processor time of the servers and of the store for each */
async function measure(servers, store, kind, connections, keys) {
  const cpu = async () => {
    const times = await Promise.all(servers.map((server) => server.cpuMs()));
    return [times.reduce((sum, ms) => sum + ms, 0), (await store?.cpuMs()) ?? 0];
  };
  const count = connections === 1 ? REQUESTS / 6 : REQUESTS;
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

const known = (url, key) => ask(url, key, 'POST', '/payout/initiate', payout().replace(/"r\d+"/, '"known"'));
const start = (count, settings) => Promise.all(Array.from({ length: count }, () => startProcess(settings)));

const isQuick = process.argv.includes('--quick');
const store = await startStore();
const figures = new Map();
for (const where of ['memory', 'store']) {
  const settings = where === 'memory' ? SETTINGS : { ...SETTINGS, store: store.url };
  for (const count of where === 'memory' || isQuick ? [1] : [1, 2, 4]) {
    const servers = await start(count, settings);
    const keys = Array.from({ length: CONNECTIONS }, (_, nth) => `sk_test_${where}_${count}_${nth}`);
    for (const key of keys) await known(servers[0].url, key);
    await warmUp(servers, keys);
    for (const worlds of [1, CONNECTIONS]) {
      for (const connections of worlds === 1 ? [1, CONNECTIONS] : [CONNECTIONS]) {
        for (const kind of Object.keys(KINDS)) {
          const measured = await measure(servers, store, kind, connections, keys.slice(0, worlds));
          const name = `${count} servers, ${worlds} worlds, ${connections} connections: ${kind}`;
          line(`${where}, ${name}`, measured);
          figures.set(`${where}, ${name}`, measured);
        }
      }
    }
    await Promise.all(servers.map((server) => server.stop()));
  }
}

const MOST_OF_STORE_US = 25;
for (const [kind, target] of Object.entries({ initiate: 0.75, status: 0.65, balance: 0.65 })) {
  const of = (where, worlds, connections) =>
    figures.get(`${where}, 1 servers, ${worlds} worlds, ${connections} connections: ${kind}`);
  for (const worlds of [1, CONNECTIONS]) {
    const [memory, stored] = ['memory', 'store'].map((where) => of(where, worlds, CONNECTIONS));
    const what = `${kind}, ${worlds} worlds`;
    atLeast(`${what}: answers a second, of those in memory`, stored.perSecond / memory.perSecond, '', target);
    atLeast(
      `${what}: processor time in memory, of that with a store`,
      memory.server / stored.server,
      '',
      target,
    );
    figure(`${what}: processor time of the store`, stored.store, 'µs', MOST_OF_STORE_US);
  }
  const more = of('store', 1, 1).ms - of('memory', 1, 1).ms;
  figure(`${kind}: how much longer one connection waits`, more, 'ms', 0.4);
}

printTable();
process.exit();
