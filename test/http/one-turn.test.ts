import { Socket } from 'node:net';
import { fastify, type FastifyInstance } from 'fastify';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { JournalEntry } from '../../src/contract/control-responses.ts';
import { Connections, turns } from '../../src/http/limits/connections.ts';
import { systemClock } from '../../src/platform/system-clock.ts';
import { ask } from '../support/control.ts';
import { ManualClock } from '../support/world/manual-clock.ts';
import { answersOn, rawRequest, rawSocket } from '../support/http/raw-socket.ts';
import { clientOf, PAYOUT, sandboxFor, type Client } from '../support/sandbox.ts';
import { serverFor } from '../support/server.ts';
import { sized } from '../support/size.ts';

/** An app whose requests are handled and whose responses are written by turns, as those of the service. */
function appWith(prepare: (app: FastifyInstance) => void): FastifyInstance {
  const app = fastify();
  const wallClock = new ManualClock();
  const stopwatchMs = (): number => 0;
  const connections = new Connections({ max: 10, wallClock, stopwatchMs, ended: () => undefined });
  const sockets = new Map<string, Socket>();
  app.addHook('onRequest', (request, { raw }, done) => {
    const name = request.url.split('/')[1]!; // of its connection
    const socket = sockets.get(name) ?? new Socket();
    sockets.set(name, socket);
    Object.assign(raw, { req: Object.assign(request.raw, { socket }) });
    Object.assign(request, { exchange: { route: 'balance', decided: { rule: 'any' } } });
    connections.began({ response: raw, worldId: () => undefined, over: () => undefined });
    done();
  });
  void app.register(turns, { wallClock, connections });
  void app.register(async (one) => prepare(one));
  onTestFinished(() => app.close());
  return app;
}

test('all requests of one turn are handled before the first of their responses is written', async () => {
  const happened: string[] = [];
  const app = appWith((one) => {
    one.addHook('onResponse', async ({ url }) => void happened.push(`sent ${url}`));
    one.get('/:name', async ({ url }) => {
      happened.push(`handled ${url}`);
      return 'done';
    });
  });
  await app.ready();
  await Promise.all(['/a', '/b', '/c'].map((url) => app.inject({ url })));
  expect(happened).toEqual(['handled /a', 'handled /b', 'handled /c', 'sent /a', 'sent /b', 'sent /c']);
});

test('a response that cannot be written becomes an error, and the others of its turn are written', async () => {
  const app = appWith((one) => {
    one.get('/good', async () => 'done');
    one.get('/bad', async (_request, reply) => reply.header('x-name', 'two\nlines').send('done'));
  });
  await app.ready();
  const answers = await Promise.all(['/good', '/bad', '/good'].map((url) => app.inject({ url })));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 500, 200]);
});

test('one request of a connection is handled at a time, and connections take turns', async () => {
  const happened: string[] = [];
  const app = appWith((one) => {
    one.addHook('onResponse', async ({ url }) => void happened.push(`sent ${url}`));
    one.get('*', async ({ url }) => {
      happened.push(`handled ${url}`);
      return 'done';
    });
  });
  await app.ready();
  await Promise.all(['/a/1', '/a/2', '/b/1'].map((url) => app.inject({ url })));
  expect(happened).toEqual([
    'handled /a/1',
    'handled /b/1',
    'sent /a/1',
    'sent /b/1',
    'handled /a/2',
    'sent /a/2',
  ]);
});

test('on a busy server a request began when it arrived, and ended before its response was written', async () => {
  let elapsedMs = 0; // moves with the work between the turns alone
  const now = vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
  onTestFinished(() => now.mockRestore());
  const nextTurn = (callback: () => void): void => {
    setImmediate(() => {
      elapsedMs += 20; // other work
      callback();
    });
  };
  const START_MS = Date.parse('2026-01-15T10:30:00Z');
  const clock = { ...systemClock(), nowMs: () => START_MS + elapsedMs, nextTurn };
  const { sandbox } = await serverFor({}, clock);
  const world = sandbox.world();
  await world.pay();
  const writtenMs = START_MS + elapsedMs; // a turn after it was handled, and two after it arrived
  const [{ wall_at, duration_ms }] = (await world.requests()) as [JournalEntry];
  expect({ began: Date.parse(wall_at), duration_ms }).toEqual({ began: writtenMs - 40, duration_ms: 20 });
});

type Asked = readonly [line: string, body?: string, how?: 'chunked' | undefined];

const initiate = (change: object, how?: 'chunked'): Asked => [
  'POST /payout/initiate',
  JSON.stringify({ ...PAYOUT, client_ref_id: 'a', ...change }),
  how,
];
const REQUESTS: readonly Asked[] = [
  initiate({}),
  initiate({ client_ref_id: 'b' }),
  initiate({ client_ref_id: 'c' }, 'chunked'),
  initiate({ amount: 1e9 }),
  initiate({ transfer_mode: 'SWIFT' }),
  ['GET /payout/status?client_ref_id=a'],
  ['GET /client/fetchbalance'],
  ['POST /_sandbox/reset'],
  ['POST /_sandbox/wallet/credit', '{"amount":7}'],
  ['POST /_sandbox/wallet/credit', '{"amount":8}', 'chunked'],
  ['GET /_sandbox/wallet/entries'],
];

function bytesOf({ apiKey }: Client, [line, body = '', how]: Asked): Buffer {
  const authorization = `Bearer ${apiKey}`;
  if (body === '') return rawRequest(line, { authorization, 'content-length': '0' });
  const headers = { authorization, 'content-type': 'application/json' };
  if (how === undefined) return rawRequest(line, { ...headers, 'content-length': String(body.length) }, body);
  const chunks = Array.from(body, (character) => `1\r\n${character}\r\n`).join('');
  return rawRequest(line, { ...headers, 'transfer-encoding': 'chunked' }, `${chunks}0\r\n\r\n`);
}

/** Sends requests on one connection. @returns the bodies of the responses, and what the journal has of each */
async function outcomeOf(client: Client, asked: readonly Asked[], isAtOnce: boolean): Promise<unknown> {
  const texts: string[] = [];
  const groups = isAtOnce ? [asked] : asked.map((one) => [one]);
  for (const group of groups) {
    const socket = rawSocket(client.url);
    const answers = answersOn(socket, group.length);
    socket.write(Buffer.concat(group.map((one) => bytesOf(client, one))));
    texts.push(...((await answers).match(/HTTP\/1\.1 \d+|\{[^\r]*\}(?=HTTP|\r\n0|$)/g) ?? []));
    socket.destroy();
  }
  const { requests } = (await ask(client, 'GET', '/requests')).body;
  return {
    texts,
    journal: requests.map(({ id, route, client_ref_id, code, balance_after }: Record<string, unknown>) => [
      id,
      route,
      client_ref_id,
      code,
      balance_after,
    ]),
  };
}

test('requests that arrive at once give the same responses and the same journal as one after the other, with control calls among them', async () => {
  const sequence = fc.array(fc.constantFrom(...REQUESTS), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sequence, async (asked) => {
      const outcomes = [];
      for (const isAtOnce of [false, true]) {
        const { client } = await sandboxFor({ clock: '2026-01-15T10:30:00Z', seed: 7 });
        outcomes.push(await outcomeOf(client('sk_test_same'), asked, isAtOnce));
      }
      expect(outcomes[1]).toEqual(outcomes[0]);
    }),
    { numRuns: sized(4, 200) },
  );
});

/** Keeps the responses to the first request: the first call handles the request. */
class KeepingClock extends ManualClock {
  write: (() => void) | null = null;
  #calls = 0;

  override nextTurn(callback: () => void): void {
    this.#calls += 1;
    if (this.#calls === 2) this.write = callback;
    else super.nextTurn(callback);
  }
}

test('a client that leaves before its response is written was told nothing', async () => {
  const clock = new KeepingClock();
  const { url, sandbox, logged } = await serverFor({}, clock);
  const client = clientOf(sandbox.world());
  const socket = rawSocket(url);
  socket.write(bytesOf(client, initiate({})));
  await expect.poll(() => clock.write).not.toBeNull();
  socket.destroy();
  await expect.poll(() => logged).toContainEqual(expect.objectContaining({ client_gone: true }));
  clock.write!();
  const [latest] = (await ask(client, 'GET', '/requests')).body.requests;
  expect(latest).toMatchObject({ outcome: 'client_gone', answer: null, committed: true });
  expect((await ask(client, 'GET', '/world')).body.at_risk.count).toBe(1);
});
