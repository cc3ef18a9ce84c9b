import { expect, onTestFinished, test } from 'vitest';
import type { ControlClient } from '../../src/client/control-client.ts';
import { openEvents } from '../../src/client/event-stream.ts';
import { connectSandbox, SandboxError, startSandbox } from '../../src/index.ts';
import { clientFor, sandboxFor } from '../support/sandbox.ts';
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

test('an event stream whose connection breaks fails, and does not just end', async () => {
  const broken = new Error('the connection was reset');
  const body = new ReadableStream({
    pull(controller) {
      controller.error(broken);
    },
  });
  const client = { open: () => Promise.resolve(new Response(body)) } as unknown as ControlClient;
  const events = await openEvents(client, {});
  await expect(events.next()).rejects.toBe(broken);
});

test('an event stream that makes no sense fails, and gives up its connection', async () => {
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('event: wallet\ndata: {\n\n')),
  });
  let connection: AbortSignal | undefined;
  const open = (_method: string, _path: string, { signal }: { signal: AbortSignal }) => {
    connection = signal;
    return Promise.resolve(new Response(body));
  };
  const events = await openEvents({ open } as unknown as ControlClient, {});
  await expect(events.next()).rejects.toThrow(SyntaxError);
  expect(connection!.aborted).toBe(true);
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
