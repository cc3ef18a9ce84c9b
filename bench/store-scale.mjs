// npm run bench:store-scale: many worlds in a store, and one world of many payouts. Needs redis-server.
// `-- --quick` takes a tenth of both.
import { setTimeout as wait } from 'node:timers/promises';
import { figure, median, note, printTable } from './figures.mjs';
import { PayoutLoad } from './payout-load.mjs';
import { Asker, control, startProcess } from './sandbox-process.mjs';
import { startStore } from './store-process.mjs';

const SHARE = process.argv.includes('--quick') ? 0.1 : 1;
const WORLDS = 50_000 * SHARE;
const PAYOUTS = 100_000 * SHARE;
const STEP = 1000;
const COLD_STARTS = 3;
const KEY = 'sk_test_big';
/** Worlds are noted in the list as long as they were used within the last minute. */
const QUIET_MS = 70_000;
const IDLE_MS = 20_000;

const store = await startStore();
const settings = {
  'rate-limit': 'off',
  'log-level': 'warn',
  settlement: 'demo',
  'opening-balance': 1e11,
  'max-worlds': WORLDS * 2 + 10,
  'max-transactions': PAYOUTS * 2 + WORLDS,
  store: store.url,
};
const server = await startProcess(settings);
const load = new PayoutLoad(server.url);

for (let paid = 0; paid < PAYOUTS; paid += STEP) await load.pay([KEY], STEP);
note(`${PAYOUTS} payouts made`);
const asker = new Asker();
/** What a new server does with its first request, and how long another world of it waits meanwhile. */
async function coldStart() {
  const cold = await startProcess(settings);
  await control(cold.url, 'sk_test_other', 'GET', '/world');
  const target = { url: cold.url, apiKey: 'sk_test_other' };
  const cpuMs = await cold.cpuMs();
  const { result, times } = await asker.during(target, () => control(cold.url, KEY, 'GET', '/world'));
  const computed = (await cold.cpuMs()) - cpuMs;
  await cold.stop();
  return { first: result.ms, others: times.at(-1) ?? 0, computed };
}
async function coldStarts(what) {
  const starts = [];
  for (let nth = 0; nth < COLD_STARTS; nth += 1) starts.push(await coldStart());
  figure(`${what}: first response of a new server`, median(starts.map(({ first }) => first)), 'ms', 1000);
  figure(`${what}: its processor time`, median(starts.map(({ computed }) => computed)), 'ms');
  figure(
    `${what}: longest of another world meanwhile`,
    median(starts.map(({ others }) => others)),
    'ms',
    100,
  );
}
await coldStarts(`world of ${PAYOUTS} payouts`);
await server.stop();
await coldStarts('the same, after its server was stopped');

const maker = await startProcess(settings);
const makes = new PayoutLoad(maker.url);
for (let made = 0; made < WORLDS; made += STEP) {
  const keys = Array.from({ length: STEP }, (_, nth) => `sk_test_world_${made + nth}`);
  await makes.pay(keys, STEP);
}
note(`${WORLDS} worlds made`);
const other = await startProcess(settings);
await wait(QUIET_MS);
for (const [name, one] of Object.entries({ 'the server that made them': maker, 'another server': other })) {
  const cpu = async () => [await one.cpuMs(), await store.cpuMs()];
  const before = await cpu();
  await wait(IDLE_MS);
  const after = await cpu();
  const [own, inStore] = after.map((ms, nth) => ((ms - before[nth]) / IDLE_MS) * 100);
  figure(`${WORLDS} worlds, idle: ${name}`, own, '% of a core', 1);
  figure(`${WORLDS} worlds, idle: the store meanwhile, for both`, inStore, '% of a core', 1);
}
asker.stop();
await Promise.all([maker.stop(), other.stop()]);
printTable();
process.exit();
