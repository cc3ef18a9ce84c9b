import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { buildApp } from '../../src/app.ts';
import { systemClock } from '../../src/platform/system-clock.ts';
import { readSettings, SETTINGS } from '../../src/settings.ts';
import type { Json } from '../support/http/openapi.ts';
import { ask, nobodyListens, serveInProcess } from '../support/program.ts';
import { answersOn, rawRequest, rawSocket } from '../support/http/raw-socket.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const page = readFileSync(new URL('../../docs/kubernetes.md', import.meta.url), 'utf8');
const manifests: Json[] = parseAllDocuments(/```yaml\n(.*?)```/s.exec(page)![1]!).map((one) => one.toJS());
const [{ spec: deployment }] = manifests;
const { spec: pod, metadata } = deployment.template;
const [container] = pod.containers;

test('the pod of docs/kubernetes.md starts with settings that exist, and keeps its state over a restart', async () => {
  const folder = temporaryFolder();
  const environment = Object.fromEntries(
    container.env.map(({ name, value }: Json) => [name, value.replace('/state/', `${folder}/`)]),
  );
  const { NODE_OPTIONS, ...settings } = environment;
  expect(process.allowedNodeEnvironmentFlags.has(NODE_OPTIONS)).toBe(true);
  expect(SETTINGS.map(({ env }): string => env)).toEqual(expect.arrayContaining(Object.keys(settings)));
  const { stop, url } = await serveInProcess(environment);
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
    const { path, port } = container[probe].httpGet;
    expect(port).toBe(container.ports[0].name);
    expect((await fetch(url + path)).status).toBe(200);
  }
  expect((await fetch(url + metadata.annotations['prometheus.io/path'])).status).toBe(200);
  await ask(`${url}/payout/initiate`, 'sk_test_pod', {});
  await stop();

  const again = await serveInProcess(environment);
  const known = await ask(`${again.url}/payout/status?client_ref_id=order-1`, 'sk_test_pod');
  expect(known.status).toBe(200); // the state is restored before the first response
});

test('the Service of docs/kubernetes.md selects its pod, whose file system is read-only', () => {
  const [, service] = manifests;
  expect(deployment.selector.matchLabels).toEqual(metadata.labels);
  expect(service.spec.selector).toEqual(metadata.labels);
  expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
  const [, seconds] = container.lifecycle.preStop.exec.command;
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + 1);
});

test('health returns ready while the sandbox serves, and stopping on an open connection while it stops', async () => {
  const log = pino({ level: 'silent' });
  const { app } = await buildApp({ settings: readSettings({}, {}), wallClock: systemClock(), log });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  expect((await fetch(`${url}/_sandbox/health`)).status).toBe(200);
  const socket = rawSocket(url);
  await once(socket, 'connect');
  const responses = answersOn(socket);
  const health = String(rawRequest('GET /_sandbox/health', {}));
  socket.write(health); // answered, and the connection is kept alive
  await once(socket, 'data');
  socket.write(health.slice(0, 20)); // the next request is in progress when the stop begins
  await ask(`${url}/client/fetchbalance`, 'sk_test_a'); // the part above has been read by now
  const closed = app.close(); // which has as long as it takes: the program ends what is left after 0.8 s
  await nobodyListens(url);
  socket.write(health.slice(20));
  const text = await responses;
  expect(text).toMatch(
    /^HTTP\/1\.1 200 OK\r\n[^]*"status":"ready"[^]*HTTP\/1\.1 503 Service Unavailable\r\n/,
  );
  expect(text).toMatch(/503 [^]*connection: close\r\n[^]*"status":"stopping"/i);
  await closed;
});
