import { pino } from 'pino';
import { expect, test } from 'vitest';
import { buildApp } from '../../../src/app.ts';
import { readSettings } from '../../../src/settings.ts';
import { routesIn } from '../../support/control.ts';
import { callsOf, type Json } from '../../support/http/openapi.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';
import { clientFor, sandboxFor, seen, type Client, type Seen } from '../../support/sandbox.ts';
import { futureIn } from '../../support/world/snapshot-lines.ts';

const ADMIN_TOKEN = 'the-token-of-control-access';
const SETTINGS = { clock: '2026-01-15T10:30:00Z', settlement: 'manual', adminToken: ADMIN_TOKEN } as const;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Every route of the control API, as the response to an unknown path lists them, and an example of the body that each requires. */
async function controlRoutes() {
  const { app } = await buildApp({
    settings: readSettings({}, {}),
    wallClock: new ManualClock(),
    log: pino({ level: 'silent' }),
  });
  const { message } = (await app.inject('/_sandbox/nowhere')).json<{ message: string }>();
  const calls = callsOf((await app.inject('/_sandbox/openapi.json')).json());
  await app.close();
  const bodies = calls
    .filter(({ operation }) => operation.requestBody?.required === true)
    .map(({ method, path, operation }): [route: string, body: unknown] => {
      const { examples } = operation.requestBody.content['application/json'] ?? {};
      return [`${method} ${path}`, Object.values<Json>(examples ?? { state: { value: {} } })[0].value];
    });
  const routes = routesIn(message).filter((route) => /\/_sandbox\/\w/.test(route));
  return { routes, bodies: Object.fromEntries(bodies) };
}

const { routes: ROUTES, bodies: BODIES } = await controlRoutes();
/** Routes that show nothing of any world: health, metrics, the OpenAPI document and the files of the dashboard. */
const WITHOUT_KEY = [
  'GET /_sandbox/health',
  'GET /_sandbox/live',
  'GET /_sandbox/metrics',
  'GET /_sandbox/openapi.json',
  'GET /_sandbox/assets/{file}',
];
const ADMIN = [
  'GET /_sandbox/worlds',
  'DELETE /_sandbox/worlds/{id}',
  'GET /_sandbox/worlds/referee',
  'PUT /_sandbox/worlds/referee',
  'POST /_sandbox/scenarios/reload',
];
const KEYED = ROUTES.filter((route) => !WITHOUT_KEY.includes(route) && !ADMIN.includes(route));
const WITH_ID = ROUTES.filter((route) => route.includes('{') && !WITHOUT_KEY.includes(route));

const CHANGES = KEYED.filter((route) => !route.startsWith('GET'));

interface Sent {
  readonly authorization?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly body?: NonNullable<RequestInit['body']>;
  readonly id?: string;
  readonly query?: string;
}

/** Sends a request to a route. An event stream is closed after its headers. */
async function send(
  url: string,
  route: string,
  { authorization, headers, body, id = 'rule-1', query = '' }: Sent,
): Promise<Seen> {
  const [method, path] = route.split(' ') as [string, string];
  const response = await fetch(url + path.replace(/\{\w+\}/, id) + query, {
    method,
    headers: { ...(authorization === undefined ? {} : { authorization }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status: response.status, headers: response.headers, text: '', body: undefined };
  }
  return seen(response);
}

/** A valid request to a route. */
const validRequest = (route: string): Sent => (route in BODIES ? json(BODIES[route]) : {});

/** What authorizes a request to a route. */
const keyFor = (route: string, apiKey: string): string =>
  `Bearer ${ADMIN.includes(route) ? ADMIN_TOKEN : apiKey}`;

const json = (body: unknown): Sent => ({
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** Does the same with each route. A failure names the route. */
async function forEach(routes: readonly string[], work: (route: string) => Promise<void>): Promise<void> {
  for (const route of routes) {
    try {
      await work(route);
    } catch (error) {
      throw new Error(`${route}: ${String(error)}`, { cause: error });
    }
  }
}

/** Everything that can be read of a world. */
async function stateOf({ world }: Client) {
  const journal = await world.requests();
  return [futureIn(await world.snapshot()), await world.scenario(), journal];
}

async function usedWorld(client: Client): Promise<Client> {
  await client.pay();
  await client.world.rule({ name: 'rule-1', effect: { delay: '1ms' } });
  return client;
}

function expectRefused({ status, headers, body }: Seen, statuses: readonly number[]): void {
  expect(statuses).toContain(status);
  expect(headers.get('content-type')).toBe(JSON_TYPE);
  expect(body).toMatchObject({
    status: 'error',
    code: expect.stringMatching(/^[A-Z_]+$/),
    message: expect.stringMatching(/\S/),
  });
  expect(body.message).not.toMatch(/\bat .*:\d+:\d+|node_modules|\.ts\b/);
}

test('the routes without a key of a world exist', () => {
  expect(ROUTES).toEqual(expect.arrayContaining([...WITHOUT_KEY, ...ADMIN]));
});

// every form of a wrong key has its test in test/http/service/keys.test.ts: all routes read the key at one place
test('every route that shows or changes a world requires an accepted key', async () => {
  const { url, client } = await sandboxFor(SETTINGS);
  const world = await usedWorld(client());
  const before = await stateOf(world);
  await forEach(KEYED, async (route) => {
    for (const authorization of [undefined, `Bearer ${ADMIN_TOKEN}`, world.apiKey]) {
      const answer = await send(url, route, { ...validRequest(route), authorization });
      expectRefused(answer, [401]);
      expect(answer.body.code).toBe('UNAUTHORIZED');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.text).not.toContain(world.apiKey);
    }
  });
  expect(await stateOf(world)).toEqual(before);
});

test('no change reaches the world of another key', async () => {
  const { url, client } = await sandboxFor(SETTINGS);
  const [world, other] = [await usedWorld(client()), await usedWorld(client())];
  const authorization = `Bearer ${other.apiKey}`;
  const [payout] = await world.world.transactions();
  const before = await stateOf(world);
  await forEach(CHANGES, async (route) => {
    const id = route.includes('txn_id') ? payout!.txn_id : 'rule-1';
    await send(url, route, { ...validRequest(route), authorization, id });
    expect(await stateOf(world)).toEqual(before);
  });
});

test('what shows or changes all worlds requires the admin token', async () => {
  const { url, client } = await sandboxFor(SETTINGS);
  await forEach(ADMIN, async (route) => {
    const world = client();
    const { id } = await world.world.summary();
    for (const token of [undefined, '', world.apiKey, `${ADMIN_TOKEN}x`, ADMIN_TOKEN.slice(1), 'undefined']) {
      const authorization = token === undefined ? undefined : `Bearer ${token}`;
      const answer = await send(url, route, { authorization, id });
      expectRefused(answer, [401]);
      expect(answer.text).not.toContain(ADMIN_TOKEN);
    }
    const accepted = { ...validRequest(route), authorization: `Bearer ${ADMIN_TOKEN}`, id };
    expect((await send(url, route, accepted)).status).toBe(200);
  });
});

test('no route sends CORS headers to a page of another origin', async () => {
  const { url, apiKey } = await clientFor(SETTINGS);
  const origin = { origin: 'https://elsewhere.example' };
  await forEach(ROUTES, async (route) => {
    const [method, path] = route.split(' ') as [string, string];
    const right = validRequest(route);
    const preflight = await send(url, `OPTIONS ${path}`, {
      headers: {
        ...origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    const headers = { ...origin, ...right.headers };
    const answer = await send(url, route, { ...right, authorization: keyFor(route, apiKey), headers });
    expect(preflight.status).toBeGreaterThanOrEqual(400);
    const names = [...preflight.headers.keys(), ...answer.headers.keys()];
    expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });
});

test('every change refuses a form that a page of another origin posts', async () => {
  const { url, client } = await sandboxFor(SETTINGS);
  const world = await usedWorld(client());
  const ofPage = { 'content-type': 'text/plain', cookie: `key=${world.apiKey}` };
  const before = await stateOf(world);
  await forEach(CHANGES, async (route) => {
    const body = JSON.stringify(BODIES[route] ?? {});
    const headers = { ...ofPage, origin: 'https://elsewhere.example' };
    expectRefused(await send(url, route, { headers, body }), [403]);
    expectRefused(await send(url, route, { headers: ofPage, body }), [401]);
  });
  expect(await stateOf(world)).toEqual(before);
});

/** Bodies that no route takes, with what they are refused for. A snapshot is JSON in lines. */
const wrongBodies = (right: object): readonly [sent: Sent, status: number, ofState?: number][] => [
  [json('{"a":'), 400, 422],
  [json({ ...right, unknown_field: 1 }), 400, 422],
  [json([right]), 400, 422],
  [{ headers: { 'content-type': 'text/plain' }, body: JSON.stringify(right) }, 415],
];

test('every change refuses an invalid body, and none where it needs one, and changes nothing', async () => {
  const { url, client } = await sandboxFor(SETTINGS);
  const world = await usedWorld(client());
  const authorization = `Bearer ${world.apiKey}`;
  const before = await stateOf(world);
  await forEach(CHANGES, async (route) => {
    const isState = route.endsWith('/state');
    for (const [sent, status, ofState = status] of wrongBodies(BODIES[route] ?? {}))
      expectRefused(await send(url, route, { ...sent, authorization }), [isState ? ofState : status]);
    if (BODIES[route] === undefined) return;
    for (const sent of [{}, json(''), json('null'), json('   ')])
      expectRefused(await send(url, route, { ...sent, authorization }), [400, 422]);
  });
  expect(await stateOf(world)).toEqual(before);
});

test('an unknown query parameter is refused by every route', async () => {
  const { url, apiKey } = await clientFor(SETTINGS);
  await forEach([...KEYED, ...ADMIN], async (route) => {
    const authorization = keyFor(route, apiKey);
    const answer = await send(url, route, { ...validRequest(route), authorization, query: '?unknown=1' });
    expectRefused(answer, [400]);
    expect(answer.body.errors).toMatchObject([{ field: 'unknown' }]);
  });
});

test('every route with an id refuses malformed ones', async () => {
  const { url, client } = await sandboxFor(SETTINGS);
  const world = await usedWorld(client());
  const odd = ['..%2f', '%2e%2e%2f%2e%2e', '%00', '%zz', '%', '%ff', '__proto__', 'a%20b', '%F0%9F%92%B8'];
  const ids = ['', ...odd, 'x'.repeat(101), 'x'.repeat(10_240), ' ', '*', ':id', "';--"];
  const before = await stateOf(world);
  await forEach(WITH_ID, async (route) => {
    const sent = { ...validRequest(route), authorization: keyFor(route, world.apiKey) };
    for (const id of ids) expectRefused(await send(url, route, { ...sent, id }), [400, 404]);
    expectRefused(await send(url, route, { ...sent, id: 'x'.repeat(200) }), [404]);
  });
  expect(await stateOf(world)).toEqual(before);
});

test('an error of the control API has the standard envelope in every dialect', async () => {
  const { url, client } = await sandboxFor({ ...SETTINGS, dialect: 'terse' });
  const authorization = `Bearer ${client().apiKey}`;
  const right = json({ amount: 0 });
  expectRefused(await send(url, 'POST /_sandbox/wallet/credit', { ...right, authorization }), [400]);
  expectRefused(await send(url, 'GET /_sandbox/world', {}), [401]);
  expect((await send(url, 'GET /client/fetchbalance', {})).text).toBe('');
});
