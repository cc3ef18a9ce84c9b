import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox, type RuleRequest } from '../../../src/index.ts';
import { certificateOf } from '../../../src/platform/certificates.ts';
import { readSettings } from '../../../src/settings.ts';
import { answersOn, payRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { sandboxFor } from '../../support/sandbox.ts';
import { folderWith } from '../../support/temporary-folder.ts';
import { testRows } from '../../support/test-rows.ts';

const WHOLE = /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{.*\}$/;

testRows<[RuleRequest['effect'], RegExp, 'RST' | 'FIN']>([
  [{ fault: 'connection-reset' }, /^$/, 'RST'],
  [{ fault: 'empty-response' }, /^$/, 'FIN'],
  [{ fault: 'truncated-body' }, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{[^}]*$/, 'FIN'],
  [{ fault: 'malformed-json' }, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{.*[^}]\}$/, 'FIN'],
  [{ fault: 'garbage' }, /^HTTP\/1\.1 [\x80-\xff]{51}\r\n\r\n$/, 'FIN'],
  [{ fault: { kind: 'hang', for: '1ms' } }, /^$/, 'FIN'],
  [{ fault: { kind: 'slow-body', bytes_per_second: 1_000_000 } }, WHOLE, 'FIN'],
  [{ delay: '1ms' }, WHOLE, 'FIN'],
])('over HTTPS, %j does what it does without', async (effect, bytes, end) => {
  const { url, client } = await sandboxFor({ tls: 'self-signed' });
  expect(url).toMatch(/^https:/);
  const { apiKey, world } = client();
  await world.rule({ match: { route: 'initiate' }, effect });
  const socket = rawSocket(url);
  let ended = '';
  socket.on('end', () => (ended = 'FIN')).on('error', () => (ended = 'RST'));
  socket.write(payRequest(apiKey, {}, { connection: 'close' }));
  expect(await answersOn(socket)).toMatch(bytes);
  expect(ended).toBe(end);
  await expect(world.requests()).resolves.toHaveLength(1);
});

/** The status that a client gets that trusts only this certificate. */
async function statusFor(url: string, ca: string): Promise<number | undefined> {
  const asked = request(`${url}/_sandbox/health`, { ca, agent: false }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test('clients trust a self-signed certificate by its file, which goes with the sandbox', async () => {
  const sandbox = await startSandbox({ tls: 'self-signed' });
  onTestFinished(() => sandbox.close());
  const ca = readFileSync(sandbox.certificate!, 'utf8');
  expect(await statusFor(sandbox.url, ca)).toBe(200);
  expect(await statusFor(sandbox.url.replace('127.0.0.1', 'localhost'), ca)).toBe(200);
  await expect(fetch(`${sandbox.url}/_sandbox/health`)).rejects.toThrow('fetch failed');
  await sandbox.close();
  expect(() => readFileSync(sandbox.certificate!)).toThrow('ENOENT');
});

test('a certificate of the user is served, and a wrong one refused at the start', async () => {
  const { cert, key, dispose } = await certificateOf(readSettings({ tls: 'self-signed' }, {}), Date.now());
  await dispose();
  const folder = folderWith({ 'cert.pem': cert, 'key.pem': key, 'other.pem': 'none' });
  const { url } = await sandboxFor({ tlsCert: `${folder}/cert.pem`, tlsKey: `${folder}/key.pem` });
  expect(await statusFor(url, cert)).toBe(200);
  const refused = (tlsCert: string, tlsKey?: string) =>
    startSandbox({ tlsCert: `${folder}/${tlsCert}`, ...(tlsKey && { tlsKey: `${folder}/${tlsKey}` }) });
  await expect(refused('cert.pem', 'other.pem')).rejects.toThrow(/other\.pem is not its key/);
  await expect(refused('none.pem', 'key.pem')).rejects.toThrow(/none\.pem cannot be read \(no such file/);
  await expect(refused('cert.pem')).rejects.toThrow(/both tlsCert and tlsKey/);
});
