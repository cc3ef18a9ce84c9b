import { expect, test } from 'vitest';
import { ask } from '../../support/control.ts';
import { clientFor, sandboxFor } from '../../support/sandbox.ts';
import { START } from '../../support/world/ways-in.ts';

test('the clock can be moved to a time in any zone, and again to the same time', async () => {
  const { client } = await sandboxFor({ clock: START });
  for (const to of [
    '2026-12-01T05:30:00+05:30',
    '2026-12-01T05:30+0530',
    '2026-11-30T19:00:00-05:00',
    '2026-12-01T00:00Z',
    '2026-12-01T05:30:00', // without an offset it is IST
  ]) {
    const { clock } = client();
    for (let nth = 0; nth < 2; nth += 1)
      expect([to, (await clock.advance({ to })).now]).toEqual([to, '2026-12-01T00:00:00.000Z']);
  }
});

test('a step planned beyond the year 9999 is shown without a time', async () => {
  const world = await clientFor({ clock: START });
  const timeline = [{ to: 'SUCCESS', after: '3000000d' }];
  await ask(world, 'PUT', '/scenario', { settlement: { IMPS: timeline } });
  await world.pay();
  expect((await ask(world, 'GET', '/clock')).body).toMatchObject({ next_due: null });
  expect(await world.world.transactions()).toMatchObject([
    {
      reason: 'PENDING for ever: inline plans SUCCESS after the year 9999, where every clock ends',
      timeline: [{ to: 'SUCCESS', at: null, polls: null, done: false }],
    },
  ]);
});
