import { createServer, type AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { buildApp } from '../src/app.ts';
import { DEFAULT_DIALECT } from '../src/contract/dialect.ts';
import { REFUSALS, type RefusalCode } from '../src/contract/errors.ts';
import { refuseBrokenHttp } from '../src/http/refusals.ts';
import { systemClock } from '../src/runtime/system-clock.ts';
import { readSettings } from '../src/settings.ts';
import { answersOn, rawSocket } from './support/raw-socket.ts';
import { PAYOUT, sandboxFor, seen, type Seen } from './support/sandbox.ts';

const bodyOf = (text: string) => ({ headers: { 'content-type': 'application/json' }, body: text });

/** What the server says on the wire to something that never became a request. */
async function brokenHttp(code: string): Promise<Seen> {
  const refuse = refuseBrokenHttp(() => ({ dialect: DEFAULT_DIALECT }));
  const server = createServer((socket) => refuse(Object.assign(new Error(code), { code }), socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const text = await answersOn(rawSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const headers = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(': ', 2) as [string, string]);
  return seen(new Response(body, { status: Number(head.slice(9, 12)), headers }));
}

/** How each refusal of the catalogue comes about. */
const PROVOKED: Record<RefusalCode, () => Promise<Seen>> = {
  INVALID_REQUEST: async () => (await sandboxFor()).client().pay({ amount: 0 }),
  INVALID_JSON: async () => (await sandboxFor()).client().send('POST', '/payout/initiate', bodyOf('{')),
  MALFORMED_REQUEST: () => brokenHttp('HPE_INVALID_METHOD'),
  DUPLICATE_REFERENCE: async () => {
    const world = (await sandboxFor()).client();
    await world.pay();
    return world.pay({ amount: 1 });
  },
  TRANSACTION_UNKNOWN: async () => {
    const { client } = await sandboxFor({ scenario: { dialect: { status: { unknown: 400 } } } });
    return client().status({ txn_id: 'TXN0' });
  },
  REFERENCE_CONFLICT: async () => {
    const { client } = await sandboxFor({ scenario: { dialect: { client_ref_id: { changed_body: 409 } } } });
    const world = client();
    await world.pay();
    return world.pay({ amount: 1 });
  },
  UNAUTHORIZED: async () => (await sandboxFor()).client('nobody').pay(),
  INSUFFICIENT_BALANCE: async () => (await sandboxFor({ openingBalance: 0 })).client().pay(),
  TRANSACTION_NOT_FOUND: async () => (await sandboxFor()).client().status({ txn_id: 'TXN0' }),
  ROUTE_NOT_FOUND: async () => (await sandboxFor()).client().send('GET', '/'),
  METHOD_NOT_ALLOWED: async () => (await sandboxFor()).client().send('GET', '/payout/initiate'),
  REQUEST_TIMEOUT: () => brokenHttp('ERR_HTTP_REQUEST_TIMEOUT'),
  BODY_TOO_LARGE: async () => (await sandboxFor()).client().pay({ remarks: 'x'.repeat(65_536) }),
  UNSUPPORTED_MEDIA_TYPE: async () =>
    (await sandboxFor()).client().send('POST', '/payout/initiate', { body: JSON.stringify(PAYOUT) }),
  RATE_LIMITED: async () => {
    const world = (await sandboxFor({ rateLimit: '1/1d' })).client();
    await world.pay();
    return world.pay();
  },
  HEADERS_TOO_LARGE: () => brokenHttp('HPE_HEADER_OVERFLOW'),
  INTERNAL_ERROR: async () => {
    const log = pino({ level: 'silent' });
    const { app } = await buildApp({ settings: readSettings({}, {}), wallClock: systemClock(), log });
    onTestFinished(() => app.close());
    app.get('/broken', () => {
      throw new TypeError('the secret inside');
    });
    const { statusCode, headers, payload } = await app.inject('/broken');
    return seen(new Response(payload, { status: statusCode, headers: headers as Record<string, string> }));
  },
  SANDBOX_FULL: async () => {
    const world = (await sandboxFor({ maxTransactions: 1 })).client();
    await world.pay();
    return world.pay({ client_ref_id: 'order-2' });
  },
};

test.each(Object.entries(PROVOKED) as [RefusalCode, () => Promise<Seen>][])(
  '%s travels on its status and speaks the envelope',
  async (code, provoke) => {
    const { status, headers, body } = await provoke();
    expect(status).toBe(REFUSALS[code].status);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body).toMatchObject({ status: 'error', message: expect.any(String), code });
    const fields = Object.keys(body).filter((field) => field !== 'errors');
    expect(fields).toEqual(['status', 'message', 'code']);
    for (const error of body.errors ?? []) expect(Object.keys(error)).toEqual(['field', 'message']);
  },
);

test('a limit of the sandbox names itself in a header; what a request did wrong does not, nor does a fault of ours', async () => {
  expect((await PROVOKED.RATE_LIMITED()).headers.get('x-sandbox-limit')).toBe('SANDBOX_RATE_LIMIT');
  expect((await PROVOKED.SANDBOX_FULL()).headers.get('x-sandbox-limit')).toBe('SANDBOX_MAX_TRANSACTIONS');
  for (const code of ['INSUFFICIENT_BALANCE', 'UNAUTHORIZED', 'INTERNAL_ERROR'] as const) {
    expect((await PROVOKED[code]()).headers.has('x-sandbox-limit')).toBe(false);
  }
});

test('a fault of ours tells the client nothing of what is inside', async () => {
  const { text } = await PROVOKED.INTERNAL_ERROR();
  expect(text).not.toContain('secret');
  expect(text).not.toContain('TypeError');
});

test('an answer names its request, so that its log line can be found', async () => {
  const world = (await sandboxFor()).client();
  const [one, other] = [await world.balance(), await world.send('GET', '/nowhere')];
  expect(one.headers.get('x-sandbox-request-id')).toMatch(/^req-/);
  expect(other.headers.get('x-sandbox-request-id')).not.toBe(one.headers.get('x-sandbox-request-id'));
});
