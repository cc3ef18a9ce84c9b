import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openapiAt } from '../../support/openapi.ts';
import { sandboxFor } from '../../support/sandbox.ts';

/** The addresses in a page. */
const addressesIn = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);

test('the API documentation is served without a key, and loads files from the sandbox only', async () => {
  const { url } = await sandboxFor();
  const page = await fetch(`${url}/_sandbox/docs`);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const html = await page.text();
  const own = addressesIn(html).filter((address) => address !== 'data:,');
  expect(own).toEqual(['docs/swagger-ui.css', 'docs/swagger-ui-bundle.js', 'docs/start.js', 'openapi.json']);
  for (const address of own) {
    const response = await fetch(new URL(address, page.url));
    expect({ address, status: response.status }).toEqual({ address, status: 200 });
    expect((await response.text()).length).toBeGreaterThan(100);
  }
  expect(JSON.parse(await openapiAt(url))).toHaveProperty('openapi');
});

test('the API documentation may load nothing from elsewhere, and cannot be framed', async () => {
  const { url } = await sandboxFor();
  const { headers } = await fetch(`${url}/_sandbox/docs`);
  const rows = headers.get('content-security-policy')!.split('; ');
  const allowed = rows.flatMap((row) => row.split(' ').slice(1));
  expect(rows).toContain("default-src 'none'");
  expect(rows).toContain("frame-ancestors 'none'");
  expect(new Set(allowed)).toEqual(new Set(["'none'", "'self'", 'data:']));
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

const CSS = readFileSync('node_modules/swagger-ui-dist/swagger-ui.css', 'utf8');

test.each([
  ['gzip', 'gzip'],
  ['deflate, GZIP;q=0.5', 'gzip'],
  ['*', 'gzip'],
  ['identity', null],
  ['gzip;q=0', null],
  ['gzip; q=0.000, *', null],
  ['*;q=0', null],
  ['x-not-gzip', null],
])(
  'a client that accepts %s gets the files of the API documentation in the encoding %s',
  async (accepted, encoding) => {
    const { url } = await sandboxFor();
    const headers = { 'accept-encoding': accepted };
    const css = await fetch(`${url}/_sandbox/docs/swagger-ui.css`, { headers });
    expect(css.headers.get('content-encoding')).toBe(encoding);
    expect(css.headers.get('vary')).toBe('accept-encoding'); // else a cache serves one client's encoding to another
    expect(await css.text()).toBe(CSS);
  },
);

test('the address of the API documentation works with a trailing slash', async () => {
  const { url } = await sandboxFor();
  const page = await fetch(`${url}/_sandbox/docs/`);
  expect({ status: page.status, url: page.url }).toEqual({ status: 200, url: `${url}/_sandbox/docs` });
  expect(await page.text()).toContain('docs/swagger-ui.css');
});

test.each(['nothing.js', '..%2Fcore.cjs', '%2e%2e%2fcore.cjs', 'index.html.gz', 'constructor'])(
  'the API documentation has no file %s',
  async (name) => {
    const { url } = await sandboxFor();
    const response = await fetch(`${url}/_sandbox/docs/${name}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'ROUTE_NOT_FOUND' });
  },
);
