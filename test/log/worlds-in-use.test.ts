import { expect, test } from 'vitest';
import { worldsFor } from '../support/worlds.ts';

test('worlds stand in the order of their last use, whether they were made by a key or by an id', () => {
  const { worlds } = worldsFor();
  const order = () => worlds.list().map(({ world }) => world.id);
  const a = worlds.of('a').id;
  worlds.withId('restored');
  expect(order()).toEqual([a, 'restored']);
  worlds.of('a');
  expect(order()).toEqual(['restored', a]);
  const b = worlds.of('b').id;
  worlds.of('a');
  expect(order()).toEqual(['restored', b, a]);
  worlds.of('b');
  worlds.of('b');
  expect(order()).toEqual(['restored', a, b]);
});

test('a use that is noted late counts like any other', () => {
  const { worlds } = worldsFor();
  worlds.of('a');
  worlds.noteUse();
  worlds.noteUse();
  expect(worlds.uses).toBe(3);
});

test('to end the answers that are held back ends who reads events, too', () => {
  const { worlds } = worldsFor();
  let ended = 0;
  worlds.of('a').events.read(undefined, { take: () => undefined, end: () => (ended += 1) });
  worlds.release();
  expect(ended).toBe(1);
});

test('a request that waits while the sandbox stops is told so', async () => {
  const { worlds } = worldsFor();
  const world = worlds.of('a');
  worlds.close();
  await expect(world.balance()).rejects.toMatchObject({ code: 'SANDBOX_FULL', details: { limit: 'stop' } });
});
