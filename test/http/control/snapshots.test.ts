import { expect, test } from 'vitest';
import { answersOn, rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { startProgram } from '../../support/program.ts';
import { clientFor, clientOf, sandboxFor, type Client } from '../../support/sandbox.ts';
import { futureIn, linesOf } from '../../support/world/snapshot-lines.ts';
import { testRows } from '../../support/test-rows.ts';
import { connectSandbox } from '../../../src/index.ts';

const SETTINGS = { clock: '2026-01-15T10:30:00Z' } as const;
const NDJSON = 'application/x-ndjson';

/** The snapshot of a world with `payouts` payouts, whose beneficiary has an emoji in the name. */
async function snapshotWith(payouts: number): Promise<string> {
  const { world, pay } = await clientFor(SETTINGS);
  for (let nth = 0; nth < payouts; nth += 1) {
    await pay({ client_ref_id: `order-${nth}`, amount: 1, beneficiary_name: 'Asha 💸' });
  }
  return world.snapshot();
}

const put = (
  { send }: Client,
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string> = {},
) => send('PUT', '/_sandbox/state', { headers: { 'content-type': NDJSON, ...headers }, body });

const putRequest = (key: string, headers: Record<string, string>, body: Buffer | string = ''): Buffer =>
  rawRequest(
    'PUT /_sandbox/state',
    { authorization: `Bearer ${key}`, 'content-type': NDJSON, ...headers },
    body,
  );

test('a snapshot consists of lines of JSON, and a restored world has the same snapshot again', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const [world, fork] = [client(), client()];
  await world.pay();
  const answer = await world.send('GET', '/_sandbox/state');
  expect(answer.headers.get('content-type')).toBe(NDJSON);
  expect(linesOf(answer.text).map((line) => Object.keys(JSON.parse(line) as object)[0])).toEqual([
    'format',
    'world',
    'entry',
    'entry',
    'payout',
    'attempts',
    'request',
    'end',
    'worlds',
  ]);
  await world.world.restore(answer.text);
  await fork.world.restore(await world.world.snapshot());
  expect(futureIn(await fork.world.snapshot())).toEqual(futureIn(await world.world.snapshot()));
});

test('a world restored from the snapshot of another keeps its own id, and takes the scenario of the snapshot', async () => {
  const { client } = await sandboxFor(SETTINGS);
  const fork = client();
  const { id } = await fork.world.summary();
  const answer = await put(fork, await snapshotWith(2));
  expect(answer).toMatchObject({ status: 200, body: { id, transactions: { PENDING: 2 } } });
  expect(await fork.world.scenario()).toMatchObject({ chosen: false }); // both servers have the same
  const elsewhere = await clientFor({ ...SETTINGS, scenario: 'server-error' });
  await put(elsewhere, await snapshotWith(2));
  expect(await elsewhere.world.scenario()).toMatchObject({ name: 'default', chosen: true });
});

test('a snapshot is restored in every form in which it may be sent', async () => {
  const client = await clientFor(SETTINGS);
  const text = await snapshotWith(3);
  for (const [form, body, type] of [
    ['sent as application/json', text, 'application/json'],
    ['labelled as UTF-8', text, `${NDJSON}; charset=utf-8`],
    ['without the last newline', text.trimEnd(), NDJSON],
  ] as const) {
    await client.world.reset();
    const { status } = await put(client, body, { 'content-type': type });
    expect([form, status, await client.world.transactions()]).toMatchObject([form, 200, [{}, {}, {}]]);
  }
});

/** Two worlds in one text, like a state file. */
function twice(text: string): string {
  const [head, ...rest] = linesOf(text);
  const world = rest.slice(0, -1);
  return `${[head, ...world, ...world, '{"worlds":2}'].join('\n')}\n`;
}

const refused = (message: RegExp) => ({
  status: 422,
  body: { code: 'STATE_REFUSED', message: expect.stringMatching(message) },
});

// what is refused inside a text has its tests in test/worlds/snapshot-text.test.ts
testRows<[what: string, change: (text: string) => string, expected: object]>([
  ['empty', () => '', { status: 400, body: { code: 'INVALID_REQUEST' } }],
  ['two worlds', twice, refused(/^This snapshot holds more than one world, and only one can be restored$/)],
  [
    'a long line',
    (text) => text.replace('Asha', 'x'.repeat(1_200_000)),
    refused(/^A line of this snapshot is longer than 1048576 characters$/),
  ],
])(
  'a snapshot that cannot be read is refused, and nothing of the world changes',
  async (_what, change, expected) => {
    const client = await clientFor(SETTINGS);
    await client.pay();
    const before = futureIn(await client.world.snapshot());
    const text = await snapshotWith(3);
    expect(change(text)).not.toBe(text);
    expect(await put(client, change(text))).toMatchObject(expected);
    expect(futureIn(await client.world.snapshot())).toEqual(before);
  },
);

test('a snapshot in another encoding, or of another type, is refused', async () => {
  const client = await clientFor(SETTINGS);
  const text = await client.world.snapshot();
  const message = 'The request body must be application/x-ndjson or application/json, in plain UTF-8';
  for (const headers of [{ 'content-encoding': 'gzip' }, { 'content-type': `${NDJSON}; charset=utf-16` }]) {
    const { status, body } = await put(client, text, headers);
    expect({ headers, status, body }).toMatchObject({
      headers,
      status: 415,
      body: { code: 'UNSUPPORTED_MEDIA_TYPE', message },
    });
  }
});

test('a snapshot that is refused halfway is answered at once, and its connection stays usable', async () => {
  const { url, client } = await sandboxFor(SETTINGS);
  const { apiKey } = client();
  const text = await snapshotWith(3);
  const socket = rawSocket(url);
  const answers = answersOn(socket, 2);
  const answered = new Promise((resolve) => void socket.once('data', resolve));
  socket.write(putRequest(apiKey, { 'content-length': String(text.length + 2_000_000) }, 'hello\n'));
  expect(String(await answered)).toMatch(/^HTTP\/1\.1 422 /);
  socket.write('x'.repeat(text.length + 2_000_000 - 'hello\n'.length));
  socket.write(rawRequest('GET /client/fetchbalance', { authorization: `Bearer ${apiKey}` }));
  expect((await answers).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 422', 'HTTP/1.1 200']);
});

test('a snapshot that grows past the limit is refused halfway, and its connection stays usable', async () => {
  const { url } = await startProgram({ NODE_OPTIONS: '--max-old-space-size=64' });
  const { world, apiKey } = clientOf(connectSandbox({ url }).world());
  const text = await world.snapshot();
  const [head, start] = linesOf(text);
  const declared = answersOn(rawSocket(url).end(putRequest(apiKey, { 'content-length': '200000000' })), 1);
  const limit = Number(/larger than ([\d.]+) KiB/.exec(await declared)?.[1]) * 1024;
  expect(limit).toBeGreaterThan(1e6);
  const socket = rawSocket(url);
  const answers = answersOn(socket, 2);
  socket.write(putRequest(apiKey, { 'transfer-encoding': 'chunked' }));
  const line = `{"attempts":{"of":"x","count":1,"payout":0}${' '.repeat(1000)}}\n`;
  const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;
  socket.write(chunk(`${head}\n${start}\n`));
  for (let sent = 0; sent <= limit; sent += 100 * line.length) socket.write(chunk(line.repeat(100)));
  socket.write('0\r\n\r\n');
  socket.write(rawRequest('GET /client/fetchbalance', { authorization: `Bearer ${apiKey}` }));
  const text413 = await answers;
  expect(text413.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  expect(text413).toContain('"code":"BODY_TOO_LARGE"');
});

test('at most four snapshots are read at once; a client that leaves makes room', async () => {
  const { url, client } = await sandboxFor(SETTINGS);
  const text = await snapshotWith(6);
  const spoilt = text.replace(/"checksum":"./, '"checksum":"x'); // refused only once all of it is read
  const probe = async () => (await put(client(), spoilt)).body.code as string;
  expect(await probe()).toBe('STATE_REFUSED');
  const half = text.slice(0, text.indexOf('{"end"'));
  const upload = () => {
    const headers = { 'content-length': String(Buffer.byteLength(text)) };
    const socket = rawSocket(url).once('data', () => socket.destroy()); // refused, since a probe was there before it
    socket.write(putRequest(client().apiKey, headers, half));
    return socket;
  };
  const sockets = [upload(), upload(), upload(), upload()];
  const busy = async () => {
    for (const [nth, socket] of sockets.entries()) if (socket.destroyed) sockets[nth] = upload();
    await client().balance(); // which comes after them
    return probe();
  };
  await expect.poll(busy).toBe('SANDBOX_BUSY');
  sockets[0]!.destroy();
  await expect.poll(probe).toBe('STATE_REFUSED');
  expect((await put(client(), text)).status).toBe(200);
});
