import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { startMetrics } from '../../src/platform/metrics.ts';
import { SETTINGS } from '../../src/settings.ts';
import type { Json } from '../support/http/openapi.ts';
import { commandsOf, listUnder } from '../support/markdown.ts';
import { hasCurl } from '../support/paying-command.ts';
import { ask, linesOf, paste, serveInProcess } from '../support/program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const read = (name: string): string =>
  readFileSync(new URL(`../../docs/operate/${name}`, import.meta.url), 'utf8');

const manifestsOf = (name: string): readonly Json[] =>
  parseAllDocuments(read(`kubernetes/${name}.yaml`)).map((one) => one.toJS());

const PROBES = { startupProbe: '/live', readinessProbe: '/health', livenessProbe: '/live' };

test('the pod of one-pod.yaml starts with settings that exist, and keeps its state over a restart', async () => {
  const [{ spec: deployment }] = manifestsOf('one-pod');
  const [container] = deployment.template.spec.containers;
  const folder = temporaryFolder();
  const environment = Object.fromEntries(
    container.env.map(({ name, value }: Json) => [name, value.replace('/state/', `${folder}/`)]),
  );
  const { NODE_OPTIONS, ...settings } = environment;
  expect(process.allowedNodeEnvironmentFlags.has(NODE_OPTIONS)).toBe(true);
  expect(SETTINGS.map(({ env }): string => env)).toEqual(expect.arrayContaining(Object.keys(settings)));
  const { stop, url } = await serveInProcess(environment);
  for (const path of Object.values(PROBES)) expect((await fetch(`${url}/_sandbox${path}`)).status).toBe(200);
  const { annotations } = deployment.template.metadata;
  expect((await fetch(url + annotations['prometheus.io/path'])).status).toBe(200);
  await ask(`${url}/payout/initiate`, 'sk_test_pod', {});
  await stop();

  const again = await serveInProcess(environment);
  const known = await ask(`${again.url}/payout/status?client_ref_id=order-1`, 'sk_test_pod');
  expect(known.status).toBe(200); // the state is restored before the first response
});

test.each(['one-pod', 'several-pods'])(
  'the Service of %s.yaml selects its pods, which have probes and time to stop',
  (name) => {
    const [{ spec: deployment }, ...others] = manifestsOf(name);
    const { spec: pod, metadata } = deployment.template;
    const [container] = pod.containers;
    expect(deployment.selector.matchLabels).toEqual(metadata.labels);
    expect(others.at(-1)!.spec.selector).toEqual(metadata.labels);
    expect(container.ports).toEqual([{ name: 'http', containerPort: 3000 }]);
    for (const [probe, path] of Object.entries(PROBES)) {
      expect(container[probe].httpGet).toEqual({ path: `/_sandbox${path}`, port: 'http' });
    }
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
    const [, seconds] = container.lifecycle.preStop.exec.command;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + 1);
  },
);

/** The names of all metrics that a server of a store has, as Prometheus stores them. */
async function metricNames(): Promise<readonly string[]> {
  const metrics = startMetrics(true);
  metrics.watch({ size: 1, transactions: 1 }, { isAway: false });
  const text = await metrics.text();
  return [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? ['_bucket', '_count', '_sum'].map((suffix) => `${name}${suffix}`) : [name!],
  );
}

test('the alert rules use metrics that exist, and one-server.md lists every metric of the sandbox', async () => {
  const known = await metricNames();
  const { groups } = parse(read('one-server/alerts.yaml')) as {
    groups: { rules: { expr: string; annotations: object }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  const used = rules.flatMap(({ expr }) => expr.match(/\b(?:payout_sandbox|process|nodejs)_\w+/g) ?? []);
  expect(used.length).toBeGreaterThan(3);
  expect(known).toEqual(expect.arrayContaining(used));
  // a comma in an unquoted text begins another annotation, whose name Prometheus refuses
  for (const { annotations } of rules) expect(annotations).toEqual({ summary: expect.any(String) });
  const page = read('one-server.md');
  const own = known.filter((name) => name.startsWith('payout_sandbox_'));
  const shortened = own.map((name) => name.replaceAll(/^payout_sandbox|_(?:bucket|count|sum)$/g, ''));
  expect(
    shortened.filter((name) => !page.includes(`…${name}`) && !page.includes(`payout_sandbox${name}`)),
  ).toEqual([]);
});

test.skipIf(!hasCurl)('with sandbox.env, keys have separate worlds, which survive a restart', async () => {
  const folder = temporaryFolder();
  const env = read('one-server/sandbox.env')
    .replace(/^SANDBOX_PORT=.*$/m, 'SANDBOX_PORT=0')
    .replace(/^SANDBOX_STATE=.*$/m, `SANDBOX_STATE=${join(folder, 'worlds.jsonl')}`);
  const environment = parseEnv(env) as Record<string, string>; // as `node --env-file` does
  const [red, blue] = environment['SANDBOX_API_KEYS']!.split(',') as [string, string];
  const balanceOf = async (url: string, key: string): Promise<unknown> =>
    ((await (await ask(`${url}/client/fetchbalance`, key)).json()) as { data?: { balance: number } }).data
      ?.balance;

  const first = await serveInProcess(environment);
  await ask(`${first.url}/payout/initiate`, red, {});
  expect(await balanceOf(first.url, red)).toBe(998_499.5);
  expect(await balanceOf(first.url, blue)).toBe(1_000_000);
  expect((await ask(`${first.url}/client/fetchbalance`, 'sk_test_stranger')).status).toBe(401);
  const [curl] = commandsOf(read('one-server.md'), 'curl');
  expect(JSON.parse(await paste(curl!.shell, first.url))).toMatchObject({ worlds: [{}, {}] });
  expect((await ask(`${first.url}/_sandbox/worlds`, red)).status).toBe(401);
  const listed = listUnder(read('one-server.md'), 'The log').flatMap(([item]) => item.match(/\w+/g)!);
  const fields = linesOf(await first.stop(), 'request').flatMap(Object.keys);
  expect(['level', 'time', 'msg', ...listed]).toEqual(expect.arrayContaining(fields));

  expect(await balanceOf((await serveInProcess(environment)).url, red)).toBe(998_499.5);
});
