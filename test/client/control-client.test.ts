import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { askHealth } from '../../src/cli/health.ts';
import { openEvents } from '../../src/client/event-stream.ts';
import { connectSandbox, SandboxError, startSandbox } from '../../src/index.ts';
import { clientFor, sandboxFor } from '../support/sandbox.ts';
import { listening } from '../support/http/raw-socket.ts';
import { TcpProxy } from '../support/http/tcp-proxy.ts';

test('a refusal lists the invalid fields, and a name with characters of a URL removes no other rule', async () => {
  const { world } = await clientFor();
  const refused = await world.fund(-1).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SandboxError);
  expect(refused).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
    errors: [{ field: 'amount', message: expect.stringMatching(/^amount /) }],
  });
  await world.rule({ name: 'always-500', effect: { respond: { status: 500 } } });
  for (const name of ['always-500?', 'always-500#', 'always-500/']) {
    await expect(world.removeRule(name)).rejects.toMatchObject({ code: 'RULE_NOT_FOUND' });
  }
  expect(await world.rules('world')).toHaveLength(1);
});

test.each(['sk_test_a\nb', 'sk_test_a\u0000', 'sk_test_é'])(
  'the sandbox says what is wrong with the key %j',
  async (key) => {
    const { url } = await sandboxFor();
    const world = connectSandbox({ url }).world(key);
    const refused = 'The Authorization header is malformed';
    await expect(world.balance()).rejects.toThrow(refused);
    await expect(world.pay()).rejects.toThrow(refused);
  },
);

test('events() with an aborted signal rejects with the reason of the signal', async () => {
  const { client } = await sandboxFor();
  const reason = new Error('the test is over');
  await expect(client().world.events({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

/** The events of a stream with this body. */
const eventsIn = (body: ReadableStream) =>
  openEvents(
    { open: async () => ({ url: '', status: 200, headers: new Headers(), body, cancel: () => undefined }) },
    {},
  );

test('an event stream whose connection breaks fails, and does not just end', async () => {
  const broken = new Error('the connection was reset');
  const events = await eventsIn(new ReadableStream({ pull: (controller) => controller.error(broken) }));
  await expect(events.next()).rejects.toBe(broken);
});

test('an event stream that makes no sense fails, and gives up its connection', async () => {
  let isLeft = false;
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('event: wallet\ndata: {\n\n')),
    cancel: () => void (isLeft = true),
  });
  const events = await eventsIn(body);
  await expect(events.next()).rejects.toThrow(SyntaxError);
  expect(isLeft).toBe(true);
});

test('an error after the sandbox has stopped names its address, also at the end of await using', async () => {
  const sandbox = await startSandbox();
  const world = sandbox.world();
  await sandbox.close();
  const message = `no sandbox responds at ${sandbox.url}`;
  await expect(world.balance()).rejects.toThrow(message);
  await expect(world[Symbol.asyncDispose]()).rejects.toThrow(message);
});

test('a payout that failed before its reference was known leaves no rejection behind, and does not spoil the world', async () => {
  const { client, url } = await sandboxFor();
  const proxy = await TcpProxy.to(Number(new URL(url).port));
  onTestFinished(() => proxy.close());
  const { apiKey } = client();
  const world = connectSandbox({ url: `http://127.0.0.1:${proxy.port}` }).world(apiKey);
  proxy.cutReply(0, 0);
  await expect(world.pay()).rejects.toThrow('no sandbox responds');
  const paid = await Promise.all([world.pay(), world.pay()]);
  const references = paid.map((answer) => answer.client_ref_id);
  expect(new Set(references)).toEqual(new Set(['payout-1', 'payout-2']));
});

test('events arrive intact when their characters are split between chunks', async () => {
  const data = { from: 'PENDING', client_ref_id: 'बिल ₹5 🙂' };
  const bytes = Buffer.from(`id: 1\nevent: settlement\ndata: ${JSON.stringify(data)}\n\n`);
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const events: unknown[] = [];
  for await (const event of await eventsIn(body)) events.push(event);
  expect(events).toEqual([{ id: '1', type: 'settlement', data }]);
});

test('a server that never stops sending is no sandbox, whatever it is asked for', async () => {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const server = createServer((request, response) => {
    response.writeHead(request.url!.includes('credit') ? 400 : 200, { 'x-payout-sandbox': '1.0.0' });
    const endless = new Readable({ read: () => void endless.push(piece) });
    endless.pipe(response).once('close', () => endless.destroy());
  });
  const url = await listening(server);
  const world = connectSandbox({ url }).world('sk_test_a');
  const events = world.events().then((stream) => stream.next());
  const calls = [world.summary(), world.fund(1), world.pay({ client_ref_id: 'a' }), events];
  const refused = await Promise.allSettled<unknown>(calls);
  expect(refused.map((call) => call.status === 'rejected' && (call.reason as Error).message)).toEqual([
    ...Array<unknown>(3).fill(expect.stringContaining('sends more than 64 MiB')),
    'an event of more than 64 MiB cannot come from a sandbox',
  ]);
  expect(await askHealth(url, 0)).toBe(1);
});

test('a 200 with JSON of anything else is no response of a sandbox: nothing that it was asked for was done', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"changes":[],"rules":[]}');
  });
  const url = await listening(server);
  const sandbox = connectSandbox({ url, adminToken: 'the-token-of-the-admin' });
  const world = sandbox.world('sk_test_a');
  const calls = [
    world.rule({ effect: { respond: 500 } }),
    world.use('happy-fast'),
    world.clock.advance('1h'),
    world.reset(),
    world.snapshot(),
    world.events(),
    world.expect().never(),
    sandbox.worlds(),
  ];
  for (const call of calls) {
    await expect(call).rejects.toMatchObject({
      name: 'NoSandboxError',
      message: expect.stringMatching(
        / returned 200 \(application\/json\), which is not a response of a sandbox/,
      ),
    });
  }
  expect(await askHealth(url, 0)).toBe(1);
});

test.each([
  ['GET', '/_sandbox/health', 200],
  ['GET', '/_sandbox/', 200],
  ['GET', '/_sandbox', 308],
  ['GET', '/_sandbox/world', 401],
  ['GET', '/_sandbox/nothing', 404],
  ['GET', '/_sandbox/%', 400],
  ['PATCH', '/_sandbox/world', 405],
  ['POST', '/_sandbox/rules', 415],
])('%s %s is answered with a header that names the sandbox', async (method, path, status) => {
  const { url, client } = await sandboxFor();
  const headers = status === 415 ? { authorization: `Bearer ${client().apiKey}` } : {};
  const response = await fetch(url + path, {
    method,
    headers,
    redirect: 'manual',
    ...(status === 415 && { body: 'x' }),
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('x-payout-sandbox')).toMatch(/^\d+\.\d+\.\d+/);
});
