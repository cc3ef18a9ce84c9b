import { expect, test } from 'vitest';
import { openapiAt } from '../../support/http/openapi.ts';
import { sandboxFor } from '../../support/sandbox.ts';

/** The addresses in a page. */
const addressesIn = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);

test('the API documentation is served without a key, and loads files from the sandbox only', async () => {
  const { url } = await sandboxFor();
  const page = await fetch(`${url}/_sandbox/docs/`); // redirected, since the addresses are relative
  expect(page.url).toBe(`${url}/_sandbox/docs`);
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
