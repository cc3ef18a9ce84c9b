import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { WorldAnswer } from '../../contract/control-answers.ts';
import { StateDocument } from '../../contract/state.ts';
import { Refusal } from '../../contract/errors.ts';
import type { World } from '../../log/world.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import type { LongBodies } from '../limits/body-bytes.ts';
import type { UnreadAnswers } from '../limits/unread-answers.ts';
import { takeWholeBodies } from '../limits/whole-body.ts';
import { listBytes, sendInPieces } from './long-answer.ts';
import { worldNow } from './world-routes.ts';

/** Writes worlds down, and makes them of what was written. */
export interface Snapshots {
  /** The state of a world as a JSON document, in pieces. */
  write(world: World): Promise<{ readonly pieces: Iterable<string>; readonly items: number }>;
  /**
   * Puts the text of a snapshot in the place of all that a world is.
   *
   * @throws Refusal INVALID_JSON; STATE_REFUSED for one of another version, or damaged; SANDBOX_FULL. Nothing is changed then
   */
  restore(world: World, text: Buffer): Promise<void>;
}

interface Options {
  readonly snapshots: Snapshots;
  readonly wallClock: WallClock;
  readonly unread: UnreadAnswers;
  readonly longBodies: LongBodies;
  /** How long a snapshot may be that is restored. */
  readonly maxStateBytes: number;
}

/** Snapshots of a world: to keep, to restore, to fork. */
export const stateRoutes: FastifyPluginAsyncZod<Options> = async (
  app,
  { snapshots, wallClock, unread, longBodies, maxStateBytes },
) => {
  app.get(
    '/state',
    {
      schema: {
        operationId: 'getState',
        summary: 'A snapshot of this world',
        tag: 'State',
        answers: { type: 'application/json', description: 'The snapshot', schema: StateDocument },
      },
    },
    async ({ world }, reply) => {
      const { pieces, items } = await snapshots.write(world);
      return sendInPieces(reply, { pieces, bytes: listBytes(items) }, unread, wallClock);
    },
  );

  await app.register(async (whole) => {
    takeWholeBodies(whole, longBodies, () => wallClock.letOthersRun());
    whole.put(
      '/state',
      {
        bodyLimit: maxStateBytes,
        schema: {
          operationId: 'putState',
          summary: 'Restore a snapshot, of this world or of another',
          tag: 'State',
          errors: ['STATE_REFUSED', 'TOO_MANY_SNAPSHOTS', 'WORLD_REPLACED', 'SANDBOX_FULL'],
          requestBody: StateDocument,
          response: { 200: WorldAnswer },
        },
      },
      async ({ body, world }) => {
        if (!Buffer.isBuffer(body) || body.length === 0) {
          throw new Refusal('INVALID_REQUEST', {
            message: 'The body must be what GET /_sandbox/state answered',
          });
        }
        await snapshots.restore(world, body);
        return worldNow(world);
      },
    );
  });
};
