import { expect, test } from 'vitest';
import type { WallClock } from '../../../src/worlds/wall-clock.ts';
import { worldIdOf } from '../../../src/payout/identity.ts';
import { heldBy } from '../../support/control.ts';
import { answersOn, rawRequest, rawSocket } from '../../support/http/raw-socket.ts';
import { clientFor, PAYOUT } from '../../support/sandbox.ts';
import { appFor } from '../../support/server.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';

const HOLD = (at: 'arrived' | 'committed', route: 'initiate' | 'status' = 'initiate') =>
  ({ name: `held-${route}`, match: { route }, effect: { hold: at } }) as const;

const MANUAL = { settlement: 'manual' } as const;

test('a request that is held on arrival makes its payout when it is released', async () => {
  const { world, pay } = await clientFor(MANUAL);
  await world.rule(HOLD('arrived'));
  const paying = pay();
  const [held] = await heldBy(world, 1);
  expect(held).toMatchObject({
    at: 'arrived',
    route: 'initiate',
    client_ref_id: 'order-1',
    txn_id: null,
    rule: 'world/held-initiate',
  });
  expect(await world.transactions()).toEqual([]);
  await held!.release();
  expect(await world.balance()).toBe(998_499.5);
  expect(await paying).toMatchObject({ status: 200, body: { data: { status: 'PENDING' } } });
  expect(await world.held()).toEqual([]);
});

test('a release chooses what the client sees: a broken connection, or another answer', async () => {
  const { world, pay } = await clientFor(MANUAL);
  await world.rule(HOLD('arrived'));
  const lost = pay().catch((error: Error) => error.name);
  await (await heldBy(world, 1))[0]!.release({ fault: 'connection-reset' });
  expect(await lost).toBe('TypeError');
  const refused = pay({ client_ref_id: 'order-2' });
  await (await heldBy(world, 1))[0]!.release({ respond: { status: 503 } });
  expect((await refused).status).toBe(503);
  expect(await world.requests()).toMatchObject([
    { fault: 'connection-reset', committed: true },
    { answer: { status: 503 }, committed: true },
  ]);
});

test('a status answer that is held shows the state from before the hold', async () => {
  const { world, pay, status } = await clientFor(MANUAL);
  const { body } = await pay();
  await world.rule(HOLD('committed', 'status'));
  const reading = status({ client_ref_id: 'order-1' });
  const [held] = await heldBy(world, 1);
  await world.transition(body.data.txn_id, 'SUCCESS');
  await held!.release();
  expect((await reading).body.data.status).toBe('PENDING');
});

test('a hold that nobody releases fails loudly: the response, the journal and the library say so', async () => {
  const { world, pay } = await clientFor(MANUAL);
  await world.rule({ name: 'short', effect: { hold: { at: 'arrived', for: '1ms' } } });
  const { status, headers, body } = await pay();
  expect({ status, rule: headers.get('x-sandbox-rule'), code: body.code }).toEqual({
    status: 504,
    rule: 'world/short',
    code: 'NOT_RELEASED',
  });
  expect(await world.transactions()).toEqual([]);
  expect(await world.requests()).toMatchObject([{ code: 'NOT_RELEASED', committed: false }]);
  await expect(world.held(1)).rejects.toThrow('initiate order-1');
  await world.rule({ name: 'short', effect: { hold: 'arrived' } });
  const paying = pay({ client_ref_id: 'order-2' });
  await expect.poll(async () => (await world.held()).length).toBe(1);
  await expect(world.held(1)).rejects.toThrow('initiate order-1'); // although another one is held
  await (await world.held())[0]!.release();
  await paying;
});

test('a held request ends when its client has left, or has finished sending', async () => {
  const { world, apiKey, url } = await clientFor(MANUAL);
  await world.rule(HOLD('arrived', 'status'));
  const headers = { authorization: `Bearer ${apiKey}` };
  const [waiting, leaving, ending] = [rawSocket(url), rawSocket(url), rawSocket(url)];
  waiting.write(rawRequest('GET /payout/status?client_ref_id=waits', headers));
  ending.write(rawRequest('GET /payout/status?client_ref_id=ends', headers));
  leaving.write(rawRequest('GET /payout/status?client_ref_id=leaves', headers));
  await heldBy(world, 3);
  leaving.destroy();
  ending.end();
  const [held] = await heldBy(world, 1);
  expect(held).toMatchObject({ client_ref_id: 'waits' });
  const answer = answersOn(waiting, 1);
  await held!.release();
  expect(await answer).toMatch(/^HTTP\/1.1 404 /);
});

/** Two requests that are held in one world, and how to order commands there without a pause, as those of another server are read. */
async function heldInOneWorld(wallClock?: WallClock) {
  const { app, worlds } = await appFor({ ...MANUAL, scenario: { rules: [HOLD('arrived')] } }, wallClock);
  const world = await worlds.use(worldIdOf('sk_test_held'));
  const headers = { authorization: 'Bearer sk_test_held' };
  const pay = async (reference: string) => {
    const payload = { ...PAYOUT, client_ref_id: reference };
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: '/payout/initiate',
      headers,
      payload,
    });
    return `${statusCode} ${body}`;
  };
  const responses = ['one', 'other'].map(pay);
  await expect.poll(() => world.latest.held.waiting.length).toBe(2);
  const [one, other] = world.latest.held.waiting.map(({ id }) => id) as [number, number];
  const reset = () => world.submit({ kind: 'reset', source: world.latest.scenario.source });
  const wait = (query: string) => app.inject({ url: `/_sandbox/held?${query}`, headers });
  return { world, one, other, reset, wait, responses: Promise.all(responses) };
}

test('a request that was released before a reset gets its response, also if both are read at once', async () => {
  const { world, one, reset, responses } = await heldInOneWorld();
  void world.submit({ kind: 'release', id: one, order: { respond: null, fault: null } });
  void reset();
  expect(await responses).toEqual([
    expect.stringMatching(/^200 .*"client_ref_id":"one"/),
    expect.stringMatching(/^504 .*its world was reset or restored meanwhile/),
  ]);
});

test('a reset ends a held request, also if it is read at once with the end of another one', async () => {
  const { world, other, reset, responses } = await heldInOneWorld();
  void world.submit({ kind: 'endHold', id: other, how: 'expired' });
  void reset();
  expect(await responses).toEqual([
    expect.stringMatching(/^504 .*its world was reset or restored meanwhile/),
    expect.stringMatching(/^504 .*nobody released it/),
  ]);
});

test('a wait for more requests ends in time, also if others come and go meanwhile', async () => {
  const clock = new ManualClock();
  const { world, one, wait } = await heldInOneWorld(clock);
  const { timers } = clock;
  const codes: unknown[] = [];
  void wait('count=3&within=10s').then((response) => codes.push(response.json().code));
  await expect.poll(() => clock.timers).toBe(timers + 1);
  await clock.pass(6000);
  void world.submit({ kind: 'release', id: one, order: { respond: null, fault: null } });
  await expect.poll(() => clock.timers).toBe(timers); // that of the released request is gone
  await clock.pass(4000);
  await expect.poll(() => codes).toEqual(['TOO_FEW_HELD']);
});
