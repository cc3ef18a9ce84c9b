import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import {
  changedDialect,
  DEFAULT_DIALECT,
  type Dialect,
  type DialectChange,
} from '../../../src/contract/dialect.ts';
import { SERVICE_REFUSALS, type ServiceRefusalCode } from '../../../src/contract/errors.ts';
import { refuseBrokenHttp } from '../../../src/http/refusals.ts';
import type { SettingsInput } from '../../../src/index.ts';
import { heldBy } from '../../support/control.ts';
import { isLong } from '../../support/size.ts';
import { errorsIn } from '../../support/markdown.ts';
import { answersOn, listening, rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { clientFor, clientOf, PAYOUT, seen, type Seen } from '../../support/sandbox.ts';
import { appFor, serverFor } from '../../support/server.ts';
import type { Memory } from '../../../src/http/limits/pressure.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';

const bodyOf = (text: string) => ({ headers: { 'content-type': 'application/json' }, body: text });

type ErrorRows = Partial<Dialect['errors']>;

/** A client of a sandbox with these `errors` in its dialect. */
const clientIn = (errors: ErrorRows, settings: SettingsInput = {}, dialect: DialectChange = {}) =>
  clientFor({ ...settings, scenario: { dialect: { ...dialect, errors } } });

/** The response to a second payout of the reference, with another amount. */
async function repeated(errors: ErrorRows, dialect: DialectChange = {}): Promise<Seen> {
  const world = await clientIn(errors, {}, dialect);
  await world.pay();
  return world.pay({ amount: 1 });
}

/** The response to bytes that are not a request. */
async function brokenHttp(code: string, errors: ErrorRows): Promise<Seen> {
  const noConnections = { owedResponse: () => undefined };
  const refuse = refuseBrokenHttp(pino({ level: 'silent' }), noConnections, () => ({
    dialect: changedDialect(DEFAULT_DIALECT, { errors }),
  }));
  const server = createServer((socket) => refuse(Object.assign(new Error(code), { code }), socket));
  return answerIn(await answersOn(rawSocket(await listening(server))));
}

/** A request with a Host of another site, which `fetch` does not send. */
async function fromElsewhere(errors: ErrorRows): Promise<Seen> {
  const { url } = await clientIn(errors);
  const socket = rawSocket(url);
  socket.write(rawRequest('GET /', { host: 'elsewhere.example', connection: 'close' }));
  return answerIn(await answersOn(socket));
}

/** What a client sees of a response on the wire. */
async function answerIn(text: string): Promise<Seen> {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const headers = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(': ', 2) as [string, string]);
  const answer = await seen(new Response(body, { status: Number(head.slice(9, 12)) }));
  return { ...answer, headers: new Headers(headers) }; // a Response adds its own content-type
}

/** Provokes each refusal of the catalogue, in a dialect with these `errors`. */
const PROVOKED: Record<ServiceRefusalCode, (errors: ErrorRows) => Promise<Seen>> = {
  INVALID_REQUEST: async (errors) => (await clientIn(errors)).pay({ amount: 0, transfer_mode: 'SWIFT' }),
  INVALID_JSON: async (errors) => (await clientIn(errors)).send('POST', '/payout/initiate', bodyOf('{')),
  MALFORMED_REQUEST: (errors) => brokenHttp('HPE_INVALID_METHOD', errors),
  DUPLICATE_REFERENCE: (errors) => repeated(errors),
  TRANSACTION_UNKNOWN: async (errors) => {
    const { status } = await clientIn(errors, {}, { status: { unknown: 400 } });
    return status({ txn_id: 'TXN0' });
  },
  REFERENCE_CONFLICT: (errors) => repeated(errors, { client_ref_id: { changed_body: 409 } }),
  REQUEST_IN_PROGRESS: async (errors) => {
    const world = await clientIn(errors, {}, { client_ref_id: { in_flight: 409 } });
    await world.world.rule({ match: { attempt: 1 }, effect: { hold: 'arrived' } });
    void world.pay().catch(() => undefined);
    await heldBy(world.world, 1);
    return world.pay();
  },
  REFERENCE_REUSED: (errors) => repeated(errors, { client_ref_id: { changed_body: 422 } }),
  UNAUTHORIZED: async (errors) => (await clientIn(errors)).pay({}, { authorization: 'Bearer nobody' }),
  INSUFFICIENT_BALANCE: async (errors) => (await clientIn(errors, { openingBalance: 0 })).pay(),
  HOST_NOT_ALLOWED: fromElsewhere,
  ORIGIN_NOT_ALLOWED: async (errors) =>
    (await clientIn(errors)).pay({}, { origin: 'https://elsewhere.example' }),
  TRANSACTION_NOT_FOUND: async (errors) => (await clientIn(errors)).status({ txn_id: 'TXN0' }),
  ROUTE_NOT_FOUND: async (errors) => (await clientIn(errors)).send('GET', '/'),
  METHOD_NOT_ALLOWED: async (errors) => (await clientIn(errors)).send('GET', '/payout/initiate'),
  REQUEST_TIMEOUT: (errors) => brokenHttp('ERR_HTTP_REQUEST_TIMEOUT', errors),
  BODY_TOO_LARGE: async (errors) => (await clientIn(errors)).pay({ remarks: 'x'.repeat(65_536) }),
  UNSUPPORTED_MEDIA_TYPE: async (errors) =>
    (await clientIn(errors)).send('POST', '/payout/initiate', { body: JSON.stringify(PAYOUT) }),
  RATE_LIMITED: async (errors) => {
    const world = await clientIn(errors, { rateLimit: '1/1d' });
    await world.pay();
    return world.pay();
  },
  HEADERS_TOO_LARGE: (errors) => brokenHttp('HPE_HEADER_OVERFLOW', errors),
  INTERNAL_ERROR: async (errors) => {
    const { app } = await appFor({ scenario: { dialect: { errors } } });
    app.get('/broken', () => {
      throw new TypeError('the secret inside');
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return seen(await fetch(`${url}/broken`));
  },
  SANDBOX_FULL: async (errors) => {
    const world = await clientIn(errors, { maxTransactions: 1 });
    await world.pay();
    return world.pay({ client_ref_id: 'order-2' });
  },
  NOT_RELEASED: async (errors) => {
    const world = await clientIn(errors);
    await world.world.rule({ name: 'held', effect: { hold: { at: 'committed', for: '1ms' } } });
    return world.pay();
  },
  SANDBOX_BUSY: async (errors) => {
    const memory: Memory = (look) => (look(99, true), () => undefined);
    const { sandbox } = await serverFor({ scenario: { dialect: { errors } } }, new ManualClock(), memory);
    return clientOf(sandbox.world()).pay();
  },
  STORE_UNAVAILABLE: async (errors) => (await clientIn(errors, { store: 'redis://127.0.0.1:1' })).pay(), // nothing listens there
};

const CODES = Object.keys(SERVICE_REFUSALS) as ServiceRefusalCode[];

const LISTED = errorsIn(
  readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8'),
  'Errors of the service',
);

test('docs/errors.md lists every error of the service, with its status and message', () => {
  const listed = LISTED.map(({ code, status, message }) => [code, { status, message }]);
  expect(listed).toEqual(Object.entries(SERVICE_REFUSALS));
});
const EXAMPLES = new Map(LISTED.map(({ code, example }) => [code, example]));

/** The envelope in the other shapes. Sandboxes with the same seed make the same ids, so messages are equal. */
const SHAPES: Record<
  Exclude<Dialect['errors']['body'], 'envelope'>,
  (envelope: Seen['body'], status: number) => { type: string | null; body: unknown }
> = {
  message: ({ message }) => ({ type: 'application/json; charset=utf-8', body: { message } }),
  problem: ({ message, code, errors }, status) => ({
    type: 'application/problem+json; charset=utf-8',
    body: {
      type: 'about:blank',
      title: STATUS_CODES[status],
      status,
      detail: message,
      code,
      ...(errors === undefined ? {} : { errors }),
    },
  }),
  empty: () => ({ type: null, body: undefined }),
};

/** With their own headers, or from another place in the code. With TESTS=long, all are provoked in every shape. */
const IN_EVERY_SHAPE: ReadonlySet<ServiceRefusalCode> = new Set([
  'INVALID_REQUEST',
  'MALFORMED_REQUEST',
  'UNAUTHORIZED',
  'METHOD_NOT_ALLOWED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
]);

test.each(CODES)('%s is as docs/errors.md shows it, and has the same facts in every shape', async (code) => {
  const { status, message } = SERVICE_REFUSALS[code];
  const isShaped = isLong || IN_EVERY_SHAPE.has(code);
  const shapes = isShaped ? (Object.keys(SHAPES) as (keyof typeof SHAPES)[]) : [];
  const [envelope, ...answers] = await Promise.all([
    PROVOKED[code]({}),
    ...shapes.map((shape) => PROVOKED[code]({ body: shape })),
  ]);
  const shown = EXAMPLES.get(code);
  if (shown === undefined) expect(envelope.body.message.startsWith(message)).toBe(true);
  else expect(envelope.body.message).toBe(shown);
  expect(envelope.status).toBe(status);
  expect(envelope.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(envelope.body).toMatchObject({ status: 'error', message: expect.any(String), code });
  const fields = Object.keys(envelope.body).filter((field) => field !== 'errors');
  expect(fields).toEqual(['status', 'message', 'code']);
  for (const error of envelope.body.errors ?? []) expect(Object.keys(error)).toEqual(['field', 'message']);
  for (const [nth, shape] of shapes.entries()) {
    const answer = answers[nth]!;
    const { type, body } = SHAPES[shape](envelope.body, status);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe(type);
    expect(answer.body).toEqual(body);
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(answer.text)));
    if (shape === 'empty') expect(answer.text).toBe('');
    for (const name of ['www-authenticate', 'allow', 'retry-after', 'x-sandbox-limit']) {
      expect([name, answer.headers.has(name)]).toEqual([name, envelope.headers.has(name)]);
    }
  }
});

test('problem and message bodies have no status word', async () => {
  const status_word = 'failed';
  expect((await PROVOKED.UNAUTHORIZED({ body: 'message', status_word })).body).not.toHaveProperty('status');
  expect((await PROVOKED.UNAUTHORIZED({ body: 'problem', status_word })).body.status).toBe(401);
});

test('a refusal by a limit names its setting in a header; other refusals have no such header', async () => {
  expect((await PROVOKED.RATE_LIMITED({})).headers.get('x-sandbox-limit')).toBe('SANDBOX_RATE_LIMIT');
  expect((await PROVOKED.SANDBOX_FULL({})).headers.get('x-sandbox-limit')).toBe('SANDBOX_MAX_TRANSACTIONS');
  for (const code of ['INSUFFICIENT_BALANCE', 'UNAUTHORIZED', 'INTERNAL_ERROR'] as const) {
    expect((await PROVOKED[code]({})).headers.has('x-sandbox-limit')).toBe(false);
  }
});

test('a request must arrive within thirty seconds, including its headers', async () => {
  const { app } = await appFor();
  expect(app.server).toMatchObject({ headersTimeout: 30_000, requestTimeout: 30_000 });
});
