import { expect, test } from 'vitest';
import { ask } from '../support/control.ts';
import type { Client } from '../support/sandbox.ts';
import { storedLogsFor, WORLD } from '../support/store/stored-log.ts';
import { save } from '../support/world/core.ts';
import { serversFor } from '../support/store/shared-servers.ts';

const START = '2026-01-15T10:30:00.000Z';
/** A snapshot without what depends on the machine's clock. */
const plain = (text: string): string =>
  text.replace(
    /"(?:wallMs|durationMs|endedAfter)":[\d.]+|"checksum".*|"(?:requestId|date|x-request-id)":"[^"]*"/g,
    '',
  );
const undo = async (client: Client, body = {}) => (await ask(client, 'POST', '/undo', body)).body;

/** A value whose fields, at all depths, are in the reverse order. */
const reversed = <T>(value: T): T =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (Object.fromEntries(
        Object.entries(value)
          .map(([name, one]) => [name, reversed(one)])
          .toReversed(),
      ) as T)
    : value;

test('a snapshot has the same bytes at every server, whatever the order of the fields in what one of them was told', async () => {
  const { one, other } = await storedLogsFor();
  const world = await one.use(WORLD);
  const source = reversed(world.latest.scenario.source);
  const rule = { effect: { respond: { headers: { b: '1', a: '2' }, status: 500 } }, name: 'odd', match: {} };
  for (const command of [
    { kind: 'choose', source, isChosen: true } as const,
    { kind: 'putRule', rule } as const,
    { kind: 'reset', source } as const,
    { kind: 'follow', source } as const,
  ]) {
    await world.submit(command);
    await (await other.use(WORLD)).read(() => null);
    const [here, there] = [one, other].map((log) => JSON.stringify(save(log.known(WORLD)!.latest)));
    expect(there).toBe(here);
  }
});

test('in a store, actions are taken back one after another, also a restore, whichever server did them', async () => {
  const { clients } = await serversFor(2, { clock: START, settlement: 'manual' });
  const [one, other] = clients() as [Client, Client];
  await one.pay({ amount: 10 });
  const first = await one.world.snapshot();
  const actions: readonly [string, (client: Client) => Promise<unknown>][] = [
    ['credit', ({ world }) => world.fund(5)],
    ['advance', ({ clock }) => clock.advance('1h')],
    ['restore', ({ world }) => world.restore(first)],
    ['rule', ({ world }) => world.rule({ name: 'busy', match: {}, effect: { respond: { status: 500 } } })],
    ['reset', ({ world }) => world.reset()],
    ['restore', ({ world }) => world.restore(first)],
    ['credit', ({ world }) => world.fund(7)],
    ['restore', ({ world }) => world.restore(first)],
    ['restore', ({ world }) => world.restore(first)],
    ['restore', ({ world }) => world.restore(first)],
  ];
  const states: string[] = [];
  for (const [nth, [, act]] of actions.entries()) {
    const client = [one, other][nth % 2]!;
    states.push(plain(await client.world.snapshot()));
    await act(client);
  }
  for (const [nth, [name]] of [...actions.entries()].toReversed()) {
    expect(await undo([other, one][nth % 2]!)).toMatchObject({ undone: { action: name } });
    expect(plain(await [one, other][nth % 2]!.world.snapshot())).toBe(states[nth]);
  }
  expect((await ask(one, 'POST', '/undo', {})).status).toBe(409);
});
