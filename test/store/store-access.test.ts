import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'iovalkey';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask, logLines, Program, serveInProcess, startProgram } from '../support/program.ts';
import { isLong } from '../support/size.ts';
import { withoutPatience } from '../support/store/store-times.ts';
import { ownStore } from '../support/store/fresh-store.ts';
import { RedisServer } from '../support/store/redis-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const KEY = 'sk_test_access';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const skipped = hasOpenssl ? '' : ' (skipped: no openssl here)';

/** A key and a certificate for localhost, signed by themselves. */
function certificate(): { readonly key: string; readonly cert: string } {
  const folder = temporaryFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', [...request, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key, cert };
}

const storeWithTls = ({ key, cert }: ReturnType<typeof certificate>) =>
  RedisServer.startWithTls('--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no');

const pay = async (url: string): Promise<number> =>
  (await ask(`${url}/payout/initiate`, KEY, { amount: 10 })).status;

/** The reason in the log why the store at this address cannot be used. */
async function reasonFor(address: string): Promise<unknown> {
  const { log } = await serveInProcess({ SANDBOX_STORE: address });
  return logLines(log()).find(({ msg }) => String(msg).startsWith('the store cannot be used'))?.['reason'];
}

/** Closes a sandbox in the middle of a TLS handshake. What its store sends arrives afterwards, all at once. */
const CLOSED_IN_A_HANDSHAKE = `
  import { once } from 'node:events';
  import { connect, createServer } from 'node:net';
  import { startSandbox } from 'payout-sandbox';
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const sent = [];
    const store = connect({ port: process.env.TLS_PORT, allowHalfOpen: true });
    client.on('error', () => {}).pipe(store);
    store.on('data', (bytes) => sent.push(bytes)).on('end', () => client.end(Buffer.concat(sent)));
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const sandbox = await startSandbox({ store: 'rediss://127.0.0.1:' + proxy.address().port });
  const [client] = await once(proxy, 'connection');
  await once(client, 'data');
  await Promise.all([once(client, 'close'), sandbox.close()]);
  proxy.close();
`;

describe('a store', () => {
  test.skipIf(!hasOpenssl)(`is used over TLS only if its certificate is trusted${skipped}`, async () => {
    const files = certificate();
    const [store, port] = await storeWithTls(files);
    onTestFinished(() => store.end());
    const address = `rediss://localhost:${port}`;
    const { url } = await startProgram({ SANDBOX_STORE: address, NODE_EXTRA_CA_CERTS: files.cert });
    await expect.poll(() => pay(url)).toBe(200);
    expect(await reasonFor(address)).toMatch(/self-signed certificate/);
    expect(await reasonFor(`redis://localhost:${port}`)).toMatch(/if it uses TLS, write rediss:\/\/$/);
    const plain = withoutPatience(() => reasonFor(`rediss://localhost:${store.port}`));
    expect(await plain).toMatch(/if it does not use TLS, write redis:\/\/$/);
  });

  test.skipIf(!hasOpenssl).each(isLong ? ['handshake'] : [])(
    `may be closed in the middle of a TLS %s${skipped}`,
    async () => {
      const [store, port] = await storeWithTls(certificate());
      onTestFinished(() => store.end());
      const words = ['--input-type=module', '-e', CLOSED_IN_A_HANDSHAKE];
      const program = new Program(process.execPath, words, { TLS_PORT: String(port) });
      expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
    },
  );

  test('whose password changes refuses with 503 meanwhile, and its old password is not logged', async () => {
    const store = await ownStore();
    await store.command('ACL', 'SETUSER', 'sandbox', 'on', '>old-secret', '~*', '&*', '+@all');
    const { url, log, ready } = await serveInProcess({
      SANDBOX_STORE: `redis://sandbox:old-secret@127.0.0.1:${store.port}`,
    });
    expect(ready['store']).toBe(store.url);
    await expect.poll(() => pay(url)).toBe(200);
    await store.command('ACL', 'SETUSER', 'sandbox', 'resetpass', '>new-secret');
    await store.command('CLIENT', 'KILL', 'USER', 'sandbox');
    const five = () => Promise.all(Array.from({ length: 5 }, () => pay(url)));
    const statuses = await withoutPatience(five, { answers: true });
    expect(new Set(statuses)).toEqual(new Set([503]));
    await expect.poll(log).toContain('WRONGPASS');
    await store.command('ACL', 'SETUSER', 'sandbox', '>old-secret');
    await expect.poll(() => pay(url)).toBe(200);
    expect(log()).not.toContain('secret');
  });

  test('without the database of its address gets no request in another one: 503, and the log says why', async () => {
    const store = await ownStore('--databases', '3');
    const address = `${store.url}/3`;
    const { url, log } = await serveInProcess({ SANDBOX_STORE: address });
    expect(await pay(url)).toBe(503);
    expect(log()).toContain('DB index is out of range');
    expect(await store.command('DBSIZE')).toBe(0);
    expect(await pay((await serveInProcess({ SANDBOX_STORE: `${store.url}/2` })).url)).toBe(200);
  });

  test('can be used as the user of the documentation, who can neither empty nor change it otherwise', async () => {
    const store = await ownStore();
    const documented = /`ACL SETUSER sandbox on >PASSWORD ([^`]+)`/.exec(
      readFileSync('docs/operate/several-servers.md', 'utf8'),
    )!;
    await store.command('ACL', 'SETUSER', 'sandbox', 'on', '>p@ss/word', ...documented[1]!.split(' '));
    const address = `redis://sandbox:${encodeURIComponent('p@ss/word')}@127.0.0.1:${store.port}`;
    await store.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const { stop, url, log } = await serveInProcess({ SANDBOX_STORE: address });
    expect(log()).toContain('its maxmemory-policy is allkeys-lru');
    await expect.poll(() => pay(url)).toBe(200);
    await ask(`${url}/_sandbox/reset`, KEY, {});
    const asSandbox = new Redis(address);
    onTestFinished(() => asSandbox.disconnect());
    await expect(asSandbox.flushall()).rejects.toThrow(/NOPERM/);
    expect(await reasonFor(address.replace('word', 'x'))).toMatch(/password/);
    expect(await reasonFor(`redis://127.0.0.1:${store.port}`.replace('//', '//nobody:x@'))).toMatch(
      /password/,
    );
    expect(await stop()).not.toContain('NOPERM');
  });
});
