import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { NoRequest } from '../../contract/control.ts';
import { ModelAnswer, WorldAnswer } from '../../contract/control-answers.ts';
import { STATES } from '../../contract/payout.ts';
import { isMoneyBack, legalNext } from '../../payout/payout.ts';
import type { ScenarioSource } from '../../contract/snapshot.ts';
import { worldAnswer } from './world-answers.ts';

interface Options {
  /** The scenario of every world that has not chosen another. */
  readonly activeSource: () => ScenarioSource;
}

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

/** The world as a whole: how it stands, and as new. */
export const worldRoutes: FastifyPluginAsyncZod<Options> = async (app, { activeSource }) => {
  app.get(
    '/world',
    {
      schema: {
        operationId: 'getWorld',
        summary: 'How the world stands',
        tag: 'World',
        response: { 200: WorldAnswer },
      },
    },
    ({ world }) => world.read(worldAnswer),
  );

  app.post(
    '/reset',
    {
      schema: {
        operationId: 'resetWorld',
        summary: 'Make the world as new',
        tag: 'World',
        description: 'Hanging and delayed answers of it end.',
        body: NoRequest,
        response: { 200: WorldAnswer },
      },
    },
    async ({ world }) => {
      await world.submit({ kind: 'reset', source: activeSource() });
      return world.read(worldAnswer);
    },
  );

  app.get(
    '/model',
    {
      schema: {
        operationId: 'getModel',
        summary: 'The state machine of a payout, as data',
        tag: 'World',
        response: { 200: ModelAnswer },
      },
    },
    () => MODEL,
  );
};
