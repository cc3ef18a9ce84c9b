import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { answersOn, rawRequest, rawSocket } from '../support/http/raw-socket.ts';
import { PAYOUT, sandboxFor } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

const KEY = 'sk_test_sites';
const body = JSON.stringify(PAYOUT);

type Headers = Readonly<Record<string, string>>;

/** The status and refusal code of a request, sent on a raw socket, since `fetch` sets its own Host. */
async function send(url: string, line: string, headers: Headers) {
  const isPost = line.startsWith('POST /payout');
  const more = { 'content-type': 'application/json', 'content-length': `${body.length}` };
  const all = { authorization: `Bearer ${KEY}`, connection: 'close', ...headers, ...(isPost && more) };
  const socket = rawSocket(url);
  socket.write(rawRequest(line, all, isPost ? body : ''));
  const text = await answersOn(socket);
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  return { status: Number(text.slice(9, 12)), text, code };
}

const SERVICE = 'GET /client/fetchbalance';
const CONTROL = 'GET /_sandbox/world';

testRows([
  'localhost',
  'localhost:3000',
  'LOCALHOST.',
  'payouts.localhost:3000',
  '127.0.0.1:3000',
  '127.9.9.9',
  '[::1]:3000',
])('a sandbox on a loopback address serves the names and addresses of the machine itself', async (host) => {
  const { url } = await sandboxFor();
  for (const line of [SERVICE, CONTROL])
    expect(await send(url, line, { host })).toMatchObject({ status: 200 });
});

testRows([
  'rebound.example:3000',
  'localhost.rebound.example',
  'notlocalhost',
  '127.0.0.1.rebound.example',
  '128.0.0.1',
  '192.168.1.5:3000',
  '[::2]:3000',
  '[::ffff:8.8.8.8]',
  'localhost@rebound.example',
  '',
])(
  'a sandbox on a loopback address refuses other host names on every route, and names the setting',
  async (host) => {
    const { url } = await sandboxFor();
    for (const line of [
      SERVICE,
      CONTROL,
      'POST /payout/initiate',
      'GET /_sandbox/openapi.json',
      'GET /nowhere',
    ]) {
      const answer = await send(url, line, { host });
      expect(answer).toMatchObject({ status: 403, code: 'HOST_NOT_ALLOWED' });
      expect(answer.text).toContain('--allowed-hosts');
      expect(answer.text).toMatch(/x-sandbox-limit: SANDBOX_ALLOWED_HOSTS\r\n/i);
    }
  },
);

test('a sandbox on a loopback address also serves the host names of SANDBOX_ALLOWED_HOSTS', async () => {
  const { url } = await sandboxFor({ allowedHosts: 'payouts.example.test, other' });
  const statusOf = async (host: string): Promise<number> => (await send(url, SERVICE, { host })).status;
  expect(await statusOf('Payouts.Example.test:8443')).toBe(200);
  expect(await statusOf('other')).toBe(200);
  expect(await statusOf('localhost')).toBe(200);
  expect(await statusOf('sub.payouts.example.test')).toBe(403);
});

const [outside] = Object.values(networkInterfaces())
  .flat()
  .filter((one) => one !== undefined && one.family === 'IPv4' && !one.internal)
  .map((one) => one!.address);

test.each(['0.0.0.0', ...(outside === undefined ? [] : [outside])])(
  'a sandbox on %s serves every host name',
  async (host) => {
    const { url } = await sandboxFor({ host });
    expect(await send(url, SERVICE, { host: 'payouts' })).toMatchObject({ status: 200 });
  },
);

test('a sandbox on 0.0.0.0 serves only the names of SANDBOX_ALLOWED_HOSTS, localhost and addresses, once that is set', async () => {
  const { url } = await sandboxFor({ host: '0.0.0.0', allowedHosts: 'payouts' });
  const statusOf = async (host: string): Promise<number> => (await send(url, SERVICE, { host })).status;
  for (const host of ['payouts:3000', 'localhost:3000', '10.1.2.3:3000', '[::2]']) {
    expect([host, await statusOf(host)]).toEqual([host, 200]);
  }
  expect(await statusOf('rebound.example:3000')).toBe(403);
});

testRows<[string, Headers]>([
  ['of a program', {}],
  ['of the same origin', { origin: 'http://localhost:3000' }],
  ['of the same origin behind TLS', { origin: 'https://localhost:3000' }],
  [
    'that a browser sets for the same site',
    { 'sec-fetch-site': 'same-origin', origin: 'http://elsewhere.example' },
  ],
  ['of a user action', { 'sec-fetch-site': 'none' }],
  ['of an allowed name', { origin: 'https://payouts.example.test', 'sec-fetch-site': 'cross-site' }],
])('a change that a program or the same site sends is accepted', async (_what, headers) => {
  const { url } = await sandboxFor({ allowedHosts: 'payouts.example.test' });
  const host = 'localhost:3000';
  for (const line of ['POST /payout/initiate', 'POST /_sandbox/clock/freeze', 'DELETE /_sandbox/rules']) {
    expect(await send(url, line, { host, ...headers })).toMatchObject({ status: 200 });
  }
});

testRows<[string, Headers]>([
  ['Origin of another site', { origin: 'https://elsewhere.example' }],
  ['Origin of another port', { origin: 'http://localhost:5173' }],
  ['Origin null', { origin: 'null' }],
  ['Sec-Fetch-Site cross-site', { 'sec-fetch-site': 'cross-site' }],
  ['Sec-Fetch-Site same-site', { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' }],
])('a change that another site sends is refused, and a read is not', async (_what, headers) => {
  const { url } = await sandboxFor();
  const host = 'localhost:3000';
  for (const line of [
    'POST /payout/initiate',
    'POST /_sandbox/clock/freeze',
    'DELETE /_sandbox/rules',
    'PUT /_sandbox/scenario',
  ]) {
    expect(await send(url, line, { host, ...headers })).toMatchObject({
      status: 403,
      code: 'ORIGIN_NOT_ALLOWED',
    });
  }
  expect(await send(url, SERVICE, { host, ...headers })).toMatchObject({ status: 200 });
  expect((await send(url, SERVICE, { host })).text).toContain('"balance":1000000,');
});
