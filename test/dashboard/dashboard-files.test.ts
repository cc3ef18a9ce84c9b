import { readdirSync, readFileSync } from 'node:fs';
import { get, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sandboxFor } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

const BUILT = fileURLToPath(new URL('../../dist/dashboard/', import.meta.url));
const FILES = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));

test('the dashboard is served without a key, and loads its own files only, and is not sent again unchanged', async () => {
  const { url } = await sandboxFor();
  const page = await fetch(`${url}/_sandbox/`);
  expect(page.status).toBe(200);
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  const html = await page.text();
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|https?:/);
  const assets = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path]) => path!);
  expect(assets).toHaveLength(3);
  for (const path of assets) {
    const asset = await fetch(`${url}/_sandbox/${path}`);
    expect(asset.status).toBe(200);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(asset.headers.get('content-type')).toMatch(/javascript|css|svg/);
    expect(readFileSync(join(BUILT, path)).equals(Buffer.from(await asset.arrayBuffer()))).toBe(true);
  }
  const unchanged = { 'if-none-match': page.headers.get('etag')! };
  const again = await fetch(`${url}/_sandbox/`, { headers: unchanged });
  expect(again.status).toBe(304);
  expect(await again.text()).toBe('');
});

test('the address without a slash redirects to the dashboard, even below the path prefix of a proxy', async () => {
  const { url } = await sandboxFor();
  const redirect = await fetch(`${url}/_sandbox`, { redirect: 'manual' });
  expect(redirect.status).toBe(308);
  const to = new URL(redirect.headers.get('location')!, 'https://proxy.example/pay/_sandbox');
  expect(to.pathname).toBe('/pay/_sandbox/');
});

testRows([
  '..%2f..%2fpackage.json',
  '..%2findex.html',
  'nothing.js',
  '__proto__',
  '%2fetc%2fpasswd',
  '..%5cindex.html',
])('the dashboard serves no file outside its folder', async (file) => {
  const { url } = await sandboxFor();
  const refused = await fetch(`${url}/_sandbox/assets/${file}`);
  expect(refused.status).toBe(404);
  expect(await refused.json()).toMatchObject({ code: 'ROUTE_NOT_FOUND' });
});

/** A file of the dashboard, as it is sent. */
const sent = (
  url: string,
  headers: OutgoingHttpHeaders,
): Promise<IncomingMessage & { readonly body: Buffer }> =>
  new Promise((resolve, reject) => {
    get(url, { headers }, (response) => {
      void buffer(response).then((body) => resolve(Object.assign(response, { body })), reject);
    }).on('error', reject);
  });

test('scripts and styles are sent compressed to whoever accepts that, and the first load has less than 80 KiB', async () => {
  const { url } = await sandboxFor();
  let sum = 0;
  for (const name of FILES.filter((file) => !/\.(?:woff2|gz)$/.test(file))) {
    // the font comes later
    const file = readFileSync(join(BUILT, name));
    const path = `${url}/_sandbox/${name === 'index.html' ? '' : name}`;
    const packed = await sent(path, { 'accept-encoding': 'deflate, gzip' });
    sum += packed.body.length;
    const isPacked = /\.(?:js|css)$/.test(name);
    expect(packed.headers['content-encoding']).toBe(isPacked ? 'gzip' : undefined);
    expect((isPacked ? gunzipSync(packed.body) : packed.body).equals(file)).toBe(true); // `toEqual` takes a second
    for (const encoding of ['identity', 'gzip;q=0']) {
      const plain = await sent(path, { 'accept-encoding': encoding });
      expect(plain.headers).toMatchObject({
        vary: 'accept-encoding',
        'content-type': packed.headers['content-type'],
      });
      expect(plain.headers['content-encoding']).toBe(undefined);
      expect(plain.headers.etag === packed.headers.etag).toBe(!isPacked);
      expect(plain.body.equals(file)).toBe(true);
    }
  }
  expect(sum).toBeGreaterThan(10_000);
  expect(sum).toBeLessThan(80 * 1024);
});

test('the font has at most 40 KB', () => {
  const fonts = FILES.filter((name) => name.endsWith('.woff2'));
  const size = fonts.reduce((sum, name) => sum + readFileSync(join(BUILT, name)).length, 0);
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThan(40_000);
});

test('the code of the dashboard never inserts text as HTML', () => {
  const folder = fileURLToPath(new URL('../../src/dashboard/', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  expect(files.length).toBeGreaterThan(30);
  for (const name of files) {
    expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(
      /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML/,
    );
  }
});
