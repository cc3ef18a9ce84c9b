import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { AdvanceRequest, NoRequest } from '../contract/control.ts';
import { AdvanceAnswer, ClockAnswer } from '../contract/control-answers.ts';
import type { z } from 'zod';
import type { RefusalCode } from '../contract/errors.ts';
import type { Change } from '../domain/transaction.ts';
import { changeWire, type World } from '../domain/world.ts';
import type { ClockMove } from '../domain/world-book.ts';
import type { WallClock } from '../domain/wall-clock.ts';
import type { UnreadAnswers } from '../http/unread-answers.ts';
import { listBytes, sendInPieces } from './long-answer.ts';
import { clockAnswer, iso } from './wire.ts';

interface Options {
  readonly wallClock: WallClock;
  readonly unread: UnreadAnswers;
}

/** How many changes are written at once: a long list lets others have their turn in between. */
const CHANGES_AT_ONCE = 1000;

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

/** The answer to an advance, in pieces. */
function* advancedInPieces(head: object, changes: readonly Change[]): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"changes":[`;
  for (let from = 0; from < changes.length; from += CHANGES_AT_ONCE) {
    const piece = changes
      .slice(from, from + CHANGES_AT_ONCE)
      .map((change) => JSON.stringify(changeWire(change)));
    yield (from === 0 ? '' : ',') + piece.join(',');
  }
  yield ']}';
}

/** The clock of a world. */
export const clockRoutes: FastifyPluginAsyncZod<Options> = async (app, { wallClock, unread }) => {
  const answersClock = (operationId: string, summary: string, refuses: readonly RefusalCode[] = []) => ({
    schema: { operationId, summary, tag: 'Clock', refuses, response: { 200: ClockAnswer } } as const,
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
        refuses: ['CLOCK_BACKWARDS', 'WORLD_REPLACED'],
        body: AdvanceRequest,
        response: { 200: AdvanceAnswer },
      },
    },
    async ({ body, world }, reply) => {
      const changes = await world.book.move(moveOf(body));
      told(world);
      const head = { now: iso(world.nowMs), frozen: world.book.isFrozen };
      if (changes.length <= CHANGES_AT_ONCE) return { ...head, changes: changes.map(changeWire) };
      const inPieces = { pieces: advancedInPieces(head, changes), bytes: listBytes(changes.length) };
      return sendInPieces(reply, inPieces, unread, wallClock) as unknown as AdvanceAnswer;
    },
  );
};
