import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Connections } from '../../../src/http/limits/connections.ts';
import { answersOn, listening, payRequest, rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { stopwatchMs, systemClock } from '../../../src/platform/system-clock.ts';
import { PAYOUT, sandboxFor } from '../../support/sandbox.ts';
import { serverFor } from '../../support/server.ts';

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

test('of the world with the most connections, the one idle for longest is closed, and one past the limit is refused where none is idle', async () => {
  const { url, logged } = await serverFor({ maxConnections: 4, scenario: slowOnRequest });
  const closed: string[] = [];
  const connect = async (name: string, sent: Buffer): Promise<void> => {
    const socket = rawSocket(url).once('close', () => closed.push(name));
    socket.write(sent);
    await once(socket, 'data');
    socket.resume();
  };
  await connect('other', rawRequest('GET /client/fetchbalance', { authorization: 'Bearer sk_test_other' }));
  await connect('busy', BUSY); // the head of a response that takes minutes
  for (const name of ['idle', 'later idle']) await connect(name, BALANCE);
  for (const name of ['busy', 'busy', 'busy']) await connect(name, BUSY);
  await once(rawSocket(url).resume(), 'close');
  expect(closed).toEqual(['idle', 'later idle', 'other']);
  expect(logged.filter(({ msg }) => msg === 'connection ended')).toMatchObject(
    Array.from({ length: 4 }, () => ({ level: 40, limit: 'SANDBOX_MAX_CONNECTIONS' })),
  );
});

test('the journal and the verdict say that a limit closed a connection, not that its client left', async () => {
  const rules = [{ name: 'slow', match: { route: 'initiate' }, effect: { delay: '1h' } }] as const;
  const { url, client } = await sandboxFor({ scenario: { rules } });
  const { world } = client(KEY);
  const socket = rawSocket(url).resume();
  socket.write(payRequest(KEY));
  const entry = async () => (await world.requests())[0] ?? null;
  await expect.poll(entry).toMatchObject({ outcome: 'pending' });
  socket.write(Buffer.concat(Array.from({ length: 101 }, () => BALANCE)));
  await once(socket, 'close');
  const limit = 'requests ahead of their responses';
  await expect
    .poll(entry)
    .toMatchObject({ outcome: 'fault', fault: null, limit, answer: null, committed: true });
  expect(await world.journalText()).toContain(
    `→ the sandbox closed the connection (rule inline/slow; limit ${limit}; payout made`,
  );
  const { checks } = await world.referee(undefined, { ended: true });
  expect(checks.flatMap(({ findings }) => findings.flatMap(({ lines }) => lines))).toEqual([
    `#1 POST initiate order-1  connection closed by limit ${limit}, committed`,
  ]);
});

/** A server that handles requests in turn and responds to none. */
async function silentServer() {
  const limits: string[] = [];
  const handled: Socket[] = [];
  const wallClock = systemClock();
  const ended = (limit: string): void => void limits.push(limit);
  const connections = new Connections({ max: 100, wallClock, stopwatchMs, ended });
  const server = createServer((request, response) => {
    connections.began({ response, worldId: () => undefined, over: () => undefined });
    connections.inTurn(response, () => handled.push(request.socket));
  });
  connections.watch(server);
  const url = await listening(server);
  const send = (count: number) => {
    const socket = rawSocket(url).resume();
    socket.write(Buffer.concat(Array.from({ length: count }, () => BALANCE)));
    return socket;
  };
  return { limits, handled, send };
}

test('a connection on which more than 100 requests wait is closed, and 101 on each of 20 are the most in all', async () => {
  const { limits, handled, send } = await silentServer();
  await once(send(102), 'close');
  const modest = send(3);
  const sockets = Array.from({ length: 20 }, () => send(101));
  await expect.poll(() => limits).toHaveLength(2);
  await expect.poll(() => sockets.filter(({ closed }) => closed)).toHaveLength(1);
  expect({ limits: new Set(limits), isModestOpen: !modest.closed }).toEqual({
    limits: new Set(['requests ahead of their responses']),
    isModestOpen: true,
  });
  expect(handled.filter(({ destroyed }) => !destroyed)).toHaveLength(20); // one of each
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
    await expect.poll(outcomes).toEqual(['pending']);
    socket.destroy();
    await expect.poll(outcomes).toEqual(['fault']);
  },
);

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
