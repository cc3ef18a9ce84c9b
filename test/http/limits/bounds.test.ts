import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Connections } from '../../../src/http/limits/connections.ts';
import { UnreadResponses } from '../../../src/http/limits/unread-responses.ts';
import { answersOn, payRequest, rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { linesOf, serveInProcess } from '../../support/program.ts';
import { PAYOUT, sandboxFor } from '../../support/sandbox.ts';

const KEY = 'sk_test_bounds';
const AUTHORIZATION = { authorization: `Bearer ${KEY}` };
const BALANCE = rawRequest('GET /client/fetchbalance', AUTHORIZATION);
const BUSY = rawRequest('GET /client/fetchbalance', { ...AUTHORIZATION, 'x-slow': 'yes' });
const slowOnRequest = {
  rules: [
    {
      name: 'slow',
      match: { header: { 'x-slow': 'yes' } },
      effect: { fault: { kind: 'slow-body', bytes_per_second: 1 } },
    },
  ],
} as const;

test('a connection past the limit is served, and the connection idle for longest is closed, which is logged', async () => {
  const { stop, url } = await serveInProcess({ SANDBOX_MAX_CONNECTIONS: '2' });
  const idle = rawSocket(url);
  idle.write(BALANCE);
  await answersOn(idle, 1);
  const used = rawSocket(url);
  used.write(BALANCE);
  await answersOn(used, 1);
  const ended = once(idle.resume(), 'close');
  const newcomer = rawSocket(url);
  newcomer.write(BALANCE);
  expect(await answersOn(newcomer, 1)).toMatch(/^HTTP\/1\.1 200 /);
  await ended;
  used.write(BALANCE);
  expect(await answersOn(used, 1)).toMatch(/^HTTP\/1\.1 200 /);
  const logged = linesOf(await stop(), 'connection ended').map(({ level, limit }) => ({ level, limit }));
  expect(logged).toEqual([{ level: 40, limit: 'SANDBOX_MAX_CONNECTIONS' }]);
});

test('a connection past the limit is served when all are busy, and of the world that has the most, the one with the oldest request is closed', async () => {
  const { url, client } = await sandboxFor({ maxConnections: 4, scenario: slowOnRequest });
  const other = rawRequest('GET /client/fetchbalance', {
    authorization: 'Bearer sk_test_other',
    'x-slow': 'yes',
  });
  const sockets = [rawSocket(url), rawSocket(url), rawSocket(url)];
  for (const [nth, socket] of sockets.entries()) {
    socket.write(nth === 0 ? other : BUSY);
    await once(socket, 'data'); // the head of a response that takes minutes
  }
  const ended = once(sockets[1]!.resume(), 'close');
  for (let nth = 1; nth <= 2; nth += 1) {
    const newcomer = rawSocket(url);
    newcomer.write(BALANCE);
    expect(await answersOn(newcomer, 1)).toMatch(/^HTTP\/1\.1 200 /);
  }
  await ended;
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
  expect(await client('sk_test_other').world.requests()).toMatchObject([{ outcome: 'pending' }]);
});

test('the journal and the verdict say that a limit closed a connection, not that its client left', async () => {
  const rules = [{ name: 'slow', match: { route: 'initiate' }, effect: { delay: '1h' } }] as const;
  const { url, client } = await sandboxFor({ maxConnections: 2, scenario: { rules } });
  const { world } = client(KEY);
  const paying = rawSocket(url);
  paying.write(payRequest(KEY));
  const entry = async () => (await world.requests())[0] ?? null;
  await expect.poll(entry).toMatchObject({ outcome: 'pending' });
  const ended = once(paying.resume(), 'close');
  const newcomer = rawSocket(url);
  newcomer.write(BALANCE);
  await answersOn(newcomer, 1);
  await ended;
  await expect.poll(entry).toMatchObject({
    outcome: 'fault',
    fault: null,
    limit: 'SANDBOX_MAX_CONNECTIONS',
    answer: null,
    committed: true,
  });
  expect(await world.journalText()).toContain(
    '→ the sandbox closed the connection (rule inline/slow; limit SANDBOX_MAX_CONNECTIONS; payout made',
  );
  const { checks } = await world.referee(undefined, { ended: true });
  expect(checks.flatMap(({ findings }) => findings.flatMap(({ lines }) => lines))).toEqual([
    '#1 POST initiate order-1  connection closed by limit SANDBOX_MAX_CONNECTIONS, committed',
  ]);
});

/** A server that answers nothing, with its connections counted. */
async function silentServer(connections: Connections) {
  const server = createServer();
  const responses: ServerResponse[] = [];
  server.on('request', (_request, response: ServerResponse) => {
    connections.began(response, { worldId: () => undefined, over: () => undefined });
    responses.push(response);
  });
  connections.watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, responses };
}

test('past the limit of pipelined requests, the connection with the most of them is closed', async () => {
  const limits: string[] = [];
  const connections = new Connections(10, 5, (limit) => limits.push(limit));
  const { url, responses } = await silentServer(connections);
  const modest = rawSocket(url);
  modest.write(Buffer.concat([BALANCE, BALANCE]));
  await expect.poll(() => responses.length, { timeout: 20_000 }).toBe(2);
  const greedy = rawSocket(url);
  const ended = once(greedy.resume(), 'close');
  greedy.write(Buffer.concat(Array.from({ length: 6 }, () => BALANCE)));
  await ended;
  const before = responses.length;
  const next = rawSocket(url); // has the places of the one that was closed
  next.write(Buffer.concat(Array.from({ length: 5 }, () => BALANCE)));
  await expect.poll(() => responses.length, { timeout: 20_000 }).toBe(before + 5);
  expect([modest.destroyed, next.destroyed]).toEqual([false, false]);
  const isCarriedOut = ({ req }: ServerResponse): boolean => !connections.isEnded(req.socket);
  expect(responses.filter(isCarriedOut)).toHaveLength(2 + 5);
  expect(limits).toEqual(['requests ahead of their responses']);
});

test('pipelined requests that were answered no longer count, however many follow on a connection', async () => {
  const limits: string[] = [];
  const { url, responses } = await silentServer(new Connections(10, 2, (limit) => limits.push(limit)));
  const socket = rawSocket(url);
  for (let round = 1; round <= 4; round += 1) {
    socket.write(Buffer.concat([BALANCE, BALANCE]));
    await expect.poll(() => responses.length, { timeout: 20_000 }).toBe(2 * round);
    for (const response of responses.slice(-2)) await once(response.end(), 'close');
  }
  expect(limits).toEqual([]);
});

test('a long list of requests arrives whole, before the response to the next pipelined request', async () => {
  const { url, client } = await sandboxFor();
  const world = client(KEY);
  for (let nth = 0; nth < 4; nth += 1)
    await world.pay({ remarks: 'x'.repeat(40_000), client_ref_id: `order-${nth}` });
  const requests = await world.world.requests();
  expect(requests.map(({ client_ref_id }) => client_ref_id).join()).toBe('order-0,order-1,order-2,order-3');
  const socket = rawSocket(url);
  const list = rawRequest('GET /_sandbox/requests', AUTHORIZATION);
  socket.write(
    Buffer.concat([list, rawRequest('DELETE /_sandbox/requests', { ...AUTHORIZATION, connection: 'close' })]),
  );
  const answers = await answersOn(socket);
  expect([...answers.matchAll(/HTTP\/1\.1 200/g)]).toHaveLength(2);
  expect(answers).toMatch(/"evicted":0,"left_out":0\}[^]*\{"cleared":4\}$/);
});

const UNREAD_BODY = 'x'.repeat(200_000);

test.each([
  ['a Content-Length', { 'content-length': String(UNREAD_BODY.length) }, UNREAD_BODY],
  [
    'chunks',
    { 'transfer-encoding': 'chunked' },
    `${UNREAD_BODY.length.toString(16)}\r\n${UNREAD_BODY}\r\n0\r\n\r\n`,
  ],
])(
  'a disconnect is noticed even when the request body, sent with %s, is not read',
  async (_how, framing, body) => {
    const { url, client } = await sandboxFor({
      scenario: { rules: [{ name: 'hung', effect: { fault: 'hang' } }] },
    });
    const socket = rawSocket(url);
    socket.write(rawRequest('GET /client/fetchbalance', { ...AUTHORIZATION, ...framing }, body));
    const { world } = client(KEY);
    const outcomes = async () => (await world.requests()).map(({ outcome }) => outcome);
    await expect.poll(outcomes, { timeout: 20_000 }).toEqual(['pending']);
    socket.destroy();
    await expect.poll(outcomes, { timeout: 20_000 }).toEqual(['fault']);
  },
);

/** A response, and whether its connection was ended. */
function answer(): { readonly response: ServerResponse; readonly isEnded: () => boolean } {
  const socket = new Socket();
  const response = Object.assign(new EventEmitter(), { req: { socket } }) as unknown as ServerResponse;
  return { response, isEnded: () => socket.destroyed };
}

test('past the memory limit of unread responses, the connection of the oldest is closed', () => {
  const limits: string[] = [];
  const unread = new UnreadResponses(100_000, (socket, limit) => limits.push(limit) && socket.destroy());
  const [first, second, third, short] = [answer(), answer(), answer(), answer()];
  unread.wait(short.response, 1000);
  unread.wait(first.response, 40_000);
  unread.wait(second.response, 40_000);
  unread.wait(third.response, 40_000);
  expect([first, second, third, short].map(({ isEnded }) => isEnded())).toEqual([true, false, false, false]);
  expect(limits).toEqual(['unread responses']);
  unread.wait(second.response, 10); // its client has read
  unread.wait(answer().response, 60_000);
  third.response.emit('close');
  unread.wait(answer().response, 40_000);
  expect([second, third].map(({ isEnded }) => isEnded())).toEqual([false, false]);
});

test.each([
  ['64 KiB', 65_536, 200],
  ['64 KiB and one byte', 65_537, 413],
])('a chunked body of %s has the same limit as one with a Content-Length', async (_size, length, status) => {
  const { url } = await sandboxFor();
  const socket = rawSocket(url);
  const body = JSON.stringify(PAYOUT).padEnd(length);
  const chunks = body.match(/[^]{1,999}/g)!.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
  const headers = { ...AUTHORIZATION, 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  socket.write(rawRequest('POST /payout/initiate', headers, `${chunks.join('')}0\r\n\r\n`));
  expect(await answersOn(socket, 1)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});
