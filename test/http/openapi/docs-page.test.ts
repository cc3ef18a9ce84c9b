import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openapiAt } from '../../support/openapi.ts';
import { sandboxFor } from '../../support/sandbox.ts';

/** What a page asks for, as it says it. */
const asked = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);

test('the page comes without a key, and all that it asks for comes from the sandbox', async () => {
  const { url } = await sandboxFor();
  const page = await fetch(`${url}/_sandbox/docs`);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const html = await page.text();
  const own = asked(html).filter((address) => address !== 'data:,');
  expect(own).toEqual(['docs/swagger-ui.css', 'docs/swagger-ui-bundle.js', 'docs/start.js', 'openapi.json']);
  for (const address of own) {
    const response = await fetch(new URL(address, page.url));
    expect({ address, status: response.status }).toEqual({ address, status: 200 });
    expect((await response.text()).length).toBeGreaterThan(100);
  }
  expect(JSON.parse(await openapiAt(url))).toHaveProperty('openapi');
});

test('its browser may ask the sandbox and nobody else, and show it in no frame', async () => {
  const { url } = await sandboxFor();
  const { headers } = await fetch(`${url}/_sandbox/docs`);
  const rows = headers.get('content-security-policy')!.split('; ');
  const allowed = rows.flatMap((row) => row.split(' ').slice(1));
  expect(rows).toContain("default-src 'none'");
  expect(rows).toContain("frame-ancestors 'none'");
  expect(new Set(allowed)).toEqual(new Set(["'none'", "'self'", 'data:']));
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test('its files come compressed to whoever takes that, and plain to others', async () => {
  const { url } = await sandboxFor();
  const css = (encoding: string) =>
    fetch(`${url}/_sandbox/docs/swagger-ui.css`, { headers: { 'accept-encoding': encoding } });
  const [packed, plain] = [await css('gzip'), await css('identity')];
  expect([packed, plain].map(({ headers }) => headers.get('content-encoding'))).toEqual(['gzip', null]);
  const original = readFileSync('node_modules/swagger-ui-dist/swagger-ui.css', 'utf8');
  expect(await packed.text()).toBe(original);
  expect(await plain.text()).toBe(original);
});

test.each(['nothing.js', '..%2Fcore.cjs', '%2e%2e%2fcore.cjs', 'index.html.gz', 'constructor'])(
  'it has no file %s',
  async (name) => {
    const { url } = await sandboxFor();
    const response = await fetch(`${url}/_sandbox/docs/${name}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'ROUTE_NOT_FOUND' });
  },
);
