import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { worldIdOf } from '../../../src/payout/identity.ts';
import { WorldConnections } from '../../../src/worlds/world-connections.ts';
import type { RuleRequest, SettingsInput } from '../../../src/index.ts';
import { payRequest, rawRequest } from '../../support/http/raw-socket.ts';
import { appFor } from '../../support/server.ts';
import { sized } from '../../support/size.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';

const KEY = 'sk_test_leaks';
const EVENTUALLY = { timeout: 20_000, interval: 5 };
/** How many faulted requests the leak test sends. */
const FAULTED = sized(250, 10_000);
/** How many of them its world remembers: far fewer, so that what it keeps stops growing before they are sent. */
const REMEMBERED = 100;

type Effect = RuleRequest['effect'];

/** Effects that hold the response longer than a test runs. */
const HELD: readonly [string, Effect][] = [
  ['hang', { fault: 'hang' }],
  ['long-hang', { fault: { kind: 'hang', for: '1h' } }],
  ['slow-body', { fault: { kind: 'slow-body', bytes_per_second: 10 } }],
  ['delay', { delay: '1h', commit: false }],
  ['late-reset', { delay: '1h', fault: 'connection-reset' }],
];

/** Effects that end the connection at once. */
const CUT: readonly [string, Effect][] = [
  ['reset', { fault: 'connection-reset' }],
  ['truncated', { fault: 'truncated-body' }],
];

/** The responses that worlds hold. (A spy of vitest would keep every call, and everything it refers to.) */
function watchHeld() {
  const held = new Set<object>();
  // oxlint-disable-next-line typescript/unbound-method -- called with `this` below
  const { wait } = WorldConnections.prototype;
  WorldConnections.prototype.wait = function (wake) {
    held.add(wake);
    const release = wait.call(this, wake);
    return () => {
      held.delete(wake);
      release();
    };
  };
  onTestFinished(() => {
    WorldConnections.prototype.wait = wait;
  });
  return held;
}

/** A sandbox in which the reference of a payout selects the rule, with access to its timers and connections. */
async function openSandbox(settings: SettingsInput = {}) {
  const clock = new ManualClock();
  const held = watchHeld();
  const rules = [...HELD, ...CUT].map(([name, effect]) => ({ name, match: { client_ref_id: name }, effect }));
  const given = { rateLimit: 'off', ...settings, scenario: { rules } };
  const { app, worlds } = await appFor(given, clock);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) =>
      app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  return { app, worlds, url, clock, held, connections };
}

/** A connection that can be collected once it is closed. */
function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  return socket.on('error', () => undefined); // the sandbox is meant to end it
}

/** Sends an initiate on a connection of its own. */
function send(url: string, rule: string, key = KEY): Socket {
  const socket = open(url).resume();
  socket.write(payRequest(key, { client_ref_id: rule }));
  return socket;
}

const closed = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve));
const allClosed = (sockets: readonly Socket[]): Promise<unknown> => Promise.all(sockets.map(closed));

test(`${FAULTED} faulted requests whose clients disconnect leave no socket, timer or held response behind`, async () => {
  const { url, worlds, clock, held, connections } = await openSandbox({ journalEntries: REMEMBERED });
  await worlds.use(worldIdOf(KEY));
  const idleTimers = clock.timers; // drops idle worlds
  const names = HELD.map(([name]) => name);
  const batch = async (size: number): Promise<void> => {
    const cut = Array.from({ length: size / 5 }, (_, nth) => send(url, CUT[nth % CUT.length]![0]));
    const cutOff = allClosed(cut);
    const waiting = Array.from({ length: size - cut.length }, (_, nth) =>
      send(url, names[nth % names.length]!),
    );
    await expect.poll(() => held.size, EVENTUALLY).toBe(waiting.length);
    expect(clock.timers).toBeGreaterThan(idleTimers); // else the check below would check nothing
    for (const socket of waiting) socket.destroy();
    await cutOff;
    await expect.poll(() => held.size, EVENTUALLY).toBe(0);
    await expect.poll(connections, EVENTUALLY).toBe(0);
  };
  for (let sent = 0; sent < FAULTED; sent += 250) await batch(250);
  expect(clock.timers).toBe(idleTimers);
  const balance = (await worlds.use(worldIdOf(KEY))).latest.wallet;
  expect(balance.balancePaise).toBe(100_000_000); // none of the payouts happened
});

test('a request to hang on a connection that is gone leaves no listener on it', async () => {
  const { app, url, worlds } = await openSandbox();
  const listeners = (socket: Socket) => ['end', 'finish'].map((event) => socket.listenerCount(event));
  const arrived: { readonly socket: Socket; readonly before: number[] }[] = [];
  app.server.on('request', ({ socket }) => {
    arrived.push({ socket, before: listeners(socket) });
    socket.destroy(); // before it is handled
  });
  const asked = rawRequest('GET /payout/status?client_ref_id=hang', { authorization: `Bearer ${KEY}` });
  open(url).write(asked);
  const ended = async () =>
    worlds.visit(
      worldIdOf(KEY),
      ({ requests }) => requests.list.filter(({ outcome }) => outcome !== 'pending').length,
    );
  await expect.poll(ended, EVENTUALLY).toBe(1);
  const [{ socket, before }] = arrived as [(typeof arrived)[0]];
  expect(listeners(socket)).toEqual(before);
});

test('a sandbox that stops waits for no response that it holds and no reader, writes its state and leaves no timers', async () => {
  const state = join(temporaryFolder(), 'sandbox.state');
  const { app, url, clock, held } = await openSandbox({ state });
  const sockets = HELD.map(([rule]) => send(url, rule));
  await expect.poll(() => held.size, EVENTUALLY).toBe(sockets.length);
  const { timers } = clock;
  const reader = open(url).resume();
  reader.write(rawRequest('GET /_sandbox/events', { authorization: `Bearer ${KEY}` }));
  await expect.poll(() => clock.timers, EVENTUALLY).toBe(timers + 1);
  await Promise.all([app.close(), allClosed([...sockets, reader])]);
  expect([held.size, clock.timers, existsSync(state)]).toEqual([0, 0, true]);
});

test('dropping a world ends every response that it holds, and no others', async () => {
  const { url, worlds, held } = await openSandbox({ maxWorlds: 2 });
  const dropped = HELD.map(([rule]) => send(url, rule, 'sk_test_first'));
  await expect.poll(() => held.size, EVENTUALLY).toBe(HELD.length);
  const kept = HELD.map(([rule]) => send(url, rule, 'sk_test_second'));
  await expect.poll(() => held.size, EVENTUALLY).toBe(2 * HELD.length);
  const ended = allClosed(dropped);
  await worlds.use(worldIdOf('sk_test_third'));
  await ended;
  expect(held.size).toBe(HELD.length);
  expect(kept.map((socket) => socket.closed)).toEqual(HELD.map(() => false));
});

test('a world that is dropped before it answers holds no response back', async () => {
  const { url, worlds, clock, held } = await openSandbox({ maxWorlds: 1 });
  const sockets = HELD.map(() => open(url));
  const bodies = HELD.map(([rule], nth) => {
    const whole = payRequest(KEY, { client_ref_id: rule }, { expect: '100-continue' });
    const bodyAt = whole.indexOf('{');
    sockets[nth]!.write(whole.subarray(0, bodyAt));
    return whole.subarray(bodyAt);
  });
  await Promise.all(sockets.map((socket) => once(socket, 'data'))); // their world is found
  await worlds.use(worldIdOf('sk_test_other'));
  const ended = allClosed(sockets.map((socket) => socket.resume()));
  for (const [nth, body] of bodies.entries()) sockets[nth]!.write(body);
  await ended;
  expect(held.size).toBe(0);
  expect(clock.timers).toBe(1); // drops idle worlds
});
