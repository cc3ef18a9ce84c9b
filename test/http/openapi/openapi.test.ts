import { expect, test } from 'vitest';
import { REFUSALS, type RefusalCode } from '../../../src/contract/errors.ts';
import type { WorldEvent } from '../../../src/index.ts';
import { routesIn } from '../../support/control.ts';
import { callsOf, openapiAt, type Json } from '../../support/http/openapi.ts';
import { sandboxFor, type Client } from '../../support/sandbox.ts';

async function openDocument(): Promise<{ client: Client; url: string; document: Json }> {
  const { client, url } = await sandboxFor();
  return { client: client(), url, document: JSON.parse(await openapiAt(url)) };
}

/** The dashboard and its files. */
const UNDOCUMENTED = ['GET /_sandbox', 'GET /_sandbox/', 'GET /_sandbox/assets/{file}'];

test('the OpenAPI document lists exactly the routes that exist', async () => {
  const { client, document } = await openDocument();
  const answers = [await client.send('GET', '/nowhere'), await client.send('GET', '/_sandbox/nowhere')];
  const routes = answers.flatMap(({ body }) => routesIn(body.message));
  const documented = callsOf(document).map(({ method, path }) => `${method} ${path}`);
  expect([...documented, ...UNDOCUMENTED].toSorted()).toEqual(routes.toSorted());
  expect(documented).toContain('POST /payout/initiate');
});

test('numbers in a query are numbers in the OpenAPI document, so that a generated client takes them', async () => {
  const { document } = await openDocument();
  const typesOf = ({ type, anyOf = [] }: Json): Json => type ?? anyOf.map(typesOf);
  const types = callsOf(document).flatMap(({ operation: { operationId, parameters = [] } }) =>
    parameters
      .filter(({ in: place, schema }: Json) => place === 'query' && schema.enum === undefined)
      .filter(({ name }: Json) => !name.endsWith('_id'))
      .map(({ name, schema }: Json) => [`${operationId} ${name}`, typesOf(schema)]),
  );
  const others = types.filter(([, type]) => type !== 'integer' && type !== 'boolean');
  expect(Object.fromEntries(others)).toEqual({
    'chooseScenario name': 'string',
    'listHeld within': 'string',
    'listRequests since': ['integer', 'string'],
  });
});

test('the OpenAPI document has no tuples, which linters and code generators reject', async () => {
  const { document } = await openDocument();
  const arrays: Json[] = [];
  JSON.stringify(document, (_key, value: Json) => {
    if (value?.type === 'array') arrays.push(value);
    return value;
  });
  expect(arrays.length).toBeGreaterThan(0);
  for (const array of arrays) {
    expect(array).toMatchObject({ items: {} });
    expect(array).not.toHaveProperty('prefixItems');
  }
});

test('the OpenAPI document describes every type of event', async () => {
  const { document } = await openDocument();
  const data: Readonly<Record<WorldEvent['type'], string>> = {
    request: 'a JournalEntry',
    at_risk: '`{count, amount}`',
    settlement: 'a Change',
    wallet: '`{balance, entry}`',
    clock: '`{now, frozen}`',
    scenario: '`{scenario, rule}`',
    rule: '`{rule, matched, taken}`',
    held: 'a HeldRequest',
    released: '`{id, how}`',
    journal: '`{removed, as}`',
    reset: '`{now}`',
    restore: '`{now, undone}`',
    missed: '`{missed}`',
  };
  const { schema } = document.paths['/_sandbox/events'].get.responses['200'].content['text/event-stream'];
  expect(schema).toEqual({ $ref: '#/components/schemas/Events' });
  for (const [type, shape] of Object.entries(data)) {
    expect(document.components.schemas.Events.description).toContain(`\`${type}\` ${shape}`);
  }
  expect(document.components.schemas).toMatchObject({ JournalEntry: {}, Change: {}, HeldRequest: {} });
});

test('exactly the operations that declare a key refuse a request without one', async () => {
  const { url, document } = await openDocument();
  for (const { method, path, operation } of callsOf(document)) {
    const { status } = await fetch(url + path, { method });
    const asked = { method, path, isRefused: status === 401 };
    expect(asked).toEqual({ method, path, isRefused: operation.security.length > 0 });
  }
});

test('every refusal code is documented at its status', async () => {
  const { document } = await openDocument();
  const documented = new Set<string>();
  for (const { operation } of callsOf(document)) {
    for (const [status, { content }] of Object.entries<Json>(operation.responses)) {
      for (const [code, { value }] of Object.entries<Json>(content['application/json']?.examples ?? {})) {
        expect(value).toEqual({ status: 'error', message: REFUSALS[code as RefusalCode].message, code });
        if (status !== 'default') expect(String(REFUSALS[code as RefusalCode].status)).toBe(status);
        documented.add(code);
      }
    }
  }
  expect([...documented].toSorted()).toEqual(Object.keys(REFUSALS).toSorted());
});

test('every operation with a key or the admin token may be refused with 503 while the store is away', async () => {
  const { document } = await openDocument();
  const unlike = callsOf(document).filter(({ operation: { security, responses } }) => {
    const { content, headers } = responses['503'] ?? {};
    const isDocumented = content?.['application/json'].examples?.STORE_UNAVAILABLE !== undefined;
    return isDocumented !== security.length > 0 || isDocumented !== (headers?.['Retry-After'] !== undefined);
  });
  expect(unlike.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});

test('the headers of a response are documented', async () => {
  const { client, document } = await openDocument();
  const { responses } = callsOf(document).find(({ path }) => path === '/payout/initiate')!.operation;
  const first = await client.pay({ transfer_mode: 'RTGS' });
  const again = await client.pay({ transfer_mode: 'RTGS' });
  const unpaid = await client.pay({ client_ref_id: 'order-2', beneficiary_account: '9999000402' });
  const seen = [first, again, unpaid].map(({ status, headers }) => ({
    status,
    names: [...headers.keys()].filter((name) => /^(x-sandbox|idempotent)/.test(name)),
  }));
  expect(seen).toEqual([
    { status: 200, names: ['x-sandbox-request-id', 'x-sandbox-warning'] },
    { status: 200, names: ['idempotent-replayed', 'x-sandbox-request-id', 'x-sandbox-warning'] },
    { status: 402, names: ['x-sandbox-request-id', 'x-sandbox-rule'] },
  ]);
  for (const { status, names } of seen) {
    const documented = Object.keys(responses[status].headers).map((name) => name.toLowerCase());
    expect(documented).toEqual(expect.arrayContaining(names));
  }
  expect(responses['429'].headers).toMatchObject({ 'Retry-After': {}, 'X-Sandbox-Limit': {} });
});
