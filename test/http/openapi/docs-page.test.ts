import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openapiAt } from '../../support/http/openapi.ts';
import { sandboxFor } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';

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

test('the API documentation may load nothing from elsewhere, cannot be framed, and works with a trailing slash', async () => {
  const { url } = await sandboxFor();
  const page = await fetch(`${url}/_sandbox/docs/`);
  expect({ status: page.status, url: page.url }).toEqual({ status: 200, url: `${url}/_sandbox/docs` });
  const rows = page.headers.get('content-security-policy')!.split('; ');
  const allowed = rows.flatMap((row) => row.split(' ').slice(1));
  expect(rows).toContain("default-src 'none'");
  expect(rows).toContain("frame-ancestors 'none'");
  expect(new Set(allowed)).toEqual(new Set(["'none'", "'self'", 'data:']));
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
});

test('a file of the API documentation is sent as it is, and not again while it is unchanged', async () => {
  const { url } = await sandboxFor();
  const css = await fetch(`${url}/_sandbox/docs/swagger-ui.css`);
  expect(await css.text()).toBe(readFileSync('node_modules/swagger-ui-dist/swagger-ui.css', 'utf8'));
  const again = await fetch(css.url, { headers: { 'if-none-match': css.headers.get('etag')! } });
  expect({ status: again.status, body: await again.text() }).toEqual({ status: 304, body: '' });
});

testRows(['nothing.js', '..%2Fcore.cjs', '%2e%2e%2fcore.cjs', 'constructor'])(
  'the API documentation has no other file',
  async (name) => {
    const { url } = await sandboxFor();
    const response = await fetch(`${url}/_sandbox/docs/${name}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'ROUTE_NOT_FOUND' });
  },
);
