import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Change } from '../payout/payout.ts';
import type { Exchange } from '../world/journal/exchange.ts';

const PREFIX = 'payout_sandbox_';
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30];
const NS_PER_S = 1e9;

/** Counts what happens, for Prometheus. It contains nothing about single worlds: no key, no id, no reference. */
export interface Metrics {
  readonly requested: (exchange: Exchange, request: FastifyRequest, reply: FastifyReply) => void;
  readonly settled: (change: Change) => void;
  /** All metrics, in Prometheus' text format. */
  readonly text: () => Promise<string>;
  readonly close: () => void;
}

/**
 * Begins to count. prom-client's default metrics are not used: they watch the process with observers that nothing ever stops,
 * and a process may start and close many sandboxes. Metrics that they have too keep their names.
 */
export function startMetrics(worlds: () => number, transactions: () => number): Metrics {
  const register = new Registry();
  const registers = [register];
  const counter = (name: string, help: string, labelNames: string[]): Counter =>
    new Counter({ name: `${PREFIX}${name}`, help, labelNames, registers });
  const requests = counter(
    'requests_total',
    'Exchanges that are over, by route and HTTP status; status none when nothing was sent',
    ['route', 'method', 'status'],
  );
  const faults = counter('faults_total', 'Connections that a rule broke, by the kind of fault', ['kind']);
  const settlements = counter('settlements_total', 'Payouts that reached a state', ['state']);
  const durations = new Histogram({
    name: `${PREFIX}request_duration_seconds`,
    help: 'How long exchanges took, including delays that rules ordered',
    labelNames: ['route'],
    buckets: SECONDS,
    registers,
  });
  const gauge = (name: string, help: string, value: () => number): void =>
    void new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  gauge(`${PREFIX}worlds`, 'Current number of worlds', worlds);
  gauge(
    `${PREFIX}transactions`,
    'Transactions held in all worlds, as SANDBOX_MAX_TRANSACTIONS counts them',
    transactions,
  );
  gauge('process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss());
  gauge('nodejs_heap_size_used_bytes', 'Heap in use', () => process.memoryUsage().heapUsed);
  const delay = monitorEventLoopDelay();
  delay.enable();
  const inSeconds = (ns: number): number => (Number.isFinite(ns) ? ns / NS_PER_S : 0);
  gauge('nodejs_eventloop_lag_mean_seconds', 'Mean delay of the event loop since the start', () =>
    inSeconds(delay.mean),
  );
  gauge('nodejs_eventloop_lag_p99_seconds', 'Its 99th percentile', () => inSeconds(delay.percentile(99)));
  gauge('nodejs_eventloop_lag_max_seconds', 'The longest of them', () => inSeconds(delay.max));

  return {
    requested(exchange, request, reply) {
      const { method, durationMs = 0, fault } = exchange;
      // the pattern of the route, not the path: paths contain ids, so there would be no end of series
      const route = exchange.route ?? request.routeOptions?.url ?? 'unknown';
      const status = reply.raw.headersSent ? String(reply.raw.statusCode) : 'none';
      requests.inc({ route, method: route === 'unknown' ? 'any' : method, status });
      durations.observe({ route }, durationMs / 1000);
      if (fault !== undefined) faults.inc({ kind: fault });
    },
    settled({ from, to }) {
      if (from !== to) settlements.inc({ state: to }); // otherwise only its UTR was set
    },
    text: () => register.metrics(),
    close: () => void delay.disable(),
  };
}
