import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { RuleRequest, ScenarioInput } from '../../../src/index.ts';
import { heldBy } from '../../support/control.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';
import { answersOn, payRequest, rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { PAYOUT, sandboxFor } from '../../support/sandbox.ts';
import { serverFor } from '../../support/server.ts';
import { testRows } from '../../support/test-rows.ts';

const KEY = 'sk_test_faults';
const SETTINGS = { clock: '2026-01-15T10:30:00Z', settlement: 'manual' } as const;
const EVENTUALLY = { timeout: 20_000, interval: 5 };

type Effect = RuleRequest['effect'];

const brokenBy = (effect: Effect): ScenarioInput => ({
  rules: [{ name: 'broken', match: { route: 'initiate' }, effect }],
});

/** What the sandbox answers when nothing goes wrong: the same bytes for the same seed, key and clock. */
const wholeResponse = async (): Promise<string> =>
  (wholeText ??= (await (await sandboxFor(SETTINGS)).client(KEY).pay()).text);
let wholeText: string | undefined;

/** A sandbox whose wall clock the test moves, and whose log the test can read. */
async function sandboxWithManualClock(scenario: ScenarioInput) {
  const clock = new ManualClock();
  const { url, logged } = await serverFor({ ...SETTINGS, scenario }, clock);
  return { url, clock, requests: () => logged.filter(({ msg }) => msg === 'request') };
}

interface Wire {
  bytes: Buffer;
  end: 'open' | 'FIN' | 'RST';
}

/** Sends an initiate, and records every byte until the connection ends, and how it ended. */
function sendInitiate(url: string): Wire {
  const socket = rawSocket(url);
  const wire: Wire = { bytes: Buffer.alloc(0), end: 'open' };
  socket.on('data', (chunk: Buffer) => (wire.bytes = Buffer.concat([wire.bytes, chunk])));
  socket.on('end', () => (wire.end = 'FIN'));
  socket.on(
    'error',
    (error: Error & { code?: string }) => (wire.end = error.code === 'ECONNRESET' ? 'RST' : 'open'),
  );
  socket.write(payRequest(KEY, {}, { connection: 'close' }));
  return wire;
}

/** The head and the body received so far, and the length that the head announces. */
function partsOf({ bytes }: Wire) {
  const [head = '', ...rest] = bytes.toString('utf8').split('\r\n\r\n');
  return { head, body: rest.join('\r\n\r\n'), promised: Number(/content-length: (\d+)/i.exec(head)?.[1]) };
}

/** Sends an initiate, and records all that comes until its connection ends in this way. */
async function wholeWire(scenario: ScenarioInput, end: Wire['end'] = 'FIN') {
  const { url } = await sandboxWithManualClock(scenario);
  const wire = sendInitiate(url);
  await expect.poll(() => wire.end, EVENTUALLY).toBe(end);
  return { ...partsOf(wire), bytes: wire.bytes };
}

/** The warnings of Node during this test, such as that of too many listeners. */
function warningsOfNode(): readonly Error[] {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  return warnings;
}

test('connection-reset ends the connection with a RST, and empty-response with a FIN, before any byte', async () => {
  expect((await wholeWire(brokenBy({ fault: 'connection-reset' }), 'RST')).bytes).toHaveLength(0);
  expect((await wholeWire(brokenBy({ fault: 'empty-response' }), 'FIN')).bytes).toHaveLength(0);
});

test('truncated-body announces the length of the whole body and sends half of it', async () => {
  const { head, body, promised } = await wholeWire(brokenBy({ fault: 'truncated-body' }));
  const whole = await wholeResponse();
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(promised).toBe(whole.length);
  expect(body).toBe(whole.slice(0, whole.length >> 1));
});

test('truncated-body announces more bytes than it sends even when the dialect has empty error bodies', async () => {
  const scenario = brokenBy({ respond: { status: 500 }, fault: 'truncated-body' });
  const dialect = { errors: { body: 'empty' } } as const;
  expect(await wholeWire({ ...scenario, dialect })).toMatchObject({ body: '', promised: 1 });
});

test('malformed-json announces its length in bytes, and lacks the last one, also when a message is not ASCII', async () => {
  const message = 'शेष राशि ₹5 कम है';
  const scenario = brokenBy({ respond: { status: 402, message }, fault: 'malformed-json' });
  const { body, promised } = await wholeWire(scenario);
  expect(promised).toBe(Buffer.byteLength(body));
  expect(() => JSON.parse(body) as unknown).toThrow(SyntaxError);
  expect(JSON.parse(`${body}}`)).toMatchObject({ message });
});

test('garbage sends 64 bytes that begin like HTTP and are not, the same for the same request', async () => {
  const scenario = brokenBy({ fault: 'garbage' });
  const { bytes } = await wholeWire(scenario);
  expect(bytes).toHaveLength(64);
  expect(bytes.toString('latin1')).toMatch(/^HTTP\/1\.1 [\x80-\xff]{51}\r\n\r\n$/);
  expect((await wholeWire(scenario)).bytes).toEqual(bytes);
});

test('a hang with a duration sends nothing until it ends with a FIN', async () => {
  const { url, clock } = await sandboxWithManualClock(brokenBy({ fault: { kind: 'hang', for: '10m' } }));
  const timers = 2; // one drops idle worlds, one ends the hang
  const wire = sendInitiate(url);
  await expect.poll(() => clock.timers, EVENTUALLY).toBe(timers);
  await clock.pass(599_999);
  expect(clock.timers).toBe(timers);
  expect(wire.end).toBe('open');
  await clock.pass(1);
  await expect.poll(() => wire.end, EVENTUALLY).toBe('FIN');
  expect(wire.bytes).toHaveLength(0);
});

test('slow-body sends the head at once and the body in pieces, and leaves no listeners or timers behind', async () => {
  const warnings = warningsOfNode();
  const { url, clock } = await sandboxWithManualClock(
    brokenBy({ fault: { kind: 'slow-body', bytes_per_second: 100 } }),
  );
  const promised = (await wholeResponse()).length;
  expect(promised).toBeGreaterThan(200); // more than 20 pieces
  const wire = sendInitiate(url);
  for (let come = 0; come < promised; come += 10) {
    const body = (await wholeResponse()).slice(0, come);
    await expect.poll(() => partsOf(wire), EVENTUALLY).toMatchObject({ body, promised });
    expect(wire.end).toBe('open');
    await clock.pass(100);
  }
  await expect.poll(() => wire.end, EVENTUALLY).toBe('FIN');
  expect(partsOf(wire).body).toBe(await wholeResponse());
  expect(warnings).toEqual([]);
  expect(clock.timers).toBe(1); // drops idle worlds
});

test('slow-body at one byte a second sends the first byte after a second', async () => {
  const { url, clock } = await sandboxWithManualClock(
    brokenBy({ fault: { kind: 'slow-body', bytes_per_second: 1 } }),
  );
  const wire = sendInitiate(url);
  const timers = 2; // one drops idle worlds, one waits for the next byte
  for (let come = 0; come < 3; come += 1) {
    await expect.poll(() => [partsOf(wire).body.length, clock.timers], EVENTUALLY).toEqual([come, timers]);
    await clock.pass(999);
    expect(partsOf(wire).body).toHaveLength(come);
    await clock.pass(1);
  }
});

test('a reset completes a slow body, and its connection serves the next request', async () => {
  const scenario = brokenBy({ fault: { kind: 'slow-body', bytes_per_second: 1 } });
  const { url, client } = await sandboxFor({ ...SETTINGS, scenario });
  const socket = rawSocket(url);
  const seen = answersOn(socket);
  socket.write(payRequest(KEY));
  await once(socket, 'data'); // the head, which does not close the connection
  await client(KEY).world.reset();
  socket.write(
    rawRequest('GET /client/fetchbalance', { Authorization: `Bearer ${KEY}`, Connection: 'close' }),
  );
  expect(await seen).toMatch(/^HTTP\/1\.1 200 OK.*"txn_id".*\}HTTP\/1\.1 200 OK.*"balance".*\}$/s);
});

test('a delayed response arrives whole, exactly when it is due', async () => {
  const { url, clock } = await sandboxWithManualClock(brokenBy({ delay: '1h' }));
  const longestMs = 3_600_000;
  const wire = sendInitiate(url);
  await expect.poll(() => clock.timers, EVENTUALLY).toBe(2);
  await clock.pass(longestMs - 1);
  expect(wire.bytes).toHaveLength(0);
  await clock.pass(1);
  await expect.poll(() => wire.end, EVENTUALLY).toBe('FIN');
  expect(partsOf(wire).body).toBe(await wholeResponse());
});

testRows<[Effect, said: Record<string, unknown>]>([
  [{ fault: 'empty-response', commit: true }, { fault: 'empty-response' }],
  [
    { fault: 'truncated-body', commit: true },
    { fault: 'truncated-body', status: 200 },
  ],
  [
    { respond: { status: 503 }, commit: true },
    { status: 503, code: 'HTTP_503' },
  ],
  [{ commit: false }, { status: 200 }],
])('a log line names the rule, the fault and whether the payout happened', async (effect, said) => {
  const { url, requests } = await sandboxWithManualClock(brokenBy(effect));
  const wire = sendInitiate(url);
  await expect.poll(() => wire.end, EVENTUALLY).not.toBe('open');
  await expect.poll(() => requests().length, EVENTUALLY).toBe(1);
  const { time, level, msg, world, request_id, duration_ms, ...line } = requests()[0]!;
  const committed = effect.commit ?? false;
  expect(line).toEqual({
    route: 'initiate',
    client_ref_id: PAYOUT.client_ref_id,
    rule: 'inline/broken',
    committed,
    ...(committed ? { txn_id: expect.stringMatching(/^TXN/) } : {}),
    ...said,
  });
});

test('the log distinguishes a client that left during a delay from one that left during a hang', async () => {
  const { url, clock, requests } = await sandboxWithManualClock({
    rules: [
      { name: 'late', times: 1, effect: { delay: '10m' } },
      { name: 'never', effect: { fault: { kind: 'hang', for: '10m' } } },
    ],
  });
  for (let nth = 1; nth <= 2; nth += 1) {
    const socket = rawSocket(url);
    socket.write(payRequest(KEY, {}, { connection: 'close' }));
    await expect.poll(() => clock.timers, EVENTUALLY).toBe(2);
    socket.destroy();
    await expect.poll(() => clock.timers, EVENTUALLY).toBe(1);
  }
  await expect.poll(() => requests().length, EVENTUALLY).toBe(2);
  expect(requests()).toMatchObject([
    { rule: 'inline/late', delay_ms: 600_000, committed: true, client_gone: true },
    { rule: 'inline/never', fault: 'hang', committed: false },
  ]);
  for (const line of requests()) expect(line).not.toHaveProperty('status');
});

test('a client that leaves during a hang is noticed, also with a hundred requests and a long body behind it', async () => {
  const { url, clock, requests } = await sandboxWithManualClock({
    rules: [{ name: 'silent', effect: { fault: { kind: 'hang', for: '10m' } } }],
  });
  const socket = rawSocket(url);
  const read = rawRequest('GET /client/fetchbalance', { authorization: `Bearer ${KEY}` });
  for (let nth = 0; nth < 100; nth += 1) socket.write(read);
  socket.write(payRequest(KEY, { remarks: 'x'.repeat(60_000) }));
  await expect.poll(() => clock.timers, EVENTUALLY).toBe(2);
  socket.end();
  await expect.poll(() => clock.timers, EVENTUALLY).toBe(1);
  await expect.poll(() => requests().length, EVENTUALLY).toBe(101);
});

testRows<readonly [effect: Effect]>([
  [{ fault: 'connection-reset' }],
  [{ fault: 'connection-reset', delay: '1ms' }],
  [{ fault: 'empty-response' }],
  [{ fault: 'garbage' }],
  [{ fault: { kind: 'hang', for: '1ms' } }],
])(
  'a pipelined request that meets a fault breaks its connection after the response before it',
  async (effect) => {
    const { client } = await sandboxFor(SETTINGS);
    const { url, world } = client(KEY);
    await world.rule({ name: 'first', match: { route: 'balance' }, effect: { hold: 'arrived' } });
    await world.rule({ name: 'second', match: { route: 'status' }, effect });
    const socket = rawSocket(url);
    const received = answersOn(socket);
    for (const path of ['/client/fetchbalance', '/payout/status?client_ref_id=order-1'])
      socket.write(rawRequest(`GET ${path}`, { authorization: `Bearer ${KEY}` }));
    const [held] = await heldBy(world, 1);
    await held!.release();
    expect(await received).toMatch(/^HTTP\/1\.1 200 [^]*"balance":1000000/);
    const outcomes = async () => (await world.requests()).map(({ outcome }) => outcome);
    await expect.poll(outcomes).toEqual(['answered', 'fault']);
  },
);
