import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { AdvanceRequest, NoRequest } from '../../contract/control.ts';
import { AdvanceAnswer, ClockAnswer } from '../../contract/control-answers.ts';
import type { z } from 'zod';
import type { RefusalCode } from '../../contract/errors.ts';
import type { Change } from '../../payout/payout.ts';
import type { World } from '../../log/world.ts';
import { changeWire } from '../../world/change-wire.ts';
import type { ClockMove } from '../../log/world-book.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import type { UnreadAnswers } from '../limits/unread-answers.ts';
import { JSON_TYPE, sendInPieces } from './long-answer.ts';
import { clockAnswer, iso } from './world-answers.ts';

interface Options {
  readonly wallClock: WallClock;
  readonly unread: UnreadAnswers;
}

const NOTHING = 1;

/** The clock, after all that was due by now has happened. */
async function clockNow(world: World): Promise<ClockAnswer> {
  const { nextDueMs } = await world.book.perform((ledger, book, nowMs) =>
    ledger.settle(book, nowMs, NOTHING),
  );
  return clockAnswer(world, nextDueMs);
}

function moveOf({ by, to }: z.output<typeof AdvanceRequest>): ClockMove {
  if (by !== undefined) return { byMs: by };
  return to === undefined ? { until: 'idle' } : { toMs: to };
}

function told(world: World): void {
  world.events.publish('clock', () => ({ now: iso(world.nowMs), frozen: world.book.isFrozen }));
}

/** Some changes, as the items of a list: as text at once, since a million of them as objects would be too many. */
function changesText(changes: readonly Change[]): string {
  let last = { atMs: Number.NaN, at: '' }; // most of them happened at the same time as the one before
  const wires = changes.map((change) => {
    if (change.atMs !== last.atMs) last = { atMs: change.atMs, at: iso(change.atMs) };
    return changeWire(change, last.at);
  });
  return JSON.stringify(wires).slice(1, -1);
}

/** The answer to an advance, in pieces. */
function* advancedInPieces(head: object, changes: readonly string[]): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"changes":[`;
  for (const [nth, piece] of changes.entries()) yield (nth === 0 ? '' : ',') + piece;
  yield ']}';
}

/** The clock of a world. */
export const clockRoutes: FastifyPluginAsyncZod<Options> = async (app, { wallClock, unread }) => {
  const answersClock = (operationId: string, summary: string, errors: readonly RefusalCode[] = []) => ({
    schema: { operationId, summary, tag: 'Clock', errors, response: { 200: ClockAnswer } } as const,
  });
  const turns = (...about: Parameters<typeof answersClock>) => ({
    schema: { ...answersClock(...about).schema, body: NoRequest },
  });

  app.get('/clock', answersClock('getClock', 'What time it is in this world'), ({ world }) =>
    clockNow(world),
  );

  app.post('/clock/freeze', turns('freezeClock', 'Stop the clock'), async ({ world }) => {
    await world.book.freeze();
    told(world);
    return clockNow(world);
  });

  app.post('/clock/resume', turns('resumeClock', 'Let the clock run'), async ({ world }) => {
    await world.book.resume();
    told(world);
    return clockNow(world);
  });

  app.post(
    '/clock/reset',
    turns('resetClock', 'The clock of a new world', ['CLOCK_BACKWARDS']),
    async ({ world }) => {
      await world.book.setClock(world.scenario.clock);
      told(world);
      return clockNow(world);
    },
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
      const changes = await world.book.move(moveOf(body), changesText);
      told(world);
      const head = { now: iso(world.nowMs), frozen: world.book.isFrozen };
      const pieces = advancedInPieces(head, changes);
      const bytes = changes.reduce((sum, { length }) => sum + length, 0); // they are text already
      const sent =
        changes.length > 1
          ? sendInPieces(reply, { pieces, bytes }, unread, wallClock)
          : reply.type(JSON_TYPE).send([...pieces].join('') as never);
      return sent as unknown as AdvanceAnswer;
    },
  );
};
