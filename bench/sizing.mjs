// npm run bench:sizing: how large a store and its servers have to be. Needs redis-server.
import { figure, median, printTable } from './figures.mjs';
import { PayoutLoad } from './payout-load.mjs';
import { control, startProcess } from './sandbox-process.mjs';
import { startStore } from './store-process.mjs';

const PAYOUTS = 10_000;
const STEP = 500;
const WORLDS = 1000;
const COLD_STARTS = 3;
const KEY = 'sk_test_sizing';

const store = await startStore();
const settings = {
  'rate-limit': 'off',
  settlement: 'demo',
  clock: '2026-01-15T10:30:00Z',
  'opening-balance': 1e11,
  store: store.url,
};
const server = await startProcess(settings);
const emptyInStore = await store.memory();
const load = new PayoutLoad(server.url);
const settle = () =>
  control(server.url, KEY, 'POST', '/clock/advance', { body: Buffer.from('{"until":"idle"}') });
const sizes = async () => ({ inStore: await store.memory(), inServer: (await server.memory()).heapUsed });

// the journal and the program's own code have reached their size before the first payout that is counted
await load.pay([KEY], PAYOUTS);
await settle();
const before = await sizes();
const storeMs = await store.cpuMs();
const speeds = [];
let mostInStore = 0; // between two snapshots it holds the log as well
for (let paid = 0; paid < PAYOUTS; paid += STEP) {
  speeds.push(await load.pay([KEY], STEP));
  mostInStore = Math.max(mostInStore, await store.memory());
}
const storeUs = ((await store.cpuMs()) - storeMs) * (1000 / PAYOUTS);
await settle();
const after = await sizes();
figure('settled payout: memory of the store', (after.inStore - before.inStore) / PAYOUTS, 'B');
figure('settled payout: memory of a server', (after.inServer - before.inServer) / PAYOUTS, 'B');
figure(
  `world of ${2 * PAYOUTS} payouts with its journal: most memory of the store`,
  (mostInStore - emptyInStore) / 2 ** 20,
  'MiB',
);
figure('payouts a second, of one world at one server', median(speeds), '/s');
figure('payout: processor time of the store', storeUs, 'µs');

const worlds = Array.from({ length: WORLDS }, (_, nth) => `sk_test_world_${nth}`);
const emptyBytes = await sizes();
await load.pay(worlds, WORLDS);
const filled = await sizes();
figure('world with one payout: memory of the store', (filled.inStore - emptyBytes.inStore) / WORLDS, 'B');
figure('world with one payout: memory of a server', (filled.inServer - emptyBytes.inServer) / WORLDS, 'B');

const times = [];
for (let nth = 0; nth < COLD_STARTS; nth += 1) {
  const other = await startProcess(settings);
  times.push((await control(other.url, KEY, 'GET', '/world')).ms);
  await other.stop();
}
figure(
  `first response of a server that does not know a world of ${2 * PAYOUTS} payouts`,
  median(times),
  'ms',
);

await server.stop();
printTable();
process.exit();
