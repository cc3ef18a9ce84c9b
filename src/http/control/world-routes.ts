import { ModelAnswer, WorldAnswer } from '../../contract/control-answers.ts';
import { STATES } from '../../contract/service.ts';
import { isMoneyBack, legalNext } from '../../payout/payout.ts';
import { operation } from '../route-schemas.ts';
import type { ControlRoutes } from './control-options.ts';
import { worldAnswer } from './world-answers.ts';

/** The state machine of a payout, as data. */
const MODEL: ModelAnswer = {
  initial: 'PENDING',
  states: STATES.map((name) => ({
    name,
    final: legalNext(name).length === 0,
    money_back: isMoneyBack(name),
  })),
  edges: STATES.flatMap((from) => legalNext(from).map((to) => ({ from, to }))),
};

/** The world as a whole: its state, and its reset. */
export const worldRoutes: ControlRoutes = async (app, { scenarios }) => {
  app.get(
    '/world',
    operation('World', 'getWorld', 'How the world stands', { response: { 200: WorldAnswer } }),
    ({ world }) => world.read(worldAnswer),
  );

  app.post(
    '/reset',
    operation('World', 'resetWorld', 'Reset the world', {
      description: 'Hanging and delayed answers of it end.',
      response: { 200: WorldAnswer },
    }),
    async ({ world }) => {
      await world.submit({ kind: 'reset', source: scenarios.active.source });
      return world.read(worldAnswer);
    },
  );

  app.get(
    '/model',
    operation('World', 'getModel', 'The state machine of a payout, as data', {
      response: { 200: ModelAnswer },
    }),
    () => MODEL,
  );
};
