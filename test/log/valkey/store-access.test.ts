import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { ask, logLines, serveInProcess, startProgram } from '../../support/program.ts';
import { RedisServer } from '../../support/redis-server.ts';

const KEY = 'sk_test_access';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const skipped = hasOpenssl ? '' : ' (skipped: no openssl here)';

/** A key and a certificate for localhost, signed by themselves. */
function certificate(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', [...request, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key, cert };
}

const pay = async (url: string): Promise<number> =>
  (await ask(`${url}/payout/initiate`, KEY, { amount: 10 })).status;

async function storeFor(...flags: string[]): Promise<RedisServer> {
  const store = await RedisServer.start(...flags);
  onTestFinished(() => store.end());
  return store;
}

/** The reason in the log why the store at this address cannot be used. */
async function reasonFor(address: string): Promise<unknown> {
  const { log } = await serveInProcess({ SANDBOX_STORE: address });
  return logLines(log()).find(({ msg }) => String(msg).startsWith('the store cannot be used'))?.['reason'];
}

describe.skipIf(inject('storeUrl') === '')('a store', () => {
  test.skipIf(!hasOpenssl)(`is used over TLS only if its certificate is trusted${skipped}`, async () => {
    const { key, cert } = certificate();
    const tls = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'];
    const [store, port] = await RedisServer.startWithTls(...tls);
    onTestFinished(() => store.end());
    const address = `rediss://localhost:${port}`;
    const { url } = await startProgram({ SANDBOX_STORE: address, NODE_EXTRA_CA_CERTS: cert });
    await expect.poll(() => pay(url)).toBe(200);
    expect(await reasonFor(address)).toMatch(/self-signed certificate/);
  });

  test('can be used as a user who has access only to the keys of the sandbox', async () => {
    const store = await storeFor();
    await store.command(
      'ACL',
      'SETUSER',
      'sandbox',
      'on',
      '>p@ss/word',
      '~payout-sandbox:*',
      '&payout-sandbox:*',
      '+@all',
      '-@admin',
    );
    const address = `redis://sandbox:${encodeURIComponent('p@ss/word')}@127.0.0.1:${store.port}`;
    const { url } = await startProgram({ SANDBOX_STORE: address });
    await expect.poll(() => pay(url)).toBe(200);
    expect(await reasonFor(address.replace('word', 'x'))).toMatch(/password/);
    expect(await reasonFor(`redis://127.0.0.1:${store.port}`.replace('//', '//nobody:x@'))).toMatch(
      /password/,
    );
  });
});
