import type { z } from 'zod';
import { AdvanceRequest } from '../../contract/control.ts';
import { AdvanceAnswer, ClockAnswer } from '../../contract/control-answers.ts';
import type { Change } from '../../payout/payout.ts';
import { changeAnswer, iso } from '../../world/answers.ts';
import type { CommandOf } from '../../world/commands.ts';
import type { ClockResult } from '../../world/time-commands.ts';
import { operation } from '../route-schemas.ts';
import type { ControlRoutes } from './control-options.ts';
import { JSON_TYPE } from '../limits/json-body.ts';
import { sendInPieces } from '../limits/unread-answers.ts';
import { clockAnswer } from './world-answers.ts';

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
export const clockRoutes: ControlRoutes = async (app, options) => {
  app.get(
    '/clock',
    operation('Clock', 'getClock', 'What time it is in this world', { response: { 200: ClockAnswer } }),
    async ({ world }) => clockAnswer(await world.submit({ kind: 'settle' })),
  );

  app.post(
    '/clock/freeze',
    operation('Clock', 'freezeClock', 'Stop the clock', { response: { 200: ClockAnswer } }),
    async ({ world }) => clockAnswer(await world.submit({ kind: 'freeze' })),
  );

  app.post(
    '/clock/resume',
    operation('Clock', 'resumeClock', 'Let the clock run', { response: { 200: ClockAnswer } }),
    async ({ world }) => clockAnswer(await world.submit({ kind: 'resume' })),
  );

  app.post(
    '/clock/reset',
    operation('Clock', 'resetClock', 'The clock of a new world', {
      errors: ['CLOCK_BACKWARDS', 'WORLD_REPLACED'],
      response: { 200: ClockAnswer },
    }),
    async ({ world }) => clockAnswer(await world.submit({ kind: 'resetClock', generation: null })),
  );

  app.post(
    '/clock/advance',
    operation('Clock', 'advanceClock', 'Move the clock on', {
      description: 'Answers after all that came due has happened, with the list of it.',
      errors: ['CLOCK_BACKWARDS', 'WORLD_REPLACED'],
      body: AdvanceRequest,
      response: { 200: AdvanceAnswer },
    }),
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
          ? sendInPieces(reply.type(JSON_TYPE), pieces, bytes, options)
          : reply.type(JSON_TYPE).send([...pieces].join('') as never);
      return sent as unknown as AdvanceAnswer;
    },
  );
};
