import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { clientFor } from '../../support/sandbox.ts';

const CUT_OFF = ['{"client_ref_id":', { 'content-length': '200' }] as const;

test.each<[how: string, sent: readonly [body: string, headers: object], leave: (socket: Socket) => unknown]>([
  ['closes its connection', CUT_OFF, (socket) => socket.destroy()],
  ['resets its connection', CUT_OFF, (socket) => socket.resetAndDestroy()],
  ['closes its half of the connection', CUT_OFF, (socket) => socket.end()],
  [
    'sends a chunk without a size',
    ['', { 'transfer-encoding': 'chunked' }],
    (socket) => socket.write('no size\r\n'),
  ],
])(
  'a request whose client %s in the middle of the body ends as client_gone, without a response or a payout',
  async (_how, [body, framing], leave) => {
    const { world, apiKey, url } = await clientFor();
    const socket = rawSocket(url);
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...framing };
    socket.write(rawRequest('POST /payout/initiate', headers, body));
    await once(socket, 'connect'); // a request is in the journal once its body is there, or its client has left
    leave(socket);
    const gone = { outcome: 'client_gone', answer: null, code: null, committed: null };
    const ended = { duration_ms: expect.any(Number), ended_after: 1 };
    await expect.poll(() => world.requests()).toMatchObject([{ ...gone, ...ended }]);
    expect(await world.transactions()).toEqual([]);
  },
);

test('a response that is sent slowly is journaled as pending until it has ended', async () => {
  const { world, apiKey, url } = await clientFor();
  await world.rule({ name: 'slow', effect: { fault: { kind: 'slow-body', bytes_per_second: 1 } } });
  rawSocket(url).write(rawRequest('GET /client/fetchbalance', { authorization: `Bearer ${apiKey}` }));
  await expect
    .poll(() => world.requests())
    .toMatchObject([{ outcome: 'pending', duration_ms: null, ended_after: null, answer: { status: 200 } }]);
  await world.reset();
});
