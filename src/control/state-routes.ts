import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { WorldAnswer } from '../contract/control-answers.ts';
import { StateDocument } from '../contract/state.ts';
import { Refusal } from '../contract/errors.ts';
import type { World } from '../domain/world.ts';
import type { WallClock } from '../domain/wall-clock.ts';
import { takeWholeBodies } from '../http/whole-body.ts';
import { sendInPieces } from './long-answer.ts';
import { worldNow } from './world-routes.ts';

/** Writes worlds down, and makes them of what was written. */
export interface Snapshots {
  /** The state of a world as a JSON document, in pieces. */
  write(world: World): Promise<Iterable<string>>;
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
}

/** A snapshot of some 300,000 transactions. */
const MAX_STATE_BYTES = 256 * 1024 * 1024;

/** Snapshots of a world: to keep, to restore, to fork. */
export const stateRoutes: FastifyPluginAsyncZod<Options> = async (app, { snapshots, wallClock }) => {
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
    async ({ world }, reply) => sendInPieces(reply, await snapshots.write(world), wallClock),
  );

  await app.register(async (whole) => {
    takeWholeBodies(whole, () => wallClock.letOthersRun());
    whole.put(
      '/state',
      {
        bodyLimit: MAX_STATE_BYTES,
        schema: {
          operationId: 'putState',
          summary: 'Restore a snapshot, of this world or of another',
          tag: 'State',
          refuses: ['STATE_REFUSED', 'WORLD_REPLACED', 'SANDBOX_FULL'],
          takes: StateDocument,
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
