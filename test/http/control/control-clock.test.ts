import { expect, test } from 'vitest';
import { after, ask, refusal } from '../../support/control.ts';
import { clientFor } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';
import { START } from '../../support/world/ways-in.ts';

const FROZEN = { clock: START, settlement: 'manual' } as const;

const DURATION = 'by must be a duration such as 90s, 2h, 3d or PT90S';

testRows<[body: unknown, message: unknown, field?: string]>([
  [undefined, 'body must be a JSON object such as {"by":"2h"}', 'body'],
  [[], 'body must be a JSON object such as {"by":"2h"}', 'body'],
  [{}, expect.stringMatching(/^body must be one of .*"by".*"to".*"until":"idle"/), 'body'],
  [{ by: '1h', until: 'idle' }, expect.stringMatching(/^body must be one of/), 'body'],
  [{ by: 5 }, `${DURATION}: 5 has no unit, write 5s for seconds or 5ms for milliseconds`, 'by'],
  [{ by: '-2h' }, DURATION, 'by'],
  [{ by: 'P1M' }, DURATION, 'by'],
  [{ to: '2026-12-01' }, expect.stringContaining('2026-12-01T00:00:00Z'), 'to'],
  [{ to: '2026-12-01 00:00' }, expect.stringContaining('to must be an ISO 8601 time such as'), 'to'],
  [{ to: 'tomorrow' }, expect.stringContaining('to must be an ISO 8601 time such as'), 'to'],
  [{ to: '2026-01-15T10:29:59Z' }, expect.stringContaining(START), 'to'],
  [{ until: 'done' }, 'until must be one of idle', 'until'],
  [{ untill: 'idle' }, 'untill is not known here (did you mean until?)', 'untill'],
  [{ by: '9999999d' }, 'The clock of a world ends with the year 9999'],
])(
  'an advance that is not valid is refused with the expected form, and moves nothing',
  async (body, message, field) => {
    const world = await clientFor({ clock: START });
    await world.pay();
    expect(await ask(world, 'POST', '/clock/advance', body)).toMatchObject(
      refusal(400, 'INVALID_REQUEST', message, field === undefined ? undefined : [field]),
    );
    expect(await world.clock.read()).toEqual({ now: START, frozen: true, next_due: after(2) });
  },
);

testRows([
  ['2026-12-01T05:30:00+05:30'],
  ['2026-12-01T05:30+0530'],
  ['2026-11-30T19:00:00-05:00'],
  ['2026-12-01T00:00Z'],
  ['2026-12-01T05:30:00'], // without an offset it is IST
])('the clock can be moved to a time in any zone, and again to the same time', async (to) => {
  const { clock } = await clientFor(FROZEN);
  for (let nth = 0; nth < 2; nth += 1)
    expect((await clock.advance({ to })).now).toBe('2026-12-01T00:00:00.000Z');
});

test('a step planned beyond the year 9999 is shown without a time, and never reached', async () => {
  const world = await clientFor({ clock: START });
  const timeline = [{ to: 'SUCCESS', after: '3000000d' }];
  await ask(world, 'PUT', '/scenario', { settlement: { IMPS: timeline } });
  await world.pay();
  for (const path of ['/clock', '/world', '/transactions', '/state']) {
    expect((await ask(world, 'GET', path)).status).toBe(200);
  }
  expect((await ask(world, 'GET', '/clock')).body).toMatchObject({ next_due: null });
  expect((await ask(world, 'GET', '/transactions')).body).toMatchObject({
    transactions: [
      {
        reason: 'PENDING for ever: inline plans SUCCESS after the year 9999, where every clock ends',
        timeline: [{ to: 'SUCCESS', at: null, polls: null, done: false }],
      },
    ],
  });
  expect(await ask(world, 'POST', '/clock/advance', { until: 'idle' })).toMatchObject({
    status: 200,
    body: { now: START, changes: [] },
  });
  expect((await world.status({ client_ref_id: 'order-1' })).body.data.status).toBe('PENDING');
});
