import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { startMetrics } from '../../src/platform/metrics.ts';

const read = (name: string): string =>
  readFileSync(new URL(`../../docs/recipes/${name}`, import.meta.url), 'utf8');

/** The names of all metrics that a server of a store has, as Prometheus stores them. */
async function names(): Promise<ReadonlySet<string>> {
  const metrics = startMetrics({
    worlds: () => 1,
    transactions: () => 1,
    version: '1.2.3',
    startedAtMs: 0,
    store: { isUp: () => true, copies: () => 1, newer: () => 0 },
  });
  const text = await metrics.text();
  metrics.close();
  const declared = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? ['_bucket', '_count', '_sum'].map((suffix) => `${name}${suffix}`) : [name!],
  );
  return new Set(declared);
}

const METRIC = /\b(?:payout_sandbox|process|nodejs)_\w+/g;
const FUNCTIONS = /\b(\w+)(?= ?\()|\b(?:by) /g;
const KNOWN = new Set(
  'sum rate max increase changes histogram_quantile by absent and on max_over_time'.split(' '),
);
const OF_ANY_PROCESS = /\b(?:process|nodejs)_\w+/;

/** What is wrong with an expression of PromQL, as far as this can be seen without Prometheus. */
function faultsOf(expr: string, known: ReadonlySet<string>): string[] {
  const unknown = [...expr.matchAll(METRIC)].map(([name]) => name).filter((name) => !known.has(name));
  const called = [...expr.matchAll(FUNCTIONS)]
    .map(([, name = 'by']) => name)
    .filter((name) => !KNOWN.has(name));
  const countOf = (pattern: RegExp): number => expr.match(pattern)?.length ?? 0;
  const depth = countOf(/[({[]/g) - countOf(/[)}\]]/g);
  return [
    ...unknown,
    ...called,
    ...(depth === 0 ? [] : ['brackets']),
    ...(expr.match(METRIC) ? [] : ['no metric']),
    ...(OF_ANY_PROCESS.test(expr) && !expr.includes('payout_sandbox_build_info') ? ['any process'] : []),
  ];
}

test('the dashboard for Grafana asks only for metrics that exist, each panel in a place of its own', async () => {
  const known = await names();
  const { panels, uid } = JSON.parse(read('monitoring/grafana-dashboard.json')) as {
    panels: { id: number; targets: { expr: string }[] }[];
    uid: string;
  };
  expect(uid).toBe('payout-sandbox');
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(panels.flatMap(({ targets }) => targets).flatMap(({ expr }) => faultsOf(expr, known))).toEqual([]);
});

test('the alert rules ask only for metrics that exist, and have all that Prometheus wants', async () => {
  const known = await names();
  const { groups } = parse(read('monitoring/alerts.yaml')) as {
    groups: { rules: { alert: string; expr: string; annotations: object }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(3);
  for (const { alert, expr, annotations } of rules) {
    expect(alert).toMatch(/^\w+$/);
    // a comma in an unquoted text begins another annotation, whose name Prometheus refuses
    expect(annotations).toEqual({ summary: expect.any(String) });
    expect(faultsOf(expr, known)).toEqual([]);
  }
});

test('every metric of the store is in the list of the recipe, and so is every other of the sandbox', async () => {
  const page = read('monitoring.md');
  const own = [...(await names())].filter((name) => name.startsWith('payout_sandbox_'));
  const shortened = own.map((name) =>
    name.replace(/^payout_sandbox_/, '').replace(/_(?:bucket|count|sum)$/, ''),
  );
  expect(shortened.filter((name) => !page.includes(name))).toEqual([]);
});
