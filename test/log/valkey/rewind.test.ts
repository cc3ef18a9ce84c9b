import { describe, expect, test } from 'vitest';
import { ask } from '../../support/control.ts';
import type { Client } from '../../support/sandbox.ts';
import { serversFor } from '../../support/store/shared-servers.ts';
import { sized } from '../../support/size.ts';

const START = '2026-01-15T10:30:00.000Z';
/** A snapshot without what depends on the machine's clock. */
const plain = (text: string): string =>
  text.replace(
    /"(?:wallMs|durationMs|endedAfter)":[\d.]+|"checksum".*|"(?:requestId|date|x-request-id)":"[^"]*"/g,
    '',
  );
const before = async (client: Client, request: number): Promise<string> => {
  const { status, text } = await ask(client, 'GET', `/state?before=${request}`);
  expect(status).toBe(200);
  return plain(text);
};
const undo = async (client: Client, body = {}) => (await ask(client, 'POST', '/undo', body)).body;

describe('a world in a store', () => {
  test('can be read as it was before any of its newest requests, at every server', async () => {
    expect.hasAssertions();
    const { clients, store } = await serversFor(2, { clock: START, settlement: 'manual' });
    const [one, other] = clients() as [Client, Client];
    const count = sized(40, 1100);
    const wanted = new Set([1, 2, Math.floor(count / 2), count]);
    const snapshots = new Map<number, string>();
    for (let nth = 1; nth <= count; nth += 1) {
      const client = [one, other][nth % 2]!;
      if (wanted.has(nth)) snapshots.set(nth, plain(await client.world.snapshot()));
      await client.pay({ client_ref_id: `order-${nth}`, amount: 1 });
    }
    const [third] = (await serversFor(1, { store })).clients() as [Client];
    for (const client of [one, other, third]) {
      for (const [nth, snapshot] of snapshots) {
        if (nth > count - 1000) expect(await before(client, nth)).toBe(snapshot);
      }
    }
  });

  test('takes back actions one after another, also a restore, whichever server did them', async () => {
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
});
