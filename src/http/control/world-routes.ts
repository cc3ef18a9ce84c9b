import type { z } from 'zod';
import { AdvanceRequest, SpeedRequest, UndoRequest } from '../../contract/control.ts';
import { JSON_TYPE } from '../../contract/service.ts';
import type { Change } from '../../payout/payout.ts';
import { iso } from '../../contract/times.ts';
import { changeResponse } from '../../world/events.ts';
import { clockResult } from '../../world/clock.ts';
import type { CommandOf } from '../../world/commands.ts';
import { actionResponse, clockResponse, listText, worldResponse } from './world-responses.ts';
import { act, operation, type ControlRoutes } from '../routes.ts';
import { resetWorld } from './referee-routes.ts';

function moveOf({ by, to }: z.output<typeof AdvanceRequest>): CommandOf<'advance'>['move'] {
  if (by !== undefined) return { byMs: by };
  return to === undefined ? { until: 'idle' } : { toMs: to };
}

/** Some changes as the items of a JSON list. Text, since a million of them as objects would take too much memory. */
const changesText = (changes: readonly Change[]): string =>
  JSON.stringify(changes.map(changeResponse)).slice(1, -1);

/** The world as a whole, and its clock. */
export const worldRoutes: ControlRoutes = async (app, options) => {
  app.get(
    '/world',
    operation('World', 'getWorld', 'The current state of this world'),
    ({ exchange: { world } }) => world.read(worldResponse),
  );

  app.post(
    '/reset',
    operation('World', 'resetWorld', 'Reset the world', {
      description: 'Its hanging and delayed responses end.',
    }),
    async ({ exchange }) => {
      await resetWorld(exchange, options.scenarios.active.source, options);
      return exchange.world.read(worldResponse);
    },
  );

  app.post(
    '/undo',
    operation('World', 'undo', 'Take back the last control action', {
      description:
        'Undoes the last advance, reset, restore, transition, credit, debit, or change of the clock, the scenario or the rules. With `action`, it is refused if the last one has another number. Requests that the client has sent since then, and held ones that have ended, are named and need `force`.',
      errors: ['UNDO_REFUSED'],
      body: UndoRequest,
    }),
    async ({ exchange: { world }, body: { action, force: isForced = false } = {} }) => ({
      undone: actionResponse(await world.submit({ kind: 'undo', action, isForced })),
    }),
  );

  app.get(
    '/clock',
    operation('Clock', 'getClock', 'The current time of this world'),
    async ({ exchange: { world } }) => clockResponse(await world.read(clockResult)),
  );

  app.put(
    '/clock',
    operation('Clock', 'setClockSpeed', 'Set how fast the clock runs', {
      description: 'Its time continues from where it is.',
      body: SpeedRequest,
    }),
    async ({ body, exchange }) => clockResponse(await act(exchange, { kind: 'speed', speed: body.speed })),
  );

  for (const [name, speed, summary] of [
    ['freeze', 0, 'Stop the clock'],
    ['resume', 1, 'Let the clock run in real time'],
  ] as const) {
    app.post(`/clock/${name}`, operation('Clock', `${name}Clock`, summary), async ({ exchange }) =>
      clockResponse(await act(exchange, { kind: 'speed', speed })),
    );
  }

  app.post(
    '/clock/advance',
    operation('Clock', 'advanceClock', 'Move the clock on', {
      description: 'The response comes after every step that is due has been applied, and lists these steps.',
      errors: ['WORLD_REPLACED'],
      body: AdvanceRequest,
    }),
    async ({ body, exchange }, reply) => {
      return options.heavy.send(reply.type(JSON_TYPE), exchange.world, async () => {
        const texts: string[] = [];
        const { nowMs, speed } = await act(
          exchange,
          { kind: 'advance', move: moveOf(body), generation: null },
          (changes) => changes.length > 0 && texts.push(changesText(changes)),
        );
        return listText({ now: iso(nowMs), frozen: speed === 0, speed, changes: [] }, texts);
      });
    },
  );
};
