import type { StoreConnection, StoreObserver } from '../store/store-connection.ts';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { packageVersion } from '../package-files.ts';
import type { Change } from '../payout/payout.ts';
import type { Worlds } from '../worlds/worlds.ts';

const PREFIX = 'payout_sandbox_';
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30];

/** Those of the process. All its sandboxes share them, since nothing ever stops the observers behind them. */
const ofProcess = new Registry();
collectDefaultMetrics({ register: ofProcess });

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

/** Begins to count. */
export function startMetrics(hasStore: boolean) {
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
    ): void => {
      const copies = 'Worlds in memory. With a store, those of which this server has a copy';
      gauge(`${PREFIX}worlds`, copies, () => worlds.size);
      gauge(
        `${PREFIX}transactions`,
        'Transactions in these worlds, as SANDBOX_MAX_TRANSACTIONS counts them',
        () => worlds.transactions,
      );
      if (store === undefined) return;
      const isUp = 'Whether this server can use its store: 1 or 0';
      gauge(`${PREFIX}store_up`, isUp, () => Number(!store.isAway));
    },
    text: async (): Promise<string> => `${await register.metrics()}\n${await ofProcess.metrics()}`,
  };
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
