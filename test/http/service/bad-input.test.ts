import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ask } from '../../support/control.ts';
import { answersOn, payRequest, rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { clientFor, PAYOUT, sandboxFor, type Client } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';

const JSON_HEADERS = { 'content-type': 'application/json' };
const post = (world: Client, body: string | Buffer) =>
  world.send('POST', '/payout/initiate', { headers: JSON_HEADERS, body: new Uint8Array(Buffer.from(body)) });
/** The accepted body with the amount written as `text`, as a client in another language might write it. */
const withAmount = (text: string): string => JSON.stringify(PAYOUT).replace('1500.5', text);

const DECIMALS = 'must have at most 2 decimals (INR, whole paise)';
const TOO_MUCH = 'must be at most 100000000000 (INR)';
const TOO_LITTLE = 'must be greater than 0';
const NO_NUMBER = 'must be a number';

testRows([
  ['0.30000000000000004', DECIMALS], // 0.1 + 0.2
  ['99999999999.999999', DECIMALS], // the nearest number that JSON can hand us is 100000000000
  ['1.0000000000000001', DECIMALS],
  ['9007199254740993', TOO_MUCH], // beyond 2^53
  ['1e400', 'is too large a number'],
  ['-0', TOO_LITTLE],
  ['-1', TOO_LITTLE],
  ['"1000"', NO_NUMBER],
  ['null', NO_NUMBER],
])('an amount that is not in whole paise above 0 is refused', async (text, message) => {
  const world = await clientFor();
  expect(await post(world, withAmount(text))).toMatchObject({
    status: 400,
    body: { code: 'INVALID_REQUEST', errors: [{ field: 'amount', message: `amount ${message}` }] },
  });
  expect((await world.balance()).body.data.balance).toBe(1_000_000);
});

testRows(['99999999999.999999', '1e400'])(
  'the journal shows an amount that no number holds as it was sent',
  async (text) => {
    const world = await clientFor();
    await post(world, withAmount(text));
    expect((await world.world.requests())[0]!.request.body).toBe(withAmount(text));
  },
);

testRows([
  ['0.01', 0.01],
  ['4.35', 4.35],
  ['1e3', 1000],
  ['500000.01', 500_000.01],
  ['1,"amount":999', 999], // of a repeated field, the last value counts
  ['1.50000000000000000000', 1.5],
])('an amount is debited to the paisa, however it is written', async (text, amount) => {
  const world = await clientFor();
  expect((await post(world, withAmount(text))).body.data.amount).toBe(amount);
  expect((await world.balance()).body.data.balance).toBe((100_000_000 - Math.round(amount * 100)) / 100);
});

test('a refusal lists all wrong fields at once, by their names in the payout API', async () => {
  const { client } = await sandboxFor();
  const { status, body } = await post(
    client(),
    '{"client_ref_id":"","beneficiary_name":7,"transfer_mode":"SWIFT","remarks":null}',
  );
  expect(status).toBe(400);
  expect(body).toEqual({
    status: 'error',
    message: body.errors.map(({ message }: { message: string }) => message).join('; '),
    code: 'INVALID_REQUEST',
    errors: [
      { field: 'client_ref_id', message: 'client_ref_id must not be empty' },
      { field: 'beneficiary_name', message: 'beneficiary_name must be a string' },
      { field: 'beneficiary_account', message: 'beneficiary_account is required' },
      { field: 'beneficiary_ifsc', message: 'beneficiary_ifsc is required' },
      { field: 'amount', message: 'amount is required' },
      { field: 'transfer_mode', message: 'transfer_mode must be one of IMPS, NEFT, RTGS, UPI' },
      { field: 'remarks', message: 'remarks must be a string' },
    ],
  });
});

testRows(['client_ref_id', 'beneficiary_name', 'beneficiary_account', 'beneficiary_ifsc'])(
  'a text field holds at most 128 characters, and no unpaired surrogate',
  async (field) => {
    const world = await clientFor();
    expect((await world.pay({ [field]: 'x'.repeat(128) })).status).toBe(200);
    expect((await world.pay({ [field]: 'x'.repeat(129) })).body.errors).toEqual([
      { field, message: `${field} must be at most 128 characters` },
    ]);
    const half = JSON.stringify({ ...PAYOUT, [field]: 'HALF' }).replace('HALF', String.raw`\ud800`);
    expect((await post(world, half)).body.errors).toEqual([
      { field, message: `${field} must be well-formed Unicode text` },
    ]);
  },
);

testRows(['[]', '"payout"', 'null', '5'])('a body that is no object is refused as a whole', async (text) => {
  const world = await clientFor();
  const message = 'body must be a JSON object';
  expect(await post(world, text)).toMatchObject({
    status: 400,
    body: { code: 'INVALID_REQUEST', errors: [{ field: 'body', message }] },
  });
  expect((await world.world.verify({ match: { amount: 1 } })).count).toBe(0);
});

testRows([
  ['', 400, 'INVALID_JSON'],
  ['{"amount":', 400, 'INVALID_JSON'],
  ['\0', 400, 'INVALID_JSON'],
  ['\uFEFF', 400, 'INVALID_JSON'], // a byte order mark alone
  [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'INVALID_JSON'], // broken UTF-8
  ['['.repeat(101) + ']'.repeat(101), 400, 'INVALID_REQUEST'],
  ['['.repeat(30_000) + ']'.repeat(30_000), 400, 'INVALID_REQUEST'],
  [JSON.stringify(PAYOUT).padEnd(65_537), 413, 'BODY_TOO_LARGE'],
])('a body that cannot be read is refused with an error envelope', async (body, status, code) => {
  const world = await clientFor();
  const answer = await post(world, body);
  expect(answer).toMatchObject({ status, body: { status: 'error', code, message: expect.any(String) } });
  const metadata: unknown = JSON.parse('['.repeat(98) + ']'.repeat(98)); // with the body itself, not too deep
  expect((await post(world, JSON.stringify({ ...PAYOUT, metadata }).padEnd(65_536))).status).toBe(200);
});

test('a body that begins with a byte order mark pays, and is journaled, verified and judged like any other', async () => {
  const world = await clientFor();
  for (const client_ref_id of ['order-1', 'order-2'])
    expect((await post(world, `\uFEFF${JSON.stringify({ ...PAYOUT, client_ref_id })}`)).status).toBe(200);
  const [first] = await world.world.requests();
  expect(first!.request.body).toEqual(PAYOUT);
  const match = { route: 'initiate', amount: PAYOUT.amount };
  const verified = await ask(world, 'POST', '/requests/verify', { match, count: { exactly: 2 } });
  expect(verified.body).toMatchObject({ passed: true });
  const judged = await ask(world, 'PUT', '/referee', { intent: 'beneficiary_account' });
  expect(judged.body.checks[0]).toMatchObject({ id: 'paid-twice', verdict: 'found' });
  expect((await post(world, `\uFEFF\uFEFF${JSON.stringify(PAYOUT)}`)).body.code).toBe('INVALID_JSON');
});

testRows(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then'])(
  'a field named like a property of JavaScript is ignored like any unknown field',
  async (key) => {
    const world = await clientFor();
    const poison = `"${key}":{"amount":1,"prototype":{"amount":1}},`;
    expect((await post(world, JSON.stringify(PAYOUT).replace('{', `{${poison}`))).status).toBe(200);
    expect((await post(world, `{"${key}":{"amount":1}}`)).body.errors).toHaveLength(6);
    expect(({} as { amount?: number }).amount).toBeUndefined();
  },
);

testRows(['__proto__', 'constructor', 'undefined', 'null', '0', ' ', '\0', '../..', '%00', "'--", '\u202e'])(
  'names of JavaScript properties, control characters and paths are valid references',
  async (client_ref_id) => {
    const world = await clientFor();
    expect((await world.status({ client_ref_id })).status).toBe(404);
    expect((await world.pay({ client_ref_id })).status).toBe(200);
    expect((await world.status({ client_ref_id })).body.data.client_ref_id).toBe(client_ref_id);
  },
);

const json = (type: string, encoding?: string) => ({
  'content-type': type,
  ...(encoding !== undefined && { 'content-encoding': encoding }),
});

testRows<[status: number, headers: Record<string, string>]>([
  [415, {}],
  [415, json('text/plain')],
  [415, json('application/x-www-form-urlencoded')],
  [415, json('json')],
  [415, json('application/json; charset=utf-16')],
  [415, json('application/json', 'gzip')],
  [200, json('application/json; charset=utf-8')],
  [200, json('Application/JSON')],
  [200, json('application/json', 'Identity')],
])('a body is read only if it is labelled as plain JSON', async (status, headers) => {
  const { send } = await clientFor();
  const body = new Uint8Array(Buffer.from(JSON.stringify(PAYOUT))); // fetch adds a content type to a string
  const answer = await send('POST', '/payout/initiate', { headers, body });
  expect(answer.status).toBe(status);
  if (status === 200) return;
  const came = headers['content-encoding'] ?? headers['content-type'] ?? 'no Content-Type';
  expect(answer.body).toMatchObject({ status: 'error', code: 'UNSUPPORTED_MEDIA_TYPE' });
  expect(answer.body.message).toContain(came);
});

testRows([
  ['GET', '/', 404, 'ROUTE_NOT_FOUND'],
  ['GET', '/Payout/Status', 404, 'ROUTE_NOT_FOUND'],
  ['POST', '/payout', 404, 'ROUTE_NOT_FOUND'],
  ['GET', '/payout/initiate', 405, 'METHOD_NOT_ALLOWED'],
  ['POST', '/payout/status', 405, 'METHOD_NOT_ALLOWED'],
  ['OPTIONS', '/client/fetchbalance', 405, 'METHOD_NOT_ALLOWED'],
  ['PROPFIND', '/payout/status', 405, 'METHOD_NOT_ALLOWED'],
  ['GET', '/%zz', 400, 'MALFORMED_REQUEST'],
])(
  'an unknown path or method gets an error envelope, and its body is not read',
  async (method, path, status, code) => {
    const { send } = await clientFor();
    const init = method === 'GET' ? {} : { body: '{', headers: JSON_HEADERS };
    const answer = await send(method, path, init);
    expect(answer).toMatchObject({ status, body: { status: 'error', code, message: expect.any(String) } });
    if (status === 405)
      expect(answer.headers.get('allow')).toBe(path === '/payout/initiate' ? 'POST' : 'GET, HEAD');
  },
);

test('a query string that cannot be decoded finds no payout', async () => {
  const world = await clientFor();
  for (const query of [
    'client_ref_id=%',
    'client_ref_id=%ff%fe',
    'txn_id=%00',
    'client_ref_id[]=a&txn_id=b',
    'txn_id=%ud800',
  ]) {
    expect((await world.send('GET', `/payout/status?${query}`)).status).toBe(404);
  }
  expect((await world.send('GET', `/payout/status?${'&'.repeat(5000)}`)).status).toBe(400);
});

const AUTHORIZED = { Authorization: 'Bearer sk_test_raw' };

/** Sends bytes to the sandbox. @returns all that it answers until it closes the connection */
async function answersTo(url: string, ...bytes: readonly (Buffer | string)[]): Promise<string> {
  const socket = rawSocket(url);
  socket.write(Buffer.concat(bytes.map((part) => Buffer.from(part))));
  return answersOn(socket);
}

const MALFORMED = [400, 'MALFORMED_REQUEST'] as const;
const TOO_LARGE = [431, 'HEADERS_TOO_LARGE'] as const;
const MANY = Object.fromEntries(Array.from({ length: 511 }, (_, nth) => [`X-${nth}`, '']));

testRows<[what: string, bytes: Buffer | string, status: number, code: string]>([
  ['another protocol', Buffer.from('16030102000100', 'hex'), ...MALFORMED],
  ['a header without a name', rawRequest('GET /', { '': 'x' }), ...MALFORMED],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    ...MALFORMED,
  ],
  ['an unknown method', 'PRI /\r\nHost: a\r\n\r\n', ...MALFORMED],
  ['headers that are too large', rawRequest('GET /', { X: 'x'.repeat(17_000) }), ...TOO_LARGE],
  ['too many headers', rawRequest('GET /', { Connection: 'close', ...MANY }), ...TOO_LARGE],
  ['a URL that is too long', rawRequest(`GET /${'x'.repeat(17_000)}`, {}), ...TOO_LARGE],
  ['no Host', 'GET /client/fetchbalance HTTP/1.1\r\nConnection: close\r\n\r\n', ...MALFORMED],
  ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', ...MALFORMED],
  ['an expectation', rawRequest('GET /', { Expect: 'foo', Connection: 'close' }), 404, 'ROUTE_NOT_FOUND'],
])(
  'what is no request, or not for the sandbox, gets an error envelope, and the connection is closed',
  async (_what, bytes, status, code) => {
    const { url, client } = await sandboxFor();
    const text = await answersTo(url, bytes);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({ status: 'error', code });
    expect((await client().pay()).status).toBe(200);
  },
);

test('invalid bytes are refused after the responses to the requests before them', async () => {
  const { url } = await sandboxFor({
    scenario: { rules: [{ name: 'late', match: { route: 'balance' }, effect: { delay: '100ms' } }] },
  });
  const asked = rawRequest('GET /client/fetchbalance', AUTHORIZED);
  const text = await answersTo(url, asked, asked, '\u0000\r\n\r\n');
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
});

test('a client that half-closes its connection ends a request that hangs and the incomplete one behind it', async () => {
  const { url } = await sandboxFor({ scenario: { rules: [{ name: 'hung', effect: { fault: 'hang' } }] } });
  const socket = rawSocket(url);
  socket.end(Buffer.concat([rawRequest('GET /client/fetchbalance', AUTHORIZED), Buffer.from('GET /')]));
  expect(await answersOn(socket)).toBe('');
});

test('five hundred headers are accepted, and pipelined requests are answered in order', async () => {
  const { url } = await sandboxFor();
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, nth) => [`X-${nth}`, 'y']));
  const text = await answersTo(
    url,
    rawRequest('GET /client/fetchbalance', { ...AUTHORIZED, ...many }),
    ...['a', 'b', 'c'].map((client_ref_id) => payRequest('sk_test_raw', { client_ref_id })),
    rawRequest('GET /payout/status?client_ref_id=c', { ...AUTHORIZED, Connection: 'close' }),
  );
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(Array.from({ length: 5 }, () => 'HTTP/1.1 200'));
  const references = [...text.matchAll(/"client_ref_id":"(.)"/g)].map(([, reference]) => reference);
  expect(references.join(' ')).toBe('a b c c');
});

test('an unknown key is refused before its body is read', async () => {
  const { url } = await sandboxFor();
  const socket = rawSocket(url);
  socket.write(
    rawRequest('POST /payout/initiate', {
      Authorization: 'Bearer nobody',
      'Content-Type': 'application/json',
      'Content-Length': '60000',
    }),
  );
  expect(await answersOn(socket, 1)).toMatch(/^HTTP\/1.1 401 /);
});

test('clients that ask for a tunnel and reset the connection leave the sandbox running', async () => {
  const { client, url } = await sandboxFor();
  for (let nth = 0; nth < 20; nth += 1) {
    const socket = rawSocket(url);
    await once(socket, 'connect');
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', () => socket.resetAndDestroy());
    await once(socket, 'close');
  }
  expect((await client().balance()).status).toBe(200);
});

testRows([
  ['host', 'localhost', 'evil.example'],
  ['authorization', 'Bearer sk_test_a', 'Bearer sk_test_b'],
  ['content-type', 'application/json', 'text/plain'],
])(
  'a request with two of these headers is refused, since a proxy may have checked the other one',
  async (name, ...values) => {
    const { url } = await sandboxFor();
    const headers = {
      host: 'localhost',
      authorization: 'Bearer sk_test_a',
      'content-type': 'application/json',
    };
    const body = JSON.stringify(PAYOUT);
    const lines = Object.entries({ ...headers, 'content-length': String(body.length), connection: 'close' })
      .filter(([key]) => key !== name)
      .concat(values.map((value, nth) => [nth === 0 ? name : name.toUpperCase(), value]))
      .map(([key, value]) => `${key}: ${value}\r\n`);
    const answer = await answersTo(url, `POST /payout/initiate HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain(`The header ${name} must be sent once`);
  },
);
