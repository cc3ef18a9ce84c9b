import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { StoreConnection, StoreObserver } from '../store/store-connection.ts';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { packageVersion } from '../package-files.ts';
import type { Change } from '../payout/payout.ts';
import type { Worlds } from '../worlds/worlds.ts';

const PREFIX = 'payout_sandbox_';
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30];
const NS_PER_S = 1e9;
const US_PER_S = 1e6;

/** What is counted of a request and its response. */
interface Measured {
  /** The name of its route, if that has one. */
  readonly route: string | undefined;
  readonly request: {
    readonly method: string;
    readonly routeOptions: { readonly url?: string | undefined } | undefined;
  };
  /** HTTP status; undefined when nothing was sent. */
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly fault: string | undefined;
}

/** The metrics of one registry: what a sandbox counts and measures. */
const metersOf = (registers: Registry[]) => ({
  counter: (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `${PREFIX}${name}`, help, labelNames, registers }),
  histogram: (name: string, help: string, label: string) =>
    new Histogram({ name: `${PREFIX}${name}`, help, labelNames: [label], buckets: SECONDS, registers }),
  gauge: (name: string, help: string, value: () => number): void =>
    void new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    }),
});

/** Counts what happens, for Prometheus. It contains nothing about single worlds: no key, no id, no reference. */
export type Metrics = ReturnType<typeof startMetrics>;

/**
 * Begins to count. prom-client's default metrics are not used: they watch the process with observers that nothing ever stops,
 * and a process may start and close many sandboxes. Metrics that they have too keep their names.
 *
 * @param nowMs wall time
 */
export function startMetrics(nowMs: number, hasStore: boolean) {
  const startedAtMs = nowMs - process.uptime() * 1000;
  const register = new Registry();
  const registers = [register];
  const meters = metersOf(registers);
  const { counter, gauge } = meters;
  const requests = counter(
    'requests_total',
    'Requests that have ended, by route and HTTP status; status none when no response was sent',
    ['route', 'method', 'status'],
  );
  const faults = counter('faults_total', 'Connections that a rule broke, by the kind of fault', ['kind']);
  const settlements = counter('settlements_total', 'Payouts that reached a state', ['state']);
  const durations = meters.histogram(
    'request_duration_seconds',
    'How long requests took, including the delays of rules',
    'route',
  );
  const build = { name: `${PREFIX}build_info`, help: 'Always 1; its labels are the versions', registers };
  const versions = new Gauge({ ...build, labelNames: ['version', 'node'] });
  versions.set({ version: packageVersion(), node: process.version }, 1);
  gauge('process_start_time_seconds', 'When the process started, in Unix time', () => startedAtMs / 1000);
  void new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / US_PER_S);
    },
  });
  gauge('process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss());
  gauge('nodejs_heap_size_used_bytes', 'Heap in use', () => process.memoryUsage().heapUsed);
  const delay = monitorEventLoopDelay();
  delay.enable();
  const inSeconds = (ns: number): number => (Number.isFinite(ns) ? ns / NS_PER_S : 0);
  gauge(
    'nodejs_eventloop_lag_mean_seconds',
    'Mean delay of the event loop since these metrics were read last',
    () => inSeconds(delay.mean),
  );
  gauge('nodejs_eventloop_lag_p99_seconds', 'Its 99th percentile', () => inSeconds(delay.percentile(99)));
  gauge('nodejs_eventloop_lag_max_seconds', 'The longest of them', () => inSeconds(delay.max));

  return {
    requested: ({ request, route: name, status, durationMs, fault }: Measured): void => {
      const route = name ?? request.routeOptions?.url ?? 'unknown'; // not the path, since ids in it would make endless series
      const method = route === 'unknown' ? 'any' : request.method;
      requests.inc({ route, method, status: String(status ?? 'none') });
      durations.observe({ route }, durationMs / 1000);
      if (fault !== undefined) faults.inc({ kind: fault });
    },
    settled: ({ from, to }: Change): void => {
      if (from !== to) settlements.inc({ state: to }); // otherwise only its UTR was set
    },
    store: hasStore ? storeMetrics(meters) : undefined,
    /** Shows the numbers of the worlds, and of the connection to their store, from now on. */
    watch: (
      worlds: Pick<Worlds, 'size' | 'transactions'>,
      store: Pick<StoreConnection, 'isAway'> | undefined,
    ): void => watchWorlds(meters, worlds, store),
    text: async (): Promise<string> => {
      const text = await register.metrics();
      delay.reset();
      return text;
    },
    close: (): void => void delay.disable(),
  };
}

function watchWorlds(
  { gauge }: ReturnType<typeof metersOf>,
  worlds: Pick<Worlds, 'size' | 'transactions'>,
  store: Pick<StoreConnection, 'isAway'> | undefined,
): void {
  const copies = 'Worlds in memory. With a store, those of which this server has a copy';
  gauge(`${PREFIX}worlds`, copies, () => worlds.size);
  gauge(
    `${PREFIX}transactions`,
    'Transactions in these worlds, as SANDBOX_MAX_TRANSACTIONS counts them',
    () => worlds.transactions,
  );
  if (store === undefined) return;
  gauge(`${PREFIX}store_up`, 'Whether this server can use its store: 1 or 0', () => Number(!store.isAway));
}

/** What happens between this server and its store. */
function storeMetrics({
  counter,
  histogram,
}: ReturnType<typeof metersOf>): Required<Pick<StoreObserver, 'calling'>> & { readonly lost: () => void } {
  const lost = counter(
    'store_worlds_lost_total',
    'Worlds of which the store has lost everything, or what happened last. Each server that had a copy counts them',
  );
  const calls = histogram(
    'store_call_seconds',
    'How long calls of the store took. `open` reads a world that this server does not know, or reads it again; `compact` keeps a state of it',
    'call',
  );
  return {
    lost: () => lost.inc(),
    calling(call) {
      const end = calls.startTimer({ call });
      return () => void end();
    },
  };
}
