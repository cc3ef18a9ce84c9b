import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { AdvanceRequest, NoRequest } from '../../contract/control.ts';
import { AdvanceAnswer, ClockAnswer } from '../../contract/control-answers.ts';
import type { RefusalCode } from '../../contract/errors.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import type { Change } from '../../payout/payout.ts';
import { changeAnswer, iso } from '../../world/answers.ts';
import type { CommandOf } from '../../world/commands.ts';
import type { ClockResult } from '../../world/time-commands.ts';
import type { UnreadAnswers } from '../limits/unread-answers.ts';
import { JSON_TYPE, sendInPieces } from './long-answer.ts';
import { clockAnswer } from './world-answers.ts';

interface Options {
  readonly wallClock: WallClock;
  readonly unread: UnreadAnswers;
}

function moveOf({ by, to }: z.output<typeof AdvanceRequest>): CommandOf<'advance'>['move'] {
  if (by !== undefined) return { byMs: by };
  return to === undefined ? { until: 'idle' } : { toMs: to };
}

/** Some changes as the items of a list: text at once, since a million of them as objects would take too much memory. */
const changesText = (changes: readonly Change[]): string =>
  JSON.stringify(changes.map(changeAnswer)).slice(1, -1);

/** The answer to an advance, in pieces. */
function* advancedInPieces({ nowMs, isFrozen }: ClockResult, changes: readonly string[]): Generator<string> {
  yield `${JSON.stringify({ now: iso(nowMs), frozen: isFrozen }).slice(0, -1)},"changes":[`;
  for (const [nth, piece] of changes.entries()) yield (nth === 0 ? '' : ',') + piece;
  yield ']}';
}

/** The clock of a world. */
export const clockRoutes: FastifyPluginAsyncZod<Options> = async (app, { wallClock, unread }) => {
  const answersClock = (operationId: string, summary: string, errors: readonly RefusalCode[] = []) => ({
    schema: { operationId, summary, tag: 'Clock', errors, response: { 200: ClockAnswer } } as const,
  });
  const changesClock = (...about: Parameters<typeof answersClock>) => ({
    schema: { ...answersClock(...about).schema, body: NoRequest },
  });

  app.get('/clock', answersClock('getClock', 'What time it is in this world'), async ({ world }) =>
    clockAnswer(await world.submit({ kind: 'settle' })),
  );

  app.post('/clock/freeze', changesClock('freezeClock', 'Stop the clock'), async ({ world }) =>
    clockAnswer(await world.submit({ kind: 'freeze' })),
  );

  app.post('/clock/resume', changesClock('resumeClock', 'Let the clock run'), async ({ world }) =>
    clockAnswer(await world.submit({ kind: 'resume' })),
  );

  app.post(
    '/clock/reset',
    changesClock('resetClock', 'The clock of a new world', ['CLOCK_BACKWARDS', 'WORLD_REPLACED']),
    async ({ world }) => clockAnswer(await world.submit({ kind: 'resetClock', generation: null })),
  );

  app.post(
    '/clock/advance',
    {
      schema: {
        operationId: 'advanceClock',
        summary: 'Move the clock on',
        tag: 'Clock',
        description: 'Answers after all that came due has happened, with the list of it.',
        errors: ['CLOCK_BACKWARDS', 'WORLD_REPLACED'],
        body: AdvanceRequest,
        response: { 200: AdvanceAnswer },
      },
    },
    async ({ body, world }, reply) => {
      const texts: string[] = [];
      const result = await world.submit(
        { kind: 'advance', move: moveOf(body), generation: null },
        (changes) => changes.length > 0 && texts.push(changesText(changes)),
      );
      const pieces = advancedInPieces(result, texts);
      const bytes = texts.reduce((sum, { length }) => sum + length, 0);
      const sent =
        texts.length > 1
          ? sendInPieces(reply.type(JSON_TYPE), { pieces, bytes }, unread, wallClock)
          : reply.type(JSON_TYPE).send([...pieces].join('') as never);
      return sent as unknown as AdvanceAnswer;
    },
  );
};
